"""Retries over real sockets: the cases F1 to F14, with times that are scaled down."""

from __future__ import annotations

import time
from email.utils import formatdate
from typing import Any

import pytest
from boxretry import (
    Action,
    Cause,
    Client,
    ConnectError,
    CustomRetryStrategy,
    DeadlineError,
    DelaySource,
    Outcome,
    Reason,
    RetryStrategy,
)
from calls import once, quick, statuses, takes, waits
from fault_server import FaultServer


@pytest.mark.parametrize("name", ["retry-after", "Retry-After", "RETRY-AFTER"])
def test_f1_retry_after_is_honored_in_any_case(server: FaultServer, client: Client, name: str) -> None:
    """B7. Given 429 with the header, then 200: it waits so long, exactly."""
    id = server.new_id()
    response = client.get(server.url("/seq/429,200", {"429.h": f"{name}:0.07"}, id=id))
    assert response.status == 200
    assert waits(response.attempts) == [0.07]
    assert response.attempts[0].delay_source is DelaySource.RETRY_AFTER
    assert [seen["answer"] for seen in server.seen(id)] == ["429", "200"]


def test_f2_an_accepted_request_is_polled(server: FaultServer, client: Client) -> None:
    """B3. Given 202 with Retry-After, then 200: two requests."""
    id = server.new_id()
    response = client.get(server.url("/seq/202,200", {"202.h": "Retry-After:0.07"}, id=id))
    assert (response.status, waits(response.attempts), len(server.seen(id))) == (200, [0.07], 2)
    assert response.attempts[0].reason is Reason.ACCEPTED


def test_b3_an_accepted_request_without_retry_after_is_a_success(server: FaultServer, client: Client) -> None:
    id = server.new_id()
    response = client.get(server.url("/seq/202,200", id=id))
    assert (response.status, response.ok, len(server.seen(id))) == (202, True, 1)


def test_f3_a_date_that_is_past_means_at_once(server: FaultServer, client: Client) -> None:
    """B7."""
    header = "Retry-After:Wed, 21 Oct 2015 07:28:00 GMT"
    response = client.get(server.url("/seq/503,200", {"503.h": header}, id=server.new_id()))
    assert (response.status, waits(response.attempts)) == (200, [0])
    assert response.attempts[0].delay_source is DelaySource.RETRY_AFTER_DATE


@pytest.mark.parametrize(
    ("lines", "seconds"),
    [
        (["5", "5"], 5),
        (["2814, 2"], 2814),
        (["2", "7", "3"], 7),
        (["292.052427053"], 292.052427053),
        (["99999999999999999"], 2**31 - 1),
        (["nan"], None),
        (["inf"], None),
        (["1e400"], 2**31 - 1),
        (["9" * 5000], 2**31 - 1),
        (["-1"], None),
        (["1m0s"], None),
    ],
)
def test_f4_f5_f8_values_of_retry_after(server: FaultServer, lines: list[str], seconds: float | None) -> None:
    """B7, B11. Given a deadline that the wait would cross, then it is not begun, and the record has the value."""
    url = server.url("/seq/503,200", {"503.h": [f"Retry-After:{line}" for line in lines]}, id=server.new_id())
    with Client(RetryStrategy(retry_base_interval=100), deadline=4) as client:
        response = client.get(url)
    assert (response.status, response.attempts[0].reason) == (503, Reason.DEADLINE)
    assert response.attempts[0].retry_after == seconds


def test_f6_an_empty_retry_after_leads_to_the_backoff(server: FaultServer, client: Client) -> None:
    """B7. Given 202 with an empty one, then it counts as having the header."""
    id = server.new_id()
    response = client.get(server.url("/seq/202,200", {"202.h": "Retry-After:"}, id=id))
    assert (response.status, waits(response.attempts), len(server.seen(id))) == (200, [0.002], 2)
    assert response.attempts[0].delay_source is DelaySource.BACKOFF


def test_f7_a_retry_after_of_zero_counts_as_an_attempt(server: FaultServer, client: Client) -> None:
    """B7, B5."""
    id = server.new_id()
    response = client.get(server.url("/seq/503", {"h": "Retry-After:0"}, id=id))
    assert (response.status, waits(response.attempts), len(server.seen(id))) == (503, [0] * 4, 5)
    assert response.attempts[-1].reason is Reason.ATTEMPTS_EXHAUSTED


def test_f8_a_part_of_a_second(server: FaultServer, client: Client) -> None:
    """B7."""
    response = client.get(server.url("/seq/429,200", {"429.h": "Retry-After:0.503"}, id=server.new_id()))
    assert waits(response.attempts) == [0.503]


def test_b7_what_comes_on_the_way_lends_no_headers(server: FaultServer, client: Client) -> None:
    """Given a 103 with Retry-After before a 503 without one."""
    url = server.url("/seq/503,200", {"503.hint": "Retry-After:60"}, id=server.new_id())
    response = client.get(url)
    assert waits(response.attempts) == [0.002]
    assert response.attempts[0].retry_after is None


def test_f9_a_wait_beyond_the_deadline_is_not_begun(server: FaultServer, client: Client) -> None:
    """B11. Given a deadline of 60 s and a Retry-After of 3600, then the call ends at once, with the value."""
    id = server.new_id()
    with takes(0):
        response = client.get(server.url("/seq/503,200", {"503.h": "Retry-After:3600"}, id=id), deadline=60)
    assert (response.status, len(server.seen(id))) == (503, 1)
    assert (response.attempts[0].reason, response.attempts[0].retry_after) == (Reason.DEADLINE, 3600)


def test_f10_a_conflict_is_not_retried(server: FaultServer, client: Client) -> None:
    """B3."""
    id = server.new_id()
    response = client.get(server.url("/seq/409,200", {"409.h": "Retry-After:5"}, id=id))
    assert (response.status, len(server.seen(id))) == (409, 1)


def test_f11_a_date_counts_from_the_response_s_own_date(server: FaultServer) -> None:
    """B7. Given a server whose clock is an hour behind, and a Retry-After of 30 s after its Date."""
    then = time.time() - 3600
    headers = [f"Date:{formatdate(then, usegmt=True)}", f"Retry-After:{formatdate(then + 30, usegmt=True)}"]
    with Client(quick(), deadline=4) as client:
        response = client.get(server.url("/seq/503,200", {"503.h": headers}, id=server.new_id()))
    assert (response.status, response.attempts[0].retry_after) == (503, 30)


class Again(CustomRetryStrategy):
    """Always says retry, at once."""

    def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
        return True

    def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
        return 0


def test_f13_a_custom_strategy_ends_at_the_ceiling(server: FaultServer) -> None:
    """B14."""
    id = server.new_id()
    with Client(Again(), max_total_attempts=7) as client:
        response = client.get(server.url("/seq/200", id=id))
    assert (response.status, len(response.attempts), len(server.seen(id))) == (200, 7, 7)
    assert response.attempts[-1].reason is Reason.ATTEMPT_CEILING


def test_f13_the_ceiling_is_1000_by_default(server: FaultServer) -> None:
    """B14."""
    with Client(Again()) as client:
        response = client.get(server.url("/seq/200", id=server.new_id(), quiet=""))
    assert len(response.attempts) == 1000
    assert response.attempts[-1].reason is Reason.ATTEMPT_CEILING


def test_f13_a_custom_strategy_ends_at_the_deadline(server: FaultServer) -> None:
    """B14, B11. In a wait, or in an attempt."""
    with Client(Again(), max_total_attempts=1_000_000) as client, takes(0, 0.2):
        try:
            response = client.get(server.url("/seq/200", id=server.new_id(), quiet=""), deadline=0.2)
        except DeadlineError as error:
            assert len(error.attempts) > 1
        else:
            assert response.attempts[-1].reason is Reason.DEADLINE


def test_f14_the_last_response_comes_whole_with_every_attempt(server: FaultServer, client: Client) -> None:
    """B10."""
    url = server.url(
        "/seq/500,reset:headers,503,429",
        {"429.body": "enough", "429.h": "X-Last:yes", "503.h": "Retry-After:0.01"},
        id=server.new_id(),
    )
    response = client.get(url, strategy=quick(max_attempts=4))
    assert (response.status, response.content, response.headers["x-last"]) == (429, b"enough", "yes")
    assert statuses(response.attempts) == [500, "RECEIVE", 503, 429]
    assert [attempt.number for attempt in response.attempts] == [1, 2, 3, 4]
    assert [attempt.exception_number for attempt in response.attempts] == [0, 1, 0, 0]
    assert waits(response.attempts) == [0.002, 0.002, 0.01]
    assert [attempt.reason for attempt in response.attempts] == [
        Reason.SERVER_ERROR,
        Reason.NETWORK_EXCEPTION,
        Reason.SERVER_ERROR,
        Reason.ATTEMPTS_EXHAUSTED,
    ]
    assert [attempt.action for attempt in response.attempts] == [Action.RETRY] * 3 + [Action.STOP]
    assert response.attempts[1].curl_code != 0
    assert response.attempts[1].curl_text != ""


def test_b10_the_last_exception_comes_with_every_attempt(server: FaultServer, client: Client) -> None:
    with pytest.raises(ConnectError) as raised:
        client.get(f"http://127.0.0.1:{server.ports['refused']}/")
    attempts = raised.value.attempts
    assert statuses(attempts) == ["CONNECT"] * 3
    assert waits(attempts) == [0.002, 0.004]
    assert attempts[-1].reason is Reason.EXCEPTIONS_EXHAUSTED


def test_b4_b5_both_kinds_of_retries_are_counted(server: FaultServer, client: Client) -> None:
    """Given 503 503 503 503 E E, then attempts 1 to 4 are retried, 5 (an exception) is, and 6 is not."""
    id = server.new_id()
    with pytest.raises(Exception, match="attempts") as raised:
        client.get(server.url("/seq/503*4,reset:headers", id=id))
    attempts: Any = raised.value.attempts  # type: ignore[attr-defined]
    assert statuses(attempts) == [503, 503, 503, 503, "RECEIVE", "RECEIVE"]
    assert waits(attempts) == [0.002, 0.004, 0.008, 0.016, 0.002]
    assert attempts[-1].reason is Reason.RETRIES_EXHAUSTED
    assert len(server.seen(id)) == 6


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_b12_every_method_is_retried_by_default(server: FaultServer, client: Client, method: str) -> None:
    id = server.new_id()
    response = client.request(method, server.url("/seq/503,reset,200", id=id), data="body")
    assert response.status == 200
    seen = server.seen(id)
    assert [request["method"] for request in seen] == [method] * 3
    assert [request["body_start"] for request in seen] == ["body"] * 3


@pytest.mark.parametrize(
    ("method", "item", "requests"),
    [("POST", "503", 1), ("PATCH", "reset", 1), ("POST", "429", 2), ("PUT", "503", 2), ("GET", "reset", 2)],
)
def test_b12_unsafe_methods_only_where_the_server_cannot_have_acted(
    server: FaultServer, method: str, item: str, requests: int
) -> None:
    id = server.new_id()
    with Client(quick(retry_unsafe_methods=False)) as client:
        try:
            attempts = client.request(method, server.url(f"/seq/{item},200", id=id)).attempts
        except Exception as error:
            attempts = error.attempts  # type: ignore[attr-defined]
    assert (len(attempts), len(server.seen(id))) == (requests, requests)
    assert requests == 2 or attempts[-1].reason is Reason.UNSAFE_REQUEST


def test_b12_a_post_of_which_nothing_was_sent_is_safe(server: FaultServer) -> None:
    with Client(quick(retry_unsafe_methods=False)) as client, pytest.raises(ConnectError) as raised:
        client.post(f"http://127.0.0.1:{server.ports['refused']}/", data="body")
    assert len(raised.value.attempts) == 3


def test_b9_a_custom_strategy_is_shown_the_outcome_and_the_request(server: FaultServer) -> None:
    told: list[tuple[Outcome, int]] = []

    class Shown(CustomRetryStrategy):
        def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
            told.append((outcome, attempt_number))
            return outcome.status != 200

        def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
            return 0

    mine = object()
    url = server.url("/seq/404,reset:headers,200", {"404.h": "X-Why:gone"}, id=server.new_id())
    with Client(Shown()) as client:
        response = client.put(url, data="body", headers={"X-Mine": "1"}, user_data=mine, strategy=None)
    assert response.status == 200
    assert [(outcome.status, outcome.cause, number) for outcome, number in told] == [
        (404, Cause.NONE, 1),
        (0, Cause.RECEIVE, 1),
        (200, Cause.NONE, 3),
    ]
    assert isinstance(told[0][0].headers, list)
    assert ("X-Why", "gone") in told[0][0].headers
    request = told[0][0].request
    assert request is not None
    assert (request.method, request.url, request.body, request.user_data) == ("PUT", url, b"body", mine)


def test_a_success_is_not_asked_twice(server: FaultServer) -> None:
    id = server.new_id()
    with Client(once()) as client:
        response = client.get(server.url("/seq/200", id=id))
    assert response.attempts[0].action is Action.SUCCEED
    assert len(server.seen(id)) == 1

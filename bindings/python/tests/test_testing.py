"""boxretry.testing: the server for users' own tests."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from boxretry import Client, IdleTimeoutError, NetworkError, ReceiveError, RetryStrategy, Timeout
from boxretry.testing import Answer, Fault, ManualClock, ScriptedServer, SeenRequest


def client(retries: int = 5) -> Client:
    return Client(RetryStrategy(max_attempts=retries, max_retries_on_exception=0, retry_base_interval=0))


def test_answers_come_in_order_and_the_last_one_stays() -> None:
    with ScriptedServer([503, Answer(429, {"Retry-After": "0"}), 200]) as server, client() as sender:
        response = sender.post(server.url + "/a?b=c", data="body", headers=[("X-A", "1"), ("X-A", "2")])
        assert [attempt.status for attempt in response.attempts] == [503, 429, 200]
        assert sender.get(server.url).status == 200
    assert [(each.method, each.target) for each in server.requests] == [("POST", "/a?b=c")] * 3 + [("GET", "/")]
    assert {each.body for each in server.requests[:3]} == {b"body"}
    assert [value for name, value in server.requests[0].headers if name == "X-A"] == ["1", "2"]
    assert server.requests[0].header("x-a") == "1"
    assert server.requests[0].header("x-b") is None


def test_an_answer_has_its_headers_and_body() -> None:
    answer = Answer(200, [("Set-Cookie", "a=b"), ("Set-Cookie", "c=d"), (b"X-B", b"\xe4")], "grün")
    with ScriptedServer([answer]) as server, client() as sender:
        response = sender.get(server.url)
    assert response.headers.get_all("set-cookie") == ["a=b", "c=d"]
    assert response.headers["X-B"] == "\udce4"
    assert (response.text, response.headers["Content-Length"]) == ("grün", "5")


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PROPFIND"])
def test_any_method_is_answered(method: str) -> None:
    with ScriptedServer([Answer(body="x")]) as server, client() as sender:
        for _ in range(2):
            assert sender.request(method, server.url).content == (b"" if method == "HEAD" else b"x")
    assert [each.method for each in server.requests] == [method] * 2


def test_a_function_is_given_the_request() -> None:
    def answer(request: SeenRequest) -> Answer:
        return Answer(200, body=request.target)

    with ScriptedServer([answer]) as server, client() as sender:
        assert sender.get(server.url + "/x").text == "/x"
        assert sender.get(server.url + "/y").text == "/y"


def test_what_a_function_raises_comes_out_of_close() -> None:
    def fail(request: SeenRequest) -> Answer:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"), ScriptedServer([fail]) as server, client(1) as sender:
        assert sender.get(server.url).status == 500
    server.close()


def test_faults() -> None:
    with ScriptedServer([Fault.HANG_UP, Fault.SILENCE, 200]) as server, client() as sender:
        with pytest.raises(ReceiveError):
            sender.get(server.url)
        with pytest.raises(IdleTimeoutError):
            sender.get(server.url, timeout=Timeout(50))
        assert sender.get(server.url).status == 200


def test_an_answer_may_take_its_time() -> None:
    with ScriptedServer([Answer(delay=0.2)]) as server, client() as sender:
        with pytest.raises(IdleTimeoutError):
            sender.get(server.url, timeout=Timeout(50))
        assert sender.get(server.url).status == 200


def test_closing_ends_what_is_under_way() -> None:
    before = threading.active_count()
    server = ScriptedServer([200, Fault.SILENCE, Answer(delay=3600)])
    with client() as sender:
        assert sender.get(server.url).status == 200  # Its connection stays open.
        calls = [sender.submit("GET", server.url) for _ in range(2)]
        while len(server.requests) < 3:
            with pytest.raises(TimeoutError):
                calls[0].wait(0.01)
        server.close()
        for call in calls:
            with pytest.raises(NetworkError):  # On the open connection, a reconnect is tried first (B13).
                call.response(30)
    assert threading.active_count() == before


def test_there_is_an_answer() -> None:
    with pytest.raises(ValueError, match="answers"):
        ScriptedServer([])


@pytest.mark.parametrize("answers", ["200", [200, "503"], [None], [True], 200, [(200, {})]])
def test_what_is_no_answer_is_refused_at_once(answers: Any) -> None:
    with pytest.raises(TypeError, match="answers: must be"):
        ScriptedServer(answers)


@pytest.mark.parametrize(
    ("arguments", "kind", "name"),
    [
        ({"status": 99}, ValueError, "status: must be from 200 to 999"),
        ({"status": "200"}, TypeError, "status"),
        ({"headers": "A: b"}, TypeError, "headers"),
        ({"headers": {"A": 1}}, TypeError, "headers"),
        ({"headers": iter([("A", "b")])}, TypeError, "headers"),
        ({"body": {"a": "b"}}, TypeError, "body"),
        ({"delay": -1}, ValueError, "delay"),
        ({"delay": "1"}, TypeError, "delay"),
    ],
)
def test_an_answer_that_cannot_be_given_is_refused_at_once(
    arguments: dict[str, Any], kind: type[Exception], name: str
) -> None:
    with pytest.raises(kind, match=name):
        Answer(**arguments)


def test_a_function_that_gives_no_answer_is_told_by_close() -> None:
    wrong: Any = lambda request: "200"  # noqa: E731
    with pytest.raises(TypeError, match="answers"), ScriptedServer([wrong]) as server, client(1) as sender:
        assert sender.get(server.url).status == 500


def test_the_clock_is_here_too() -> None:
    with ManualClock() as clock:
        clock.advance(1)
        assert clock.monotonic() == 1

"""RetryStrategy: its options and its decisions."""

from __future__ import annotations

import copy
import inspect
import pickle
from ctypes import byref, sizeof
from typing import Any, Callable

import pytest
from calls import decisions, response, strategy, waits
from paths import VECTORS

from boxretry import (
    Action,
    Cause,
    DelaySource,
    InvalidArgumentError,
    ManualClock,
    Outcome,
    Reason,
    Request,
    RequestSent,
    RetryAfterState,
    RetryLoop,
    RetrySafety,
    RetryStrategy,
    TokenRetryPolicy,
    backoff_delay,
)
from boxretry._c import _abi


def test_b1_the_defaults_are_those_of_the_library() -> None:
    defaults = _abi.RetryOptions()
    assert _abi.boxretry_retry_options_init(byref(defaults), sizeof(defaults)) == 0

    parameters = inspect.signature(RetryStrategy).parameters
    for name in parameters.keys() - {"retry_after_over_cap", "delay_headers", "should_retry_header"}:
        assert parameters[name].default == getattr(defaults, name), name
    assert defaults.retry_after_over_cap == 0
    assert parameters["retry_after_over_cap"].default == "clamp"
    assert list(parameters)[:4] == [
        "max_attempts",
        "retry_base_interval",
        "retry_randomization_factor",
        "max_retries_on_exception",
    ]


def test_b6_the_defaults_of_the_arithmetic_are_those_of_the_strategy() -> None:
    of_strategy = inspect.signature(RetryStrategy).parameters
    of_function = inspect.signature(backoff_delay).parameters
    for name in of_function.keys() - {"attempt_number", "unit_random"}:
        assert of_function[name].default == of_strategy[name].default


def test_t5_the_defaults_of_the_token_policy_are_those_of_the_library() -> None:
    defaults = _abi.TokenRetryPolicy()
    assert _abi.boxretry_token_retry_policy_init(byref(defaults), sizeof(defaults)) == 0
    assert vars(TokenRetryPolicy()) == {
        name: getattr(defaults, name) for name, _ in _abi.TokenRetryPolicy._fields_ if name != "struct_size"
    }


def test_b3_a_decision_says_what_and_why() -> None:
    decision = strategy().should_retry(response(503, "7"), 2)

    assert decision.action is Action.RETRY
    assert decision.retry
    assert not decision.refresh_token
    assert not decision.succeeded
    assert decision.reason is Reason.SERVER_ERROR
    assert decision.reason.text == "server error (status 500 or above)"
    assert decision.delay == 7
    assert decision.delay_source is DelaySource.RETRY_AFTER
    assert decision.attempt_number == 2
    assert decision.exception_number == 0
    assert decision.retry_after_state is RetryAfterState.USABLE
    assert decision.retry_after == 7


@pytest.mark.parametrize(
    ("outcome", "action", "is_retry", "is_refresh", "is_success"),
    [
        (Outcome(404), Action.STOP, False, False, False),
        (Outcome(503), Action.RETRY, True, False, False),
        (Outcome(401, auth_available=True), Action.REFRESH_TOKEN_AND_RETRY, True, True, False),
        (Outcome(200), Action.SUCCEED, False, False, True),
    ],
)
def test_b3_the_properties_of_a_decision_follow_its_action(
    outcome: Outcome, action: Action, is_retry: bool, is_refresh: bool, is_success: bool
) -> None:
    decision = strategy().should_retry(outcome, 1)
    assert decision.action is action
    assert (decision.retry, decision.refresh_token, decision.succeeded) == (is_retry, is_refresh, is_success)


def test_a_decision_does_not_change() -> None:
    decision: Any = strategy().should_retry(Outcome(503), 1)
    with pytest.raises(AttributeError):
        decision.action = Action.STOP


def test_b7_without_a_retry_after_a_decision_has_none() -> None:
    decision = strategy().should_retry(Outcome(503), 1)
    assert (decision.retry_after_state, decision.retry_after) == (RetryAfterState.ABSENT, None)


def test_b2_every_cause_is_a_network_exception() -> None:
    for cause in Cause:
        decision = strategy().should_retry(Outcome(cause=cause), 2)
        assert (decision.reason, decision.exception_number, decision.delay) == (Reason.NETWORK_EXCEPTION, 2, 4)


def test_b11_a_retry_after_above_the_cap_is_clamped_or_stops() -> None:
    outcome = response(503, "100")

    clamped = strategy(retry_after_cap=10, retry_after_over_cap="clamp").should_retry(outcome, 1)
    stopped = strategy(retry_after_cap=10, retry_after_over_cap="stop").should_retry(outcome, 1)

    assert (clamped.action, clamped.delay, clamped.retry_after) == (Action.RETRY, 10, 100)
    assert (stopped.action, stopped.reason) == (Action.STOP, Reason.RETRY_AFTER_OVER_CAP)
    assert stopped.retry_after == 100


def test_c2_f122_a_thousand_calls_told_the_same_second_come_back_spread_over_the_next() -> None:
    """C2, F122. Given Retry-After: 1 and a jitter of 1: none before 1 s, and evenly over the second after."""
    with ManualClock() as clock:
        decider = strategy(retry_after_jitter=1)
        tenths = [0] * 10
        for seed in range(1, 1001):
            with RetryLoop(decider, clock=clock, seed=seed) as loop:
                decision = loop.next(response(429, "1"))
            assert (decision.retry, decision.delay_source) == (True, DelaySource.RETRY_AFTER)
            assert (decision.retry_after, 1 <= decision.delay <= 2) == (1, True)
            tenths[min(int((decision.delay - 1) * 10), 9)] += 1
    assert all(70 <= count <= 130 for count in tenths), tenths


def test_c2_without_the_option_all_come_back_in_the_same_moment() -> None:
    """C2. Off by default: the wait is exactly what the server stated."""
    assert {strategy().should_retry(response(429, "1.1"), 1).delay for _ in range(20)} == {1.1}


def test_c2_the_jitter_holds_for_dates_and_other_headers_too() -> None:
    """C2. For every kind of delay header, the wait is never shorter, and at most longer by the jitter."""
    jittered = RetryStrategy(retry_after_jitter=0.5, delay_headers={"retry-after-ms": 0.001})
    date = {"Date": "Sun, 06 Nov 1994 08:49:00 GMT", "Retry-After": "Sun, 06 Nov 1994 08:49:40 GMT"}
    for headers, seconds in (date, 40), ({"retry-after-ms": "8000"}, 8):
        delays = {jittered.should_retry(Outcome(503, headers=headers), 1).delay for _ in range(100)}
        assert seconds <= min(delays) < max(delays) <= seconds * 1.5
        assert len(delays) > 90


def test_c2_the_cap_is_never_exceeded() -> None:
    """B11, C2. Given a cap just above the server's value, waits lie between the two."""
    capped = RetryStrategy(retry_after_jitter=1, retry_after_cap=1.25)
    delays = {capped.should_retry(response(503, "1"), 1).delay for _ in range(100)}
    assert 1 <= min(delays) < max(delays) == 1.25


@pytest.mark.parametrize(
    "line", [line.split("\t") for line in (VECTORS / "retry_after_jitter.tsv").read_text().splitlines()[1:]]
)
def test_c2_waits_lie_where_the_vectors_say(line: list[str]) -> None:
    """C2. Each row of retry_after_jitter.tsv, with the jitter drawn 200 times."""
    value, (jitter, cap, least, _, most) = line[0], map(float, line[1:])
    decider = RetryStrategy(retry_after_jitter=jitter, retry_after_cap=cap)
    delays = [decider.retry_after(response(503, value), 1) for _ in range(200)]
    assert least * (1 - 1e-12) <= min(delays) <= max(delays) <= most * (1 + 1e-12)
    assert (max(delays) > least) == (most > least)


def test_b11_other_headers_may_carry_a_delay() -> None:
    """The first valid one wins, also over Retry-After."""
    decider = strategy(delay_headers={"X-Delay-Minutes": 60, b"retry-after-ms": 0.001})
    outcome = Outcome(503, headers={"Retry-After": "7", "Retry-After-Ms": "250", "x-delay-minutes": "soon"})
    assert decider.retry_after(outcome, 1) == 0.25


@pytest.mark.parametrize(
    ("request_", "sent", "reason"),
    [
        (Request("POST"), RequestSent.SOME, Reason.UNSAFE_REQUEST),
        (Request("PATCH"), RequestSent.UNKNOWN, Reason.UNSAFE_REQUEST),
        (Request("POST"), RequestSent.NOTHING, Reason.NETWORK_EXCEPTION),
        (Request("POST", retry_safety=RetrySafety.SAFE), RequestSent.SOME, Reason.NETWORK_EXCEPTION),
        (Request("GET", retry_safety=RetrySafety.UNSAFE), RequestSent.SOME, Reason.UNSAFE_REQUEST),
        (Request(), RequestSent.SOME, Reason.NETWORK_EXCEPTION),
        (Request(b"PUT"), RequestSent.SOME, Reason.NETWORK_EXCEPTION),
        (None, RequestSent.SOME, Reason.NETWORK_EXCEPTION),
    ],
)
def test_b12_an_unsafe_request_is_retried_only_if_the_server_cannot_have_acted_on_it(
    request_: Request | None, sent: RequestSent, reason: Reason
) -> None:
    outcome = Outcome(cause=Cause.RECEIVE, request=request_, request_sent=sent)
    assert strategy(retry_unsafe_methods=False).should_retry(outcome, 1).reason is reason
    assert strategy().should_retry(outcome, 1).reason is Reason.NETWORK_EXCEPTION


def test_r3_what_cannot_be_sent_again_is_not_retried() -> None:
    assert strategy().should_retry(Outcome(503, body_replayable=False), 1).reason is Reason.NOT_REPLAYABLE


def test_b4_attempt_number_0_is_accepted_and_a_negative_one_is_not() -> None:
    assert strategy().should_retry(Outcome(503), 0).delay == 1
    with pytest.raises(InvalidArgumentError, match="attempt_number"):
        strategy().should_retry(Outcome(503), -1)
    with pytest.raises(InvalidArgumentError, match="attempt_number"):
        strategy().retry_after(Outcome(503), -1)


def test_b6_the_jitter_stays_in_its_range() -> None:
    delays = [RetryStrategy().retry_after(Outcome(503), 1) for _ in range(200)]
    assert 1 <= min(delays) < max(delays) <= 3


def test_b5_retries_of_both_kinds_together_keep_the_bound() -> None:
    """With the defaults, 503 503 503 503 E E."""
    outcomes = [Outcome(503)] * 4 + [Outcome(cause=Cause.CONNECT)] * 2
    decided = decisions(outcomes)
    assert waits(decided) == [2, 4, 8, 16, 2]
    assert decided[-1].reason is Reason.RETRIES_EXHAUSTED


def test_a_loop_with_auth_available_has_it_for_every_outcome() -> None:
    assert decisions([Outcome(401)], auth_available=True)[0].refresh_token
    assert not decisions([Outcome(401)])[0].refresh_token
    assert decisions([Outcome(401, auth_available=True)])[0].refresh_token


def test_b6_the_same_seed_gives_the_same_delays() -> None:
    def delays(seed: int) -> list[float]:
        return waits(decisions([Outcome(503)] * 4, RetryStrategy(), seed=seed))

    assert delays(7) == delays(7)
    assert delays(7) != delays(8)
    assert delays(2**64 - 1) != delays(0) != delays(0)


@pytest.mark.parametrize(
    ("deadline", "wait_is_begun"), [(2.001, True), (2, False), (2.0004, False), (0.0001, False), (1e9, True)]
)
def test_b11_a_wait_that_would_reach_the_deadline_is_not_begun(deadline: float, wait_is_begun: bool) -> None:
    from boxretry import ManualClock

    with ManualClock() as clock:
        (decision,) = decisions([Outcome(503)], clock=clock, deadline=deadline)
    assert decision.retry == wait_is_begun
    assert wait_is_begun or decision.reason is Reason.DEADLINE


@pytest.mark.parametrize(
    "headers",
    [
        {"Retry-After": "7"},
        {b"Retry-After": b"7"},
        [("Retry-After", "7")],
        [["Retry-After", b"7"]],
        (pair for pair in [("Date", ""), ("Retry-After", "7")]),
        [("X-Not-Ascii", "\N{ARABIC-INDIC DIGIT THREE}"), ("X-Bytes", b"\xff\xfe"), ("Retry-After", "7")],
    ],
)
def test_headers_may_be_pairs_or_a_mapping_of_texts_or_bytes(headers: Any) -> None:
    assert strategy().retry_after(Outcome(503, headers=headers), 1) == 7


def test_headers_may_be_what_the_standard_library_has() -> None:
    from http.client import HTTPMessage

    message = HTTPMessage()
    message["Retry-After"] = "5"
    message["Retry-After"] = "7"
    assert strategy().retry_after(Outcome(503, headers=message), 1) == 7


def test_a_loop_takes_more_and_fewer_headers_from_one_outcome_to_the_next() -> None:
    """Its structs are reused: data of an earlier outcome must not appear in a later one."""
    many = Outcome(503, headers=[("X", "y")] * 100 + [("Retry-After", "7")], request=Request("POST"))
    outcomes = [Outcome(503, headers={"X": "y"}), many, Outcome(503), many, Outcome(503, headers={"X": "y"})]
    with RetryLoop(strategy(max_attempts=10, retry_unsafe_methods=False)) as loop:
        decided = [loop.next(outcome) for outcome in outcomes]
    assert [each.delay for each in decided] == [2, 7, 8, 7, 32]


def test_as_many_headers_as_the_library_takes() -> None:
    headers = [("X", "y")] * 65535
    assert strategy().retry_after(Outcome(503, headers=[*headers, ("Retry-After", "7")]), 1) == 7
    with pytest.raises(InvalidArgumentError, match="header_count"):
        strategy().retry_after(Outcome(503, headers=[*headers, ("Retry-After", "7"), ("X", "y")]), 1)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_a_copy_is_a_strategy_with_the_same_settings(duplicate: Callable[[RetryStrategy], RetryStrategy]) -> None:
    """Also a copy of a closed strategy."""
    original = RetryStrategy(3, 0.5, 0, 1, retry_after_cap=5, delay_headers={"x-wait-ms": 0.001}, retry_after_jitter=1)
    original.close()
    copied = duplicate(original)
    assert copied.should_retry(Outcome(503), 1).delay == 1
    assert 0.25 < copied.should_retry(Outcome(503, headers={"X-Wait-Ms": "250"}), 1).delay <= 0.5
    assert copied.should_retry(Outcome(503, headers={"Retry-After": "60"}), 1).delay == 5
    assert not copied.should_retry(Outcome(503), 3).retry
    assert not copied.should_retry(Outcome(cause=Cause.CONNECT), 2).retry


@pytest.mark.parametrize("headers", ["Retry-After: 7", b"x", 5])
def test_the_headers_of_an_outcome_are_a_mapping_or_pairs(headers: Any) -> None:
    with pytest.raises(TypeError, match="headers: must be a mapping, or pairs"):
        Outcome(429, headers=headers)


def test_headers_in_the_place_of_the_cause_are_refused_at_once() -> None:
    headers: Any = {"Retry-After": "7"}
    with pytest.raises(TypeError, match=r"cause: must be one of Cause.NONE, .*, not dict"):
        Outcome(429, headers)


def test_b11_a_strategy_for_api_clients() -> None:
    strategy = RetryStrategy.for_api_clients(max_attempts=2, retry_randomization_factor=0)
    said = {"Retry-After": "9", "retry-after-ms": "1500"}
    decision = strategy.should_retry(Outcome(409, headers={**said, "x-should-retry": "true"}), 1)
    assert (decision.reason, decision.delay) == (Reason.RETRY_REQUESTED, 1.5)
    refused = strategy.should_retry(Outcome(503, headers={**said, "X-Should-Retry": "false"}), 1)
    assert (refused.retry, refused.reason) == (False, Reason.RETRY_REFUSED)
    assert strategy.should_retry(Outcome(503), 2).reason is Reason.ATTEMPTS_EXHAUSTED
    copied = pickle.loads(pickle.dumps(strategy))
    assert copied.should_retry(Outcome(409, headers={"x-should-retry": "true"}), 1).retry


@pytest.mark.parametrize("name", ["", "a b", "a:", "a" * 257])
def test_b11_what_is_not_a_header_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidArgumentError, match=r"options\.should_retry_header: is not the name"):
        RetryStrategy(should_retry_header=name)


def test_b8_a_refresh_goes_before_the_header() -> None:
    outcome = Outcome(401, headers={"x-should-retry": "false"}, auth_available=True)
    assert RetryStrategy.for_api_clients().should_retry(outcome, 1).reason is Reason.UNAUTHORIZED

"""`boxretry explain`: each branch of the documented flow, and what goes beyond it."""

from __future__ import annotations

from typing import Any

import pytest
from tool_program import json_of, text_of

#: The questions before the one that says yes, in the order of the source's diagram.
DOCUMENTED = ["network_exception", "attempts_exhausted", "accepted", "server_error", "rate_limited", "unauthorized"]


def asked(answer: Any) -> list[tuple[str, bool]]:
    return [(step["name"], step["answer"]) for step in answer["path"]]


def documented_up_to(name: str) -> list[tuple[str, bool]]:
    """All documented questions up to this one, which alone is answered with yes."""
    index = DOCUMENTED.index(name)
    return [*((earlier, False) for earlier in DOCUMENTED[:index]), (name, True)]


def decision(answer: Any) -> tuple[str, str, str]:
    return answer["action"], answer["reason"], answer["delay_source"]


def delay_range(answer: Any) -> tuple[float, float, float]:
    return answer["delay_least"], answer["delay"], answer["delay_most"]


RETRY_AFTER = ["--header", "Retry-After: 7"]
ALL_NO = [(name, False) for name in DOCUMENTED]


@pytest.mark.parametrize("cause", ["resolve", "connect", "tls", "send", "receive", "protocol", "timeout_idle"])
def test_a_network_exception_is_retried_while_there_are_retries_left(cause: str) -> None:
    """B2, B3."""
    answer = json_of("explain", "--exception", cause, "--attempt", "2")
    assert asked(answer) == [("network_exception", True), ("exceptions_left", True)]
    assert decision(answer) == ("retry", "network_exception", "backoff")
    assert (answer["status"], answer["cause"], answer["exception_number"]) == (0, cause, 2)
    assert delay_range(answer) == (2, 4, 6)


def test_a_network_exception_too_many_ends_the_call() -> None:
    """B3."""
    answer = json_of("explain", "--status", "0", "--attempt", "3")
    assert asked(answer) == [("network_exception", True), ("exceptions_left", False)]
    assert decision(answer) == ("stop", "exceptions_exhausted", "none")
    assert delay_range(answer) == (0, 0, 0)


def test_a_response_that_broke_off_is_a_network_exception() -> None:
    """B2."""
    answer = json_of("explain", "--status", "200", "--exception", "receive")
    assert asked(answer) == [("network_exception", True), ("exceptions_left", True)]
    assert decision(answer) == ("retry", "network_exception", "backoff")


@pytest.mark.parametrize("status", [202, 401, 429, 503])
def test_the_last_attempt_is_not_retried(status: int) -> None:
    """B3: attempt_number >= max_attempts comes before every status. B10: a 202 is still a success."""
    answer = json_of("explain", "--status", str(status), "--attempt", "5", "--auth", *RETRY_AFTER)
    assert asked(answer) == [("network_exception", False), ("attempts_exhausted", True), ("success", status == 202)]
    assert decision(answer) == ("succeed" if status == 202 else "stop", "attempts_exhausted", "none")


def test_accepted_with_retry_after_is_asked_again() -> None:
    """B3, B7."""
    answer = json_of("explain", "--status", "202", *RETRY_AFTER)
    assert asked(answer) == documented_up_to("accepted")
    assert decision(answer) == ("retry", "accepted", "retry_after")
    assert delay_range(answer) == (7, 7, 7)


def test_accepted_without_retry_after_is_a_success() -> None:
    """B3, B10."""
    answer = json_of("explain", "--status", "202")
    assert asked(answer) == [*ALL_NO, ("success", True)]
    assert decision(answer) == ("succeed", "success", "none")


@pytest.mark.parametrize("status", [500, 503, 599, 999])
def test_a_server_error_is_retried(status: int) -> None:
    """B3."""
    answer = json_of("explain", "--status", str(status), "--attempt", "4")
    assert asked(answer) == documented_up_to("server_error")
    assert decision(answer) == ("retry", "server_error", "backoff")
    assert delay_range(answer) == (8, 16, 24)


def test_too_many_requests_is_retried() -> None:
    """B3."""
    answer = json_of("explain", "--status", "429")
    assert asked(answer) == documented_up_to("rate_limited")
    assert decision(answer) == ("retry", "rate_limited", "backoff")


def test_unauthorized_with_auth_refreshes_the_token() -> None:
    """B3, B8."""
    answer = json_of("explain", "--status", "401", "--auth")
    assert asked(answer) == documented_up_to("unauthorized")
    assert decision(answer) == ("refresh_token_and_retry", "unauthorized", "backoff")


@pytest.mark.parametrize("status", [401, 403, 404, 408, 428, 430, 499])
def test_any_other_failure_ends_the_call(status: int) -> None:
    """B3: 401 without auth too."""
    answer = json_of("explain", "--status", str(status), *RETRY_AFTER)
    assert asked(answer) == [*ALL_NO, ("success", False)]
    assert decision(answer) == ("stop", "not_retryable", "none")


@pytest.mark.parametrize("status", [200, 204, 302, 399])
def test_a_success_or_a_redirect_ends_the_call_well(status: int) -> None:
    """B10."""
    answer = json_of("explain", "--status", str(status))
    assert asked(answer) == [*ALL_NO, ("success", True)]
    assert decision(answer) == ("succeed", "success", "none")


def test_a_success_on_the_last_attempt_does_not_count_as_exhausted() -> None:
    """B10."""
    answer = json_of("explain", "--status", "200", "--attempt", "5")
    assert decision(answer) == ("succeed", "success", "none")


@pytest.mark.parametrize(
    "line", ["Retry-After: 2.5", "retry-after:2.5", "RETRY-AFTER : \t2.5 \r\n", "Retry-After: 1, 2.5, 2"]
)
def test_a_header_is_read_as_curl_reads_it(line: str) -> None:
    """B7: any case, white space around name and value does not matter."""
    answer = json_of("explain", "--status", "503", "-H", line)
    assert decision(answer) == ("retry", "server_error", "retry_after")
    assert delay_range(answer) == (2.5, 2.5, 2.5)
    assert (answer["retry_after_state"], answer["retry_after"]) == ("usable", 2.5)


@pytest.mark.parametrize("line", ["Retry-After:", "Retry-After: soon", "Retry-After: -1", "Retry-After: 1m"])
def test_an_unusable_retry_after_leaves_the_backoff(line: str) -> None:
    """B7: and a 202 still has the header."""
    answer = json_of("explain", "--status", "202", "-H", line)
    assert decision(answer) == ("retry", "accepted", "backoff")
    assert (answer["retry_after_state"], answer["retry_after"]) == ("not_usable", None)


def test_c2_the_jitter_of_a_retry_after_is_shown_as_a_range() -> None:
    """C2: and the cap (B11) holds for it too."""
    answer = json_of("explain", "--status", "503", *RETRY_AFTER, "--retry-after-jitter", "0.5")
    assert decision(answer) == ("retry", "server_error", "retry_after")
    assert (delay_range(answer), answer["retry_after"]) == ((7, 8.75, 10.5), 7)
    text = text_of("explain", "--status", "503", *RETRY_AFTER, "--retry-after-jitter", "0.5")
    assert "7 s to 10.5 s: Retry-After asks for 7 s, plus retry_after_jitter" in " ".join(text.split())
    capped = json_of(
        "explain", "--status", "503", *RETRY_AFTER, "--retry-after-jitter", "0.5", "--retry-after-cap", "8"
    )
    assert delay_range(capped) == (7, 8, 8)


def test_the_largest_of_several_header_lines_counts() -> None:
    """B7."""
    answer = json_of("explain", "--status", "503", *RETRY_AFTER, "-HRetry-After: 9", "--header=X-Other: 11")
    assert answer["delay"] == 9


def test_a_date_counts_from_the_date_of_the_response() -> None:
    """B7."""
    answer = json_of(
        *["explain", "--status", "429", "-H", "Retry-After: Wed, 21 Oct 2026 07:28:30 GMT"],
        *["-H", "Date: Wed, 21 Oct 2026 07:28:00 GMT"],
    )
    assert decision(answer) == ("retry", "rate_limited", "retry_after_date")
    assert answer["delay"] == 30


def test_a_cap_clamps_retry_after_or_stops() -> None:
    """B11."""
    capped = ["explain", "--status", "503", *RETRY_AFTER, "--retry-after-cap", "5"]
    clamped = json_of(*capped)
    assert (decision(clamped), clamped["delay"], clamped["retry_after"]) == (
        ("retry", "server_error", "retry_after"),
        5,
        7,
    )
    assert clamped == json_of(*capped, "--retry-after-over-cap", "clamp")

    stopped = json_of(*capped, "--retry-after-over-cap", "stop")
    assert asked(stopped) == [*documented_up_to("server_error"), ("over_cap", True), ("success", False)]
    assert decision(stopped) == ("stop", "retry_after_over_cap", "none")
    assert stopped["retry_after"] == 7

    within = json_of("explain", "--status=503", *RETRY_AFTER, "--retry-after-cap=7", "--retry-after-over-cap=stop")
    assert asked(within) == [*documented_up_to("server_error"), ("over_cap", False)]
    assert within["delay"] == 7


@pytest.mark.parametrize(
    ("outcome", "is_retried"),
    [
        (["--status", "500"], False),
        (["--status", "503"], False),
        (["--status", "503", *RETRY_AFTER], True),
        (["--status", "429"], True),
        (["--status", "401", "--auth"], True),
        (["--exception", "receive"], False),
        (["--exception", "receive", "--request-sent", "some"], False),
        (["--exception", "connect", "--request-sent", "nothing"], True),
    ],
)
def test_an_unsafe_method_is_only_retried_if_the_server_did_nothing(outcome: list[str], is_retried: bool) -> None:
    """B12."""
    for method in ("POST", "PATCH"):
        answer = json_of("explain", *outcome, "--method", method, "--no-retry-unsafe-methods")
        assert [step for step in asked(answer) if step[0] in ("unsafe_method", "proven_inaction")] == [
            ("unsafe_method", True),
            ("proven_inaction", is_retried),
        ]
        if is_retried:
            assert answer["action"] in ("retry", "refresh_token_and_retry")
        else:
            assert decision(answer) == ("stop", "unsafe_request", "none")

    for safe in (["-X", "PUT", "--no-retry-unsafe-methods"], ["-X", "POST"], ["--no-retry-unsafe-methods"]):
        assert json_of("explain", *outcome, *safe)["action"] in ("retry", "refresh_token_and_retry")


def test_a_body_that_cannot_be_sent_again_ends_the_call() -> None:
    """R3."""
    answer = json_of("explain", "--status", "503", "--body-not-replayable")
    assert asked(answer) == [*documented_up_to("server_error"), ("replayable", False), ("success", False)]
    assert decision(answer) == ("stop", "not_replayable", "none")


def test_people_see_the_questions_with_their_answers_then_action_delay_and_why() -> None:
    assert text_of("explain", "--status", "503", "--attempt", "2").splitlines() == [
        "Attempt 2 ended with status 503.",
        "",
        "  1. Status 0 (network exception)?         no",
        "  2. Attempt 2 >= max_attempts (5)?        no",
        "  3. Status 202 and a Retry-After header?  no",
        "  4. Status >= 500 (server error)?         yes -> retry",
        "",
        "Action  retry - wait for the delay, then send the request again",
        "Delay   backoff - 2 s to 6 s, 4 s without jitter: 2^2 * 1 s * a random factor,",
        "        0.5 to 1.5",
        "Why     server_error - server error (status 500 or above)",
    ]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["--status=401"], "6. Status 401 and auth available?            no (no auth) -> no retry"),
        (["--status=401", "--auth"], "yes -> refresh the token, then retry"),
        (["--status=200"], "Status 200 to 399 (success or redirect)?  yes -> succeed"),
        (["--status=202", "-HRetry-After:"], "yes (invalid value) -> retry"),
        (["--status=202"], "no (no Retry-After)"),
        (["--status=429", "-HRetry-After: x"], "The Retry-After value is invalid"),
        (
            ["--status=429", "-HRetry-After: 60", "--retry-after-cap=5"],
            "5 s, which is retry_after_cap: Retry-After asks",
        ),
        (["--exception=tls"], "Network exception 1: tls - the TLS handshake or the certificate check failed."),
        (["--status=200", "--exception=receive"], "yes (broken off)"),
        (["--exception=tls", "--attempt=9", "--max-retries-on-exception=9"], "But     retries_exhausted"),
    ],
)
def test_the_text_explains_what_the_question_does_not_show(arguments: list[str], expected: str) -> None:
    assert expected in text_of("explain", *arguments)


def test_no_line_for_people_is_longer_than_a_terminal_is_wide() -> None:
    unsafe = ["--no-retry-unsafe-methods", "-X", "POST"]
    for arguments in (
        ["delays", "--help"],
        ["delays", "--max-attempts", "1000"],
        ["explain", "--help"],
        ["fetch", "--help"],
        ["fetch", "--help", "all"],
        ["explain", "--status", "401", "--auth"],
        ["explain", "--status", "401"],
        ["explain", "--status", "202", "-H", "Retry-After:", "--attempt", "999999", "--max-attempts", "1000000"],
        ["explain", "--status", "429", "-H", "Retry-After: Wed, 21 Oct 2099 07:28:30 GMT"],
        ["explain", "--status", "503", "-H", "Retry-After: 7", *unsafe],
        ["explain", "--exception", "timeout_resource", "--status", "200", "--attempt", "1000000"],
    ):
        assert max(map(len, text_of(*arguments).splitlines())) <= 80

"""`boxretry fetch`: how a call ends, as an exit code and as one line of JSON."""

from __future__ import annotations

import json
from typing import Any

import pytest
from fault_server import FaultServer
from fetch_program import AT_ONCE, NO_RETRIES, attempts_of, fetch, fetch_json, json_line
from tool_program import text_of

ATTEMPT_KEYS = [
    *["number", "exception_number", "status", "error", "reason"],
    *["delay", "delay_source", "started_ms", "ended_ms"],
    *["redirects", "resumed_from", "http_version"],
]
REDIRECT_KEYS = ["attempt", "status", "url"]

# No name can have so long a part: no name server is asked.
NO_SUCH_HOST = "http://" + "a" * 64 + ".example/"


def check_shape(answer: Any) -> None:
    """Exactly these keys, in this order, with values of these types."""
    assert list(answer) == ["status", "error", "body_bytes", "attempts", "redirects"]
    assert type(answer["status"]) is int and type(answer["body_bytes"]) is int
    assert answer["error"] is None or type(answer["error"]) is str
    ended = 0
    for number, attempt in enumerate(answer["attempts"], 1):
        assert list(attempt) == ATTEMPT_KEYS
        assert attempt["number"] == number
        assert type(attempt["exception_number"]) is int and type(attempt["status"]) is int
        assert all(attempt[key] is None or type(attempt[key]) is str for key in ("error", "reason"))
        assert type(attempt["delay_source"]) is str and attempt["delay"] >= 0
        assert ended <= attempt["started_ms"] <= attempt["ended_ms"]
        ended = attempt["ended_ms"]
        followed = [redirect for redirect in answer["redirects"] if redirect["attempt"] == number]
        assert attempt["redirects"] == len(followed) and attempt["resumed_from"] >= 0
        assert attempt["http_version"] in (0, 10, 11, 20)
    for redirect in answer["redirects"]:
        assert list(redirect) == REDIRECT_KEYS


@pytest.mark.parametrize("status", [200, 204, 299, 300, 304, 399])
def test_a_success_or_a_redirect_is_exit_code_0(server: FaultServer, status: int) -> None:
    """B10."""
    answer = fetch_json(server.url(f"/seq/{status}"))
    check_shape(answer)
    assert (answer["status"], answer["error"], attempts_of(answer)) == (status, None, [status])


@pytest.mark.parametrize("status", [400, 401, 404, 429, 499, 500, 503, 599, 600, 999])
def test_any_other_status_is_exit_code_4(server: FaultServer, status: int) -> None:
    answer = fetch_json(NO_RETRIES, server.url(f"/seq/{status}", size=10), exit_code=4)
    check_shape(answer)
    assert (answer["status"], answer["error"], answer["body_bytes"]) == (status, None, 10)


@pytest.mark.parametrize(
    ("kind", "path", "cause"),
    [
        ("refused", "/seq/200", "connect"),
        ("tls_reset", "/seq/200", "tls"),
        ("https_self_signed", "/seq/200", "tls"),
        ("http", "/seq/reset", "receive"),
        ("http", "/seq/short", "receive"),
        ("http", "/seq/garbage", "protocol"),
        ("http", "/seq/200?h=Content-Length:some", "protocol"),
    ],
)
def test_a_network_exception_is_exit_code_5(server: FaultServer, kind: str, path: str, cause: str) -> None:
    """B2: it has its cause, and no status."""
    answer = fetch_json(NO_RETRIES, server.url(path, kind=kind), exit_code=5)
    check_shape(answer)
    part = 32 if path == "/seq/short" else 0
    assert (answer["status"], answer["error"], answer["body_bytes"]) == (0, cause, part)
    (attempt,) = answer["attempts"]
    assert (attempt["status"], attempt["error"], attempt["exception_number"]) == (0, cause, 1)
    assert attempt["reason"] == "exceptions_exhausted"


def test_a_name_that_cannot_be_resolved_is_exit_code_5() -> None:
    answer = fetch_json(NO_RETRIES, NO_SUCH_HOST, exit_code=5)
    check_shape(answer)
    assert (answer["error"], attempts_of(answer)) == ("resolve", ["resolve"])


def test_all_attempts_are_printed(server: FaultServer) -> None:
    """B4, B7: in their order, with both counters; the second one breaks off in the middle of its body."""
    url = server.url("/seq/503,short,429,200", {"429.h": "Retry-After:0"}, id=server.new_id())
    answer = fetch_json(AT_ONCE, url)
    check_shape(answer)
    assert [[attempt[key] for key in ATTEMPT_KEYS[:7]] for attempt in answer["attempts"]] == [
        [1, 0, 503, None, "server_error", 0, "backoff"],
        [2, 1, 0, "receive", "network_exception", 0, "backoff"],
        [3, 0, 429, None, "rate_limited", 0, "retry_after"],
        [4, 0, 200, None, "success", 0, "none"],
    ]


def test_an_attempt_that_the_deadline_ends_is_printed_too(server: FaultServer) -> None:
    """B11, B13: the server has seen it, and nothing was decided about it."""
    answer = fetch_json("--deadline-ms=20", AT_ONCE, server.url("/seq/stall"), exit_code=7)
    check_shape(answer)
    told = [[attempt[key] for key in ATTEMPT_KEYS[:7]] for attempt in answer["attempts"]]
    assert told == [[1, 0, 0, None, None, 0, "none"]]


def test_the_line_is_all_there_is_on_stdout_and_has_no_body(server: FaultServer) -> None:
    run = fetch("--json", "-i", server.url("/seq/200", body="secret"))
    assert json_line(run.output)["body_bytes"] == len("secret")
    assert "secret" not in run.output


def test_a_failure_is_one_line_with_libcurls_text(server: FaultServer) -> None:
    """The exception's own text, and the number of attempts if there were several."""
    run = fetch(AT_ONCE, server.url("/seq/200", kind="refused"))
    assert run.errors.replace("Couldn't", "Could not") == (  # libcurl's words have changed
        "boxretry fetch: connect: could not connect: Connection refused (Could not connect to server); 3 attempts\n"
    )
    run = fetch("--max-attempts=2", AT_ONCE, server.url("/seq/503", size=0))
    assert run.errors == (
        "boxretry fetch: the server returned status 503 Service Unavailable "
        "after 2 attempts (max_attempts is reached)\n"
    )


def test_a_redirect_with_a_truncated_body_is_not_a_success(server: FaultServer) -> None:
    """B15: what is beyond error_body_limit is lost, and a truncated body counts as none."""
    answer = fetch_json("--no-location", server.url("/seq/302", size=2_000_000), exit_code=9)
    assert (answer["status"], answer["error"], answer["body_bytes"]) == (302, "response_too_large", 1 << 20)


def test_the_help_documents_the_exit_codes() -> None:
    _, _, codes = text_of("fetch", "--help", "all").partition("\nExit codes:\n")
    found = [line.split()[0] for line in codes.splitlines() if not line.startswith("   ")]
    assert found == ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "130"]


def test_the_help_documents_the_keys_of_the_json() -> None:
    text = text_of("fetch", "--help", "all")
    for key in ["status", "error", "token_error", "body_bytes", "attempts", "redirects"]:
        assert f"\n  {key} " in text
    for key in ATTEMPT_KEYS + REDIRECT_KEYS:
        assert f"\n    {key}" in text


def test_json_shows_no_password(server: FaultServer) -> None:
    secret = server.url("/seq/404").replace("://", "://user:s3cr3t@")
    run = fetch("--json", secret, secret)
    assert "s3cr3t" not in run.output + run.errors
    assert json.loads(run.output.splitlines()[0])["url"] == secret.replace("user:s3cr3t@", "")

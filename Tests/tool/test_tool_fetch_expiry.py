"""`boxretry fetch`: an access token that has expired, or that cannot be fetched, and the messages for both."""

from __future__ import annotations

import json
import signal

import pytest
from fault_server import FaultServer
from fetch_program import (
    AT_ONCE,
    NO_RETRIES,
    Running,
    attempts_of,
    authorizations,
    fetch,
    fetch_json,
    json_line,
    on_terminal,
    rows_of,
)
from tool_program import Run

EXPIRED = json.dumps({"code": "token_expired"})
NO_TOKEN = 8


# --- When it has expired ---


def test_b8_after_a_401_there_is_a_wait_and_a_new_token(server: FaultServer) -> None:
    """And the same body is sent again."""
    mine, theirs = server.new_id(), server.new_id()
    answer = fetch_json(
        *["--retry-base-interval=0.001", "--retry-randomization-factor=0", "-d", "the same"],
        *["--token-url", server.url("/token", id=theirs)],
        server.url("/auth", accept="token-2", id=mine),
    )
    assert [(attempt["status"], attempt["reason"], attempt["delay"]) for attempt in answer["attempts"]] == [
        (401, "unauthorized", 0.002),
        (200, "success", 0),
    ]
    assert authorizations(server, mine) == ["Bearer token-1", "Bearer token-2"]
    assert [request["body_start"] for request in server.seen(mine)] == ["the same"] * 2
    assert len(server.seen(theirs)) == 2


def test_a_token_that_expires_in_the_middle_of_a_call_is_not_a_failure(server: FaultServer) -> None:
    """Given one that is good for the first attempts only."""
    mine, theirs = server.new_id(), server.new_id()
    url = server.url("/seq/503,429,401,503,200", id=mine)
    answer = fetch_json(AT_ONCE, "--token-url", server.url("/token", id=theirs), url)
    assert attempts_of(answer) == [503, 429, 401, 503, 200]
    assert authorizations(server, mine) == ["Bearer token-1"] * 3 + ["Bearer token-2"] * 2
    assert len(server.seen(theirs)) == 2


def test_r1_january_replays_an_expired_token_at_once(server: FaultServer) -> None:
    mine, theirs = server.new_id(), server.new_id()
    answer = fetch_json(
        *["--preset=january", "-X", "POST", "-d", "the same", "--token-url", server.url("/token", id=theirs)],
        server.url("/seq/401,200", {"401.body": EXPIRED}, id=mine),
    )
    assert [(attempt["status"], attempt["reason"], attempt["delay"]) for attempt in answer["attempts"]] == [
        (401, "token_expired", 0),
        (200, "success", 0),
    ]
    assert authorizations(server, mine) == ["Bearer token-1", "Bearer token-2"]
    assert [request["body_start"] for request in server.seen(mine)] == ["the same"] * 2


def test_r2_january_replays_no_other_401(server: FaultServer) -> None:
    mine = server.new_id()
    url = server.url("/seq/401", {"401.body": json.dumps({"code": "token_revoked"})}, id=mine)
    answer = fetch_json(NO_RETRIES, "--token-url", server.url("/token", id=server.new_id()), url, exit_code=4)
    assert (attempts_of(answer), "token_error" in answer) == ([401], False)


# --- When there is none ---


def token_url(server: FaultServer) -> str:
    """An endpoint that gives one token, and refuses to give another."""
    return server.url("/seq/token,400", {"400.body": '{"error": "invalid_grant"}'}, id=server.new_id())


def test_b8_without_another_token_the_call_ends_with_that(server: FaultServer) -> None:
    """The 401 is still there."""
    mine = server.new_id()
    url = server.url("/seq/401", body="who are you?", id=mine)
    run = fetch(AT_ONCE, "--token-url", token_url(server), url)
    assert (run.exit_code, run.output) == (NO_TOKEN, "who are you?")
    assert run.errors == (
        "boxretry fetch: client_token_provider_failed: the token provider failed: the provider failed "
        "(calls: 1): status 400: invalid_grant; status 401\n"
    )
    answer = fetch_json(AT_ONCE, "--token-url", token_url(server), server.url("/seq/401"), exit_code=NO_TOKEN)
    assert (answer["status"], attempts_of(answer)) == (401, [401])
    assert answer["error"] == answer["token_error"] == "client_token_provider_failed"


def test_r4_without_another_token_the_401_is_the_response(server: FaultServer) -> None:
    url = server.url("/seq/401", {"401.body": EXPIRED}, id=server.new_id())
    answer = fetch_json(NO_RETRIES, "--token-url", token_url(server), url, exit_code=NO_TOKEN)
    assert (answer["status"], answer["error"], answer["body_bytes"]) == (401, None, len(EXPIRED))
    assert answer["token_error"] == "client_token_provider_failed"


@pytest.mark.parametrize("preset", ["box", "january"])
def test_f116_a_401_to_a_fixed_token_is_an_ordinary_response(server: FaultServer, preset: str) -> None:
    """B8, T12."""
    url = server.url("/seq/401", {"401.body": EXPIRED}, id=server.new_id())
    answer = fetch_json(f"--preset={preset}", "--token=abc", url, exit_code=4)
    assert (answer["status"], attempts_of(answer), "token_error" in answer) == (401, [401], False)


def test_f77_a_rejected_token_that_comes_again_is_refused(server: FaultServer) -> None:
    url = server.url("/token", token="same", id=server.new_id())
    run = fetch(AT_ONCE, "--token-url", url, server.url("/seq/401", size=0))
    assert (run.exit_code, "the provider returned the rejected token again" in run.errors) == (NO_TOKEN, True)


@pytest.mark.parametrize(
    ("path", "parameters", "error", "why"),
    [
        ("/seq/400", {"body": '{"error": "invalid_client"}'}, "client_token_provider_failed", "400: invalid_client"),
        ("/seq/401", {}, "client_token_provider_failed", "status 401"),
        ("/seq/307", {"to": "http"}, "client_token_provider_failed", "status 307"),
        ("/seq/200", {"body": "<html>"}, "client_token_provider_failed", ""),
        ("/token", {"token": "a b"}, "invalid_client_token", "a byte that is not allowed in a header"),
        ("/token", {"expires_in": "60"}, "invalid_client_token_expiration", "above 60"),
    ],
)
def test_a_failure_of_the_endpoint_ends_the_call_before_anything_is_sent(
    server: FaultServer, path: str, parameters: dict[str, str], error: str, why: str
) -> None:
    """T6, T12: with its reason, unless that is secret."""
    mine = server.new_id()
    arguments = ["--token-url", server.url(path, {**parameters}, id=server.new_id()), server.url("/seq/200", id=mine)]
    answer = fetch_json(*arguments, exit_code=NO_TOKEN)
    assert (answer["status"], answer["attempts"], answer["error"], answer["token_error"]) == (0, [], error, error)
    run = fetch(*arguments)
    assert run.errors.startswith(f"boxretry fetch: {error}: ") and why in run.errors
    assert (run.output, server.seen(mine)) == ("", [])
    assert fetch("-s", *arguments) == Run(NO_TOKEN, "", "")


def test_b11_the_deadline_holds_for_the_wait_for_a_token(server: FaultServer) -> None:
    """T5: an endpoint that is busy is asked again, for as long as there is time."""
    theirs = server.new_id()
    url = server.url("/seq/stall", id=theirs)
    answer = fetch_json("--deadline-ms=50", "--token-url", url, server.url("/seq/200"), exit_code=7)
    assert (answer["error"], "token_error" in answer) == ("deadline", False)


def test_k1_ctrl_c_ends_the_wait_for_a_token(server: FaultServer) -> None:
    theirs = server.new_id()
    with Running("--json", "--token-url", server.url("/seq/stall", id=theirs), server.url("/seq/200")) as running:
        server.seen(theirs, requests=1)
        running.interrupt(signal.SIGINT)
        run = running.finish()
    answer = json_line(run.output)
    assert (run.exit_code, answer["error"], "token_error" in answer) == (130, "cancelled", False)


# --- The table ---


def test_a_wait_for_a_token_is_a_separate_line(server: FaultServer) -> None:
    url = server.url("/auth", accept="token-2", id=server.new_id())
    run = on_terminal(AT_ONCE, "--json", "--token-url", server.url("/token", id=server.new_id()), url)
    assert rows_of(run.errors) == [
        "  token  T  got",
        "      1  T  401           unauthorized, retry in 0 s (backoff)",
        "  token  T  got",
        "      2  T  200           success",
    ]


def test_the_same_is_printed_without_a_terminal(server: FaultServer) -> None:
    url = server.url("/seq/401,200", {"401.body": EXPIRED}, id=server.new_id())
    run = fetch("-v", NO_RETRIES, "--json", "--token-url", server.url("/token", id=server.new_id()), url)
    assert rows_of(run.errors) == [
        "  token  T  got",
        "      1  T  401           token_expired, retry in 0 s (none)",
        "  token  T  got",
        "      2  T  200           success",
    ]


def test_a_token_that_is_there_is_no_wait(server: FaultServer) -> None:
    assert rows_of(on_terminal("--json", "--token=abc", server.url("/seq/200")).errors) == [
        "      1  T  200           success"
    ]


def test_a_wait_in_vain_is_printed_too(server: FaultServer) -> None:
    """With the error of the call, which after a replay that could not be (R4) has none."""
    run = on_terminal(AT_ONCE, "--token-url", token_url(server), "-f", server.url("/seq/401"))
    *rows, why = rows_of(run.errors)
    assert rows == [
        "  token  T  got",
        "      1  T  401           unauthorized, retry in 0 s (backoff)",
        "  token  T  client_token_provider_failed",
    ]
    assert why.startswith("boxretry fetch: client_token_provider_failed: ")
    url = server.url("/seq/401", {"401.body": EXPIRED}, id=server.new_id())
    assert rows_of(on_terminal(NO_RETRIES, "--token-url", token_url(server), "-f", url).errors)[:-1] == [
        "  token  T  got",
        "      1  T  401           token_expired, retry in 0 s (none)",
        "  token  T  none",
    ]
    stalled = server.url("/seq/stall", id=server.new_id())
    rows = rows_of(on_terminal("--deadline-ms=20", "--token-url", stalled, server.url("/seq/200")).errors)
    assert rows[0] == "  token  T  deadline"


def test_the_line_of_a_wait_is_there_while_it_lasts(server: FaultServer) -> None:
    theirs = server.new_id()
    with Running("--token-url", server.url("/seq/stall", id=theirs), server.url("/seq/200")) as running:
        running.read_until("\n  token  ")
        assert running.screen.endswith("\n  token  ")
        assert running.process.poll() is None

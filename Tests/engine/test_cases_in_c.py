"""Cases F110 to F118, F120 and F124 to F129, and K5, in C, counted at the server. In Python they are in other files."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from c_programs import build
from fault_server import FaultServer

Play = Callable[..., list[str]]


@pytest.fixture(scope="module")
def play(tmp_path_factory: pytest.TempPathFactory) -> Play:
    """Plays a scene of one of the programs; the lines that it printed."""
    folder = tmp_path_factory.mktemp("cases")
    programs = {name: build(name, folder) for name in ("case_calls", "case_tokens")}

    def play(name: str, scene: str, url: str, other: str = "") -> list[str]:
        command = [str(programs[name]), scene, url, other]
        result = subprocess.run(command, capture_output=True, text=True, timeout=90)
        assert (result.returncode, result.stderr) == (0, ""), result
        return result.stdout.splitlines()

    return play


def authorizations(server: FaultServer, id: str) -> list[str]:
    return [dict(request["headers"]).get("Authorization", "") for request in server.seen(id)]


def test_f110_a_reconnect_is_one_of_the_retries(server: FaultServer, play: Play) -> None:
    id = server.new_id()
    printed = play("case_calls", "reconnect", server.url("/seq/500*4,reset,reset,200", id=id, size=5))
    assert printed == ["receive 0 : 500s 500s 500s 500s receivesr (5)"]
    assert len(server.seen(id)) == 6


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
def test_f111_january_s_preset_sends_nothing_again(server: FaultServer, play: Play, method: str) -> None:
    id = server.new_id()
    printed = play("case_calls", "january", server.url("/seq/200,reset,200", id=id, body="b"), method)
    assert printed == ["ok 200 b: 200s (1)", "receive 0 : receives (1)"]
    assert len(server.seen(id)) == 2


def test_f112_a_provider_has_no_limit_unless_one_is_set(server: FaultServer, play: Play) -> None:
    id = server.new_id()
    assert play("case_tokens", "slow_provider", server.url("/seq/200", id=id, body="b")) == ["ok 200 b: 200s (1)", "1"]
    assert authorizations(server, id) == ["Bearer t1"]


def test_f113_a_provider_that_cancels_is_reported_as_cancellation(server: FaultServer, play: Play) -> None:
    id = server.new_id()
    printed = play("case_tokens", "cancelling_provider", server.url("/seq/200", id=id))
    assert printed == ["1", "cancelled 0 : (0)", "2"]
    assert server.seen(id) == []


def test_f114_the_new_token_is_fetched_beside_the_wait(server: FaultServer, play: Play) -> None:
    """Also beside a wait of an hour, which a cancel then ends."""
    for seconds, other, expected in (
        ("1", "", ["ok 200 b: 401s 200s (2)", "2"]),
        ("3600", "cancel", ["cancelled 401 b: 401s (1)", "2"]),
    ):
        id = server.new_id()
        url = server.url("/seq/401,200", {"401.h": f"Retry-After:{seconds}"}, id=id, body="b")
        assert play("case_tokens", "beside_the_wait", url, other) == expected
        assert authorizations(server, id) == ["Bearer t1", "Bearer t2"][: 1 if other else 2]


def test_f115_without_another_token_the_call_ends_at_once(server: FaultServer, play: Play) -> None:
    """Not after the wait, which would be an hour."""
    id = server.new_id()
    url = server.url("/seq/401,200", {"401.h": "Retry-After:3600"}, id=id, body="b")
    printed = play("case_tokens", "fails_beside_the_wait", url)
    assert printed == ["client_token_provider_failed 401 b: 401s (1)", "2"]
    assert len(server.seen(id)) == 1


def test_f116_a_fixed_token_stays(server: FaultServer, play: Play) -> None:
    id = server.new_id()
    printed = play("case_calls", "fixed_token", server.url("/seq/401,200", id=id, body="b"))
    assert printed == ["ok 401 b: 401s (1)", "ok 200 b: 200s (1)"]
    assert authorizations(server, id) == ["Bearer only", "Bearer only"]


def test_f117_max_attempts_2000_means_2000(server: FaultServer, play: Play) -> None:
    id = server.new_id()
    url = server.url("/seq/503", {"h": "Retry-After:0"}, id=id, body="b")
    assert play("case_calls", "no_ceiling", url) == ["ok 503 b: 503s 503s (2000)"]
    assert len(server.seen(id)) == 2000


def test_f118_a_strategy_sees_the_body_and_the_final_url(server: FaultServer, play: Play) -> None:
    id = server.new_id()
    busy = server.url("/seq/409", {"409.body": '{"code":"busy"}'}, id=id)
    printed = play("case_calls", "custom_strategy", server.url("/seq/302", id=server.new_id(), h=f"Location:{busy}"))
    seen = '409 {"code":"busy"} ' + busy
    assert printed == [seen, seen, 'ok 409 {"code":"busy"}: 409s> 409s> (2)']
    assert len(server.seen(id)) == 2


def test_f120_who_only_looks_may_look_anywhere(server: FaultServer, play: Play) -> None:
    assert play("case_tokens", "look_inside", "") == ["t1 t1"]


@pytest.mark.parametrize("kind", ["backlog", "silent"])
def test_f124_a_post_that_a_303_answered(server: FaultServer, play: Play, kind: str) -> None:
    id = server.new_id()
    url = server.url("/seq/303", id=id, h=f"Location:http://127.0.0.1:{server.ports[kind]}/")
    assert play("case_calls", "deadline", url, "POST") == ["deadline 0 : nones> (1)"]
    assert [request["method"] for request in server.seen(id)] == ["POST"]


def test_f125_the_second_attempt_is_broken_off(server: FaultServer, play: Play) -> None:
    """By the deadline; by a hook that fails. The 503 is attached, with its body."""
    id, other = server.new_id(), server.new_id()
    printed = play("case_calls", "deadline", server.url("/seq/503,stall", {"503.body": "busy"}, id=id), "GET")
    assert printed == ["deadline 503 busy: 503s nones (2)"]
    printed = play("case_calls", "hook", server.url("/seq/503", {"503.body": "busy"}, id=other))
    assert printed == ["callback_failed 503 busy: 503s none (2)"]
    assert (len(server.seen(id)), len(server.seen(other))) == (2, 1)


def test_f126_a_busy_endpoint_is_asked_again_when_it_says(server: FaultServer, play: Play) -> None:
    id = server.new_id()
    url = server.url("/seq/429,token", {"429.h": "Retry-After:3"}, id=id)
    assert play("case_tokens", "busy_endpoint", url) == ["token-1 3.0"]
    assert len(server.seen(id)) == 2


def test_f127_the_life_of_an_answer_that_does_not_say_it(server: FaultServer, play: Play) -> None:
    id = server.new_id()
    error, token = play("case_tokens", "no_life", server.url("/seq/200", {"body": '{"access_token":"t"}'}, id=id))
    assert error.startswith("invalid_client_token_expiration: ") and "expires_in" in error
    assert token == "t 1800"
    assert len(server.seen(id)) == 2


@pytest.mark.parametrize("retryable", ["", "retryable"])
def test_f128_f128b_a_dead_provider_is_not_hammered_and_no_call_waits_for_it(
    server: FaultServer, play: Play, retryable: str
) -> None:
    """100,000 callers within half a second get the token that has 40 s left."""
    (calls,) = play("case_tokens", "stale", "", retryable)
    assert int(calls) in (1, 2)


def test_f129_a_file_that_has_changed_ends_the_call(server: FaultServer, play: Play, tmp_path: Path) -> None:
    id = server.new_id()
    printed = play("case_calls", "changed_file", server.url("/seq/503,200", id=id, body="b"), str(tmp_path / "file"))
    assert printed == ["source 0 : 503s none (2)"]
    assert [request["answer"] for request in server.seen(id)] == ["503"]


def test_k5_a_blocking_call_is_lent_to_its_callbacks(server: FaultServer, play: Play) -> None:
    """With a source alone, and with a sink alone."""
    id = server.new_id()
    printed = play("case_calls", "lent_call", server.url("/seq/200", id=id, body="b"))
    assert printed == ["ok 200 b: 200s (1)", "ok 200 : 200s (1)"]
    assert [request["body_length"] for request in server.seen(id)] == [0, 0]

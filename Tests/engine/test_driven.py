"""W11: a client with BOXRETRY_THREADS_NONE has no thread, and a program drives it from its event loop."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from c_programs import build
from fault_server import FaultServer


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("driven", tmp_path_factory.mktemp("driven"))


def play(program: Path, scene: str, *urls: str) -> str:
    """What a scene of driven.c prints, which checks what it does."""
    result = subprocess.run([str(program), scene, *urls], capture_output=True, text=True, timeout=120)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


def test_w11_no_thread_is_started(server: FaultServer, program: Path) -> None:
    """W11. Retries, a custom strategy, a token provider and a token endpoint, in each way to drive."""
    url = server.url("/seq/503,200", id=server.new_id(), cycle="")
    play(program, "no_thread", url, server.url("/seq/token", id=server.new_id(), cycle=""))


def test_w11_the_descriptor_is_readable_when_there_is_something_to_do(server: FaultServer, program: Path) -> None:
    """W11. Given calls that are retried, a program that only polls the descriptor sees all of them end."""
    play(program, "watched", server.url("/seq/503,200", id=server.new_id(), cycle=""))


def test_w11_the_descriptor_is_readable_when_a_time_limit_passes(server: FaultServer, program: Path) -> None:
    play(program, "time_limit", server.url("/seq/stall", id=server.new_id()))


def test_w11_a_cancel_takes_effect_when_the_client_is_driven(server: FaultServer, program: Path) -> None:
    play(program, "nothing_moves_by_itself", server.url("/seq/stall", id=server.new_id()))


def test_w11_k5_free_ends_the_calls_on_its_own_thread(server: FaultServer, program: Path) -> None:
    play(program, "free_ends_calls", server.url("/seq/stall", id=server.new_id(), cycle=""))


def test_w11_k5_a_callback_may_free_the_client_that_is_driven(server: FaultServer, program: Path) -> None:
    ids = [server.new_id(), server.new_id()]
    play(program, "callback_frees", server.url("/seq/200", id=ids[0]), server.url("/seq/stall", id=ids[1]))


def test_w11_wrong_uses_are_errors(server: FaultServer, program: Path) -> None:
    """W11, K4, W9. A client with threads, a second value, a closed client, a child of fork()."""
    play(program, "wrong_uses", server.url("/seq/stall", id=server.new_id()))


def test_w11_a_source_on_another_clock_is_refused(server: FaultServer, program: Path) -> None:
    said = play(program, "other_clock", server.url("/seq/200", id=server.new_id()))
    assert said == "options.token_source: has another clock than the client, which has no thread\n"


def test_w11_a_token_endpoint_does_not_block_other_calls(server: FaultServer, program: Path) -> None:
    url = server.url("/seq/200", id=server.new_id(), cycle="")
    play(program, "slow_endpoint", url, server.url("/seq/stall", id=server.new_id()))


def test_w11_a_client_with_threads_continues_what_a_driven_one_began(server: FaultServer, program: Path) -> None:
    """W11, T3. Given a source that both use, and a driven client that is not driven any more, or freed."""
    url = server.url("/seq/200", id=server.new_id(), cycle="")
    id = server.new_id()
    play(program, "shared_source", url, server.url("/seq/token", id=id, cycle=""))
    assert len(server.seen(id)) == 2


def test_w11_the_next_client_continues_what_a_closed_one_began(server: FaultServer, program: Path) -> None:
    url = server.url("/seq/200", id=server.new_id(), cycle="")
    id = server.new_id()
    play(program, "next_client", url, server.url("/seq/token", id=id, cycle=""))
    assert len(server.seen(id)) == 1


def test_w11_a_late_answer_of_a_provider_wakes_the_program(server: FaultServer, program: Path) -> None:
    play(program, "late_answer", server.url("/seq/200", id=server.new_id()))


def test_w11_a_clock_advances_by_itself_while_the_program_polls(server: FaultServer, program: Path) -> None:
    url = server.url("/seq/503,200", {"503.h": "Retry-After:3600"}, id=server.new_id())
    play(program, "clock_by_itself", url)

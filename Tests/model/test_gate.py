"""C3: the gate of the core, and the one of `boxretry simulate`, against the model in model_gate.py.

A failure prints the seed of a program; BOXRETRY_MODEL_SEED begins with that one.
"""

import os
import random
import subprocess

import pytest
from model_gate import UNLIMITED, ModelGate, program

SEED = int(os.environ.get("BOXRETRY_MODEL_SEED") or random.randrange(2**32))


@pytest.fixture(scope="module")
def programs(sequence_count: int) -> dict[int, list[str]]:
    count = sequence_count // 10
    return {seed: program(seed) for seed in [*range(count), *range(SEED, SEED + count)]}


def expected_of(commands: list[str]) -> list[str]:
    model = ModelGate()
    return [answer for answer in map(model.run, commands) if answer is not None]


def assert_agrees(runner: list[str], programs: dict[int, list[str]]) -> None:
    text = "".join(command + "\n" for commands in programs.values() for command in commands)
    ran = subprocess.run(runner, input=text, check=True, stdout=subprocess.PIPE, text=True, timeout=600)
    got = iter(ran.stdout.splitlines())
    for seed, commands in programs.items():
        asked = [index for index, command in enumerate(commands) if command.startswith("fill")]
        for index, expected in zip(asked, expected_of(commands)):
            answer = next(got, None)
            assert answer == expected, f"seed {seed}, after {commands[max(index - 30, 0) : index + 1]}"
    assert next(got, None) is None


def test_c3_the_core_agrees_with_the_model(swift_runner: list[str], programs: dict[int, list[str]]) -> None:
    assert_agrees(swift_runner, programs)


def test_c3_the_gate_of_the_simulation_agrees_with_the_model(
    gate_runner: list[str], programs: dict[int, list[str]]
) -> None:
    assert_agrees(gate_runner, programs)


def test_the_programs_close_open_and_use_up_quotas(programs: dict[int, list[str]]) -> None:
    seen = set()
    for commands in programs.values():
        model = ModelGate()
        for command in commands:
            before = (model.closed_until, model.allowed, model.quota)
            model.run(command)
            seen |= {"closes"} if model.closed_until is not None else set()
            seen |= (
                {"opens"} if before[1] == UNLIMITED // 2 and model.allowed is None and not model.closed_until else set()
            )
            seen |= {"quota"} if before[2] is not None and model.quota is None and model.allowed else set()
    assert seen == {"closes", "opens", "quota"}

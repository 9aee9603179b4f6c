"""The model against the vectors, and the library against the model.

The short form runs 5,000 random sequences, `pytest --long` 200,000, and `python compare.py` any number.
A failure prints the seed; BOXRETRY_MODEL_SEED repeats one; by default each run draws another.
"""

import os
import random
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import pytest
from compare import agrees, first_difference, run
from generate import sequence
from machine import Machine
from model import Decision, RetryOptions, TokenPolicy, backoff, token_delay
from model_retry_after import Range, parse_value
from text_format import encode, parse_line

VECTORS = Path(__file__).resolve().parents[1] / "vectors"
WALL_CLOCK_OF_VECTORS = Fraction(1790000000)

FIXED_SEEDS = [1, 2, 3, 4]
ANY_SEED = int(os.environ.get("BOXRETRY_MODEL_SEED") or random.randrange(2**32))


def rows(name: str) -> list[list[str]]:
    lines = (VECTORS / name).read_text(encoding="utf-8").split("\n")
    return [line.split("\t") for line in lines if line and not line.startswith("#")]


def assert_is(delay: str, expected: Range) -> None:
    assert agrees(f"value {delay}", expected), f"the vector says {delay}, the model {expected}"


# The model agrees with the vectors


def test_B6_model_has_every_delay_of_the_backoff_vectors() -> None:
    table = rows("backoff.tsv")
    assert table
    for number, base, factor, unit, delay in table:
        options = RetryOptions(retry_base_interval=float(base), retry_randomization_factor=float(factor))
        assert_is(delay, backoff(options, int(number), float(unit)))


def test_T5_model_has_every_delay_of_the_token_vectors() -> None:
    table = rows("token_delays.tsv")
    assert table
    for failed, initial, multiplier, maximum, ratio, unit, delay in table:
        policy = TokenPolicy(9, float(initial), float(multiplier), float(maximum), float(ratio))
        assert_is(delay, Range.exactly(token_delay(policy, int(failed), float(unit))))


def test_B7_model_reads_every_value_of_the_retry_after_vectors() -> None:
    table = rows("retry_after.tsv")
    assert table
    for value, seconds in table:
        wish = parse_value(value.replace("\\t", "\t").encode(), WALL_CLOCK_OF_VECTORS)
        if seconds == "-":
            assert wish is None, f"{value!r} is not usable"
        else:
            assert wish, f"{value!r} is usable"
            assert_is(seconds, wish.seconds)


@pytest.mark.parametrize("row", rows("decisions.tsv"), ids=lambda row: row[0])
def test_B3_B5_model_takes_every_decision_of_the_vectors(row: list[str]) -> None:
    _, attempts, exceptions, auth, outcomes, expected = row
    commands = [f"strategy max_attempts={attempts} max_retries_on_exception={exceptions} retry_randomization_factor=0"]
    commands += [f"loop auth_available={auth}"]
    for outcome in outcomes.split():
        status, mark, value = outcome.partition("+ra=")
        header = f" header=Retry-After:{encode(value.encode())}" if mark else ""
        commands.append(f"attempt status={0 if status == 'E' else status}{header}")
    assert actions(commands) == expected.split()


def actions(commands: list[str]) -> list[str]:
    """What the model decides, as the vectors write it."""
    machine = Machine()
    taken = []
    for command in commands:
        answers = machine.run(parse_line(command))
        assert answers
        machine.settle(answers.allowed[0])
        for decision in answers.allowed[:1]:
            if isinstance(decision, Decision):
                taken.append(as_in_vectors(decision))
    return taken


def as_in_vectors(decision: Decision) -> str:
    if decision.is_last:
        return "success" if decision.action == "succeed" else "stop"
    delay = float(decision.delay.low)
    number = decision.exception_number or decision.attempt_number
    if decision.delay_source == "backoff":
        assert delay == 2**number
    wait = f"b{number}" if decision.delay_source == "backoff" else f"ra{delay}"
    return f"{'refresh' if decision.action == 'refresh_token_and_retry' else 'retry'}:{wait}"


# The library agrees with the model, in each language


class Generated(NamedTuple):
    seed: int
    sequences: list[list[str]]
    agreed: dict[int, list[str]]  # answers to the sequence of that number that agree with the model


@pytest.fixture(scope="module", params=[*FIXED_SEEDS, ANY_SEED])
def generated(request: pytest.FixtureRequest, sequence_count: int) -> Generated:
    return Generated(request.param, [sequence(request.param, number) for number in range(sequence_count)], {})


@pytest.fixture(scope="module")
def from_c(generated: Generated, c_runner: list[str]) -> list[list[str]]:
    return run(c_runner, generated.sequences)


@pytest.fixture(scope="module")
def from_python(generated: Generated, python_runner: list[str]) -> list[list[str]]:
    return run(python_runner, generated.sequences)


@pytest.fixture(scope="module")
def from_swift(generated: Generated, swift_runner: list[str]) -> list[list[str]]:
    return run(swift_runner, generated.sequences)


def assert_agree_with_model(generated: Generated, answers: list[list[str]], may_skip: bool = False) -> None:
    for number, (commands, lines) in enumerate(zip(generated.sequences, answers)):
        if generated.agreed.get(number) == lines:
            continue  # another language has answered just so
        found = first_difference(commands, lines, may_skip)
        assert found is None, f"seed {generated.seed}, {found}"
        if not may_skip:
            generated.agreed[number] = lines


def test_B_T5_library_agrees_with_model_on_random_sequences(generated: Generated, from_c: list[list[str]]) -> None:
    assert_agree_with_model(generated, from_c)


def test_B_T5_python_package_agrees_with_model_on_random_sequences(
    generated: Generated, from_python: list[list[str]]
) -> None:
    assert_agree_with_model(generated, from_python, may_skip=True)


def test_B_T5_core_with_all_checks_agrees_with_model_on_random_sequences(
    generated: Generated, from_swift: list[list[str]]
) -> None:
    assert_agree_with_model(generated, from_swift)


def decisions_in(lines: list[str]) -> list[str]:
    return [line for line in lines if line.startswith("decision")]


def test_B4_B6_same_seed_gives_same_decisions_in_all_languages(
    generated: Generated, from_c: list[list[str]], from_python: list[list[str]], from_swift: list[list[str]]
) -> None:
    count = 0
    for commands, in_c, in_python, in_swift in zip(generated.sequences, from_c, from_python, from_swift):
        # Without a manual clock a deadline may pass in one language and not in the other.
        if not any(line.startswith("clock ") for line in commands):
            continue
        assert decisions_in(in_c) == decisions_in(in_python), f"seed {generated.seed}: {commands}"
        assert in_c == in_swift, f"seed {generated.seed}: {commands}"  # the words of errors too
        count += len(decisions_in(in_c))
    assert count > len(generated.sequences) / 2


def test_python_package_can_say_nearly_everything(from_python: list[list[str]]) -> None:
    answers = [line for lines in from_python for line in lines]
    assert 0 < answers.count("unsupported") < len(answers) / 50


def test_harness_sees_a_wrong_answer_a_missing_one_and_one_too_many(c_runner: list[str]) -> None:
    commands = ["sequence 0", "strategy retry_randomization_factor=0", "loop"]
    commands += ["attempt status=503", "attempt status=200"]
    [answers] = run(c_runner, [commands])
    assert first_difference(commands, answers) is None
    wrong_delay = [line.replace("server_error 2 ", "server_error 2.0000000001 ") for line in answers]
    assert wrong_delay != answers
    for spoilt in (wrong_delay, answers[:-1], [*answers, "ok"], [line.replace("stop", "") for line in answers[1:]]):
        assert first_difference(commands, spoilt)
    [from_a_crash] = run(["false"], [commands])
    assert first_difference(commands, from_a_crash)
    difference = first_difference(commands, wrong_delay)
    assert difference and difference.commands == commands[:4]


# Jitter


def first_delays(runner: list[str], seeds: list[int]) -> list[float]:
    """The first delay of a loop with each of these seeds, 0 to 1 over the range of the jitter."""
    sequences = [["sequence 0", "strategy", f"loop seed={seed}", "attempt status=503"] for seed in seeds]
    delays = [float(answers[-1].split(" ")[3]) for answers in run(runner, sequences)]
    return [(delay - 1.0) / 2.0 for delay in delays]


def distance_from_uniform(values: list[float]) -> float:
    """Kolmogorov and Smirnov's: the greatest distance between the two distribution functions."""
    count = len(values)
    return max(max(value - index / count, (index + 1) / count - value) for index, value in enumerate(sorted(values)))


@pytest.mark.parametrize("first_seed", [1, 2**63])
def test_B6_first_delays_of_neighboring_seeds_are_uniform(c_runner: list[str], first_seed: int) -> None:
    values = first_delays(c_runner, list(range(first_seed, first_seed + 2000)))
    assert all(0 <= value <= 1 for value in values)
    assert distance_from_uniform(values) < 1.95 / len(values) ** 0.5  # one in a thousand fair draws is beyond


def test_B6_delays_of_one_loop_are_uniform_and_do_not_repeat(c_runner: list[str]) -> None:
    commands = ["sequence 0", "strategy max_attempts=1000 retry_base_interval=1e-300", "loop seed=42"]
    [answers] = run(c_runner, [commands + ["attempt status=503"] * 900])
    delays = [float(line.split(" ")[3]) for line in answers[3:]]
    values = [delay / (2.0**number * 1e-300) - 0.5 for number, delay in enumerate(delays, 1)]
    assert len(set(values)) == len(values)
    assert distance_from_uniform(values) < 1.95 / len(values) ** 0.5


def test_F24_seed_0_gives_different_delays_each_time(c_runner: list[str]) -> None:
    values = first_delays(c_runner, [0] * 100)
    assert len(set(values)) > 90


def test_sequences_come_from_seed_and_number_alone() -> None:
    assert sequence(5, 7) == sequence(5, 7) != sequence(6, 7)

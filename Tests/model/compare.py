"""Holds a runner's answers against the model's.

    python compare.py --runner RUNNER --seed 1 --sequences 100000

On a difference it prints the seed, the sequence up to the command at fault, what was expected and what came.
"""

import argparse
import random
import subprocess
import sys
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple, Optional, Union

from generate import sequence
from machine import Machine
from model import Decision
from model_loop import Failure
from model_retry_after import Range
from text_format import parse_line

BATCH = 10_000
TIME_LIMIT = 600  # seconds for a batch, so that a hang is a failure
TOLERANCE = Fraction(1, 10**12)
DUST = Fraction(1, 10**300)  # below it, doubles are no longer exact to TOLERANCE


class Difference(NamedTuple):
    """Where a runner and the model part; `commands` ends with the command at fault."""

    commands: list[str]
    expected: list[str]
    got: list[str]

    def __str__(self) -> str:
        indent = "\n    "
        parts = ["commands:", *self.commands, "expected, one of:", *self.expected, "got:", *self.got]
        return indent.join(parts).replace(f"{indent}expected", "\n  expected").replace(f"{indent}got", "\n  got")


def in_range(text: str, expected: Range) -> bool:
    try:
        value = Fraction(float(text))
    except (ValueError, OverflowError):  # not a number, NaN, infinite
        return False
    blur = max(TOLERANCE * expected.high, DUST)
    return expected.low - blur <= value <= expected.high + blur


def is_decision(line: str, decision: Decision) -> bool:
    words = line.split(" ")
    if len(words) != 9:
        return False
    names = [words[0], words[1], words[2], words[4], words[5], words[6], words[7]]
    numbers = [str(decision.attempt_number), str(decision.exception_number)]
    right = ["decision", decision.action, decision.reason, decision.delay_source, *numbers, decision.retry_after_state]
    is_wish = words[8] == "-1" if decision.retry_after is None else in_range(words[8], decision.retry_after)
    return names == right and in_range(words[3], decision.delay) and is_wish


def is_failure(line: str, failure: Failure) -> bool:
    start = f"error {failure.name}"
    if not (line + " ").startswith(start + " "):
        return False
    return not failure.fields or any(name in line[len(start) :] for name in failure.fields)


def agrees(line: str, allowed: Union[str, Decision, Range, Failure]) -> bool:
    if isinstance(allowed, Decision):
        return is_decision(line, allowed)
    if isinstance(allowed, Failure):
        return is_failure(line, allowed)
    if isinstance(allowed, Range):
        return line.startswith("value ") and in_range(line[6:], allowed)
    return line == allowed


def shown_range(delay: Range) -> str:
    low, high = (f"{float(end):.17g}" for end in delay)
    return low if low == high else f"{low}..{high}"


def shown(allowed: Union[str, Decision, Range, Failure]) -> str:
    """An allowed answer as the runner would have written it; a random delay as LOW..HIGH."""
    if isinstance(allowed, str):
        return allowed
    if isinstance(allowed, Failure):
        return f"error {allowed.name}" + (f" (and one of {allowed.fields} in the detail)" if allowed.fields else "")
    if isinstance(allowed, Range):
        return f"value {shown_range(allowed)}"
    wish = "-1" if allowed.retry_after is None else shown_range(allowed.retry_after)
    return (
        f"decision {allowed.action} {allowed.reason} {shown_range(allowed.delay)} {allowed.delay_source} "
        f"{allowed.attempt_number} {allowed.exception_number} {allowed.retry_after_state} {wish}"
    )


def first_difference(commands: list[str], answers: list[str], may_skip: bool = False) -> Optional[Difference]:
    """Runs one sequence through the model, beside what a runner answered to it.

    `may_skip`: the runner may answer `unsupported`.
    """
    machine = Machine()
    lines = iter(answers)
    for index, text in enumerate(commands):
        answer = machine.run(parse_line(text))
        if answer is None:
            continue
        got = [next(lines, "nothing")]
        if may_skip and got == ["unsupported"]:
            continue
        got += [next(lines, "nothing") for _ in answer.asked]
        fitting = [allowed for allowed in answer.allowed if agrees(got[-1], allowed)]
        if got[:-1] != answer.asked or not fitting:
            expected = answer.asked + [shown(allowed) for allowed in answer.allowed]
            return Difference(commands[: index + 1], expected, got)
        machine.settle(fitting[0])
    rest = list(lines)
    return Difference(commands, ["nothing more"], rest) if rest else None


def run(runner: list[str], sequences: list[list[str]]) -> list[list[str]]:
    """The runner's answers, one list for each sequence. A crash leaves the lists after it empty."""
    text = "".join(f"{line}\n" for commands in sequences for line in commands)
    ended = subprocess.run(
        runner, input=text, stdout=subprocess.PIPE, encoding="utf-8", errors="backslashreplace", timeout=TIME_LIMIT
    )
    answers: list[list[str]] = []
    for line in ended.stdout.splitlines():
        if line.startswith("sequence "):
            answers.append([])
        answers[-1].append(line)
    if ended.returncode:
        answers = answers or [[]]
        answers[-1].append(f"the runner ended with {ended.returncode}")
    return answers + [[] for _ in sequences[len(answers) :]]


def differences(
    runner: list[str], seed: int, count: int, first: int = 0, may_skip: bool = False
) -> Iterator[Difference]:
    """All differences in `count` sequences of that seed, from number `first` on."""
    for start in range(first, first + count, BATCH):
        sequences = [sequence(seed, number) for number in range(start, min(start + BATCH, first + count))]
        for commands, answers in zip(sequences, run(runner, sequences)):
            difference = first_difference(commands, answers, may_skip)
            if difference:
                yield difference


def main() -> int:
    parser = argparse.ArgumentParser(description="Holds a runner's answers against the model's.")
    parser.add_argument("--runner", required=True, nargs="+", help="the command that runs it")
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--sequences", type=int, default=100_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first sequence")
    parser.add_argument("--may-skip", action="store_true", help="the runner may answer `unsupported`")
    parser.add_argument("--most", type=int, default=20, help="differences after which it stops")
    options = parser.parse_args()
    found = 0
    for difference in differences(options.runner, options.seed, options.sequences, options.first, options.may_skip):
        found += 1
        print(f"seed {options.seed}, {difference}\n", flush=True)
        if found == options.most:
            break
    print(f"seed {options.seed}: {options.sequences} sequences, {found} differences")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

"""Feeds the project's test vectors to the library, and compares the results, like bindings/c/conformance.c.

python -m boxretry.conformance decisions Tests/vectors/decisions.tsv
"""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator
from typing import Callable, NamedTuple, Union

from . import (
    Action,
    BoxRetryError,
    Cause,
    Decision,
    DelaySource,
    Outcome,
    RetryLoop,
    RetryStrategy,
    TokenRetryPolicy,
    backoff_delay,
    parse_retry_after,
    token_delay,
)

USAGE = """\
usage: python -m boxretry.conformance decisions|retry_after|retry_after_jitter|backoff|token_delays FILE...

Feeds the cases in each FILE to libboxretry, and compares the results with the expected ones.

Each case is one line. Lines end in LF, fields are separated by tabs; empty lines and lines that begin with # are \
skipped.
  decisions     id, max_attempts, max_retries_on_exception, auth (0 or 1), outcomes, an action for each outcome
                  outcome: STATUS, STATUS+ra=VALUE (with that Retry-After), or E (a network exception)
                  action: stop, success, retry:bN (after 2^N seconds), retry:raS (after S seconds, from
                  Retry-After), refresh:bN, refresh:raS
  retry_after   value (\\t: a tab), seconds or - (not a valid delay); the last tab of the line is between them
  retry_after_jitter
                value, retry_after_jitter, retry_after_cap, and the shortest, middle and longest delay, in
                  seconds. 1000 delays are drawn, with the seeds from 1 on: all must be in the range. The
                  shortest, median and longest may differ from the expected ones by a tenth of the range
  backoff       attempt_number, retry_base_interval, retry_randomization_factor, unit_random, seconds
  token_delays  failed_attempt, initial_delay, multiplier, maximum_delay, jitter_ratio, unit_random, seconds
Numbers are decimal. Seconds may differ by 1e-12 of their value; the 2^N of the backoff must be exact.

Prints one line for each failure, then a summary:
  FILE:LINE: expected EXPECTED, got GOT
  FILE:LINE: outcome N: expected EXPECTED, got GOT    (the first that differs)
  FILE:LINE: malformed line
  FILE: no cases
  FILE: cannot be read: REASON
  N passed, N failed
EXPECTED is the file's text. GOT is SECONDS, - or error NAME; for an outcome, ACTION DELAY_SOURCE SECONDS or
error NAME. The names are those of the library, and SECONDS are printed with %.17g.

Exit status: 0 if everything passed, 1 if anything failed, 2 if the command line is wrong.
"""

WALL_CLOCK = 1790000000  # For dates in Retry-After, seconds since 1970.
LONGEST_DELAY = 2147483647.0


class MalformedError(Exception):
    """A line does not have the format that `USAGE` states."""


class DiffersError(Exception):
    """The library's result is not the expected one. The message has both."""


# --- Reading ---


def fields(line: str, count: int) -> list[str]:
    """The fields of a line that must have `count` of them."""
    parts = line.split("\t")
    if len(parts) != count:
        raise MalformedError
    return parts


def number(text: str) -> float:
    """A decimal number."""
    if not re.fullmatch(r"[0-9+\-.eE]+", text):
        raise MalformedError
    try:
        return float(text)
    except ValueError:
        raise MalformedError from None


def integer(text: str) -> int:
    """A decimal integer of 32 bits."""
    if not re.fullmatch(r"[+-]?[0-9]{1,1000}", text) or int(text) not in range(-(2**31), 2**31):
        raise MalformedError
    return int(text)


def outcome(text: str) -> Outcome:
    """The outcome of 503, 503+ra=VALUE or E."""
    if text == "E":
        return Outcome(cause=Cause.CONNECT)
    status, separator, value = text.partition("+ra=")
    return Outcome(integer(status), headers=[("Retry-After", value)] if separator else [])


class Expectation(NamedTuple):
    """What a file expects of one outcome."""

    action: Action
    delay_source: DelaySource
    delay: float


def expectation(text: str) -> Expectation:
    """The meaning of stop, success, retry:bN, retry:raS, refresh:bN or refresh:raS."""
    if text == "stop":
        return Expectation(Action.STOP, DelaySource.NONE, 0.0)
    if text == "success":
        return Expectation(Action.SUCCEED, DelaySource.NONE, 0.0)
    match = re.fullmatch(r"(retry|refresh):(ra|b)(.*)", text, re.DOTALL)
    if not match:
        raise MalformedError
    action = Action.RETRY if match[1] == "retry" else Action.REFRESH_TOKEN_AND_RETRY
    if match[2] == "ra":
        return Expectation(action, DelaySource.RETRY_AFTER, number(match[3]))
    exponent = integer(match[3])
    if exponent < 0:
        raise MalformedError
    return Expectation(action, DelaySource.BACKOFF, min(2.0 ** min(exponent, 31), LONGEST_DELAY))


# --- Comparing ---


Answer = Union[float, Decision, BoxRetryError, None]


def answer(ask: Callable[[], Answer]) -> Answer:
    """The library's answer, or the error that it raised."""
    try:
        return ask()
    except BoxRetryError as error:
        return error


def described(got: Answer) -> str:
    """An answer as text."""
    if got is None:
        return "-"
    if isinstance(got, BoxRetryError):
        return f"error {got.name}"
    if isinstance(got, Decision):
        return f"{got.action.name.lower()} {got.delay_source.name.lower()} {got.delay:.17g}"
    return f"{got:.17g}"


def nearly_equal(got: float, expected: float) -> bool:
    """Whether a number of seconds is close enough to the expected one."""
    return abs(got - expected) <= 1e-12 * expected


def compare_seconds(expected: str, got: Answer) -> None:
    """Compares a number of seconds, or None for a value that is not valid, with the text in the file."""
    if expected == "-":
        passed = got is None
    else:
        seconds = number(expected)
        passed = isinstance(got, float) and nearly_equal(got, seconds)
    if not passed:
        raise DiffersError(f"expected {expected}, got {described(got)}")


def compare_decision(outcome_number: int, expected: str, got: Answer) -> None:
    """Compares the decision about one outcome with the text in the file."""
    action, delay_source, delay = expectation(expected)
    if isinstance(got, Decision) and (got.action, got.delay_source) == (action, delay_source):
        is_exact = delay_source != DelaySource.RETRY_AFTER
        if got.delay == delay if is_exact else nearly_equal(got.delay, delay):
            return
    raise DiffersError(f"outcome {outcome_number}: expected {expected}, got {described(got)}")


# --- The modes: each checks one line ---


def check_decisions(line: str) -> None:
    """Feeds outcomes to a loop while its decisions are the expected ones."""
    _, *options, outcome_texts, action_texts = fields(line, 6)
    max_attempts, max_retries_on_exception, auth_available = map(integer, options)
    outcomes, actions = words(outcome_texts), words(action_texts)
    if not outcomes:
        raise MalformedError
    loop: RetryLoop | None = None
    for index, (outcome_text, action_text) in enumerate(zip(outcomes, actions), 1):
        told = outcome(outcome_text)
        got: Answer
        try:
            if loop is None:
                strategy = RetryStrategy(max_attempts, 1.0, 0.0, max_retries_on_exception)
                # The maximum number of attempts (B14) must not apply before max_attempts.
                loop = RetryLoop(strategy, auth_available=auth_available != 0, max_total_attempts=1000000)
            got = loop.next(told)
        except BoxRetryError as error:
            got = error
        compare_decision(index, action_text, got)
    if len(outcomes) != len(actions):
        raise MalformedError


def words(text: str) -> list[str]:
    """The words between spaces."""
    return [word for word in text.split(" ") if word]


def check_retry_after(line: str) -> None:
    """Compares a Retry-After value; everything before the last tab belongs to it."""
    value, tab, expected = line.rpartition("\t")
    if not tab:
        raise MalformedError
    compare_seconds(expected, answer(lambda: parse_retry_after(value.replace("\\t", "\t"), WALL_CLOCK)))


def drawn_delays(value: str, jitter: float, cap: float) -> list[float]:
    """The waits that follow a Retry-After, from the shortest to the longest."""
    strategy = RetryStrategy(retry_after_jitter=jitter, retry_after_cap=cap)
    delays = []
    for seed in range(1, 1001):
        with RetryLoop(strategy, seed=seed) as loop:
            delays.append(loop.next(Outcome(503, headers=[("Retry-After", value)])).delay)
    return sorted(delays)


def check_retry_after_jitter(line: str) -> None:
    """Compares the waits that follow a Retry-After, and their distribution."""
    value, *texts = fields(line, 6)
    jitter, cap, *expected = map(number, texts)
    try:
        delays = drawn_delays(value, jitter, cap)
    except BoxRetryError as error:
        return compare_seconds(texts[2], error)
    got = [delays[0], delays[len(delays) // 2], delays[-1]]
    room, exactness = (expected[2] - expected[0]) / 10, 1e-12 * expected[2]
    is_within = got[0] >= expected[0] - exactness and got[2] <= expected[2] + exactness
    if not (is_within and all(abs(one - other) <= room + exactness for one, other in zip(got, expected))):
        raise DiffersError(f"expected {' '.join(texts[2:])}, got {' '.join(f'{seconds:.17g}' for seconds in got)}")
    return None


def check_backoff(line: str) -> None:
    """Compares a backoff."""
    attempt_number, base, factor, unit_random, expected = fields(line, 5)
    count, where = integer(attempt_number), number(unit_random)
    interval, randomization = number(base), number(factor)
    compare_seconds(
        expected,
        answer(
            lambda: backoff_delay(count, where, retry_base_interval=interval, retry_randomization_factor=randomization)
        ),
    )


def check_token_delays(line: str) -> None:
    """Compares a wait of a token provider."""
    failed_attempt, *numbers, expected = fields(line, 7)
    initial_delay, multiplier, maximum_delay, jitter_ratio, unit_random = map(number, numbers)
    policy = TokenRetryPolicy(9, initial_delay, multiplier, maximum_delay, jitter_ratio)
    count = integer(failed_attempt)
    compare_seconds(expected, answer(lambda: token_delay(count, unit_random, policy=policy)))


MODES = {
    "decisions": check_decisions,
    "retry_after": check_retry_after,
    "retry_after_jitter": check_retry_after_jitter,
    "backoff": check_backoff,
    "token_delays": check_token_delays,
}


# --- Files ---


def failures(check: Callable[[str], None], path: str) -> Iterator[str | None]:
    """For each case in the file, what is wrong with it, or None. A file without a case is an error too."""
    try:
        with open(path, "rb") as file:
            lines = file.read().decode("utf-8", "surrogateescape").split("\n")
    except OSError as error:
        yield f"{path}: cannot be read: {error.strerror}"
        return
    cases = [(index, line) for index, line in enumerate(lines, 1) if line and not line.startswith("#")]
    if not cases:
        yield f"{path}: no cases"
    for index, line in cases:
        yield failure(check, f"{path}:{index}", line)


def failure(check: Callable[[str], None], where: str, line: str) -> str | None:
    """What is wrong with a case."""
    try:
        if "\0" in line:
            raise MalformedError
        check(line)
    except MalformedError:
        return f"{where}: malformed line"
    except DiffersError as differs:
        return f"{where}: {differs}"
    return None


def main(arguments: list[str]) -> int:
    """Runs the program and returns its exit status."""
    if arguments == ["--help"]:
        print(USAGE, end="")
        return 0
    mode, *paths = arguments or [""]
    if mode not in MODES or not paths:
        print(USAGE, end="", file=sys.stderr)
        return 2
    counts = {True: 0, False: 0}
    for path in paths:
        for wrong in failures(MODES[mode], path):
            counts[wrong is None] += 1
            if wrong is not None:
                print(wrong)
    print(f"{counts[True]} passed, {counts[False]} failed")
    return 0 if counts[False] == 0 else 1


if __name__ == "__main__":
    assert isinstance(sys.stdout, io.TextIOWrapper)
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")  # Bytes of a file are printed unchanged.
    sys.exit(main(sys.argv[1:]))

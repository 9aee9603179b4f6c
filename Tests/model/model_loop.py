"""The model of what has a state: strategies, the retry loop (B4, B5, B11, B14) and the clock that moves when told."""

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar, NamedTuple, Optional, Union

from model import (
    Decision,
    LoopOptions,
    Outcome,
    RetryOptions,
    Situation,
    box_delay,
    box_stops,
    documented_flow,
    first,
    over_cap,
)
from model_retry_after import LIMIT, Range, said

#: Of a custom strategy: Box's has its own bound (B14).
DEFAULT_CEILING = 1000
CLOCK_LIMIT = 2**32  # seconds
SYSTEM_CLOCK_SLACK = 10 * 10**9
"""Nanoseconds that a sequence on the system's clock may take from beginning to end."""


class Failure(NamedTuple):
    """An error. `fields` are the names of which the detail has to give one, if there are any."""

    name: str
    fields: list[str]


@dataclass
class Answer:
    """What may come back: one of `allowed`, after the custom strategy was asked what is in `asked`."""

    allowed: Sequence[Union[Decision, Failure]]
    asked: list[str] = field(default_factory=list)
    place: Optional[Situation] = None  # where there is a retry that a loop may still refuse


class Nanoseconds(NamedTuple):
    """A length as a clock counts it, from its least to its greatest value; both are the same nearly always."""

    low: int
    high: int

    @classmethod
    def nearest_to(cls, seconds: Range) -> "Nanoseconds":
        """The clock rounds to the nearest one. It multiplies doubles, which blurs what no double holds exactly."""

        def blur(value: Fraction) -> Fraction:
            return Fraction(0) if Fraction(float(value)) == value else value / 2**50

        low, high = seconds.low * 10**9, seconds.high * 10**9
        half = Fraction(1, 2)
        return cls(math.ceil(low - blur(low) - half), math.floor(high + blur(high) + half))

    def plus(self, other: "Nanoseconds") -> "Nanoseconds":
        return Nanoseconds(self.low + other.low, self.high + other.high)

    def since(self, start: "Nanoseconds") -> "Nanoseconds":
        """What was added after `start`, which is a sum of the same clock."""
        return Nanoseconds(self.low - start.low, self.high - start.high)


class Clock:
    """The system's clock (of unknown time), or a manual one."""

    def __init__(self, wall: Optional[Fraction] = None) -> None:
        self.is_manual = wall is not None
        self.boottime = Nanoseconds(0, 0)
        self._wall = wall

    @property
    def wall(self) -> Fraction:
        return Fraction(time.time()) if self._wall is None else self._wall

    def set_wall(self, wall: Fraction) -> None:
        self._wall = wall

    def move(self, seconds: float) -> bool:
        """Whether the clock accepts it."""
        if not 0 <= seconds <= LIMIT:
            return False
        moved = self.boottime.plus(Nanoseconds.nearest_to(Range.exactly(Fraction(seconds))))
        if moved.high > CLOCK_LIMIT * 10**9:
            return False
        self.boottime = moved
        self._wall = self.wall + Fraction(seconds)
        return True


class BoxStrategy:
    """B3 to B7, with B11 and B12."""

    def __init__(self, options: RetryOptions) -> None:
        self.options = options

    def decide(
        self, outcome: Outcome, number: int, wall: Fraction, total: Optional[int] = None, ceiling: bool = False
    ) -> Answer:
        """`number` as in B4. Only in a loop: `total`, the attempts so far, and whether the ceiling is reached."""
        what = said(outcome.headers, self.options.delay_headers, wall)
        place = Situation(outcome, what, number if total is None else total, number if outcome.is_exception else 0)
        verdict = documented_flow(self.options, outcome, number, what.state != "absent", bool(outcome.auth_available))
        if not verdict.retried:
            wanted_more = outcome.status == 202 and what.state != "absent"
            return Answer([place.last("success" if place.is_success and not wanted_more else verdict.reason)])
        stops = box_stops(self.options, place, verdict.reason) + ["attempt_ceiling"] * ceiling
        if outcome.is_exception and total is not None and total - 1 >= self.options.max_attempts:
            stops.append("retries_exhausted")
        delay, sources = box_delay(self.options, what, number)
        action = "refresh_token_and_retry" if verdict.reason == "unauthorized" else "retry"
        allowed: list[Decision] = []
        for is_over in over_cap(self.options, what):
            against = stops + ["retry_after_over_cap"] * is_over
            retries = place.retry(action, verdict.reason, delay, sources)
            allowed += [place.last(first(against))] if against else retries
        return Answer(allowed, place=place)

    def retry_after(self, outcome: Outcome, number: int, wall: Fraction) -> tuple[Union[Range, Failure], list[str]]:
        return box_delay(self.options, said(outcome.headers, self.options.delay_headers, wall), number)[0], []


class CustomStrategy:
    """B9: the answers come from a script, one for each time that should_retry is asked, then from its beginning."""

    ACTIONS: ClassVar = {"0": "stop", "1": "retry", "2": "refresh_token_and_retry"}

    def __init__(self, should_retry: list[str], retry_after: Optional[list[str]]) -> None:
        self.should_retry = should_retry
        self.delays = retry_after
        self.times_asked = 0

    def decide(
        self, outcome: Outcome, number: int, wall: Fraction, total: Optional[int] = None, ceiling: bool = False
    ) -> Answer:
        answer = self.should_retry[self.times_asked % len(self.should_retry)]
        self.times_asked += 1
        asked = [self._line("should_retry", outcome, number)]
        if answer not in self.ACTIONS:
            return Answer([Failure("callback_failed", [])], asked)
        what = said(outcome.headers, [], wall)
        place = Situation(outcome, what, number if total is None else total, number if outcome.is_exception else 0)
        if answer == "0":
            return Answer([place.last("success" if place.is_success else "custom")], asked)
        stops = ["not_replayable"] * bool(outcome.body_not_replayable) + ["attempt_ceiling"] * ceiling
        if stops:
            return Answer([place.last(first(stops))], asked)
        delay, more = self.retry_after(outcome, number, wall)
        if isinstance(delay, Failure):
            return Answer([delay], asked + more)
        sources = ["custom"] if self.delays else box_delay(RetryOptions(), what, number)[1]
        return Answer(place.retry(self.ACTIONS[answer], "custom", delay, sources), asked + more, place)

    def retry_after(self, outcome: Outcome, number: int, wall: Fraction) -> tuple[Union[Range, Failure], list[str]]:
        if self.delays is None:
            return box_delay(RetryOptions(), said(outcome.headers, [], wall), number)[0], []
        asked = [self._line("retry_after", outcome, number)]
        text = self.delays[max(self.times_asked - 1, 0) % len(self.delays)]
        if text == "unanswered":
            return Failure("callback_failed", []), asked
        seconds = float(text)
        kept = 0.0 if not seconds >= 0 else min(seconds, LIMIT)
        return Range.exactly(Fraction(kept)), asked

    @staticmethod
    def _line(callback: str, outcome: Outcome, number: int) -> str:
        auth = 1 if outcome.auth_available else 0
        return f"asked {callback} {number} {outcome.status} {outcome.cause} {auth} {len(outcome.headers)}"


Strategy = Union[BoxStrategy, CustomStrategy]


class Loop:
    """One call's retries."""

    def __init__(self, strategy: Strategy, options: LoopOptions, clock: Clock) -> None:
        self.strategy = strategy
        self.options = options
        self.clock = clock
        self.start = clock.boottime
        self.attempts = 0
        self.exceptions = 0
        self.has_ended = False

    def next(self, outcome: Outcome) -> Answer:
        wrong = outcome.wrong_fields()
        if wrong:
            return Answer([Failure("invalid_argument", wrong)] + [Failure("ended", [])] * self.has_ended)
        if self.has_ended:
            return Answer([Failure("ended", [])])
        self.attempts += 1
        self.exceptions += outcome.is_exception
        number = self.exceptions if outcome.is_exception else self.attempts
        default = DEFAULT_CEILING if isinstance(self.strategy, CustomStrategy) else math.inf
        ceiling = self.attempts >= (self.options.max_total_attempts or default)
        outcome = replace(outcome, auth_available=outcome.auth_available or self.options.auth_available)
        answer = self.strategy.decide(outcome, number, self.clock.wall, self.attempts, ceiling)
        if answer.place and self.options.deadline_ms is not None:
            deadline = self.options.deadline_ms * 10**6
            may_be = [self._within_deadline(each, deadline, answer.place) for each in answer.allowed]
            answer.allowed = [each for some in may_be for each in some]
        return answer

    def settle(self, actual: Union[Decision, Failure]) -> None:
        """Says which of the allowed answers it was."""
        if isinstance(actual, Failure):
            self.has_ended = self.has_ended or actual.name == "callback_failed"
        else:
            self.has_ended = actual.is_last

    def _within_deadline(
        self, answer: Union[Decision, Failure], deadline: int, place: Situation
    ) -> list[Union[Decision, Failure]]:
        """B11: a wait that would reach the deadline is not begun."""
        if isinstance(answer, Failure) or answer.is_last:
            return [answer]
        passed = self.clock.boottime.since(self.start)
        ended = passed.plus(Nanoseconds.nearest_to(answer.delay))
        slack = 0 if self.clock.is_manual else SYSTEM_CLOCK_SLACK
        allowed: list[Union[Decision, Failure]] = []
        if ended.low < deadline:
            longest = (deadline - passed.low - Fraction(1, 2)) / 10**9
            allowed.append(replace(answer, delay=answer.delay.at_most(longest)))
        if ended.high + slack >= deadline:
            allowed.append(place.last("deadline"))
        return allowed

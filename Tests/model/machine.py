"""Runs commands of the text format (text_format.py) through the model: a runner without the library."""

from dataclasses import dataclass, field
from fractions import Fraction
from typing import Optional, Union

from model import Decision, LoopOptions, Outcome, RetryOptions, TokenPolicy, backoff, token_delay
from model_loop import BoxStrategy, Clock, CustomStrategy, Failure, Loop, Strategy
from model_retry_after import FIRST_UNIX_TIME, LAST_UNIX_TIME, DelayHeader, Range, parse_value
from text_format import Command, decode

Allowed = Union[str, Decision, Range, Failure]


@dataclass
class Answers:
    """The callback lines that come first, and the answers of which one has to follow."""

    allowed: list[Allowed]
    asked: list[str] = field(default_factory=list)


def retry_options(command: Command) -> RetryOptions:
    options = RetryOptions()
    for key, value in command.fields:
        if key == "delay_header":
            name, unit = value.split(":")
            options.delay_headers.append(DelayHeader(decode(name), float(unit)))
        else:
            setattr(options, key, type(getattr(options, key))(value))
    return options


def outcome_of(command: Command) -> Outcome:
    outcome = Outcome(headers=command.pairs("header"))
    for key, value in command.fields:
        if key == "method":
            outcome.method = decode(value)
        elif key != "header":
            setattr(outcome, key, int(value))
        outcome.has_request = outcome.has_request or key in ("method", "retry_safety")
    return outcome


def is_part(unit_random: float) -> bool:
    return 0 <= unit_random <= 1


def invalid(fields: list[str]) -> Answers:
    return Answers([Failure("invalid_argument", fields)])


def ok_unless(wrong_fields: list[str]) -> Answers:
    return invalid(wrong_fields) if wrong_fields else Answers(["ok"])


class Machine:
    """One sequence's state."""

    def __init__(self) -> None:
        self.clock = Clock()
        self.strategy: Strategy = BoxStrategy(RetryOptions())
        self.loop: Optional[Loop] = None
        self.is_skipping = False
        self.was_attempt = False

    def run(self, command: Command) -> Optional[Answers]:
        """The answers that the command may have; None if it has none."""
        if self.is_skipping:
            return None
        self.was_attempt = command.name == "attempt"
        answers: Optional[Answers] = getattr(self, f"_{command.name}")(command)
        makes_something = command.name in ("strategy", "loop")
        self.is_skipping = bool(makes_something and answers and isinstance(answers.allowed[0], Failure))
        return answers

    def settle(self, actual: Allowed) -> None:
        """Says which of the last command's answers it was."""
        if self.loop and self.was_attempt and isinstance(actual, (Decision, Failure)):
            self.loop.settle(actual)

    def _sequence(self, command: Command) -> Answers:
        return Answers([f"sequence {command.values[0]}"])

    def _clock(self, command: Command) -> None:
        self.clock = Clock(Fraction(float(command.values[0])))

    def _strategy(self, command: Command) -> Answers:
        options = retry_options(command)
        self.strategy = BoxStrategy(options)
        return ok_unless(options.wrong_fields())

    def _custom(self, command: Command) -> Answers:
        fields = dict(command.fields)
        delays = fields["retry_after"].split(",") if "retry_after" in fields else None
        self.strategy = CustomStrategy(fields["should_retry"].split(","), delays)
        return Answers(["ok"])

    def _loop(self, command: Command) -> Answers:
        options = LoopOptions()
        for key, value in command.fields:
            if key != "seed":
                setattr(options, key, int(value))
        self.loop = Loop(self.strategy, options, self.clock)
        return ok_unless(options.wrong_fields())

    def _advance(self, command: Command) -> Answers:
        return ok_unless([] if self.clock.move(float(command.values[0])) else ["seconds"])

    def _suspend(self, command: Command) -> Answers:
        return self._advance(command)  # no command asks for the timeline that rests

    def _wall(self, command: Command) -> Answers:
        wall = float(command.values[0])
        if not FIRST_UNIX_TIME <= wall <= LAST_UNIX_TIME:
            return invalid(["unix_time"])
        self.clock.set_wall(Fraction(wall))
        return Answers(["ok"])

    def _attempt(self, command: Command) -> Answers:
        assert self.loop
        answer = self.loop.next(outcome_of(command))
        return Answers([*answer.allowed], answer.asked)

    def _should_retry(self, command: Command) -> Answers:
        number, outcome = int(command.values[0]), outcome_of(command)
        wrong = outcome.wrong_fields() + ["attempt_number"] * (number < 0)
        if wrong:
            return invalid(wrong)
        answer = self.strategy.decide(outcome, number, self.clock.wall)
        return Answers([*answer.allowed], answer.asked)

    def _retry_after(self, command: Command) -> Answers:
        number, outcome = int(command.values[0]), outcome_of(command)
        wrong = outcome.wrong_fields() + ["attempt_number"] * (number < 0)
        if wrong:
            return invalid(wrong)
        delay, asked = self.strategy.retry_after(outcome, number, self.clock.wall)
        return Answers([delay], asked)

    def _backoff(self, command: Command) -> Answers:
        number, unit_random = int(command.values[0]), float(command.values[1])
        options = retry_options(command)
        wrong = options.wrong_fields() + ["attempt_number"] * (number < 0)
        wrong += ["unit_random"] * (not is_part(unit_random))
        return invalid(wrong) if wrong else Answers([backoff(options, number, unit_random)])

    def _parse(self, command: Command) -> Answers:
        unix_time, value = int(command.values[0]), decode(command.values[1])
        if not FIRST_UNIX_TIME <= unix_time <= LAST_UNIX_TIME:
            return invalid(["unix_time"])
        wish = parse_value(value, Fraction(unix_time))
        return Answers([wish.seconds if wish else Failure("not_usable", [])])

    def _token_delay(self, command: Command) -> Answers:
        failed, unit_random = int(command.values[0]), float(command.values[1])
        policy = TokenPolicy()
        for key, value in command.fields:
            setattr(policy, key, type(getattr(policy, key))(value))
        wrong = policy.wrong_fields() + ["failed_attempt"] * (failed < 1)
        wrong += ["unit_random"] * (not is_part(unit_random))
        return invalid(wrong) if wrong else Answers([Range.exactly(token_delay(policy, failed, unit_random))])

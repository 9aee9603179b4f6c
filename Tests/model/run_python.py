"""Runs generated sequences through the Python package and prints what it answers, as runner.c does through C.

The text format of both sides is described in text_format.py. What the package has no way to say gets the answer
`unsupported`: a custom strategy asked outside a loop, and options of the backoff that do not bear on it.
"""

import sys
from typing import Any, Optional, Union

import boxretry
from boxretry import Action, Cause, ManualClock, Outcome, Request, RequestSent, RetryLoop, RetrySafety, RetryStrategy
from text_format import Command, decode, parse_line

INTEGERS = {"max_attempts", "max_retries_on_exception", "maximum_attempts", "max_total_attempts", "seed"}
OF_BACKOFF = {"retry_base_interval", "retry_randomization_factor", "backoff_cap"}


class Unanswered(Exception):
    """Raised by a callback that gives no answer."""


class Script(boxretry.CustomRetryStrategy):
    """Decides as the command `custom` says."""

    def __init__(self, actions: list[str]) -> None:
        self.actions = actions
        self.times_asked = 0

    def should_retry(self, outcome: Outcome, attempt_number: int) -> Action:
        print_asked("should_retry", outcome, attempt_number)
        self.times_asked += 1
        return Action(int(self.actions[(self.times_asked - 1) % len(self.actions)]))


class ScriptWithDelays(Script):
    """Says the delays too."""

    def __init__(self, actions: list[str], delays: list[str]) -> None:
        super().__init__(actions)
        self.delays = delays

    def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
        print_asked("retry_after", outcome, attempt_number)
        delay = self.delays[max(self.times_asked - 1, 0) % len(self.delays)]
        if delay == "unanswered":
            raise Unanswered
        return float(delay)


def print_asked(callback: str, outcome: Outcome, attempt_number: int) -> None:
    headers = [*outcome.headers]  # type: ignore[misc]  # A callback always gets a list.
    seen = (attempt_number, int(outcome.status), int(outcome.cause), int(outcome.auth_available), len(headers))
    print("asked", callback, *seen)


def numbers(command: Command, *others: str) -> dict[str, Any]:
    """The fields that are numbers, as keyword arguments."""
    fields = [field for field in command.fields if field[0] not in others]
    return {key: int(value) if key in INTEGERS else float(value) for key, value in fields}


def strategy_of(command: Command) -> RetryStrategy:
    options = numbers(command, "delay_header", "retry_after_over_cap", "retry_unsafe_methods")
    fields = dict(command.fields)
    over_cap = fields.get("retry_after_over_cap", "0")
    options["retry_after_over_cap"] = {"0": "clamp", "1": "stop"}.get(over_cap, over_cap)
    options["retry_unsafe_methods"] = fields.get("retry_unsafe_methods", "1") != "0"
    units = {name.decode(): float(unit) for name, unit in command.pairs("delay_header")}
    return RetryStrategy(**options, delay_headers=units)


def outcome_of(command: Command) -> Outcome:
    fields = dict(command.fields)

    def number(key: str) -> int:
        return int(fields.get(key, "0"))

    request = None
    if "method" in fields or "retry_safety" in fields:
        request = Request(decode(fields.get("method", "GET")), retry_safety=RetrySafety(number("retry_safety")))
    return Outcome(
        status=number("status"),
        cause=Cause(number("cause")),
        headers=command.pairs("header"),
        auth_available=bool(number("auth_available")),
        request_sent=RequestSent(number("request_sent")),
        request=request,
        body_replayable=not number("body_not_replayable"),
    )


def shown(decision: boxretry.Decision) -> str:
    wish = -1.0 if decision.retry_after is None else decision.retry_after
    names = [each.name.lower() for each in (decision.action, decision.reason, decision.delay_source)]
    action, reason, source = names
    state = decision.retry_after_state.name.lower()
    counts = f"{decision.attempt_number} {decision.exception_number}"
    return f"decision {action} {reason} {decision.delay:.17g} {source} {counts} {state} {wish:.17g}"


class Runner:
    """One sequence's state."""

    def __init__(self) -> None:
        self.clock: Optional[ManualClock] = None
        self.strategy: Union[RetryStrategy, Script] = RetryStrategy()
        self.loop: Optional[RetryLoop] = None
        self.is_skipping = False

    def run(self, command: Command) -> Optional[str]:
        """The answer line, or None if there is none."""
        if self.is_skipping:
            return None
        try:
            answer: Optional[str] = getattr(self, f"_{command.name}")(command)
        except boxretry.BoxRetryError as error:
            self.is_skipping = command.name in ("strategy", "loop")
            return f"error {error.name} {error.detail}"
        except Unanswered:
            return "error callback_failed"
        return answer

    def close(self) -> None:
        for handle in (self.loop, self.strategy, self.clock):
            if handle is not None and not isinstance(handle, Script):
                handle.close()

    def _sequence(self, command: Command) -> str:
        return f"sequence {command.values[0]}"

    def _clock(self, command: Command) -> None:
        self.clock = ManualClock()
        self.clock.set_wall(float(command.values[0]))

    def _strategy(self, command: Command) -> str:
        self.strategy = strategy_of(command)
        return "ok"

    def _custom(self, command: Command) -> str:
        fields = {key: value.split(",") for key, value in command.fields}
        delays = fields.get("retry_after")
        actions = fields["should_retry"]
        self.strategy = ScriptWithDelays(actions, delays) if delays else Script(actions)
        return "ok"

    def _loop(self, command: Command) -> str:
        fields = dict(command.fields)
        options = numbers(command, "auth_available", "deadline_ms")
        deadline = int(fields["deadline_ms"]) / 1000 if "deadline_ms" in fields else None
        auth_available = fields.get("auth_available", "0") != "0"
        self.loop = RetryLoop(
            self.strategy, auth_available=auth_available, deadline=deadline, clock=self.clock, **options
        )
        return "ok"

    def _moved(self) -> ManualClock:
        assert self.clock
        return self.clock

    def _advance(self, command: Command) -> str:
        self._moved().advance(float(command.values[0]))
        return "ok"

    def _suspend(self, command: Command) -> str:
        self._moved().suspend(float(command.values[0]))
        return "ok"

    def _wall(self, command: Command) -> str:
        self._moved().set_wall(float(command.values[0]))
        return "ok"

    def _attempt(self, command: Command) -> str:
        assert self.loop
        return shown(self.loop.next(outcome_of(command)))

    def _should_retry(self, command: Command) -> str:
        if isinstance(self.strategy, Script):
            return "unsupported"
        return shown(self.strategy.should_retry(outcome_of(command), int(command.values[0])))

    def _retry_after(self, command: Command) -> str:
        if isinstance(self.strategy, Script):
            return "unsupported"
        return f"value {self.strategy.retry_after(outcome_of(command), int(command.values[0])):.17g}"

    def _backoff(self, command: Command) -> str:
        if {key for key, _ in command.fields} - OF_BACKOFF:
            return "unsupported"
        number, unit_random = int(command.values[0]), float(command.values[1])
        return f"value {boxretry.backoff_delay(number, unit_random, **numbers(command)):.17g}"

    def _parse(self, command: Command) -> str:
        seconds = boxretry.parse_retry_after(decode(command.values[1]), int(command.values[0]))
        return "error not_usable" if seconds is None else f"value {seconds:.17g}"

    def _token_delay(self, command: Command) -> str:
        policy = boxretry.TokenRetryPolicy(**numbers(command))
        failed, unit_random = int(command.values[0]), float(command.values[1])
        return f"value {boxretry.token_delay(failed, unit_random, policy=policy):.17g}"


def main() -> None:
    runner = Runner()
    for line in sys.stdin:
        command = parse_line(line)
        if command.name == "sequence":
            runner.close()
            runner = Runner()
        answer = runner.run(command)
        if answer is not None:
            print(answer)
    runner.close()


if __name__ == "__main__":
    main()

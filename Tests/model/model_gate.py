"""The origin gate (C3), as the clause says it, for one origin. It is slow, and simple: attempts are numbers in sets."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

#: As many attempts as a client may have under way: from there on there is no limit.
UNLIMITED = 512
SECOND = 1_000_000_000


@dataclass
class ModelGate:
    """Answers commands as the runners do."""

    now: int = 0
    closed_until: int | None = None
    #: None: there is no gate, or it is closed.
    allowed: int | None = None
    in_flight: set[int] = field(default_factory=set)
    was_full: bool = False
    #: By attempt, how many were allowed when it began.
    step: dict[int, int] = field(default_factory=dict)
    #: Attempts that the gate has let through since it was last closed.
    begun: set[int] = field(default_factory=set)
    answered_well: int = 0
    quota: int | None = None
    last_attempt: int = 0

    def run(self, command: str) -> str | None:
        name, *words = command.split(" ")
        if name == "time":
            self.time_is(int(words[0]))
        elif name == "fill":
            return f"begun {self.fill(int(words[0]))}"
        elif name == "gone":
            self.in_flight.discard(int(words[0]))
        elif name == "answer":
            self.answered(int(words[0]), words[1])
        return None

    def time_is(self, now: int) -> None:
        self.now = now
        if self.closed_until is not None and now >= self.closed_until:
            self.closed_until = None
            self.begin_steps()
            self.begun = set()
            self.answered_well = 0

    def begin_steps(self) -> None:
        self.allowed, self.in_flight, self.was_full = 1, set(), False

    def fill(self, count: int) -> int:
        """How many of `count` attempts that want to begin may do so."""
        for begun in range(count):
            if self.closed_until is not None:
                return begun
            if self.quota is not None and len(self.begun) >= self.quota and self.answered_well and self.allowed:
                self.begin_steps()
                self.quota = None
            if self.allowed is not None and len(self.in_flight) >= self.allowed:
                return begun
            self.last_attempt += 1
            if self.allowed is not None:
                self.in_flight.add(self.last_attempt)
                self.begun.add(self.last_attempt)
                self.step[self.last_attempt] = self.allowed
                self.was_full = self.was_full or len(self.in_flight) == self.allowed
        return count

    def answered(self, attempt: int, answer: str) -> None:
        if answer not in ("other", "overloaded"):
            self.close(self.now + int(answer))
            return
        is_well, is_current = answer == "other", attempt in self.in_flight
        self.in_flight.discard(attempt)
        if self.closed_until is not None:
            if is_well and attempt in self.begun and self.quota is not None:
                self.quota += 1
        elif self.allowed is not None and is_well:
            self.answered_well += attempt in self.begun
            if is_current and self.was_full and self.step[attempt] == self.allowed:
                self.allowed, self.was_full = 2 * self.allowed, False
                if self.allowed >= UNLIMITED:
                    self.__init__(now=self.now, last_attempt=self.last_attempt)  # type: ignore[misc]

    def close(self, until: int) -> None:
        if self.closed_until is not None:
            self.closed_until = max(self.closed_until, until)
            return
        if self.allowed is not None:
            self.quota = max(self.answered_well, 1)
        self.closed_until, self.in_flight = until, set()


def program(seed: int) -> list[str]:
    """Random commands: attempts begin as long as they may, and most of those under way are answered well."""
    chance = random.Random(seed)
    model, commands, now = ModelGate(), ["gate"], 0
    under_way: list[int] = []

    def run(command: str) -> None:
        commands.append(command)
        before = model.last_attempt
        model.run(command)
        under_way.extend(range(before + 1, model.last_attempt + 1))

    refusals = chance.choice([0.001, 0.01, 0.1])
    for _ in range(chance.choice([50, 400])):
        run(f"fill {chance.choice([1, 3, 1000 if model.allowed else 5])}")
        if chance.random() < 0.3:
            now += chance.randrange(SECOND // 50)
            run(f"time {now}")
        for _ in range(min(len(under_way), chance.randrange(20))):
            attempt = under_way.pop(0 if chance.random() < 0.8 else chance.randrange(len(under_way)))
            if chance.random() < refusals:
                run(f"answer {attempt} {chance.randrange(SECOND // 10)}")
            elif chance.random() < 0.05:
                run(f"gone {attempt}")
            else:
                run(f"answer {attempt} {'overloaded' if chance.random() < 0.05 else 'other'}")
    return commands

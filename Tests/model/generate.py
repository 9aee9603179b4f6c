"""Random sequences of commands in the text format (text_format.py), each made from a seed and a number alone.

python generate.py SEED FIRST COUNT
"""

import sys
from random import Random

from generate_options import (
    EXTREME_DOUBLES,
    WRONG_COUNTS,
    WRONG_DOUBLES,
    Value,
    backoff_options,
    retry_options,
    some,
    text,
    token_policy,
    wrong,
)
from generate_values import date, mixed_case, mutated, number, retry_after
from text_format import encode

DELAY_NAMES = [b"retry-after-ms", b"X-RateLimit-Reset-After", b"x-ms-retry-after-ms", b"Retry-After"]
METHODS = ["GET", "POST", "POST", "PATCH", "PUT", "DELETE", "post", "Patch", "POSTS", "POS", "OPTIONS"]
USUAL_WALL = 1790000000.0
AWKWARD_MILLISECONDS = [number for number in range(1, 20_000) if number / 1000 * 1e9 != number * 10**6]
"""Those that come out as no whole number of nanoseconds when doubles are multiplied."""


def attempt_number(random: Random) -> int:
    usual = random.choice([random.randrange(8), random.randrange(80)])
    return random.choice([usual, usual, usual, random.randrange(2**31), 1023, 1024, 1025, 2**31 - 1])


def unit_random(random: Random) -> float:
    if random.random() < 0.03:
        return random.choice([*WRONG_DOUBLES, 1.5])
    return random.choice([0.0, 0.25, 0.5, 1.0, 1 - 2**-53, 2**-53, random.random()])


class Sequence:
    """Writes one sequence."""

    def __init__(self, seed: int, number: int) -> None:
        self.random = Random(f"{seed}:{number}")
        self.lines = [f"sequence {number}"]
        self.wall = USUAL_WALL
        self.has_clock = False
        self.is_long = self.random.random() < 0.5
        """Whether the sequence is made so that its loop does not end soon."""
        many = self.random.random() < 0.25
        self.delay_names = self.random.sample(DELAY_NAMES, self.random.randrange(1, 4)) if many else []

    def write(self) -> list[str]:
        kind = self.random.random()
        if kind < 0.0005:
            self._run_to_the_ceiling()
        elif kind < 0.7:
            self._loop(f"strategy{retry_options(self.random, self.delay_names, self.is_long)}")
        elif kind < 0.8:
            self._loop(self._custom())
        elif kind < 0.9:
            self._questions()
        elif kind < 0.94:
            self._milliseconds()
        else:
            self._arithmetic()
        return self.lines

    def _custom(self) -> str:
        weights = {"1": 8, "2": 3, "0": 1, "-1": 0.3, "3": 0.1, "7": 0.1}
        actions = self.random.choices(list(weights), list(weights.values()), k=self.random.randrange(1, 6))
        script = f"custom should_retry={','.join(actions)}"
        if self.random.random() < 0.2:
            return script
        delays = ["0", "1.5", "nan", "-1", "inf", "-inf", "1e300", "-1e299", "0.125", "30"]
        chosen = self.random.choices(delays, k=self.random.randrange(1, 6))
        if self.random.random() < 0.05:
            chosen[-1] = "unanswered"
        return f"{script} retry_after={','.join(chosen)}"

    def _clock(self) -> None:
        self.has_clock = True
        self.wall = self.random.choice([
            USUAL_WALL, USUAL_WALL, 0.0, 951782400.0, 4102444800.0, self.random.uniform(-1e10, 2e11),
            float(self.random.randrange(2**31)), self.random.randrange(2**34) / 8,
        ])  # fmt: skip
        self.lines.append(f"clock {self.wall!r}")

    def _loop(self, strategy: str) -> None:
        if self.random.random() < 0.85:
            self._clock()
        if self.has_clock and self.random.random() < 0.2:
            self._move_clock()
        self.lines.append(strategy)
        fields: dict[str, Value] = {"seed": self.random.choice([1, 2**64 - 1, self.random.randrange(1, 2**64)])}
        fields.update(some(self.random, 0.3, {
            "auth_available": lambda: self.random.choice([0, 1, 1, -5]),
            "deadline_ms": lambda: self.random.choice([
                1, 1000, 60_000, self.random.randrange(1, 200) * 125, self.random.randrange(1, 10**6), 10**12]),
            "max_total_attempts": lambda: self.random.choice([0, 1, 2, 3, 5, 1000, 1_000_000]),
        }))  # fmt: skip
        wrong(self.random, fields, {
            "deadline_ms": lambda: self.random.choice([0, -1, -(2**63)]),
            "max_total_attempts": lambda: self.random.choice(WRONG_COUNTS),
        })  # fmt: skip
        self.lines.append(f"loop{text(fields)}")
        for _ in range(self.random.choice([2, 4, 8, 12]) if self.is_long else self.random.choice([1, 1, 2, 3])):
            self.lines.append(f"attempt{self._outcome()}")
            if self.has_clock and self.random.random() < 0.5:
                self._move_clock()

    def _milliseconds(self) -> None:
        """Steps of the clock and a wait that meet a deadline to the nanosecond, or miss it by a millisecond."""
        pick = self.random.choice
        steps = [pick(AWKWARD_MILLISECONDS) for _ in range(self.random.randrange(4))]
        wait = pick(AWKWARD_MILLISECONDS)
        deadline = sum(steps) + wait + pick([-1, 0, 0, 1])
        base = f"retry_base_interval={wait / 1000 / 2 ** (len(steps) + 1)!r} retry_randomization_factor=0"
        self.lines.append(f"clock {USUAL_WALL}")
        if self.random.random() < 0.5:
            self.lines.append(f"advance {pick(AWKWARD_MILLISECONDS) / 1000}")
        self.lines += [f"strategy {base} delay_header=retry-after-ms:0.001", f"loop seed=1 deadline_ms={deadline}"]
        for step in steps:
            self.lines.append("attempt status=503 header=Retry-After:0")
            self.lines.append(f"{pick(['advance', 'suspend'])} {step / 1000}")
        header = pick([f" header=Retry-After:{wait / 1000}", f" header=retry-after-ms:{wait}", ""])
        self.lines.append(f"attempt status=503{header}")

    def _run_to_the_ceiling(self) -> None:
        ceiling = self.random.choice(["", " max_total_attempts=1000", " max_total_attempts=1500"])
        self.lines += [self.random.choice(["custom should_retry=1,2 retry_after=0", "strategy max_attempts=1000000"])]
        self.lines += [f"loop seed=1{ceiling}", *["attempt status=503"] * 1502]

    def _move_clock(self) -> None:
        pick = self.random.choice
        is_wrong = self.random.random() < 0.03
        kind = pick(["advance", "advance", "advance", "suspend", "wall"])
        if kind == "wall":
            usual = [self.wall, self.wall - 86400, self.wall + 1e8, 0.0]
            seconds = pick([-62135596801.0, 253402300801.0, *WRONG_DOUBLES[3:]] if is_wrong else usual)
        else:
            usual = [0.0, 0.125, 1.0, self.random.randrange(80) / 8, self.random.uniform(0, 60), pick(EXTREME_DOUBLES)]
            seconds = pick(WRONG_DOUBLES if is_wrong else usual)
        self.lines.append(f"{kind} {seconds!r}")

    def _questions(self) -> None:
        """The strategy by itself, without a loop."""
        options = retry_options(self.random, self.delay_names)
        self.lines.append(f"strategy{options}" if self.random.random() < 0.8 else self._custom())
        for _ in range(self.random.randrange(1, 8)):
            asked = attempt_number(self.random) if self.random.random() < 0.97 else self.random.choice([-1, -(2**31)])
            self.lines.append(f"{self.random.choice(['should_retry', 'retry_after'])} {asked}{self._outcome()}")

    def _outcome(self) -> str:
        pick = self.random.choice
        fields: dict[str, Value] = {}
        kind = self.random.random()
        if kind < 0.3:
            fields.update({"cause": pick(range(9)), "status": pick([0, 0, 0, 200, 503])})
        elif kind < 0.45:
            fields.update({"status": pick([401, 202]), "auth_available": 1})
        elif kind < 0.9 or self.is_long:
            fields["status"] = pick([503, 503, 503, 429, 429, 500, 502, 504, 599])
        else:
            fields["status"] = pick([200, 202, 302, 401, 404, 100, 399, 400, 999, self.random.randrange(100, 1000)])
        if self.random.random() < 0.5:
            fields["method"] = pick(METHODS)
        if not self.is_long:
            fields.update(some(self.random, 0.15, {
                "auth_available": lambda: pick([0, 1, 1, 7]),
                "request_sent": lambda: pick([0, 1, 2]),
                "body_not_replayable": lambda: pick([0, 0, 0, 1, 2]),
                "retry_safety": lambda: pick([0, 1, 2]),
            }))  # fmt: skip
        if self.random.random() < 0.02:
            key = pick(["status", "cause", "request_sent", "retry_safety"])
            fields[key] = pick([-1, 99, 1000, 2**31 - 1, -(2**31)])
        return text(fields) + self._headers()

    def _headers(self) -> str:
        pick = self.random.choice
        lines: list[tuple[bytes, bytes]] = []
        about = self.wall
        if not self.has_clock:
            about = USUAL_WALL
            lines.append((mixed_case(self.random, b"Date"), self._sure_date()))
        elif self.random.random() < 0.15:
            about += pick([-3600, 0, 5, 100_000])
            for _ in range(pick([1, 1, 1, 2])):
                value = date(self.random, about)
                value = mutated(self.random, value) if self.random.random() < 0.2 else value
                lines.append((mixed_case(self.random, b"Date"), value))
        if self.random.random() < 0.6:
            for _ in range(pick([1, 1, 1, 2, 3])):
                lines.append((mixed_case(self.random, b"Retry-After"), retry_after(self.random, about)))
        for name in self.delay_names:
            if self.random.random() < 0.5:
                value = number(self.random) if self.random.random() < 0.7 else retry_after(self.random, about)
                lines.append((mixed_case(self.random, name), value))
        if self.random.random() < 0.2:
            lines.append((pick([b"Content-Type", b"Retry-Afte", b"Retry-After ", b"X-Retry-After", b"Datex"]), b"5"))
        self.random.shuffle(lines)
        return "".join(f" header={encode(name)}:{encode(value)}" for name, value in lines)

    def _sure_date(self) -> bytes:
        """A Date for sequences without a manual clock: always valid, since the time is not known there."""
        return b"Mon, %02d Sep 2026 %02d:13:50 GMT" % (self.random.randrange(1, 31), self.random.randrange(24))

    def _arithmetic(self) -> None:
        for _ in range(self.random.randrange(1, 8)):
            unit = unit_random(self.random)
            kind = self.random.randrange(4)
            if kind == 0:
                asked = attempt_number(self.random) if self.random.random() < 0.97 else -1
                self.lines.append(f"backoff {asked} {unit!r}{backoff_options(self.random)}")
            elif kind == 1:
                self.lines.append(f"token_delay {self._failed_attempt()} {unit!r}{token_policy(self.random)}")
            else:
                self.lines.append(self._parse())

    def _parse(self) -> str:
        moment = self.random.choice([int(USUAL_WALL), 0, self.random.randrange(-(10**10), 2 * 10**11)])
        value = retry_after(self.random, moment)
        if self.random.random() < 0.03:
            moment = self.random.choice([-62135596800, -62135596801, 253402300799, 253402300800, 2**63 - 1, -(2**63)])
        return f"parse {moment} {encode(value)}"

    def _failed_attempt(self) -> int:
        if self.random.random() < 0.03:
            return self.random.choice([0, -1, -(2**31)])
        return self.random.choice([self.random.randrange(1, 12), self.random.randrange(1, 2000), 2**31 - 1])


def sequence(seed: int, number: int) -> list[str]:
    return Sequence(seed, number).write()


if __name__ == "__main__":
    seed, first, count = map(int, sys.argv[1:4])
    for index in range(first, first + count):
        print("\n".join(sequence(seed, index)))

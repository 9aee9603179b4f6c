"""An independent model of libboxretry's decisions, written from docs/semantics.md and never from the library's code.

Where the clauses allow more than one answer (a random delay that may or may not cross a deadline), the model gives all
of them. Where the clauses fix one, it gives that one; of several reasons to stop it is the first in the order that the
header promises at BOXRETRY_REASON_MAP. Where they are silent:

- An exception that comes with headers has what they say (B7): the source's exceptions are responses of status 0.
- POST and PATCH are unsafe in any case (B12).
- A 503 whose Retry-After is not usable still has one, for B12 as for B3; further headers that carry a delay count too.
- Such a further header holds numbers, and no dates; its value saturates after it was multiplied by its unit.
- A custom strategy that stops after 200 to 399 has the reason "success".
- A two-digit year is at most 50 years ahead to the second, as RFC 9110 has it. Of several Date lines the first valid
  one counts. White space around a value is spaces and tabs.
"""

import math
from dataclasses import dataclass, field
from decimal import Context, Decimal
from fractions import Fraction
from typing import NamedTuple, Optional

from model_retry_after import LIMIT, DelayHeader, Header, Range, Said

MOST = 1_000_000  # of any count


@dataclass
class RetryOptions:
    """B1, and what goes beyond the source: the caps and further headers (B11), unsafe methods (B12)."""

    max_attempts: int = 5
    max_retries_on_exception: int = 2
    retry_base_interval: float = 1.0
    retry_randomization_factor: float = 0.5
    backoff_cap: float = 0.0
    retry_after_cap: float = 0.0
    retry_after_over_cap: int = 0
    retry_unsafe_methods: int = 1
    delay_headers: list[DelayHeader] = field(default_factory=list)
    retry_after_jitter: float = 0.0

    def wrong_fields(self) -> list[str]:
        """The fields for which a strategy is refused."""
        right = {
            "max_attempts": 0 <= self.max_attempts <= MOST,
            "max_retries_on_exception": 0 <= self.max_retries_on_exception <= MOST,
            "retry_base_interval": is_length(self.retry_base_interval),
            "retry_randomization_factor": 0 <= self.retry_randomization_factor <= 1,
            "backoff_cap": is_length(self.backoff_cap),
            "retry_after_cap": is_length(self.retry_after_cap),
            "retry_after_over_cap": self.retry_after_over_cap in (0, 1),
            "retry_after_jitter": 0 <= self.retry_after_jitter <= 1,
            "delay_header": len(self.delay_headers) <= 16 and all(map(is_delay_header, self.delay_headers)),
        }
        return [name for name, is_right in right.items() if not is_right]


@dataclass
class TokenPolicy:
    """T5."""

    maximum_attempts: int = 9
    initial_delay: float = 1.0
    multiplier: float = 2.0
    maximum_delay: float = 8.0
    jitter_ratio: float = 0.2

    def wrong_fields(self) -> list[str]:
        right = {
            "maximum_attempts": self.maximum_attempts >= 1,
            "initial_delay": is_length(self.initial_delay),
            "multiplier": self.multiplier >= 1 and math.isfinite(self.multiplier),
            "maximum_delay": is_length(self.maximum_delay),
            "jitter_ratio": 0 <= self.jitter_ratio <= 1,
        }
        return [name for name, is_right in right.items() if not is_right]


@dataclass
class LoopOptions:
    """B11, B14. A ceiling of 0 is the default."""

    auth_available: int = 0
    deadline_ms: Optional[int] = None
    max_total_attempts: int = 0

    def wrong_fields(self) -> list[str]:
        right = {
            "deadline": self.deadline_ms is None or self.deadline_ms >= 1,
            "max_total_attempts": 0 <= self.max_total_attempts <= MOST,
        }
        return [name for name, is_right in right.items() if not is_right]


@dataclass
class Outcome:
    """B2: how one attempt ended."""

    status: int = 0
    cause: int = 0
    headers: list[Header] = field(default_factory=list)
    auth_available: int = 0
    request_sent: int = 0
    body_not_replayable: int = 0
    has_request: bool = False
    method: bytes = b"GET"
    retry_safety: int = 0

    def wrong_fields(self) -> list[str]:
        right = {
            "status": self.status == 0 or 100 <= self.status <= 999,
            "cause": 0 <= self.cause <= 8,
            "request_sent": 0 <= self.request_sent <= 2,
            "retry_safety": 0 <= self.retry_safety <= 2,
        }
        return [name for name, is_right in right.items() if not is_right]

    @property
    def is_exception(self) -> bool:
        return self.status == 0 or self.cause != 0

    @property
    def is_unsafe(self) -> bool:
        """Whether sending the request again may do harm (B12). Unknown without the request."""
        if not self.has_request or self.retry_safety == 1:
            return False
        return self.retry_safety == 2 or self.method.upper() in (b"POST", b"PATCH")


@dataclass(frozen=True)
class Decision:
    action: str
    reason: str
    delay: Range
    delay_source: str
    attempt_number: int
    exception_number: int
    retry_after_state: str
    retry_after: Optional[Range]

    @property
    def is_last(self) -> bool:
        return self.action in ("stop", "succeed")


def is_length(seconds: float) -> bool:
    return math.isfinite(seconds) and seconds >= 0


def is_delay_header(header: DelayHeader) -> bool:
    """1 to 256 bytes without white space and colons; a unit above 0, at most a day."""
    return 1 <= len(header.name) <= 256 and not set(header.name) & set(b" \t\r\n\v\f:") and 0 < header.unit <= 86400


def backoff(options: RetryOptions, attempt_number: int, unit_random: Optional[float] = None) -> Range:
    """B6: 2^attempt_number * base * uniform(1 - factor, 1 + factor); then the cap of B11."""
    base = Fraction(options.retry_base_interval) * 2 ** min(attempt_number, 1300)  # beyond, all but 0 is saturated
    factor = Fraction(options.retry_randomization_factor)
    if unit_random is None:
        delay = Range(base * (1 - factor), base * (1 + factor))
    else:
        delay = Range.exactly(base * (1 - factor + 2 * factor * Fraction(unit_random)))
    cap = Fraction(options.backoff_cap) or LIMIT
    return delay.at_most(Fraction(min(cap, LIMIT)))


def token_delay(policy: TokenPolicy, failed_attempt: int, unit_random: float) -> Fraction:
    """T5: min(maximum, initial * multiplier^(k - 1)), jittered, then capped at the maximum."""
    wide = Context(prec=60, Emax=10**17, Emin=-(10**17))
    growth = wide.power(Decimal(policy.multiplier), Decimal(failed_attempt - 1))
    maximum = Decimal(policy.maximum_delay)
    base = Fraction(min(maximum, wide.multiply(Decimal(policy.initial_delay), growth)))
    jittered = base * (1 + Fraction(policy.jitter_ratio) * (2 * Fraction(unit_random) - 1))
    return min(jittered, Fraction(maximum), Fraction(LIMIT))


class Verdict(NamedTuple):
    """The answer of the documented flow (B3)."""

    retried: bool
    reason: str


def documented_flow(
    options: RetryOptions, outcome: Outcome, attempt_number: int, has_retry_after: bool, auth: bool
) -> Verdict:
    """B3, in this order and nothing else."""
    if outcome.is_exception:
        if attempt_number <= options.max_retries_on_exception:
            return Verdict(True, "network_exception")
        return Verdict(False, "exceptions_exhausted")
    if attempt_number >= options.max_attempts:
        return Verdict(False, "attempts_exhausted")
    if outcome.status == 202 and has_retry_after:
        return Verdict(True, "accepted")
    if outcome.status >= 500:
        return Verdict(True, "server_error")
    if outcome.status == 429:
        return Verdict(True, "rate_limited")
    if outcome.status == 401 and auth:
        return Verdict(True, "unauthorized")
    return Verdict(False, "not_retryable")


def server_did_not_act(outcome: Outcome, reason: str, has_retry_after: bool) -> bool:
    """B12: what proves that an unsafe request may be sent again."""
    if outcome.request_sent == 1:
        return True
    if outcome.is_exception:
        return False
    return outcome.status == 429 or (outcome.status == 503 and has_retry_after) or reason == "unauthorized"


class Situation(NamedTuple):
    """One outcome in its place: everything that any decision about it needs."""

    outcome: Outcome
    said: Said
    attempt_number: int  # for the decision
    exception_number: int

    @property
    def is_success(self) -> bool:
        return not self.outcome.is_exception and 200 <= self.outcome.status <= 399

    def last(self, reason: str) -> Decision:
        """No retry. 200 to 399 is a success all the same (B10)."""
        action = "succeed" if self.is_success else "stop"
        return self._decision(action, reason, Range.exactly(Fraction(0)), "none")

    def retry(self, action: str, reason: str, delay: Range, sources: list[str]) -> list[Decision]:
        return [self._decision(action, reason, delay, source) for source in sources]

    def _decision(self, action: str, reason: str, delay: Range, source: str) -> Decision:
        numbers = (self.attempt_number, self.exception_number)
        return Decision(action, reason, delay, source, *numbers, self.said.state, self.said.seconds)


def box_delay(options: RetryOptions, said: Said, number: int) -> tuple[Range, list[str]]:
    """B7 where the response says something usable, within its cap (B11) and with its jitter (C2), else B6."""
    if said.seconds is None:
        return backoff(options, number), ["backoff"]
    seconds, cap = said.seconds, Fraction(options.retry_after_cap)
    sources = [wish.source for wish in said.wishes]
    stops = bool(cap) and options.retry_after_over_cap == 1
    if stops and seconds.low > cap:
        return seconds, sources
    delay = Range(seconds.low, seconds.high * (1 + Fraction(options.retry_after_jitter))).at_most(Fraction(LIMIT))
    if cap:
        delay = delay.at_most(cap)
    return (Range(delay.low, max(delay.high, seconds.high)) if stops else delay), sources


ORDER_OF_STOPS = [
    "unsafe_request",
    "not_replayable",
    "attempt_ceiling",
    "retries_exhausted",
    "retry_after_over_cap",
    "deadline",
]
"""Of what stands against a retry that the flow allows, the first of these is the reason (BOXRETRY_REASON_MAP)."""


def first(stops: list[str]) -> str:
    return min(stops, key=ORDER_OF_STOPS.index)


def box_stops(options: RetryOptions, place: Situation, reason: str) -> list[str]:
    """What stands against a retry that the flow allows, apart from what only a loop knows, and from the cap."""
    proof = server_did_not_act(place.outcome, reason, place.said.state != "absent")
    is_risk = not options.retry_unsafe_methods and place.outcome.is_unsafe and not proof
    return ["unsafe_request"] * is_risk + ["not_replayable"] * bool(place.outcome.body_not_replayable)


def over_cap(options: RetryOptions, said: Said) -> list[bool]:
    """Whether the server asks for more than the cap, and that stops (B11). Both where a clock's doubles decide it."""
    cap = Fraction(options.retry_after_cap)
    if not cap or options.retry_after_over_cap != 1 or said.seconds is None:
        return [False]
    return sorted({said.seconds.low > cap, said.seconds.high > cap})

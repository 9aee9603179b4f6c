"""Box's retry strategy: the decision about one outcome, without I/O."""

from __future__ import annotations

from collections.abc import Mapping
from ctypes import byref, c_double
from typing import Any, SupportsIndex

from .._c import _abi
from .._c.arguments import Real, Text, integer, new, real, text
from .._c.handle import HandleOwner, new_handle
from ..enums import OverCap
from ..errors import InvalidArgumentError, check
from ..outcome import Outcome, OutcomeStruct
from .decision import Decision, decision_from_struct

_OVER_CAP = {"clamp": OverCap.CLAMP, "stop": OverCap.STOP}


class RetryStrategy(HandleOwner):
    """Box's retry strategy (B1). It never changes; any number of threads may use it at once.

    >>> strategy = RetryStrategy(max_attempts=3)
    >>> decision = strategy.should_retry(Outcome(503, headers={"Retry-After": "7"}), attempt_number=1)
    >>> decision.retry, decision.delay
    (True, 7.0)
    >>> strategy.should_retry(Outcome(503), attempt_number=3).reason.text
    'max_attempts is reached'
    """

    def __init__(
        self,
        max_attempts: SupportsIndex = 5,
        retry_base_interval: Real = 1.0,
        retry_randomization_factor: Real = 0.5,
        max_retries_on_exception: SupportsIndex = 2,
        *,
        backoff_cap: Real = 0.0,
        retry_after_cap: Real = 0.0,
        retry_after_over_cap: str = "clamp",
        retry_unsafe_methods: bool = True,
        delay_headers: Mapping[str, Real] | None = None,
        retry_after_jitter: Real = 0.0,
        should_retry_header: Text | None = None,
    ) -> None:
        """The documented defaults. The additions to the source (B11, B12, C2) are off by default.

        max_attempts: maximum number of attempts that end with a response, 0 to 1000000.
        retry_base_interval: seconds, 0 or more, finite.
        retry_randomization_factor: 0 to 1; a backoff is multiplied by 1 - factor to 1 + factor.
        max_retries_on_exception: maximum number of retries after network exceptions, 0 to 1000000.
        backoff_cap: the longest backoff, in seconds, jitter included. 0: no cap.
        retry_after_cap: the longest Retry-After that is honored, in seconds, jitter included. 0: no cap.
        retry_after_over_cap: what to do with a longer one: "clamp" waits for the cap, "stop" does not retry.
        retry_unsafe_methods: False: a POST, a PATCH or a request marked unsafe is retried only if the server cannot
            have processed it; this needs the outcome's `request`.
        delay_headers: further response headers that count as Retry-After, each with the number of seconds that a value
            of 1 means: `{"retry-after-ms": 0.001}`. At most 16. The first valid one wins, also over Retry-After.
        retry_after_jitter: 0 to 1; a Retry-After is multiplied by 1 to 1 + this, so that clients that all got the same
            number of seconds do not all return at the same moment.
        should_retry_header: a response header by which the server decides on retries with "true" or "false", such as
            "x-should-retry". It decides for a status of 400 or above, unless a token is refreshed. None: no header.

        Raises InvalidArgumentError.
        """
        #: The arguments for a copy.
        self._settings = {
            "max_attempts": max_attempts,
            "retry_base_interval": retry_base_interval,
            "retry_randomization_factor": retry_randomization_factor,
            "max_retries_on_exception": max_retries_on_exception,
            "backoff_cap": backoff_cap,
            "retry_after_cap": retry_after_cap,
            "retry_after_over_cap": retry_after_over_cap,
            "retry_unsafe_methods": retry_unsafe_methods,
            "delay_headers": delay_headers and dict(delay_headers),
            "retry_after_jitter": retry_after_jitter,
            "should_retry_header": should_retry_header,
        }
        options = new(_abi.RetryOptions, _abi.boxretry_retry_options_init)
        options.max_attempts = integer(max_attempts, "max_attempts")
        options.retry_base_interval = real(retry_base_interval, "retry_base_interval")
        options.retry_randomization_factor = real(retry_randomization_factor, "retry_randomization_factor")
        options.max_retries_on_exception = integer(max_retries_on_exception, "max_retries_on_exception")
        options.backoff_cap = real(backoff_cap, "backoff_cap")
        options.retry_after_cap = real(retry_after_cap, "retry_after_cap")
        if retry_after_over_cap not in _OVER_CAP:
            raise InvalidArgumentError('retry_after_over_cap: must be "clamp" or "stop"')
        options.retry_after_over_cap = _OVER_CAP[retry_after_over_cap]
        options.retry_unsafe_methods = 1 if retry_unsafe_methods else 0
        units = [
            _abi.DelayHeader(text(name, "delay_headers"), real(unit, "delay_headers"))
            for name, unit in (delay_headers or {}).items()
        ]
        options.delay_headers = (_abi.DelayHeader * len(units))(*units)
        options.delay_header_count = len(units)
        options.retry_after_jitter = real(retry_after_jitter, "retry_after_jitter")
        if should_retry_header is not None:
            options.should_retry_header = text(should_retry_header, "should_retry_header")
        self._handle = new_handle(_abi.boxretry_strategy_new, byref(options), free=_abi.boxretry_strategy_free)

    @classmethod
    def for_api_clients(cls, **settings: Any) -> RetryStrategy:
        """A strategy that also honors the headers `retry-after-ms` and `x-should-retry`.

        The API clients of OpenAI, Anthropic and others follow these two in their own retries. Turn their retries off,
        otherwise the retries multiply. `settings` are those of `RetryStrategy()`.

        >>> strategy = RetryStrategy.for_api_clients(max_attempts=3)
        >>> conflict = Outcome(409, headers={"x-should-retry": "true", "retry-after-ms": "250"})
        >>> strategy.should_retry(conflict, attempt_number=1).delay
        0.25

        Raises InvalidArgumentError.
        """
        return cls(**{"delay_headers": {"retry-after-ms": 0.001}, "should_retry_header": "x-should-retry", **settings})

    def __reduce__(self) -> Any:
        """Copies and pickles are strategies with the same settings. They can also be made in a child of os.fork()."""
        return _make, (type(self), self._settings)

    def should_retry(self, outcome: Outcome, attempt_number: SupportsIndex) -> Decision:
        """Whether to retry after this outcome (B3), and after what delay.

        attempt_number: for a network exception the number of the exception, otherwise that of the attempt, from 1; 0 is
            accepted. The retry loop applies the limit for both kinds (B5), a deadline and max_total_attempts.

        Raises InvalidArgumentError, ForkedError, ClosedError.
        """
        handle = self._open_handle()
        told = OutcomeStruct()
        told.fill(outcome)
        decision = new(_abi.Decision, _abi.boxretry_decision_init)
        number = integer(attempt_number, "attempt_number")
        check(_abi.boxretry_strategy_should_retry(handle.pointer, byref(told.struct), number, byref(decision)))
        return decision_from_struct(decision)

    def retry_after(self, outcome: Outcome, attempt_number: SupportsIndex) -> float:
        """The delay before a retry after this outcome, in seconds, whether or not it would be retried.

        It is the Retry-After (B7), otherwise the backoff (B6). Caps apply; a Retry-After above a cap that stops is
        returned unchanged. `attempt_number` is as in `should_retry()`.

        Raises InvalidArgumentError, ForkedError, ClosedError.
        """
        handle = self._open_handle()
        told = OutcomeStruct()
        told.fill(outcome)
        delay = c_double()
        number = integer(attempt_number, "attempt_number")
        check(_abi.boxretry_strategy_retry_after(handle.pointer, byref(told.struct), number, byref(delay)))
        return delay.value


def _make(strategy: type[RetryStrategy], settings: dict[str, Any]) -> RetryStrategy:
    return strategy(**settings)

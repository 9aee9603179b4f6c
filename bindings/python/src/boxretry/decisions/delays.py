"""Arithmetic only: backoff, Retry-After, and the waits of a token provider."""

from __future__ import annotations

import math
import time
from ctypes import byref, c_double
from dataclasses import dataclass
from typing import Any, SupportsIndex

from .._c import _abi
from .._c.arguments import INT64, Real, Text, integer, new, real, text
from ..enums import Error
from ..errors import InvalidArgumentError, check


def backoff_delay(
    attempt_number: SupportsIndex,
    unit_random: Real = 0.5,
    *,
    retry_base_interval: Real = 1.0,
    retry_randomization_factor: Real = 0.5,
    backoff_cap: Real = 0.0,
) -> float:
    """2^attempt_number * retry_base_interval * a factor (B6), in seconds, at most 2^31 - 1 and at most `backoff_cap`.

    attempt_number: 0 or more.
    unit_random: position in the range of the jitter, 0 (1 - retry_randomization_factor) to 1 (1 +
        retry_randomization_factor); 0.5 is the middle, without jitter.
    The other arguments are those of `RetryStrategy`.

    Raises InvalidArgumentError.

    >>> [backoff_delay(number) for number in (1, 2, 3)]
    [2.0, 4.0, 8.0]
    """
    options = new(_abi.RetryOptions, _abi.boxretry_retry_options_init)
    options.retry_base_interval = real(retry_base_interval, "retry_base_interval")
    options.retry_randomization_factor = real(retry_randomization_factor, "retry_randomization_factor")
    options.backoff_cap = real(backoff_cap, "backoff_cap")
    number, where = integer(attempt_number, "attempt_number"), real(unit_random, "unit_random")
    delay = c_double()
    check(_abi.boxretry_backoff_delay(byref(options), number, where, byref(delay)))
    return delay.value


def parse_retry_after(value: Text, unix_time: Real | None = None) -> float | None:
    """The value of a Retry-After header line in seconds, 0 to 2^31 - 1 (B7).

    It is a decimal number, a list of such numbers (the largest counts), or an HTTP date in any of its three forms.
    Any other value returns None: use the backoff.

    unix_time: the time from which a date counts, in seconds since 1970, in the years 1 to 9999: the response's own
        Date. None: now.

    Raises InvalidArgumentError.

    >>> parse_retry_after("120"), parse_retry_after("soon")
    (120.0, None)
    >>> parse_retry_after("Wed, 21 Oct 2015 07:28:00 GMT", unix_time=1445412450)
    30.0
    """
    encoded = text(value, "value")
    counts_from = real(time.time() if unix_time is None else unix_time, "unix_time")
    if not math.isfinite(counts_from):
        raise InvalidArgumentError(f"unix_time: must be finite (got {counts_from:g})")
    seconds = c_double()
    whole = integer(math.floor(counts_from), "unix_time", INT64)
    status = _abi.boxretry_parse_retry_after(encoded, whole, byref(seconds))
    if status == Error.NOT_USABLE:
        return None
    check(status)
    return seconds.value


@dataclass(frozen=True)
class TokenRetryPolicy:
    """January's policy for failures of a token provider that are marked retryable (T5). Checked when it is used."""

    maximum_attempts: int = 9  #: Calls to the provider, the first one included; 1 or more.
    initial_delay: float = 1.0  #: Seconds, 0 or more, finite.
    multiplier: float = 2.0  #: 1 or more, finite.
    maximum_delay: float = 8.0  #: Seconds, 0 or more, finite. No wait is longer, jitter included.
    jitter_ratio: float = 0.2  #: 0 to 1. A wait is chosen at random within -/+ this part of its value.

    @classmethod
    def none(cls) -> TokenRetryPolicy:
        """A single attempt: no retries.

        >>> TokenRetryPolicy.none().maximum_attempts
        1
        """
        return cls(maximum_attempts=1)


def token_delay(
    failed_attempt: SupportsIndex, unit_random: Real = 0.5, *, policy: TokenRetryPolicy | None = None
) -> float:
    """The wait after the `failed_attempt`-th failed call of a token provider, in seconds, at most 2^31 - 1.

    Arithmetic only: you must check yourself that no wait follows failure number `maximum_attempts`.

    failed_attempt: 1 or more.
    unit_random: position in the range of the jitter, 0 to 1; 0.5 is the middle, without jitter.
    policy: None: the default policy.

    Raises InvalidArgumentError.

    >>> [token_delay(number) for number in (1, 2, 3, 4, 5)]
    [1.0, 2.0, 4.0, 8.0, 8.0]
    """
    struct = policy_struct(TokenRetryPolicy() if policy is None else policy)
    number, where = integer(failed_attempt, "failed_attempt"), real(unit_random, "unit_random")
    delay = c_double()
    check(_abi.boxretry_token_delay(byref(struct), number, where, byref(delay)))
    return delay.value


def policy_struct(policy: TokenRetryPolicy) -> Any:
    """The policy in the library's form."""
    if not isinstance(policy, TokenRetryPolicy):
        raise TypeError(f"policy: must be a TokenRetryPolicy, not {type(policy).__name__}")
    struct = new(_abi.TokenRetryPolicy, _abi.boxretry_token_retry_policy_init)
    struct.maximum_attempts = integer(policy.maximum_attempts, "policy.maximum_attempts")
    struct.initial_delay = real(policy.initial_delay, "policy.initial_delay")
    struct.multiplier = real(policy.multiplier, "policy.multiplier")
    struct.maximum_delay = real(policy.maximum_delay, "policy.maximum_delay")
    struct.jitter_ratio = real(policy.jitter_ratio, "policy.jitter_ratio")
    return struct

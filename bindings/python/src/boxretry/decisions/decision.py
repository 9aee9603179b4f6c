"""The decision of a strategy or a retry loop."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from ..enums import Action, DelaySource, Reason, RetryAfterState


@dataclass(frozen=True)
class Decision:
    """What to do after an attempt, and why."""

    action: Action
    reason: Reason
    #: Seconds to wait before the next attempt, 0 to 2^31 - 1; 0 if there is no next attempt.
    delay: float
    delay_source: DelaySource
    #: Number of this attempt, from 1.
    attempt_number: int
    #: Number of this network exception, from 1; 0 if the attempt ended with a response.
    exception_number: int
    retry_after_state: RetryAfterState
    #: Seconds that the server asked to wait, before any cap; None if it did not state a valid delay.
    retry_after: float | None

    @property
    def retry(self) -> bool:
        """There is a next attempt: wait for the delay, then send the request again."""
        return self.action in (Action.RETRY, Action.REFRESH_TOKEN_AND_RETRY)

    @property
    def refresh_token(self) -> bool:
        """There is a next attempt, and it needs a new access token."""
        return self.action == Action.REFRESH_TOKEN_AND_RETRY

    @property
    def succeeded(self) -> bool:
        """The call has ended, with a response that is a success or a redirect."""
        return self.action == Action.SUCCEED


# An enum takes five times as long to look up a member by its number.
_action = lru_cache(Action)
_reason = lru_cache(Reason)
_delay_source = lru_cache(DelaySource)
_retry_after_state = lru_cache(RetryAfterState)


def decision_from_struct(struct: Any) -> Decision:
    """The decision that the library wrote."""
    retry_after_state = _retry_after_state(struct.retry_after_state)
    return Decision(
        action=_action(struct.action),
        reason=_reason(struct.reason),
        delay=struct.delay,
        delay_source=_delay_source(struct.delay_source),
        attempt_number=struct.attempt_number,
        exception_number=struct.exception_number,
        retry_after_state=retry_after_state,
        retry_after=struct.retry_after if retry_after_state == RetryAfterState.USABLE else None,
    )

"""One attempt of a call."""

from __future__ import annotations

from ctypes import byref
from dataclasses import dataclass
from typing import Any

from . import _abi
from ._arguments import decoded, new
from .enums import Action, Cause, DelaySource, Reason
from .errors import check


@dataclass(frozen=True)
class Attempt:
    """One attempt of a call: how it ended, and what was decided."""

    #: From 1.
    number: int
    #: From 1; 0 if the attempt ended in a response.
    exception_number: int
    #: 0: a network exception.
    status: int
    cause: Cause
    action: Action
    #: None: the call ended before anybody was asked.
    reason: Reason | None
    #: Seconds before the next attempt.
    delay: float
    delay_source: DelaySource
    #: Times that it was sent again at once, since the connection was dead (B13).
    reconnects: int
    #: Milliseconds since the call began.
    started_ms: float
    ended_ms: float
    #: Seconds that the server asked for; None if it said nothing usable.
    retry_after: float | None
    #: libcurl's own code of a failure, or 0, and what libcurl calls it, or "".
    curl_code: int
    curl_text: str

    @property
    def retry(self) -> bool:
        """There was, or was to be, another attempt after it."""
        return self.action in (Action.RETRY, Action.REFRESH_TOKEN_AND_RETRY)


def attempts_of_call(pointer: int) -> list[Attempt]:
    """Those of a boxretry_response."""
    attempts, struct = [], new(_abi.Attempt, _abi.boxretry_attempt_init)
    for index in range(_abi.boxretry_response_attempt_count(pointer)):
        check(_abi.boxretry_response_attempt(pointer, index, byref(struct)))
        attempts.append(_attempt_from_struct(struct))
    return attempts


def _attempt_from_struct(struct: Any) -> Attempt:
    return Attempt(
        number=struct.number,
        exception_number=struct.exception_number,
        status=struct.status,
        cause=Cause(struct.cause),
        action=Action(struct.action),
        reason=None if struct.reason < 0 else Reason(struct.reason),
        delay=struct.delay,
        delay_source=DelaySource(struct.delay_source),
        reconnects=struct.reconnects,
        started_ms=struct.started_ms,
        ended_ms=struct.ended_ms,
        retry_after=None if struct.retry_after < 0 else struct.retry_after,
        curl_code=struct.curl_code,
        curl_text=decoded(struct.curl_text),
    )

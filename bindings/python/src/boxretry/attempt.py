"""What a call has done: its attempts, the redirects that they followed, and its reconnects."""

from __future__ import annotations

from ctypes import byref
from dataclasses import dataclass
from typing import Any

from ._c import _abi
from ._c.arguments import decoded, new
from .enums import Action, Cause, DelaySource, Reason, RequestSent
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
    #: That were followed within the attempt; see `Response.redirects`.
    redirects: int
    #: Of the response: 10, 11, 20; 0: there was none.
    http_version: int
    #: Bytes that a resumed download had before, and kept; 0: it began at the start.
    resumed_from: int
    #: Of the last sending's body, and of its response's; as they went over the line.
    bytes_sent: int
    bytes_received: int
    #: Milliseconds from the last sending's start until the name is known; None: it did not come so far, here and in the
    #: next three.
    lookup_ms: float | None
    #: Until the connection stands; 0 for one that was there.
    connect_ms: float | None
    #: Until the TLS handshake is done; 0 without one.
    tls_ms: float | None
    #: Until the first byte of the response.
    first_byte_ms: float | None
    #: NOTHING or SOME, over all of the attempt's sendings (B12).
    request_sent: RequestSent
    #: Of the proxy's answer to CONNECT, for the last sending; 0: no CONNECT was answered (W6).
    proxy_status: int = 0

    @property
    def retry(self) -> bool:
        """There was, or was to be, another attempt after it."""
        return self.action in (Action.RETRY, Action.REFRESH_TOKEN_AND_RETRY)


@dataclass(frozen=True)
class Reconnect:
    """A request that was sent again at once, since its connection was dead (B13). The server may have seen it twice."""

    #: The attempt within which it was, from 1.
    attempt_number: int
    #: What the old connection failed with.
    cause: Cause
    #: Milliseconds since the call began.
    at_ms: float


@dataclass(frozen=True)
class Redirect:
    """A redirect that was followed."""

    #: The attempt within which it was, from 1.
    attempt_number: int
    #: 301, 302, 303, 307 or 308.
    status: int
    #: Where it led.
    url: str


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
        retry_after=_known(struct.retry_after),
        curl_code=struct.curl_code,
        curl_text=decoded(struct.curl_text),
        redirects=struct.redirects,
        http_version=struct.http_version,
        resumed_from=struct.resumed_from,
        bytes_sent=struct.bytes_sent,
        bytes_received=struct.bytes_received,
        lookup_ms=_known(struct.lookup_ms),
        connect_ms=_known(struct.connect_ms),
        tls_ms=_known(struct.tls_ms),
        first_byte_ms=_known(struct.first_byte_ms),
        request_sent=RequestSent(struct.request_sent),
        proxy_status=struct.proxy_status,
    )


def _known(number: float) -> float | None:
    return None if number < 0 else number


def reconnects_of_call(pointer: int) -> list[Reconnect]:
    """Those of a boxretry_response, of all attempts, in order."""
    reconnects, struct = [], new(_abi.Reconnect, _abi.boxretry_reconnect_init)
    for index in range(_abi.boxretry_response_reconnect_count(pointer)):
        check(_abi.boxretry_response_reconnect(pointer, index, byref(struct)))
        reconnects.append(Reconnect(struct.attempt_number, Cause(struct.cause), struct.at_ms))
    return reconnects


def redirects_of_call(pointer: int) -> list[Redirect]:
    """Those of a boxretry_response, of all attempts, in order."""
    redirects, struct = [], new(_abi.Redirect, _abi.boxretry_redirect_init)
    for index in range(_abi.boxretry_response_redirect_count(pointer)):
        check(_abi.boxretry_response_redirect(pointer, index, byref(struct)))
        redirects.append(Redirect(struct.attempt_number, struct.status, decoded(struct.url)))
    return redirects

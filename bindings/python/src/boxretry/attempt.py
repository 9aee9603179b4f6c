"""What a call has done: its attempts, the redirects that they followed, and its reconnects."""

from __future__ import annotations

from dataclasses import dataclass

from .enums import Action, Cause, DelaySource, Reason, RequestSent


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

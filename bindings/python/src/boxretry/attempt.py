"""What a call did: its attempts, the redirects that they followed, and its reconnects."""

from __future__ import annotations

from dataclasses import dataclass

from .enums import Action, Cause, DelaySource, Reason, RequestSent


@dataclass(frozen=True)
class Attempt:
    """One attempt of a call: how it ended, and what was decided."""

    #: Number of the attempt, from 1.
    number: int
    #: Number of the network exception, from 1; 0 if the attempt ended with a response.
    exception_number: int
    #: Status of the response; 0: a network exception.
    status: int
    cause: Cause
    action: Action
    #: None: the call ended before a decision was made.
    reason: Reason | None
    #: Seconds before the next attempt.
    delay: float
    delay_source: DelaySource
    #: Times that the request was sent again immediately because its connection was dead (B13).
    reconnects: int
    #: Milliseconds since the call began.
    started_ms: float
    ended_ms: float
    #: Seconds that the server asked to wait; None if it did not state a valid delay.
    retry_after: float | None
    #: libcurl's own code for a failure, or 0; and libcurl's text for it, or "".
    curl_code: int
    curl_text: str
    #: Redirects followed within the attempt; see `Response.redirects`.
    redirects: int
    #: HTTP version of the response: 10, 11, 20; 0: there was no response.
    http_version: int
    #: Bytes that a resumed download had already, and kept; 0: it began at the start.
    resumed_from: int
    #: Size of the last sending's body, and of its response's body, as transferred.
    bytes_sent: int
    bytes_received: int
    #: Milliseconds from the start of the last sending until the name was resolved; None: it did not get that far. The
    #: same for the next three.
    lookup_ms: float | None
    #: Until the connection was made; 0 for an existing one.
    connect_ms: float | None
    #: Until the TLS handshake was done; 0 without TLS.
    tls_ms: float | None
    #: Until the first byte of the response.
    first_byte_ms: float | None
    #: NOTHING or SOME, for all of the attempt's sendings (B12).
    request_sent: RequestSent
    #: Status of the proxy's answer to CONNECT, for the last sending; 0: no CONNECT was answered (W6).
    proxy_status: int = 0

    @property
    def retry(self) -> bool:
        """Another attempt followed, or was to follow."""
        return self.action in (Action.RETRY, Action.REFRESH_TOKEN_AND_RETRY)


@dataclass(frozen=True)
class Reconnect:
    """A request that was sent again immediately because its connection was dead (B13). The server may see it twice."""

    #: Number of its attempt, from 1.
    attempt_number: int
    #: How the old connection failed.
    cause: Cause
    #: Milliseconds since the call began.
    at_ms: float


@dataclass(frozen=True)
class Redirect:
    """A redirect that an attempt followed."""

    #: Number of its attempt, from 1.
    attempt_number: int
    #: 301, 302, 303, 307 or 308.
    status: int
    #: The URL that the redirect leads to.
    url: str

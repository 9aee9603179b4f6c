"""What is right, by docs/semantics.md: for each fault the text of a cell, as a function of the kind of request.

Written by hand from the clauses that are named here; nothing in this file comes from what the library does. The tests'
strategy has no jitter and a base of 1 ms, so that the waits of B6 are 2, 4, 8 and 16 ms. A cell reads

    how attempt 1 ended, the wait, how attempt 2 ended, … → how the call ended (the reason of the last decision)
"""

from __future__ import annotations

from typing import Callable

from kinds import Kind

Cell = Callable[[Kind], str]

#: Between two texts that are both right.
OR = "; or "


def for_all(text: str) -> Cell:
    """The same for each kind of request."""
    return lambda kind: text


def well() -> Cell:
    """B10. The library does not treat it as a fault."""
    return for_all("200 → 200 (success)")


# --- Network exceptions: each time, and once ---


def exception_before_the_request(cause: str) -> Cell:
    """B3, B4, B6. Two retries. Nothing of a one-shot stream was read, so that it can be sent again (R3)."""
    return for_all(f"{cause}, 2 ms, {cause}, 4 ms, {cause} → {cause} (exceptions_exhausted)")


def exception(cause: str) -> Cell:
    """B3, B4, B6. Two retries; none for a one-shot stream that was read (R3)."""
    return _unless_one_shot(
        f"{cause}, 2 ms, {cause}, 4 ms, {cause} → {cause} (exceptions_exhausted)",
        f"{cause} → {cause} (not_replayable)",
    )


def one_exception_before_the_request(cause: str) -> Cell:
    """B3, R3. The retry succeeds."""
    return for_all(f"{cause}, 2 ms, 200 → 200 (success)")


def one_exception(cause: str) -> Cell:
    """B3. The retry succeeds; there is none for a one-shot stream that was read (R3)."""
    return _unless_one_shot(f"{cause}, 2 ms, 200 → 200 (success)", f"{cause} → {cause} (not_replayable)")


# --- Reconnects (B13) ---


def refused_unseen() -> Cell:
    """B13. The server refuses the request each time, and says that it has not processed it. An idempotent request is
    sent again at once, at most once in a call; after that, and for all others, it is an exception: the bytes were sent.
    """
    return _reconnect_or(
        "receive after 1 reconnect, 2 ms, receive, 4 ms, receive → receive (exceptions_exhausted)",
        exception("receive"),
    )


def refused_unseen_once() -> Cell:
    """B13."""
    return _reconnect_or("200 after 1 reconnect → 200 (success)", one_exception("receive"))


def needs_http_1_1() -> Cell:
    """B13, F106. The refused stream has done nothing, so the request goes over HTTP/1.1 at once, with any method;
    but not a body that was read and is gone (R3)."""
    return _unless_one_shot("200 after 1 reconnect → 200 (success)", "protocol → protocol (not_replayable)")


def dead_before_use() -> Cell:
    """B13. A connection of HTTP/2 that ended while it was not in use.

    If libcurl notices, which is a matter of time, it makes a new one. If it has begun to send, what is idempotent is
    sent again at once; for all others it is an exception, since the server may have got it, and a stream may have been
    read (R3).
    """
    noticed = "200 → 200 (success)"

    def cell(kind: Kind) -> str:
        if kind.is_idempotent:
            return noticed + OR + "200 after 1 reconnect → 200 (success)"
        retried = noticed + OR + "receive, 2 ms, 200 → 200 (success)"
        return retried if kind.can_be_read_again else retried + OR + "receive → receive (not_replayable)"

    return cell


def dead_on_use() -> Cell:
    """B13. A reused connection that ends when it sees the request is replaced at once, for what is idempotent; that new
    connections end in the same way is an exception each time."""
    return refused_unseen()


def dead_on_use_once() -> Cell:
    """B13."""
    return refused_unseen_once()


# --- Responses ---


def retried_status(status: int) -> Cell:
    """B3, B4, B6, B10. Five attempts, and the last response is the caller's; one, if a stream was read (R3)."""
    return _unless_one_shot(
        f"{status}, 2 ms, {status}, 4 ms, {status}, 8 ms, {status}, 16 ms, {status} → {status} (attempts_exhausted)",
        f"{status} → {status} (not_replayable)",
    )


def one_retried_status(status: int, wait: str = "2 ms") -> Cell:
    """B3, B7, B10. The same, with one wait and a success."""
    return _unless_one_shot(f"{status}, {wait}, 200 → 200 (success)", f"{status} → {status} (not_replayable)")


def final_status(status: int) -> Cell:
    """B3. It is not retried."""
    return for_all(f"{status} → {status} (not_retryable)")


# --- Access tokens ---


def same_token_again() -> Cell:
    """B8. The call ends with the token's error, and the 401 attached. R3: a stream that was read wants no new token."""
    return _unless_one_shot("401 → client_token_provider_failed with its 401 (unauthorized)", _once_only(401))


def replayed_once() -> Cell:
    """R1, R3. At once and once in a call; then the preset's strategy, which has no retries, has its say."""
    return _unless_one_shot("401, 0 ms, 401 → 401 (attempts_exhausted)", _once_only(401))


def one_replay() -> Cell:
    """R1, R3, R5."""
    return _unless_one_shot("401, 0 ms, 200 → 200 (success)", _once_only(401))


# --- Redirects ---


def redirects_without_end() -> Cell:
    """B2. 20 are followed; one more is a local failure, and not retried."""
    return for_all("local failure after 20 redirects → too_many_redirects")


def redirects_with_the_body_without_end() -> Cell:
    """B2. As above; but a stream that was read cannot be sent again (R3): the redirect is the response (B10)."""
    return _unless_one_shot("local failure after 20 redirects → too_many_redirects", _once_only(307))


def one_redirect() -> Cell:
    """B10. After 302 a POST continues as a GET without a body (RFC 9110, 15.4.3), hence a stream can, too."""
    return for_all("200 after 1 redirect → 200 (success)")


def one_redirect_with_the_body() -> Cell:
    """B10, R3. 307 wants the same body again, which a stream that was read cannot give: not a success."""
    return _unless_one_shot("200 after 1 redirect → 200 (success)", _once_only(307))


def redirect_to_a_retried_status() -> Cell:
    """B7, F12. The Retry-After of a redirect is not that of the response; the next attempt starts afresh. R3."""
    return _unless_one_shot(
        "503 after 1 redirect, 2 ms, 200 → 200 (success)", "503 after 1 redirect → 503 (not_replayable)"
    )


# --- Local failures ---


def too_large() -> Cell:
    """B2. A memory limit is a local failure: it ends the call, and is never retried."""
    return for_all("local failure → response_too_large")


def _unless_one_shot(text: str, one_shot: str) -> Cell:
    return lambda kind: text if kind.can_be_read_again else one_shot


def _reconnect_or(reconnect: str, otherwise: Cell) -> Cell:
    return lambda kind: reconnect if kind.is_idempotent and kind.can_be_read_again else otherwise(kind)


def _once_only(status: int) -> str:
    return f"{status} → {status} (not_replayable)"

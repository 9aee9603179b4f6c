"""What is said about calls in the log."""

from __future__ import annotations

import logging
import re

from ._arguments import Text, decoded
from .attempt import Attempt

#: Each attempt of each call is logged here, at INFO, when the call has ended, on the thread that waited for it. So no
#: handler of the log holds up the engine. Who wants to know earlier has `on_event`.
logger = logging.getLogger("boxretry")
# Without a handler of the program's, Python would print errors on stderr.
logger.addHandler(logging.NullHandler())

# libcurl takes one to three slashes.
_URL = re.compile(r"([^:/?#]+):/{1,3}([^/?#]*)([^?#]*)")


def log_failure(callback: str) -> None:
    """A callback has raised, and nobody waits for it whom the exception could be raised to. To be called in `except`."""
    logger.error("%s raised an exception", callback, exc_info=True)


def log_attempts(method: Text, url: str, attempts: list[Attempt]) -> None:
    """One record each, whose `attempt` is the Attempt. Of the URL it has neither the query nor a user's name."""
    name = method if isinstance(method, str) else decoded(method)
    place = without_secrets(url)
    for attempt in attempts:
        logger.info(
            "%s %s: attempt %d: %s in %.0f ms%s",
            name,
            place,
            attempt.number,
            attempt.status or attempt.cause.name.lower(),
            attempt.ended_ms - attempt.started_ms,
            _what_next(attempt),
            extra={"attempt": attempt},
        )


def _what_next(attempt: Attempt) -> str:
    if not attempt.retry or attempt.reason is None:
        return ""
    return f", {attempt.reason.name.lower()}: again in {attempt.delay:.3g} s"


def without_secrets(url: str) -> str:
    """Scheme, host, port and path of a URL: no user, no password, no query."""
    parts = _URL.match(url)
    if parts is None:  # Nothing that a client would have taken.
        return ""
    scheme, authority, path = parts.groups()
    return f"{scheme}://{authority.rpartition('@')[2]}{path}"

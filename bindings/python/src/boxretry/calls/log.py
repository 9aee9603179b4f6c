"""Log records of calls."""

from __future__ import annotations

import logging
import re

from ..enums import Error

#: DEBUG: an attempt begins, an attempt has ended. INFO: a retry is scheduled. WARNING: the library gives up on a call
#: with a network exception, a status of 429 or of 500 and above, or because its deadline has passed. Each record has
#: the call's id, in its text and as `call_id`, and the URL without user, password and query.
#:
#: A client logs the first three if INFO is enabled here when the client is made; otherwise they cost nothing. Their
#: records are made on the thread that drives the calls, so a slow handler slows down the client.
logger = logging.getLogger("boxretry")
# If the program has no handler, Python would print warnings and errors to stderr.
logger.addHandler(logging.NullHandler())

# libcurl accepts one to three slashes.
_URL = re.compile(r"([^:/?#]+):/{1,3}([^/?#]*)([^?#]*)")


def log_failure(callback: str) -> None:
    """Logs the exception of a callback, if no caller waits for it. Call it in `except`."""
    logger.error("%s raised an exception", callback, exc_info=True)


def log_record(level: int, call_id: int, method: str, url: str, message: str, *values: object) -> None:
    """Logs a record about a call."""
    about = (call_id, method, without_secrets(url))
    logger.log(level, "call %d: %s %s: " + message, *about, *values, extra={"call_id": call_id})


def log_giving_up(call_id: int, method: str, url: str, attempts: int, result: str) -> None:
    """Logs that a call ended with an outcome that is retried, without a further retry."""
    log_record(logging.WARNING, call_id, method, url, "gave up after attempt %d: %s", attempts, result)


def is_given_up(status: int, error: int) -> bool:
    """Whether a call with this result was given up. One that was canceled, or failed on this machine, was not."""
    if error:
        return Error.DEADLINE <= error <= Error.TIMEOUT_RESOURCE
    return status == 429 or status >= 500


def without_secrets(url: str) -> str:
    """Scheme, host, port and path of a URL: no user, no password, no query."""
    parts = _URL.match(url)
    if parts is None:  # A client would not have accepted it.
        return ""
    scheme, authority, path = parts.groups()
    return f"{scheme}://{authority.rpartition('@')[2]}{path}"

"""The head of a response."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._c.texts import decoded
from ..outcome import header_lines
from ..response_headers import ResponseHeaders


@dataclass(frozen=True)
class ResponseHead:
    """The head of a response whose body is about to be delivered."""

    #: 200 to 299, for a sink.
    status: int
    #: 10, 11, 20.
    http_version: int
    #: The URL of the response: the last one, if there were redirects.
    url: str
    headers: ResponseHeaders
    #: The reason phrase of the status line; "" if there is none, as in HTTP/2.
    reason_phrase: str = ""


class HasHead:
    """The properties of a stream's response that are known from the beginning."""

    def _head(self) -> ResponseHead:
        raise NotImplementedError

    @property
    def status(self) -> int:
        """100 to 999. This and the following, up to `http_version`, do not wait."""
        return self._head().status

    @property
    def headers(self) -> ResponseHeaders:
        """The header lines."""
        return self._head().headers

    @property
    def url(self) -> str:
        """The URL of the response: the last one, if there were redirects."""
        return self._head().url

    @property
    def reason_phrase(self) -> str:
        """The reason phrase of the status line; "" if there is none, as in HTTP/2."""
        return self._head().reason_phrase

    @property
    def http_version(self) -> int:
        """10, 11, 20."""
        return self._head().http_version


def head_from_struct(struct: Any) -> ResponseHead:
    """The argument of a sink's `begin()`."""
    return ResponseHead(
        status=struct.status,
        http_version=struct.http_version,
        url=decoded(struct.url),
        headers=ResponseHeaders.of_bytes(header_lines(struct)),
        reason_phrase=decoded(struct.reason_phrase),
    )

"""The columns of the matrix: kinds of requests, and versions of HTTP."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Version(enum.Enum):
    HTTP_1_1 = "HTTP/1.1"
    HTTP_2 = "HTTP/2"

    @property
    def port(self) -> str:
        """The usual kind of port of the fault server."""
        return "http" if self is Version.HTTP_1_1 else "h2"

    @property
    def tls_port(self) -> str:
        return "https" if self is Version.HTTP_1_1 else "h2"

    @property
    def number(self) -> int:
        """As the record of an attempt has it."""
        return 11 if self is Version.HTTP_1_1 else 20


class Kind(enum.Enum):
    GET = "GET"
    POST_BYTES = "POST bytes"
    PUT_FILE = "PUT file"
    POST_STREAM = "POST one-shot stream"

    @property
    def method(self) -> str:
        return self.value.split()[0]

    @property
    def has_body(self) -> bool:
        return self is not Kind.GET

    @property
    def can_be_read_again(self) -> bool:
        """Whether the body can be sent once more after a part of it was read (R3)."""
        return self is not Kind.POST_STREAM

    @property
    def is_idempotent(self) -> bool:
        """RFC 9110, 9.2.2: sending it twice is as good as once (B13)."""
        return self.method in ("GET", "PUT")

    def body(self, content: bytes, folder: Path) -> Any:
        """What is handed to the client as `data`."""
        if self is Kind.GET:
            return None
        if self is Kind.POST_BYTES:
            return content
        if self is Kind.POST_STREAM:
            return _pieces(content)
        path = folder / "body"
        path.write_bytes(content)
        return path.open("rb")


def _pieces(content: bytes, size: int = 1_000) -> Iterator[bytes]:
    return (content[start : start + size] for start in range(0, len(content), size))


class Times(enum.Enum):
    """How often the fault comes."""

    EACH = "each time"
    ONCE = "once"

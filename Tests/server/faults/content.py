"""The bodies of answers, piece by piece."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from typing import Any

from .vocabulary import Answer

PERIOD = 1_000_000
PIECE = 65536

_TWICE = b"".join(b"%015d\n" % offset for offset in range(0, PERIOD, 16)) * 2


def pattern(length: int, start: int = 0) -> bytes:
    """`length` bytes from the offset `start` on: lines of 16 bytes, each the line's own offset modulo 1,000,000.

    pattern(40) == b"000000000000000\n000000000000016\n00000000"
    """
    start %= PERIOD
    if length <= PERIOD:
        return _TWICE[start : start + length]
    whole, rest = divmod(length, PERIOD)
    return _TWICE[start : start + PERIOD] * whole + _TWICE[start : start + rest]


def echo_json(request: dict[str, Any]) -> bytes:
    names = ("method", "path", "headers", "body_length", "body_sha256", "body_complete")
    return json.dumps({name: request[name] for name in names}).encode() + b"\n"


def token_json(token: str, expires_in: str) -> bytes:
    """The answer of a token endpoint. `expires_in` goes in as it stands, so that it can be of any type, or no JSON."""
    text = f'{{"access_token": {json.dumps(token)}, "token_type": "bearer", "expires_in": {expires_in}}}\n'
    return text.encode("latin-1")


def pieces(answer: Answer, body: bytes) -> Iterator[bytes]:
    """The payload in pieces of the size that is asked for: `body`, or the pattern if that is what the answer has."""
    step = answer.drip or (1 if answer.every else PIECE)
    plain = _pattern_pieces(answer.size, step) if answer.content == "pattern" else _cut(body, step)
    return _compressed(plain, step) if answer.gzip else plain


def _pattern_pieces(size: int, step: int) -> Iterator[bytes]:
    for start in range(0, size, step):
        yield pattern(min(step, size - start), start)


def _cut(body: bytes, step: int) -> Iterator[bytes]:
    for start in range(0, len(body), step):
        yield body[start : start + step]


def _compressed(plain: Iterator[bytes], step: int) -> Iterator[bytes]:
    compressor = zlib.compressobj(wbits=31)
    for piece in plain:
        yield from _cut(compressor.compress(piece), step)
    yield from _cut(compressor.flush(), step)

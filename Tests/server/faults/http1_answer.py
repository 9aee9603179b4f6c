"""One answer in HTTP/1.1, sent as the vocabulary describes it: at its pace, and with its fault at its place."""

from __future__ import annotations

import asyncio
import http.client
from collections.abc import Iterable

from . import content, head
from .connection import Connection, ConnectionOver
from .record import SeenRequest
from .vocabulary import ENDLESS, Answer, Header


class Http1Answer:
    def __init__(self, connection: Connection, request: SeenRequest, answer: Answer) -> None:
        self._connection = connection
        self._request = request
        self._answer = answer

    async def write(self, body: bytes, location: str, wants_close: bool) -> None:
        """Sends all of the answer, or what its fault leaves of it. Ends the connection if nothing can follow."""
        answer = self._answer
        closes = wants_close or _closes(answer)
        if answer.is_plain:
            if answer.content == "pattern":
                body = content.pattern(answer.size)
            start = _head(answer, len(body), location, closes)
            await self._connection.send(start + body if answer.has_body(self._request.method) else start)
        else:
            await self._write_slowly(body, location, closes)
        self._request.was_answered()
        if answer.fault is not None:  # at the end, or at a place that this answer does not have
            await self._fault()
        if closes:
            await self._end("close")

    async def fault_at(self, place: str) -> None:
        if self._answer.fault is not None and self._answer.fault.place == place:
            await self._fault()

    async def _fault(self) -> None:
        assert self._answer.fault is not None
        how = self._answer.fault.how
        if how == "stall":
            await self._connection.stall()
        elif how == "reset":
            await self._connection.sent_out()
        await self._end(how)

    async def _end(self, how: str) -> None:
        if self._request.body_complete:
            self._connection.end(how)
        else:
            await self._connection.end_with_unread(how)
        raise ConnectionOver

    async def _write_slowly(self, body: bytes, location: str, closes: bool) -> None:
        connection, answer = self._connection, self._answer
        await connection.pause_or_end(answer.first)
        await self.fault_at("before")
        if answer.content == "raw":
            return await self._write_body(body, chunked=False)
        if answer.hint:
            await connection.send(b"HTTP/1.1 103 Early Hints\r\n" + _lines(answer.hint) + b"\r\n")
        start = _head(answer, answer.size if answer.content == "pattern" else len(body), location, closes)
        if answer.fault is not None and answer.fault.place == "headers":
            await self._write_head(start[: len(start) // 2])
            await self._fault()
        if answer.headers == ENDLESS:
            await self._write_head(start[:-2])
            await self._write_endless_headers()
        await self._write_head(start)
        if answer.has_body(self._request.method):
            chunked = _is_chunked(answer)
            await self._write_body(body, chunked)
            if chunked:
                await connection.send(b"0\r\n" + _lines(answer.trailer) + b"\r\n")
            if answer.extra:
                await connection.send(b"x" * answer.extra)

    async def _write_head(self, data: bytes) -> None:
        step = (self._answer.drip or 1) if self._answer.every_head else len(data)
        for start in range(0, len(data), step):
            if start:
                await self._connection.pause_or_end(self._answer.every_head)
            await self._connection.send(data[start : start + step])

    async def _write_endless_headers(self) -> None:
        number = 0
        while True:
            await self._connection.send(_lines([head.filler_line(number, self._answer.header_line)]))
            await self._connection.pause_or_end(self._answer.every_head)
            await asyncio.sleep(0)
            number += 1

    async def _write_body(self, body: bytes, chunked: bool) -> None:
        connection, answer = self._connection, self._answer
        left = answer.bytes_before_fault(answer.size if answer.content == "pattern" else len(body))
        if left == 0:
            await self._fault()
        is_first = True
        for piece in content.pieces(answer, body):
            if not is_first:
                await connection.pause_or_end(answer.every)
                await asyncio.sleep(0)  # a fast client must not keep the server from the others
            is_first = False
            piece = piece[:left]
            left -= len(piece)
            await connection.send(b"%x\r\n%b\r\n" % (len(piece), piece) if chunked else piece)
            if left == 0:
                await self._fault()


def _is_chunked(answer: Answer) -> bool:
    return (answer.chunked or answer.gzip) and not answer.until_close


def _closes(answer: Answer) -> bool:
    """Whether the answer itself says, by its headers or by having no other end, that the connection ends with it."""
    if answer.until_close or (answer.is_endless and not answer.chunked):
        return True
    return any(name.lower() == "connection" and value == "close" for name, value in answer.h)


def _head(answer: Answer, length: int, location: str, closes: bool) -> bytes:
    """Status line, headers and empty line."""
    reason = http.client.responses.get(answer.status, "Unknown")
    status_line = f"HTTP/1.1 {answer.status} {reason}" if answer.status_line is None else answer.status_line
    framing = []
    if _is_chunked(answer):
        framing = [("Transfer-Encoding", "chunked")]
    elif not answer.until_close and not answer.is_endless:
        framing = [("Content-Length", str(length))]
    lines = head.lines(answer, framing, location, [("Connection", "close")] if closes else [])
    return status_line.encode("latin-1") + b"\r\n" + _lines(lines) + b"\r\n"


def _lines(headers: Iterable[Header]) -> bytes:
    text = "".join([f"{name}: {value}\r\n" for name, value in headers if value is not None])
    return text.encode("latin-1")

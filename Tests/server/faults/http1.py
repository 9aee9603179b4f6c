"""HTTP/1.1: reads requests from a connection, and has them answered."""

from __future__ import annotations

import re

from .connection import Connection, ConnectionOver
from .http1_answer import Http1Answer
from .record import SeenRequest
from .site import Site
from .vocabulary import Answer, BadScript, parse_count

HEAD_READ = 4096  # small, so that a slow reader has not taken much of the body along with the head
BODY_READ = 262144
MAX_HEAD = 1 << 20


class BadRequest(ValueError):
    pass


class Http1:
    def __init__(self, connection: Connection, site: Site) -> None:
        self._connection = connection
        self._site = site
        self._buffer = b""
        self._left = 0  # bytes that are left of the body, or of its present chunk
        self._chunked = False
        self._wants_close = False

    async def serve(self) -> None:
        """Answers requests until the connection has ended."""
        request = None
        idle = None
        try:
            while (request := await self._read_head(idle)) is not None:
                answer = await self._site.begin(request)
                await self._exchange(request, answer)
                idle = answer.idle
        except (BadRequest, BadScript) as why:
            self._connection.seen.error = str(why)
            text = f"{why}\n".encode()
            await self._connection.send(b"HTTP/1.1 400 Bad Request\r\nContent-Length: %d\r\n\r\n%b" % (len(text), text))
            await self._connection.end_with_unread("close")
        except ConnectionOver:
            if request is not None and self._connection.gone:
                await self._read_body(request, Answer(""))  # what had come before the client went

    async def _exchange(self, request: SeenRequest, answer: Answer) -> None:
        out = Http1Answer(self._connection, request, answer)
        await out.fault_at("request")
        if answer.expect == "refuse" and request.header("expect"):
            await self._connection.send(b"HTTP/1.1 417 Expectation Failed\r\nContent-Length: 0\r\n\r\n")
            await self._connection.end_with_unread("close")
            raise ConnectionOver
        if not answer.early:
            await self._read_body(request, answer)
            if not request.body_complete:
                raise ConnectionOver
        body = self._site.body(request, answer)
        location = self._site.location(request, answer) if answer.is_redirect else ""
        await out.write(body, location, self._wants_close)
        if answer.early:
            await self._read_body(request, answer)

    async def _read_head(self, idle: float | None) -> SeenRequest | None:
        """The next request; none when the client has ended its side."""
        connection = self._connection
        timer = connection.end_after(idle) if idle is not None and not self._buffer else None
        while (end := self._buffer.find(b"\r\n\r\n")) < 0:
            connection.seen.unread = self._buffer
            if len(self._buffer) > MAX_HEAD:
                raise BadRequest("the head of the request is too long")
            data = await connection.read(HEAD_READ)
            if timer is not None:
                timer.cancel()
            if not data:
                return None
            self._buffer += data
        head, self._buffer = self._buffer[:end], self._buffer[end + 4 :]
        connection.seen.unread = b""
        return self._parse_head(head.decode("latin-1"))

    def _parse_head(self, head: str) -> SeenRequest:
        first, *lines = head.split("\r\n")
        headers = []
        for line in lines:
            name, colon, value = line.partition(":")
            if not colon:
                raise BadRequest(f"not a header line: {line!r}")
            headers.append((name, value.strip(" \t")))
        words = first.split(" ")
        if len(words) != 3 or words[2] not in ("HTTP/1.1", "HTTP/1.0"):
            raise BadRequest(f"not a request line: {first!r}")
        self._connection.seen.protocol = words[2]
        request = SeenRequest(self._connection.seen, words[0], words[1], headers)
        self._wants_close = request.header("connection").lower() == "close" or words[2] == "HTTP/1.0"
        self._chunked = request.header("transfer-encoding").lower() == "chunked"
        length = parse_count(request.header("content-length") or "0")
        self._left = 0 if self._chunked else length
        request.body_complete = not self._left and not self._chunked
        return request

    async def _read_body(self, request: SeenRequest, answer: Answer) -> None:
        """Reads the rest of the body, at the pace that is asked for. `request.body_complete` says whether all came."""
        if request.body_complete:
            return
        if answer.expect == "honour" and request.header("expect") and not self._buffer:
            await self._connection.send(b"HTTP/1.1 100 Continue\r\n\r\n")
        pause_after = answer.read_pause_after
        while True:
            limit = answer.read or BODY_READ
            if pause_after is not None:
                if request.body_length >= pause_after:
                    pause_after = None
                    await self._connection.pause(answer.read_pause)
                else:
                    limit = min(limit, pause_after - request.body_length)
            data = await self._next(limit, request)
            if not data:
                return
            request.add_body(data)
            if not self._chunked and not self._left:
                return request.was_read()
            if answer.read_every:
                await self._connection.pause(answer.read_every)

    async def _next(self, limit: int, request: SeenRequest) -> bytes:
        """Some bytes of the body; none at its end, or when the client has ended its side."""
        if self._chunked and not self._left:
            await self._begin_chunk(request)
        if not self._left:
            return b""
        data = await self._some(min(limit, self._left))
        self._left -= len(data)
        if self._chunked and not self._left:
            await self._line()
        return data

    async def _begin_chunk(self, request: SeenRequest) -> None:
        if (line := await self._line()) is None:
            return
        size = line.partition(b";")[0].strip()
        if not re.fullmatch(rb"[0-9a-fA-F]{1,15}", size):
            raise BadRequest(f"not a chunk size: {line!r}")
        self._left = int(size, 16)
        if self._left:
            return
        while line := await self._line():
            pass  # trailers
        if line is not None:
            request.was_read()

    async def _some(self, limit: int) -> bytes:
        if not self._buffer:
            return await self._connection.read(limit)
        data, self._buffer = self._buffer[:limit], self._buffer[limit:]
        return data

    async def _line(self) -> bytes | None:
        """The next line; none when the client has ended its side."""
        while (end := self._buffer.find(b"\r\n")) < 0:
            if len(self._buffer) > MAX_HEAD:
                raise BadRequest("a line of the body is too long")
            if not (data := await self._connection.read(HEAD_READ)):
                return None
            self._buffer += data
        line, self._buffer = self._buffer[:end], self._buffer[end + 2 :]
        return line

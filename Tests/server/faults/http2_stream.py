"""One stream of HTTP/2: a request, and its answer as the vocabulary describes it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from typing import TYPE_CHECKING

from h2.errors import ErrorCodes
from h2.exceptions import StreamClosedError
from hyperframe.frame import ContinuationFrame, HeadersFrame, PingFrame, RstStreamFrame

from . import content, head
from .record import SeenRequest
from .site import Site
from .vocabulary import ENDLESS, HTTP2_FAULTS, Answer, Header

if TYPE_CHECKING:
    from .http2 import Http2

PINGS_AT_ONCE = 100
#: A client may refuse to store more than 1,000 answers, which a slow machine does not let it send.
PINGS_UNANSWERED = 500

Lines = list[tuple[bytes, bytes]]


class StreamOver(Exception):
    """The server has ended the stream; the connection continues."""


class Http2Stream:
    task: asyncio.Task[None]  # runs serve(); canceled when the client ends the stream, or the connection ends

    def __init__(self, connection: Http2, site: Site, request: SeenRequest, number: int) -> None:
        self.request = request
        self.number = number
        self.idle: float | None = None
        self.window_opened = asyncio.Event()  # perhaps; a task that waits looks again
        self.ping_answered = asyncio.Event()
        self._connection = connection
        self._site = site
        self._answer = Answer("")
        self._arrived = asyncio.Event()
        self._unread = 0  # bytes that have arrived, and for which the window was not opened again

    def receive(self, data: bytes, window: int) -> None:
        self.request.add_body(data)
        self._unread += window
        self._arrived.set()

    def receive_end(self) -> None:
        self.request.was_read()
        self._arrived.set()

    async def serve(self) -> None:
        """Has the request answered."""
        with contextlib.suppress(StreamOver):
            await self._exchange()

    async def _exchange(self) -> None:
        self._answer = answer = await self._site.begin(self.request)
        self.idle = answer.idle
        if self._connection.is_over:
            await _forever()
        await self._misbehave_first()
        await self._fault_at("request")
        if answer.expect == "refuse" and self.request.header("expect"):
            self._connection.frames.send_headers(self.number, _encoded([(":status", "417")]), end_stream=True)
            await self._reset(ErrorCodes.NO_ERROR)
        if not answer.early:
            await self._read_body()
        body = self._site.body(self.request, answer)
        location = self._site.location(self.request, answer) if answer.is_redirect else ""
        await self._write(body, location)
        if answer.early:
            await self._read_body()

    # The request

    async def _read_body(self) -> None:
        """Opens the window again for what has arrived, at the pace that is asked for, until all has."""
        answer, request = self._answer, self.request
        if answer.expect == "honour" and request.header("expect") and not self._arrived.is_set():
            self._connection.frames.send_headers(self.number, _encoded([(":status", "100")]))
            self._connection.put()
        read = 0
        pause_after = answer.read_pause_after
        while True:
            if read == pause_after:
                pause_after = None
                await asyncio.sleep(answer.read_pause)
            while not self._unread and not request.body_complete:
                self._arrived.clear()
                await self._arrived.wait()
            if not self._unread:
                return
            limit = answer.read or self._unread
            if pause_after is not None:
                limit = min(limit, pause_after - read)
            now = min(limit, self._unread)
            self._unread -= now
            read += now
            if request.body_complete and not self._unread:
                return
            self._open_window(now)
            await asyncio.sleep(answer.read_every)

    def _open_window(self, count: int) -> None:
        if not self.request.body_complete:
            self._connection.frames.increment_flow_control_window(count, self.number)
            self._connection.put()

    # The answer

    async def _misbehave_first(self) -> None:
        """What goes before an answer without being its fault."""
        answer, connection = self._answer, self._connection
        if answer.settings:
            connection.frames.update_settings(dict(answer.settings))
            await connection.put()
        sent, answered_before = 0, connection.ping_acks
        while sent < answer.pings:
            while sent - (connection.ping_acks - answered_before) > PINGS_UNANSWERED - PINGS_AT_ONCE:
                self.ping_answered.clear()
                await self.ping_answered.wait()
            count = min(PINGS_AT_ONCE, answer.pings - sent)
            await connection.put(b"".join(_ping(sent + i) for i in range(count)))
            await asyncio.sleep(0)
            sent += count
        if answer.drain:
            await connection.say_goaway(answer.code, self._last_stream())

    async def _write(self, body: bytes, location: str) -> None:
        """Sends all of the answer, or what its fault leaves of it."""
        answer = self._answer
        await asyncio.sleep(answer.first)
        await self._fault_at("before")
        if answer.content == "raw":
            await self._connection.put(body)
            self.request.was_answered()
            await self._fault()  # without one the stream has no end, unless the bytes said so
            return await _forever()
        if answer.hint:
            self._connection.frames.send_headers(self.number, _encoded([(":status", "103"), *answer.hint]))
            await self._connection.put()
        length = answer.size if answer.content == "pattern" else len(body)
        has_body = answer.has_body(self.request.method)
        lines = _head(answer, length, location)
        if answer.is_plain and has_body:
            self._connection.frames.send_headers(self.number, lines)
            await self._send_data(content.pattern(length) if answer.content == "pattern" else body, ends=True)
        elif answer.headers == ENDLESS:
            await self._write_endless_headers(lines)
        else:
            await self._write_head(lines, ends=not has_body)
            if has_body:
                await self._write_body(body, length)
        self.request.was_answered()
        await self._fault()  # at the end, or at a place that this answer does not have

    async def _write_head(self, lines: Lines, ends: bool) -> None:
        answer, connection = self._answer, self._connection
        place = None if answer.fault is None else answer.fault.place
        connection.put()  # what is not of this head
        connection.frames.send_headers(self.number, lines, end_stream=ends and place != "headers")
        frames = connection.frames.data_to_send()
        if answer.fault is not None and place == "headers" and answer.fault.how not in (*HTTP2_FAULTS, "stall"):
            frames = frames[: len(frames) // 2]
        step = (answer.drip or 1) if answer.every_head else 0
        await connection.put(frames, step, answer.every_head)
        await self._fault_at("headers")

    async def _write_endless_headers(self, lines: Lines) -> None:
        """One header block that never ends. Nothing else may come in between: it is the end of its connection."""
        answer, connection = self._answer, self._connection
        encoder = connection.frames.encoder
        await connection.put(HeadersFrame(self.number, encoder.encode(lines)).serialize())
        number = 0
        while True:
            line = encoder.encode(_encoded([head.filler_line(number, answer.header_line)]))
            await connection.put(ContinuationFrame(self.number, line).serialize())
            await asyncio.sleep(answer.every_head)
            number += 1

    async def _write_body(self, body: bytes, length: int) -> None:
        answer, frames = self._answer, self._connection.frames
        left = answer.bytes_before_fault(length)
        if left == 0:
            await self._connection.put()
            await self._fault()
        is_first = True
        for piece in content.pieces(answer, body):
            if not is_first:
                await asyncio.sleep(answer.every)  # if only to let others have their turn
            is_first = False
            piece = piece[:left]
            left -= len(piece)
            await self._send_data(piece)
            if left == 0:
                await self._fault()
        if answer.extra:
            await self._send_data(b"x" * answer.extra)
        if answer.trailer:
            frames.send_headers(self.number, _encoded(answer.trailer), end_stream=True)
        else:
            frames.end_stream(self.number)
        await self._connection.put()

    async def _send_data(self, data: bytes, ends: bool = False) -> None:
        """Hands all of it to the kernel, as the client's window lets it."""
        frames = self._connection.frames
        rest = memoryview(data)
        while rest or ends:
            most = min(frames.local_flow_control_window(self.number), frames.max_outbound_frame_size)
            if rest and most <= 0:
                self.window_opened.clear()
                self._connection.put()
                await self.window_opened.wait()
                continue
            piece, rest = rest[:most], rest[most:]
            frames.send_data(self.number, bytes(piece), end_stream=ends and not rest)
            ends = ends and bool(rest)
        await self._connection.put()

    # Faults

    async def _fault_at(self, place: str) -> None:
        if self._answer.fault is not None and self._answer.fault.place == place:
            await self._fault()

    async def _fault(self) -> None:
        """Does not come back, if there is one."""
        answer, connection = self._answer, self._connection
        if answer.fault is None:
            return
        how = answer.fault.how
        if how == "stall":
            await _forever()
        elif how == "goaway":
            await connection.say_goaway(answer.code, self._last_stream())
            await connection.end("close")
        elif how == "stream_reset":
            await self._reset(answer.code)
        elif how == "stream_end":
            if not self.request.answered:
                connection.frames.end_stream(self.number)
                await connection.put()
            raise StreamOver
        await connection.end(how)

    async def _reset(self, code: int) -> None:
        reset = b""
        try:
            self._connection.frames.reset_stream(self.number, code)
        except StreamClosedError:  # the library does not reset what has ended; a script may want it
            reset = RstStreamFrame(self.number, code).serialize()
        await self._connection.put(reset)
        self.request.end_stream("server_reset", code_name(code))
        raise StreamOver

    def _last_stream(self) -> int | None:
        return max(0, self.number - 2) if self._answer.unprocessed else None


def code_name(code: int | None) -> str:
    """Of an error code; the number if it has none."""
    return ErrorCodes(code).name if code in list(ErrorCodes) else str(code)


def _head(answer: Answer, length: int, location: str) -> Lines:
    """The status and the header lines."""
    has_length = not (answer.chunked or answer.gzip or answer.until_close or answer.is_endless)
    framing = [("Content-Length", str(length))] if has_length else []
    status = str(answer.status) if answer.status_line is None else answer.status_line
    return _encoded([(":status", status), *head.lines(answer, framing, location, [])])


def _encoded(headers: Iterable[Header]) -> Lines:
    """In HTTP/2 names have small letters only."""
    return [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers if value is not None]


def _ping(number: int) -> bytes:
    return PingFrame(0, number.to_bytes(8, "big")).serialize()


async def _forever() -> None:
    await asyncio.get_running_loop().create_future()

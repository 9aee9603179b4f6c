"""HTTP/2: a connection of it, with a task for each of its streams."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

from h2 import events
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.exceptions import ProtocolError
from hpack import Encoder
from hyperframe.frame import GoAwayFrame

from .connection import Connection, ConnectionOver
from .http2_output import Output
from .http2_stream import Http2Stream, code_name
from .record import SeenRequest
from .site import Site

READ = 65536
CONNECTION_WINDOW = 1 << 24  # large: only the windows of streams hold a client back


class PlainEncoder(Encoder):
    """Without Huffman's code, which takes Python seconds for a megabyte of headers, while no other client is served."""

    def encode(self, headers: Any, huffman: bool = False) -> bytes:
        return super().encode(headers, huffman)


class Http2:
    def __init__(self, connection: Connection, site: Site) -> None:
        self._connection = connection
        self._site = site
        # What a script asks for is sent as it stands, also if HTTP/2 forbids it.
        as_it_stands = H2Configuration(
            client_side=False,
            header_encoding="latin-1",
            validate_outbound_headers=False,
            normalize_outbound_headers=False,
        )
        self.frames = H2Connection(as_it_stands)
        self.frames.encoder = PlainEncoder()
        self._output = Output(connection)
        self._streams: dict[int, Http2Stream] = {}
        self._reader: asyncio.Task[None] | None = None
        self.is_over = False  # the client has sent a GOAWAY: no frame can be made any more
        self._highest = 0  # the last stream that was begun
        self._is_leaving = False  # it has sent a GOAWAY: new streams are not looked at
        self._ending: str | None = None
        self._idle_timer: asyncio.TimerHandle | None = None

    async def serve(self) -> None:
        """Answers requests until the connection has ended."""
        self._connection.seen.protocol = "HTTP/2"
        self.frames.initiate_connection()
        self.frames.increment_flow_control_window(CONNECTION_WINDOW)
        if self._connection.settings:  # separate, so that they hold only for what a client sends after it has them
            self.frames.update_settings(self._connection.settings)
        self.put()
        sender = _start(self._output.send())
        self._reader = _start(self._read())
        try:
            await asyncio.wait({self._reader})
        finally:
            self._cancel_idle_timer()
            tasks = [self._reader, sender]
            for stream in self._streams.values():
                tasks.append(stream.task)
                stream.request.end_stream("connection")
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        if self._ending is not None:
            await self._connection.end_with_unread(self._ending)

    @property
    def ping_acks(self) -> int:
        return self._connection.seen.ping_acks

    def put(self, data: bytes = b"", step: int = 0, pause: float = 0.0) -> asyncio.Future[None]:
        """Sends the frames that have been made, and these bytes."""
        return self._output.put(self.frames.data_to_send() + data, step, pause)

    async def end(self, how: str) -> None:
        """Ends the connection when what was put before has left."""
        await self.put()
        if how == "reset":
            await self._connection.sent_out()
        self._end_now(how)
        raise ConnectionOver

    def say_goaway(self, code: int, last_stream: int | None = None) -> asyncio.Future[None]:
        """Says that no stream after this one (by default: after all that were begun) is looked at."""
        self._is_leaving = True
        last = self._highest if last_stream is None else last_stream
        return self.put(GoAwayFrame(0, last_stream_id=last, error_code=code).serialize())

    def _end_now(self, how: str) -> None:
        if self._ending is None and self._reader is not None and not self._reader.done():
            self._ending = how
            self._reader.cancel()

    async def _read(self) -> None:
        while data := await self._connection.read(READ):
            try:
                happened = self.frames.receive_data(data)
            except ProtocolError as why:
                self._connection.seen.error = str(why) or type(why).__name__
                self._stop_streams()
                await self.put()  # the GOAWAY that says so
                self._ending = "close"
                return
            self.is_over = any(isinstance(event, events.ConnectionTerminated) for event in happened)
            for event in happened:
                if isinstance(event, events.ConnectionTerminated):
                    return await self._read_to_end(event)
                self._handle(event)
                if isinstance(event, events.RequestReceived):
                    await asyncio.sleep(0)  # its task begins, and records it in any case
            self.put()

    async def _read_to_end(self, goaway: events.ConnectionTerminated) -> None:
        """A client that says GOAWAY is about to go: nothing is answered any more."""
        self._connection.seen.goaway = code_name(goaway.error_code)
        self._stop_streams()
        while await self._connection.read(READ):
            pass

    def _handle(self, event: events.Event) -> None:
        if isinstance(event, events.RequestReceived):
            if not self._is_leaving:
                self._begin(event)
        elif isinstance(event, events.DataReceived):
            if event.flow_controlled_length and not self.is_over:
                self.frames.increment_flow_control_window(event.flow_controlled_length)
            if event.stream_id in self._streams:
                self._streams[event.stream_id].receive(event.data, event.flow_controlled_length)
        elif isinstance(event, events.StreamEnded):
            if event.stream_id in self._streams:
                self._streams[event.stream_id].receive_end()
        elif isinstance(event, events.StreamReset):
            if event.stream_id in self._streams:
                stream = self._streams[event.stream_id]
                stream.request.end_stream("client_reset", code_name(event.error_code))
                stream.task.cancel()
        elif isinstance(event, (events.WindowUpdated, events.RemoteSettingsChanged)):
            for stream in self._streams.values():
                stream.window_opened.set()
        elif isinstance(event, events.PingAckReceived):
            self._connection.seen.ping_acks += 1
            for stream in self._streams.values():
                stream.ping_answered.set()

    def _begin(self, event: events.RequestReceived) -> None:
        self._cancel_idle_timer()
        self._highest = event.stream_id
        headers = [(str(name), str(value)) for name, value in event.headers]
        fields = dict(headers)
        request = SeenRequest(
            self._connection.seen, fields.get(":method", ""), fields.get(":path", ""), headers, event.stream_id
        )
        stream = Http2Stream(self, self._site, request, event.stream_id)
        self._streams[event.stream_id] = stream
        stream.task = _start(self._run(stream))

    async def _run(self, stream: Http2Stream) -> None:
        try:
            await stream.serve()
            stream.request.end_stream("done")
        except ConnectionOver:
            pass
        finally:
            stream.request.end_stream("connection")
            del self._streams[stream.number]
            if not self._streams:
                self._rest(stream.idle)

    def _rest(self, idle: float | None) -> None:
        """No stream is left."""
        if self._is_leaving:
            self._end_now("close")
        elif idle is not None:
            self._idle_timer = asyncio.get_running_loop().call_later(idle, self._leave)

    def _leave(self) -> None:
        self.say_goaway(ErrorCodes.NO_ERROR).add_done_callback(lambda _: self._end_now("close"))

    def _stop_streams(self) -> None:
        """Before frames are no longer to be made."""
        for stream in self._streams.values():
            stream.task.cancel()

    def _cancel_idle_timer(self) -> None:
        if self._idle_timer is not None:
            self._idle_timer.cancel()
            self._idle_timer = None


def _start(work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
    task = asyncio.get_running_loop().create_task(work)
    task.add_done_callback(_report_failure)
    return task


def _report_failure(task: asyncio.Task[None]) -> None:
    """At once: no other code may look at the result."""
    if not task.cancelled() and (failure := task.exception()) is not None and not isinstance(failure, ConnectionOver):
        task.get_loop().call_exception_handler({"message": "HTTP/2 has failed", "exception": failure, "task": task})

"""A client of HTTP/2 that does nothing by itself but acknowledge SETTINGS and PINGs: each frame is seen."""

from __future__ import annotations

import ssl
from collections import Counter, defaultdict, deque
from collections.abc import Sequence
from typing import NamedTuple

from h2.errors import ErrorCodes
from hpack import Decoder, Encoder
from hyperframe.frame import (
    ContinuationFrame,
    DataFrame,
    Frame,
    GoAwayFrame,
    HeadersFrame,
    PingFrame,
    RstStreamFrame,
    SettingsFrame,
    WindowUpdateFrame,
)
from wire import Wire

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
FRAME_HEADER = 9
FRAME_SIZE = 16384
USUAL_WINDOW = 65535

Line = tuple[str, str]


class Head(NamedTuple):
    """A header block, from all of its frames."""

    stream_id: int
    lines: list[Line]
    ends: bool


class Answer(NamedTuple):
    heads: list[list[Line]]  # 1xx, the answer's, trailers
    body: bytes
    ending: str  # "end", the code of a reset, or how the connection ended: "closed", "reset", "cut"

    def header(self, name: str) -> str | None:
        return next((value for lines in self.heads for other, value in lines if other == name), None)

    @property
    def status(self) -> int:
        return int(self.header(":status") or 0)


class ConnectionEnded(Exception):
    """Why is its argument: "closed", "reset" or "cut"."""


class Http2Wire(Wire):
    def __init__(
        self, port: int, *, ca: str = "", certificate: tuple[str, str] | None = None, window: int = 1 << 30
    ) -> None:
        """`window` is what the client lets each stream send, and never adds to."""
        super().__init__(port, ca=ca, protocols=["h2"], certificate=certificate)
        self.settings: dict[int, int] = {}  # the server's
        self.opened: Counter[int] = Counter()  # by how much the server has opened its window, by stream
        self.goaways: list[tuple[str, int]] = []
        self.pings: list[bytes] = []
        self.rest = b""  # of a frame that broke off
        self._ended = ""  # how: the socket tells of a reset only once
        self._frames: defaultdict[int, deque[Frame | Head]] = defaultdict(deque)
        self._encoder, self._decoder = Encoder(), Decoder()
        self._decoder.max_header_list_size = 1 << 24
        self._last_stream = -1
        settings = {SettingsFrame.INITIAL_WINDOW_SIZE: window}
        self.send(PREFACE)
        self.send_frames(SettingsFrame(0, settings=settings), WindowUpdateFrame(0, window_increment=1 << 30))
        while not self.settings:  # acknowledged now, since a connection that is reset cannot be written to
            self.read_frame()

    def send_frames(self, *frames: Frame) -> None:
        self.send(b"".join(frame.serialize() for frame in frames))

    def begin(
        self, target: str, *, method: str = "GET", headers: Sequence[Line] = (), body: bytes = b"", ends: bool = True
    ) -> int:
        """Sends a request, in one piece; `body` must fit into the window. The number of its stream."""
        head = self.request_frame(target, method=method, headers=headers, ends=ends and not body)
        self.send_frames(head, *_data(head.stream_id, body, ends))
        return head.stream_id

    def request_frame(
        self, target: str, *, method: str = "GET", headers: Sequence[Line] = (), ends: bool = True
    ) -> HeadersFrame:
        """A request that is still to be sent."""
        self._last_stream += 2
        lines = [(":method", method), (":scheme", "http"), (":authority", "localhost"), (":path", target), *headers]
        flags = ["END_HEADERS", "END_STREAM"] if ends else ["END_HEADERS"]
        return HeadersFrame(self._last_stream, self._encoder.encode(lines), flags=flags)

    def send_body(self, stream: int, body: bytes, *, ends: bool) -> None:
        self.send_frames(*_data(stream, body, ends))

    def reset_stream(self, stream: int, code: ErrorCodes) -> None:
        self.send_frames(RstStreamFrame(stream, int(code)))

    def frame(self, stream: int) -> Frame | Head:
        """The next frame of this stream (header blocks are put together). Raises ConnectionEnded."""
        while not self._frames[stream]:
            self.read_frame()
        return self._frames[stream].popleft()

    def read_frame(self) -> None:
        """Reads the next frame, of any stream."""
        frame = self._next_frame()
        if isinstance(frame, SettingsFrame):
            if "ACK" not in frame.flags:
                self.settings.update(frame.settings)
                self.send_frames(SettingsFrame(0, flags=["ACK"]))
        elif isinstance(frame, PingFrame):
            self.pings.append(frame.opaque_data)
            self.send_frames(PingFrame(0, frame.opaque_data, flags=["ACK"]))
        elif isinstance(frame, WindowUpdateFrame):
            self.opened[frame.stream_id] += frame.window_increment
        elif isinstance(frame, GoAwayFrame):
            self.goaways.append((ErrorCodes(frame.error_code).name, frame.last_stream_id))
        elif isinstance(frame, HeadersFrame):
            block, ends = frame.data, "END_STREAM" in frame.flags
            while "END_HEADERS" not in frame.flags:
                frame = self._next_frame()
                assert isinstance(frame, ContinuationFrame)
                block += frame.data
            lines = [(_text(name), _text(value)) for name, value in self._decoder.decode(block, raw=True)]
            self._frames[frame.stream_id].append(Head(frame.stream_id, lines, ends))
        else:
            self._frames[frame.stream_id].append(frame)

    def answer(self, stream: int) -> Answer:
        """All that comes on this stream until it, or the connection, ends."""
        heads: list[list[Line]] = []
        body = b""
        while True:
            try:
                frame = self.frame(stream)
            except ConnectionEnded as how:
                return Answer(heads, body, str(how))
            if isinstance(frame, RstStreamFrame):
                return Answer(heads, body, ErrorCodes(frame.error_code).name)
            if isinstance(frame, Head):
                heads.append(frame.lines)
                ends = frame.ends
            else:
                assert isinstance(frame, DataFrame)
                body += frame.data
                ends = "END_STREAM" in frame.flags
            if ends:
                return Answer(heads, body, "end")

    def ask(self, target: str, *, method: str = "GET", headers: Sequence[Line] = (), body: bytes = b"") -> Answer:
        return self.answer(self.begin(target, method=method, headers=headers, body=body))

    def ending(self) -> str:
        """How the connection ends."""
        while True:
            try:
                self.read_frame()
            except ConnectionEnded as how:
                return str(how)

    def _next_frame(self) -> Frame:
        frame, length = Frame.parse_frame_header(memoryview(self._read(FRAME_HEADER)))
        frame.parse_body(memoryview(self._read(length)))
        return frame

    def _read(self, count: int) -> bytes:
        data = b""
        while len(data) < count:
            try:
                piece = self._recv(count - len(data))
            except ConnectionResetError:
                piece, how = b"", "reset"
            except ssl.SSLEOFError:
                piece, how = b"", "cut"
            else:
                how = "closed"
            if not piece:
                self.rest += data
                self._ended = self._ended or how
                raise ConnectionEnded(self._ended)
            data += piece
        return data


def _data(stream: int, body: bytes, ends: bool) -> list[Frame]:
    """The frames of a body; none if it is empty."""
    frames: list[Frame] = [DataFrame(stream, body[at : at + FRAME_SIZE]) for at in range(0, len(body), FRAME_SIZE)]
    if frames and ends:
        frames[-1].flags.add("END_STREAM")
    return frames


def _text(data: bytes) -> str:
    return data.decode("latin-1")

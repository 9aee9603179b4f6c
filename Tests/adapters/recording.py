"""A server that keeps what it receives, byte for byte, and answers with the bytes that it was given."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from types import TracebackType


@dataclass
class Received:
    """A request as it came over the connection."""

    line: bytes
    #: Names in lower case, in the order of the request.
    headers: list[tuple[bytes, bytes]]
    body: bytes
    #: None: the request was framed by Content-Length, or had no body.
    chunks: int | None = None

    def values(self, name: bytes) -> list[bytes]:
        return [value for other, value in self.headers if other == name]


@dataclass
class Answer:
    """The bytes of a response; what follows them."""

    data: bytes
    #: The connection ends after the response.
    closes: bool = False
    #: It ends with a reset.
    resets: bool = False
    #: The request is not read before the answer is sent.
    early: bool = False


@dataclass
class RecordingServer:
    """Answers the requests in their order; the last answer is given to all further ones. For `with`."""

    answers: list[Answer]
    received: list[Received] = field(default_factory=list)
    connections: int = 0

    def __enter__(self) -> RecordingServer:
        self._given = 0
        self._lock = threading.Lock()
        self._open: set[socket.socket] = set()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self._threads[0].start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        with self._lock:
            for connection in self._open:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._lock:
                self.connections += 1
                self._open.add(connection)
            thread = threading.Thread(target=self._serve, args=(connection,), daemon=True)
            self._threads.append(thread)
            thread.start()

    def _next_answer(self) -> Answer:
        with self._lock:
            answer = self.answers[min(self._given, len(self.answers) - 1)]
            self._given += 1
            return answer

    def _serve(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):
            stream = connection.makefile("rb")
            while (head := _head(stream)) is not None:
                answer = self._next_answer()
                line, headers = head
                if not answer.early:
                    body, chunks = _body(stream, headers)
                    self.received.append(Received(line, headers, body, chunks))
                # A response to HEAD has no body.
                is_head = line.startswith(b"HEAD ")
                connection.sendall(answer.data[: answer.data.find(b"\r\n\r\n") + 4 if is_head else None])
                if answer.resets:
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
                if answer.closes or answer.resets:
                    break
        with self._lock:
            self._open.discard(connection)


def _head(stream: object) -> tuple[bytes, list[tuple[bytes, bytes]]] | None:
    lines = list(iter(lambda: stream.readline().rstrip(b"\r\n"), b""))  # type: ignore[attr-defined]
    if not lines:
        return None
    pairs = (line.partition(b":") for line in lines[1:])
    return lines[0], [(name.lower(), value.strip()) for name, _, value in pairs]


def _body(stream: object, headers: list[tuple[bytes, bytes]]) -> tuple[bytes, int | None]:
    read = stream.read  # type: ignore[attr-defined]
    lengths = [int(value) for name, value in headers if name == b"content-length"]
    if any(name == b"transfer-encoding" for name, _ in headers):
        pieces = list(iter(lambda: _chunk(stream), b""))
        return b"".join(pieces), len(pieces)
    return (read(lengths[0]) if lengths else b""), None


def _chunk(stream: object) -> bytes:
    size = int(stream.readline().split(b";")[0], 16)  # type: ignore[attr-defined]
    data: bytes = stream.read(size)  # type: ignore[attr-defined]
    stream.readline()  # type: ignore[attr-defined]
    return data


def ok(body: bytes = b"ok", *lines: bytes, status: bytes = b"200 OK") -> Answer:
    """A response with a Content-Length."""
    head = b"".join(line + b"\r\n" for line in lines)
    return Answer(b"HTTP/1.1 %b\r\nContent-Length: %d\r\n%b\r\n%b" % (status, len(body), head, body))


def raw(data: bytes, *, closes: bool = True, resets: bool = False) -> Answer:
    """These bytes, and nothing else."""
    return Answer(data, closes=closes, resets=resets)


@contextlib.contextmanager
def full_backlog() -> Iterator[int]:
    """A port whose connections never come about: the queue of those to be accepted is full."""
    with contextlib.ExitStack() as open_sockets:
        listener = open_sockets.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(3):
            waiting = open_sockets.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]

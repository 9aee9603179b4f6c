"""An HTTP/1.1 server for thousands of requests, which knows when each arrived and asks a function for its answer."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Callable

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True)
class Answer:
    """What a request gets, and after how many seconds."""

    status: int
    retry_after: float | None = None
    delay: float = 0

    def __bytes__(self) -> bytes:
        line = "" if self.retry_after is None else f"Retry-After: {self.retry_after:.3f}\r\n"
        return f"HTTP/1.1 {self.status} Status\r\n{line}Content-Length: 0\r\n\r\n".encode()


#: From the path and the moment of a request, in seconds since the server began, to its answer.
Answers = Callable[[str, float], Answer]


class CountingServer:
    """`with CountingServer(answers) as server`: then `server.url(path)`, and the moments in `server.arrivals`.

    It runs on one thread, so that answers may be computed from what came before.
    """

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve()))
        #: The path and the moment of each request, in their order.
        self.arrivals: list[tuple[str, float]] = []

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def url(self, path: str = "/") -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def of_path(self, path: str) -> list[float]:
        return [at for each, at in self.arrivals if each == path]

    async def _serve(self) -> None:
        self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
        server = await self._loop.create_server(lambda: _Connection(self), "127.0.0.1", 0, backlog=4096)
        self.port: int = server.sockets[0].getsockname()[1]
        #: On `time.monotonic()`.
        self.began = time.monotonic()
        self._started.set()
        await self._stop.wait()
        server.close()

    def answer(self, path: str) -> Answer:
        now = time.monotonic() - self.began
        self.arrivals.append((path, now))
        return self._answers(path, now)


class _Connection(asyncio.Protocol):
    def __init__(self, server: CountingServer) -> None:
        self._server = server
        self._received = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._received += data
        while b"\r\n\r\n" in self._received:
            head, _, self._received = self._received.partition(b"\r\n\r\n")
            answer = self._server.answer(head.split(b" ", 2)[1].decode())
            if answer.delay > 0:
                asyncio.get_running_loop().call_later(answer.delay, self._write, bytes(answer))
            else:
                self._write(bytes(answer))

    def _write(self, data: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(data)

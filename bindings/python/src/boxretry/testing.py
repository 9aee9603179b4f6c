"""For your tests: a server that answers as a list says, and a clock that makes every wait instant.

>>> with ScriptedServer([503, Answer(200, {"X-A": "1"}, "hello")]) as server, Client() as client:
...     response = client.get(server.url + "/a", strategy=RetryStrategy(retry_base_interval=0))
...     response.text, [request.target for request in server.requests]
('hello', ['/a', '/a'])

A clock that advances by itself jumps past every wait of the clients that use it, while servers answer in real time.
Here an hour passes in milliseconds:

>>> with ManualClock(auto_advance=True) as clock, ScriptedServer([Answer(503, {"Retry-After": "3600"}), 200]) as server:
...     with Client(clock=clock) as client:
...         client.get(server.url).status, clock.monotonic()
(200, 3600.0)

A timeout passes in a tenth of a second of real time for each attempt:

>>> with ManualClock(auto_advance=True) as clock, ScriptedServer([Fault.SILENCE, 200]) as server:
...     with Client(RetryStrategy(retry_randomization_factor=0), clock=clock) as client:  # The idle timeout is 60 s.
...         client.get(server.url).status, clock.monotonic()
(200, 62.0)
"""

from __future__ import annotations

import contextlib
import enum
import itertools
import socket
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Callable, Union

from ._bodies.sources import as_bytes
from ._c.arguments import integer, real
from .clock import ManualClock
from .errors import InvalidArgumentError
from .outcome import HeaderArray, Headers, header_pairs

__all__ = ["Answer", "Fault", "ManualClock", "ScriptedServer", "SeenRequest"]


@dataclass(frozen=True)
class Answer:
    """An answer of the server. Content-Length and Date are added, unless they are among the headers."""

    #: 200 to 999.
    status: int = 200
    headers: Headers = ()
    body: str | bytes = b""
    #: Seconds to wait before it is sent; 0 or more.
    delay: float = 0.0

    def __post_init__(self) -> None:
        """Raises TypeError, InvalidArgumentError (a ValueError)."""
        status = integer(self.status, "status")
        if not 200 <= status <= 999:
            raise InvalidArgumentError(f"status: must be from 200 to 999 (got {status})")
        if isinstance(self.headers, Iterator):
            raise TypeError("headers: must not be an iterator, because the answer may be sent again")
        HeaderArray().fill(self.headers, "headers")
        as_bytes(self.body, "body")
        if not 0 <= real(self.delay, "delay") <= threading.TIMEOUT_MAX:
            raise InvalidArgumentError(f"delay: must be 0 seconds or more (got {self.delay:g})")


class Fault(enum.Enum):
    """What the server does instead of an answer.

    HANG_UP: it closes the connection.
    SILENCE: it never answers. The connection stays open until the client or the server closes it.
    """

    HANG_UP = "hang up"
    SILENCE = "silence"


@dataclass(frozen=True)
class SeenRequest:
    """A request that the server has received."""

    method: str
    #: The target of the request line: path and query, or the whole URL if the server is used as a proxy.
    target: str
    #: In the order in which they were sent.
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The value of the first header line of that name; case does not matter."""
        return next((value for each, value in self.headers if each.lower() == name.lower()), None)


_Fixed = Union[int, Answer, Fault]
#: An item of the list: a status, an answer, a fault, or a function that gets the request and returns one of these.
Scripted = Union[_Fixed, Callable[[SeenRequest], _Fixed]]


class ScriptedServer:
    """An HTTP server on a free port of 127.0.0.1. The n-th request gets the n-th answer, all later ones the last.

    It starts immediately, and serves each connection on a separate thread until `close()` or the end of `with`.
    """

    def __init__(self, answers: Iterable[Scripted]) -> None:
        """Raises TypeError or InvalidArgumentError (a ValueError) if there are no answers, or one is not valid."""
        if isinstance(answers, (str, bytes)) or not isinstance(answers, Iterable):
            raise TypeError(f"answers: must be a list, not {type(answers).__name__}")
        script = [each if callable(each) else _answer(each) for each in answers]
        if not script:
            raise InvalidArgumentError("answers: must have one or more")
            #: All requests so far, in the order in which they arrived.
        self.requests: list[SeenRequest] = []
        self._answers = itertools.chain(script, itertools.repeat(script[-1]))
        self._turn = threading.Lock()
        self._closing = threading.Event()
        self._raised: list[BaseException] = []
        self._connections: dict[socket.socket, threading.Thread] = {}
        self._server = _Server(("127.0.0.1", 0), type("_Handler", (_Handler,), {"owner": self}))
        #: "http://127.0.0.1:" and the port.
        self.url: str = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stops the server and closes its connections. You can call it again.

        If a function among the answers raised an exception, this raises it; if such a function returned an invalid
        answer, this raises TypeError or InvalidArgumentError. The server answered that request with 500.
        """
        if self._closing.is_set():
            return
        self._closing.set()
        self._server.shutdown()
        self._thread.join()
        with self._turn:
            threads = list(self._connections.values())
            for connection in self._connections:
                with contextlib.suppress(OSError):  # The client has closed it.
                    connection.shutdown(socket.SHUT_RDWR)
        for thread in threads:
            thread.join()
        self._server.server_close()
        if self._raised:
            raise self._raised[0]

    def __enter__(self) -> ScriptedServer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _answer(self, request: SeenRequest) -> Answer | Fault:
        with self._turn:
            self.requests.append(request)
            answer = next(self._answers)
        if callable(answer):
            try:
                return _answer(answer(request))
            except BaseException as error:
                self._raised.append(error)
                return Answer(500)
        return answer


class _Server(ThreadingHTTPServer):
    #: Further connections would wait for a second, until the kernel repeats their first packet.
    request_queue_size = 1024


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    owner: ScriptedServer
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    # Head and body are sent in one piece.
    wbufsize = -1

    def setup(self) -> None:
        super().setup()
        with self.owner._turn:
            self.owner._connections[self.connection] = threading.current_thread()
            if self.owner._closing.is_set():
                self.connection.shutdown(socket.SHUT_RDWR)

    def finish(self) -> None:
        with self.owner._turn:
            del self.owner._connections[self.connection]
        super().finish()

    def handle(self) -> None:
        try:
            super().handle()
        except OSError:  # The client or `close()` has closed the connection.
            self.close_connection = True

    def __getattr__(self, name: str) -> Any:
        """Every method is answered in the same way."""
        if name.startswith("do_"):
            return self._serve
        raise AttributeError(name)

    def _serve(self) -> None:
        request = SeenRequest(self.command, self.path, self.headers.items(), self._body())
        answer = self.owner._answer(request)
        if isinstance(answer, Fault):
            self.close_connection = True
            if answer is Fault.SILENCE:
                self.connection.recv(1)
            return
        if self.owner._closing.wait(answer.delay):
            self.close_connection = True
        else:
            self._send(answer)

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            body += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return body

    def _send(self, answer: Answer) -> None:
        body = answer.body.encode() if isinstance(answer.body, str) else answer.body
        lines = [(_text(name), _text(value)) for name, value in header_pairs(answer.headers, "headers")]
        names = {name.lower() for name, _ in lines}
        self.send_response_only(answer.status)
        if "date" not in names:
            self.send_header("Date", self.date_time_string())
        if not names & {"content-length", "transfer-encoding"} and answer.status not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        for name, value in lines:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, format: str, *args: object) -> None:
        """Writes nothing to standard error."""


def _answer(value: object) -> Answer | Fault:
    if isinstance(value, int) and not isinstance(value, bool):
        return Answer(value)
    if isinstance(value, (Answer, Fault)):
        return value
    raise TypeError(f"answers: must be statuses, Answer, Fault or functions, not {type(value).__name__}")


def _text(value: str | bytes) -> str:
    return value if isinstance(value, str) else value.decode("latin-1")

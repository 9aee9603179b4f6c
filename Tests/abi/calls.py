"""A client, and requests that it sends once: to a port without a listener, or to a server in this process."""

from __future__ import annotations

import ctypes
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from library import Library, address

REFUSED = b"http://127.0.0.1:1/"
FOR_EVER = 2**63 - 1
NO_PROXY = 1
BUSY = b'{"code":"busy"}'


class Calls:
    """A client and what is needed to call with it. What is made of Python here lives as long as the process."""

    def __init__(self, **options: Any) -> None:
        self.library = Library()
        self._alive: list[Any] = []
        values = {"max_total_attempts": 1, "proxy_mode": NO_PROXY, **options}
        self.options = self.library.struct("boxretry_client_options", **values)
        self.client = self.library.new("boxretry_client_new", address(self.options))

    def callback(self, struct: str, field: str, function: Callable[..., None]) -> int:
        """A function for that field of a struct, which lives as long as this."""
        self._alive.append(self.library.callback(struct, field, function))
        return address(self._alive[-1])

    def text(self, text: bytes) -> int:
        self._alive.append(ctypes.create_string_buffer(text))
        return address(self._alive[-1])

    def request(self, url: Any = REFUSED, **fields: Any) -> Any:
        text = ctypes.create_string_buffer(url)
        request = self.library.struct("boxretry_request", url=address(text), **fields)
        self._alive.append((text, request))
        return request

    def perform(self, request: Any) -> int:
        return self.library.new("boxretry_client_perform", self.client, address(request))

    def refused(self, request: Any) -> str:
        """Why a request is refused."""
        out = ctypes.c_void_p()
        answer = self.ask("client_perform", self.client, address(request), address(out))
        assert (answer, out.value) == ("BOXRETRY_ERROR_INVALID_ARGUMENT", None)
        return self.library.detail

    def submit(self, request: Any) -> int:
        return self.library.new("boxretry_client_submit", self.client, address(request))

    def ask(self, function: str, *arguments: Any) -> Any:
        """A function of the library, by the end of its name."""
        return self.library.call(f"boxretry_{function}", *arguments)

    def body(self, response: int) -> bytes:
        length = ctypes.c_size_t()
        start = self.ask("response_body", response, address(length))
        return ctypes.string_at(start, length.value)

    def error(self, response: int | None) -> str:
        return self.library.errors[self.ask("response_error", response)]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    answered = 0  # requests of this connection

    def do_GET(self) -> None:
        self.answered += 1
        if self.path == "/busy":
            self._answer(409, BUSY, [])
            return
        if self.path == "/to/busy":
            self._answer(307, b"", [("Location", "/busy")])
            return
        if self.path == "/short":
            self._answer(200, b"beginning", [], missing=1)
            return
        if self.path == "/once" and self.answered > 1:
            self.close_connection = True
            return
        steps = re.fullmatch("/redirect/([0-9]+)", self.path)
        if steps and int(steps[1]) > 0:
            self._answer(302, b"", [("Location", f"/redirect/{int(steps[1]) - 1}")])
        else:
            self._answer(200, b"body", [("X-Greeting", "hello")])

    def do_PUT(self) -> None:
        self._answer(200, b"".join(self._pieces()), [])

    def _answer(self, status: int, body: bytes, headers: list[tuple[str, str]], missing: int = 0) -> None:
        self.send_response_only(status)
        for name, value in [*headers, ("Content-Length", str(len(body) + missing))]:
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = self.close_connection or missing > 0

    def _pieces(self) -> Iterator[bytes]:
        """The body of the request."""
        if "Content-Length" in self.headers:
            yield self.rfile.read(int(self.headers["Content-Length"]))
            return
        while length := int(self.rfile.readline(), 16):
            yield self.rfile.read(length)
            self.rfile.readline()
        self.rfile.readline()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def server() -> Iterator[bytes]:
    """The URL of a server that answers each GET with 200, two header lines and "body", and each PUT with what was put.

    Below it, /redirect/3 leads there in three steps. /busy answers 409 with BUSY, and /to/busy leads there. /short ends
    after "beginning", one byte too early. /once answers once on each connection, and closes it when it gets the next
    request.
    """
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as http:
        thread = threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield b"http://127.0.0.1:%d/" % http.server_port
        http.daemon_threads = True
        http.block_on_close = False
        http.shutdown()
        thread.join()

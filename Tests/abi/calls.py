"""A client, and requests that it sends once: to a port at which nobody listens, or to a server in this process."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from library import Library, address

REFUSED = b"http://127.0.0.1:1/"
FOR_EVER = 2**63 - 1
NO_PROXY = 1


class Calls:
    """A client and what is needed to call with it. What is made of Python here lives as long as the process."""

    def __init__(self, **options: Any) -> None:
        self.library = Library()
        self._alive: list[Any] = []
        values = {"max_total_attempts": 1, "proxy_mode": NO_PROXY, **options}
        self.options = self.library.struct("boxretry_client_options", **values)
        self.client = self.library.new("boxretry_client_new", address(self.options))

    def request(self, url: Any = REFUSED, **fields: Any) -> Any:
        text = ctypes.create_string_buffer(url)
        request = self.library.struct("boxretry_request", url=address(text), **fields)
        self._alive.append((text, request))
        return request

    def perform(self, request: Any) -> int:
        return self.library.new("boxretry_client_perform", self.client, address(request))

    def submit(self, request: Any) -> int:
        return self.library.new("boxretry_client_submit", self.client, address(request))

    def ask(self, function: str, *arguments: Any) -> Any:
        """A function of the library, by the end of its name."""
        return self.library.call(f"boxretry_{function}", *arguments)

    def error(self, response: int | None) -> str:
        return self.library.errors[self.ask("response_error", response)]


class _Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response_only(200)
        self.send_header("X-Greeting", "hello")
        self.send_header("Content-Length", "4")
        self.end_headers()
        self.wfile.write(b"body")

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def server() -> Iterator[bytes]:
    """The URL of a server that answers each GET with 200, two header lines and "body"."""
    with HTTPServer(("127.0.0.1", 0), _Handler) as http:
        thread = threading.Thread(target=http.serve_forever, daemon=True)
        thread.start()
        yield b"http://127.0.0.1:%d/" % http.server_port
        http.shutdown()
        thread.join()

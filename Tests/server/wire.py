"""A client that does nothing by itself: it sees each byte, and how the connection ended."""

from __future__ import annotations

import http.client
import io
import socket
import ssl
import struct
from collections.abc import Sequence
from typing import NamedTuple, TypeVar

T = TypeVar("T", bound="Wire")


class Response(NamedTuple):
    status: int
    headers: http.client.HTTPMessage
    body: bytes


class Wire:
    def __init__(
        self, port: int, *, ca: str = "", protocols: Sequence[str] = (), certificate: tuple[str, str] | None = None
    ) -> None:
        """With `ca` it speaks TLS, offers `protocols`, and has its own certificate in these files."""
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self._tls: ssl.SSLObject | None = None
        if ca:
            self._start_tls(ca, protocols, certificate)

    def __enter__(self: T) -> T:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    def send(self, data: bytes) -> None:
        if self._tls is not None:
            self._tls.write(data)
            data = self._outgoing.read()
        self.socket.sendall(data)

    def request(self, target: str, *, method: str = "GET", headers: str = "", body: bytes = b"") -> None:
        """Sends a request in one piece; `headers` are whole lines. They say the length if not all of it is here."""
        length = f"Content-Length: {len(body)}\r\n" if body and "Content-Length" not in headers else ""
        self.send(f"{method} {target} HTTP/1.1\r\nHost: localhost\r\n{length}{headers}\r\n".encode() + body)

    def read(self, count: int) -> bytes:
        """Exactly `count` bytes."""
        data = b""
        while len(data) < count:
            piece = self._recv(count - len(data))
            assert piece, f"the connection ended after {data!r}"
            data += piece
        return data

    def read_line(self) -> bytes:
        data = b""
        while not data.endswith(b"\r\n"):
            data += self.read(1)
        return data

    def read_head(self) -> bytes:
        """Up to and with the empty line."""
        data = self.read_line()
        while not data.endswith(b"\r\n\r\n"):
            data += self.read_line()
        return data

    def read_to_end(self) -> tuple[bytes, str]:
        """All that comes, and how it ended: "closed", "reset", or over TLS "cut" if there was no farewell."""
        data = b""
        while True:
            try:
                piece = self._recv(65536)
            except ConnectionResetError:
                return data, "reset"
            except ssl.SSLEOFError:
                return data, "cut"
            if not piece:
                return data, "closed"
            data += piece

    def response(self, method: str = "GET") -> Response:
        status_line, _, lines = self.read_head().partition(b"\r\n")
        headers = http.client.parse_headers(io.BytesIO(lines))
        if headers["Transfer-Encoding"] == "chunked":
            body = self._read_chunks()
        elif "Content-Length" in headers:
            body = self.read(int(headers["Content-Length"]) if method != "HEAD" else 0)
        else:
            body, _ = self.read_to_end()
        return Response(int(status_line.split()[1]), headers, body)

    def get(self, target: str, *, method: str = "GET", headers: str = "", body: bytes = b"") -> Response:
        self.request(target, method=method, headers=headers, body=body)
        return self.response(method)

    def close(self) -> None:
        self.socket.close()

    def finish(self) -> None:
        """Ends the client's side. (Closing the socket would reset the connection if something had not been read.)"""
        self.socket.shutdown(socket.SHUT_WR)

    def reset(self) -> None:
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.socket.close()

    def _read_chunks(self) -> bytes:
        body = b""
        while size := int(self.read_line(), 16):
            body += self.read(size)
            assert self.read(2) == b"\r\n"
        while self.read_line() != b"\r\n":
            pass
        return body

    def agreed_protocol(self) -> str | None:
        assert self._tls is not None
        return self._tls.selected_alpn_protocol()

    def _start_tls(self, ca: str, protocols: Sequence[str], certificate: tuple[str, str] | None) -> None:
        """By hand, since Python's own TLS sockets take a reset for an end of file."""
        self._incoming, self._outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        context = ssl.create_default_context(cafile=ca)
        if protocols:
            context.set_alpn_protocols(list(protocols))
        if certificate is not None:
            context.load_cert_chain(*certificate)
        self._tls = context.wrap_bio(self._incoming, self._outgoing, server_hostname="localhost")
        done = False
        while not done:
            try:
                self._tls.do_handshake()
                done = True
            except ssl.SSLWantReadError:
                self.socket.sendall(self._outgoing.read())
                self._fetch()
        self.socket.sendall(self._outgoing.read())

    def _fetch(self) -> None:
        data = self.socket.recv(65536)
        if not data:
            raise ssl.SSLEOFError("the connection has ended, and TLS has not")
        self._incoming.write(data)

    def _recv(self, limit: int) -> bytes:
        if self._tls is None:
            return self.socket.recv(limit)
        while True:
            try:
                return self._tls.read(limit)
            except ssl.SSLWantReadError:
                self._fetch()
            except ssl.SSLZeroReturnError:
                return b""

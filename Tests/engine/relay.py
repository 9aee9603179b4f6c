"""Servers between a client and other servers, which hand on bytes in both directions."""

from __future__ import annotations

import contextlib
import itertools
import socket
import ssl
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self


class Relay:
    """Takes connections from `with` on until its end."""

    def __enter__(self) -> Self:
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.port: int = self._listener.getsockname()[1]
        self._start(self._accept)
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._threads[0].join()
        self.hang_up()
        for thread in self._threads[1:]:
            thread.join()
        for each in [self._listener, *self._sockets]:
            each.close()

    def hang_up(self) -> None:
        """Ends all connections that there are."""
        for each in self._sockets:
            with contextlib.suppress(OSError):  # It has ended already.
                each.shutdown(socket.SHUT_RDWR)

    def accepted(self, client: socket.socket) -> socket.socket:
        """What to read from and write to, for a client that has connected."""
        return client

    def server_for(self, client: socket.socket) -> tuple[str, int] | None:
        """Host and port of the server that the client is connected to; None: none."""
        raise NotImplementedError

    def greet(self, client: socket.socket) -> None:
        """The client is about to be connected."""

    def _start(self, work: object, *arguments: object) -> None:
        thread = threading.Thread(target=work, args=arguments)  # type: ignore[arg-type]
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:  # The end.
                return
            client = self.accepted(client)
            self._sockets.append(client)
            if (address := self.server_for(client)) is None:
                continue
            server = socket.create_connection(address)
            self._sockets.append(server)
            self.greet(client)
            self._start(self._hand_on, client, server)
            self._start(self._hand_on, server, client)

    def _hand_on(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while received := source.recv(65536):
                target.sendall(received)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)


class Tunnel(Relay):
    """A proxy that answers CONNECT with a given text: `with Tunnel("HTTP/1.1 200 OK\\r\\n\\r\\n") as proxy`, then
    `proxy.url`. After a 200 it hands on what comes.

    `context`: it speaks TLS. `heads` are the requests that it got.
    """

    def __init__(self, answer: str, context: ssl.SSLContext | None = None) -> None:
        self._answer = answer.encode()
        self._context = context
        self.heads: list[str] = []

    @property
    def name(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        return f"{'https' if self._context else 'http'}://{self.name}"

    def accepted(self, client: socket.socket) -> socket.socket:
        return self._context.wrap_socket(client, server_side=True) if self._context else client

    def server_for(self, client: socket.socket) -> tuple[str, int] | None:
        head = b""
        while b"\r\n\r\n" not in head and (received := client.recv(65536)):
            head += received
        self.heads.append(head.decode())
        _, target, _ = head.decode().split(" ", 2)
        if b" 200 " not in self._answer:
            client.sendall(self._answer)
            return None
        host, _, port = target.rpartition(":")
        return host, int(port)

    def greet(self, client: socket.socket) -> None:
        client.sendall(self._answer)


class Flood(Relay):
    """A proxy that answers CONNECT with 407, and sends a body without end as fast as somebody takes it."""

    def server_for(self, client: socket.socket) -> tuple[str, int] | None:
        while b"\r\n\r\n" not in client.recv(65536):
            pass
        self._start(self._flood, client)
        return None

    def _flood(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError):
            client.sendall(b"HTTP/1.1 407 Who\r\nContent-Length: 999999999999\r\n\r\n")
            while True:
                client.sendall(b"x" * 65536)


class Balancer(Relay):
    """Connects its clients to servers on these ports of 127.0.0.1 in turn."""

    def __init__(self, ports: Sequence[int]) -> None:
        self._ports = itertools.cycle(ports)

    def server_for(self, client: socket.socket) -> tuple[str, int] | None:
        return "127.0.0.1", next(self._ports)

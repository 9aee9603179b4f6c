"""Kinds of ports: plain and TLS, well and badly behaved, and those without an answer."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import socket
import ssl
from collections.abc import Awaitable
from typing import Callable

from .connection import Connection
from .http1 import Http1
from .site import Site

#: Without the package h2, the server speaks HTTP/1.1 alone, and needs the standard library alone.
HAS_HTTP2 = importlib.util.find_spec("h2") is not None
if HAS_HTTP2:
    from .http2 import Http2

BACKLOG = 4096
FIRST_FLIGHT = 4096  # more than a client sends before it waits for the server's part of the handshake

Behavior = Callable[[Connection], Awaitable[None]]


def behaviors(site: Site, contexts: dict[str, ssl.SSLContext]) -> dict[str, Behavior]:
    """What a connection to each kind of port is in for."""

    async def http(connection: Connection) -> None:
        await Http1(connection, site).serve()

    async def h2c(connection: Connection) -> None:
        await Http2(connection, site).serve()

    def tls(context: ssl.SSLContext) -> Behavior:
        async def serve(connection: Connection) -> None:
            if not await connection.start_tls(context):
                await connection.end_with_unread("close")  # a client may have sent its request already
            elif connection.agreed_protocol == "h2":
                await h2c(connection)
            else:
                await http(connection)

        return serve

    def broken_handshake(how: str) -> Behavior:
        async def serve(connection: Connection) -> None:
            hello = await connection.read(FIRST_FLIGHT)
            flight = _server_flight(contexts["h2"], hello)
            await connection.send(flight[: len(flight) // 2])
            if how == "reset":
                await connection.sent_out()
            connection.end(how)

        return serve

    async def garbage_handshake(connection: Connection) -> None:
        await connection.read(FIRST_FLIGHT)
        await connection.send(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        connection.end("close")

    async def silent(connection: Connection) -> None:
        await connection.stall()

    def end_at_first_bytes(how: str) -> Behavior:
        # Not before: whether the client's connect() had succeeded would be a matter of luck.
        async def serve(connection: Connection) -> None:
            await connection.read(FIRST_FLIGHT)
            connection.end(how)

        return serve

    kinds: dict[str, Behavior] = {
        "http": http,
        **({"h2c": h2c} if HAS_HTTP2 else {}),
        "silent": silent,
        "reset": end_at_first_bytes("reset"),
        "close": end_at_first_bytes("close"),
    }
    if contexts:
        kinds.update({kind: tls(context) for kind, context in contexts.items()})
        kinds["tls_cut"] = broken_handshake("cut")
        kinds["tls_reset"] = broken_handshake("reset")
        kinds["tls_garbage"] = garbage_handshake
    return kinds


# Kinds at which no connection is accepted.
DEAD_KINDS = ("refused", "backlog")


def _server_flight(context: ssl.SSLContext, hello: bytes) -> bytes:
    """What a server answers to this ClientHello."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    incoming.write(hello)
    with contextlib.suppress(ssl.SSLError):  # it wants to read more, or has written an alert
        context.wrap_bio(incoming, outgoing, server_side=True).do_handshake()
    return outgoing.read()


class Port:
    """A port of 127.0.0.1 that treats its n-th connection as its n-th kind says, and all later ones as the last."""

    def __init__(self, kinds: list[str], number: int, receive_buffer: int | None, settings: dict[int, int]) -> None:
        self.kinds = kinds
        self.settings = settings  # HTTP/2's
        self._accepted = 0
        self._fillers: list[socket.socket] = []
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if receive_buffer is not None:  # before listen(), so that the window is never larger
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self._socket.bind(("127.0.0.1", number))
        self._socket.setblocking(False)
        self.number: int = self._socket.getsockname()[1]
        if kinds[0] == "backlog":
            self._socket.listen(0)
            self._fill_backlog()
        elif kinds[0] != "refused":  # a port that is bound and does not listen refuses, and no other program can get it
            self._socket.listen(BACKLOG)

    def start(self, treat: Callable[[socket.socket, Port, str], None]) -> None:
        """Hands each connection from now on to `treat`, with this port and the kind."""
        if self.kinds[0] not in DEAD_KINDS:
            asyncio.get_running_loop().add_reader(self._socket.fileno(), self._accept, treat)

    def close(self) -> None:
        if self.kinds[0] not in DEAD_KINDS:
            asyncio.get_running_loop().remove_reader(self._socket.fileno())
        for each in (self._socket, *self._fillers):
            each.close()

    def _fill_backlog(self) -> None:
        """Connects until the queue of the kernel is full: from then on a client's connect() gets no answer."""
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(("127.0.0.1", self.number))
            self._fillers.append(filler)

    def _accept(self, treat: Callable[[socket.socket, Port, str], None]) -> None:
        for _ in range(100):  # then the others have their turn
            try:
                sock, _ = self._socket.accept()
            except (BlockingIOError, ConnectionAbortedError):
                return
            kind = self.kinds[min(self._accepted, len(self.kinds) - 1)]
            self._accepted += 1
            treat(sock, self, kind)

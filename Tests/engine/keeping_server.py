"""HTTP/1.1 servers that keep connections alive, each connection on a separate thread, and say what the tests want."""

from __future__ import annotations

import contextlib
import fcntl
import socket
import ssl
import struct
import termios
import threading
from dataclasses import dataclass
from typing import BinaryIO, Callable

from calls import eventually
from raw_server import Accepting

LINGER_NOT = struct.pack("ii", 1, 0)
FIN_WAIT_2 = 5  # of TCP_INFO: the peer's kernel has acknowledged the end


@dataclass
class Seen:
    """A request as the server read it."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    #: Which connection it came over, from 0.
    connection: int


class Exchange:
    """What a server may do with a request and the connection it came over."""

    def __init__(self, connection: socket.socket, seen: Seen) -> None:
        self._connection = connection
        self.seen = seen

    def send(self, data: bytes) -> None:
        self._connection.sendall(data)

    def end(self) -> None:
        """Ends this side; the client may still write."""
        socket.socket.shutdown(self._connection, socket.SHUT_WR)  # an SSLSocket's own would end TLS on both sides

    def reset_at_end(self) -> None:
        self._connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, LINGER_NOT)

    def wait_until_delivered(self, *, ended: bool) -> None:
        """Waits until the client's kernel has all that was sent, and the end if that was sent."""

        def is_delivered() -> bool:
            unsent = fcntl.ioctl(self._connection, termios.TIOCOUTQ, bytes(4))
            state = self._connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1)[0]
            return unsent == bytes(4) and (not ended or state == FIN_WAIT_2)

        eventually(is_delivered)


#: Answers a request; False: the connection ends.
Answerer = Callable[[Exchange], bool]


class KeepingServer(Accepting):
    """`with KeepingServer(answer) as server`: then `server.url`, and the requests in `server.seen`."""

    def __init__(self, answer: Answerer, tls: ssl.SSLContext | None = None) -> None:
        super().__init__(socket.create_server(("127.0.0.1", 0), backlog=512))
        self._answer = answer
        self._tls = tls
        self._lock = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._connections: list[socket.socket] = []
        self.seen: list[Seen] = []
        port = self._listener.getsockname()[1]
        self.url = f"{'https' if tls else 'http'}://127.0.0.1:{port}"

    def __exit__(self, *arguments: object) -> None:
        super().__exit__(*arguments)
        with self._lock:
            connections = list(self._connections)
        for each in connections:
            with contextlib.suppress(OSError):
                socket.socket.shutdown(each, socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def take(self, connection: socket.socket) -> None:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        thread = threading.Thread(target=self._keep, args=(connection, len(self._threads)))
        with self._lock:
            self._connections.append(connection)
        self._threads.append(thread)
        thread.start()

    def _keep(self, connection: socket.socket, number: int) -> None:
        with contextlib.suppress(OSError):
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
                with self._lock:
                    self._connections[number] = connection
            with connection, connection.makefile("rb") as stream:
                while (seen := _read(stream, number)) is not None:
                    with self._lock:
                        self.seen.append(seen)
                    if not self._answer(Exchange(connection, seen)):
                        break


def _read(stream: BinaryIO, number: int) -> Seen | None:
    """The next request; None: the client ended its side, or sent what is not a request."""
    line = stream.readline().split()
    if len(line) != 3:
        return None
    headers: dict[str, str] = {}
    while (header := stream.readline()) not in (b"\r\n", b""):
        name, _, value = header.decode("latin-1").partition(":")
        headers[name.lower()] = value.strip()
    if headers.get("transfer-encoding") == "chunked":
        body = b""
        while size := int(stream.readline().split(b";")[0] or b"0", 16):
            body += stream.read(size)
            stream.readline()
        stream.readline()
    else:
        length = int(headers.get("content-length", "0"))
        body = stream.read(length)
        if len(body) < length:
            return None
    return Seen(line[0].decode(), line[1].decode(), headers, body, number)

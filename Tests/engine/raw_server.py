"""A server that takes one request on each connection, remembers it as it came, and answers 200."""

from __future__ import annotations

import socket
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


class Accepting:
    """Takes connections on a thread of its own, one after the other, from `with` on until its end."""

    def __init__(self, listener: socket.socket) -> None:
        self._listener = listener
        self._thread = threading.Thread(target=self._serve)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:  # The end.
                return
            self.take(connection)

    def take(self, connection: socket.socket) -> None:
        raise NotImplementedError


class RawServer(Accepting):
    """`with RawServer() as server`: then `server.port`, and the heads of the requests in `server.heads`."""

    def __init__(self) -> None:
        super().__init__(socket.create_server(("127.0.0.1", 0)))
        self.heads: list[str] = []
        self.port: int = self._listener.getsockname()[1]

    def take(self, connection: socket.socket) -> None:
        with connection:
            head = b""
            while b"\r\n\r\n" not in head and (received := connection.recv(65536)):
                head += received
            self.heads.append(head.decode("latin-1"))
            connection.sendall(ANSWER)

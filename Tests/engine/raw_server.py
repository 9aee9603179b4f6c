"""Servers that take one request on each connection, remember it as it came, and answer with bytes of a test's own."""

from __future__ import annotations

import socket
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Union

if TYPE_CHECKING:
    from typing_extensions import Self

#: The bytes of an answer; or its pieces, and what must happen before the server sends the next one.
Script = Union[bytes, Sequence[Union[bytes, threading.Event]]]

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


class Accepting:
    """Takes connections on a separate thread, one after the other, from `with` on until its end."""

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
    """`with RawServer() as server`: then `server.port`, and the heads of the requests in `server.heads`.

    The n-th request gets the n-th answer, all later ones the last."""

    def __init__(self, *answers: Script) -> None:
        super().__init__(socket.create_server(("127.0.0.1", 0)))
        self._answers = answers or (ANSWER,)
        self.heads: list[str] = []
        self.port: int = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}/"

    def take(self, connection: socket.socket) -> None:
        with connection:
            head = b""
            while b"\r\n\r\n" not in head and (received := connection.recv(65536)):
                head += received
            if not head:
                return
            self.heads.append(head.decode("latin-1"))
            answer = self._answers[min(len(self.heads), len(self._answers)) - 1]
            for piece in [answer] if isinstance(answer, bytes) else answer:
                if isinstance(piece, bytes):
                    connection.sendall(piece)
                else:
                    assert piece.wait(60), "nothing lets the server go on"

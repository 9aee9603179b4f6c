"""A server that takes one request on each connection, remembers it as it came, and answers 200."""

from __future__ import annotations

import socket
import threading

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok"


class RawServer:
    """`with RawServer() as server`: then `server.port`, and the heads of the requests in `server.heads`."""

    def __enter__(self) -> RawServer:
        self.heads: list[str] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._thread = threading.Thread(target=self._serve)
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
            with connection:
                head = b""
                while b"\r\n\r\n" not in head and (received := connection.recv(65536)):
                    head += received
                self.heads.append(head.decode("latin-1"))
                connection.sendall(ANSWER)

"""A proxy that answers CONNECT as it is told to, and then, after a 200, hands on bytes in both directions."""

from __future__ import annotations

import contextlib
import socket
import threading


class Tunnel:
    """`with Tunnel("HTTP/1.1 200 OK\\r\\n\\r\\n") as proxy`: then `proxy.url`."""

    def __init__(self, answer: str) -> None:
        self._answer = answer.encode()
        self._sockets: list[socket.socket] = []
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Tunnel:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
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
            head = b""
            while b"\r\n\r\n" not in head and (received := client.recv(65536)):
                head += received
            self._sockets.append(client)
            _, target, _ = head.decode().split(" ", 2)
            if b" 200 " in self._answer:
                host, _, port = target.rpartition(":")
                server = socket.create_connection((host, int(port)))
                self._sockets.append(server)
                client.sendall(self._answer)
                self._start(self._hand_on, client, server)
                self._start(self._hand_on, server, client)
            else:
                client.sendall(self._answer)

    def _hand_on(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while received := source.recv(65536):
                target.sendall(received)
        with contextlib.suppress(OSError):
            target.shutdown(socket.SHUT_WR)

"""A server whose body arrives only after the caller has seen the head."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Iterator

BODY = b"1234567890"


@contextlib.contextmanager
def late_body() -> Iterator[tuple[str, threading.Event]]:
    """Answers one request with a 404; the second half of `BODY` follows when the event is set. Gives URL and event."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        head_seen = threading.Event()

        def answer() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 404 No\r\nContent-Length: 10\r\n\r\n" + BODY[:5])
                assert head_seen.wait(30)
                connection.sendall(BODY[5:])

        thread = threading.Thread(target=answer)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/", head_seen
        thread.join()

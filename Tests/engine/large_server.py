"""A server of one large file, which resets the connection in the middle of bodies, both ways: a program for large.py.

    python large_server.py MEBIBYTES

prints its port, and runs until its standard input closes. GET answers with the file, also from Range on; PUT with the
SHA-256 of what came. The first two requests of each `?id=` end after a third and after two thirds of the file.
"""

from __future__ import annotations

import hashlib
import random
import socket
import struct
import sys
import threading
from collections import Counter

PIECE = 1024 * 1024
BLOCK = random.Random(5).randbytes(PIECE)


def piece(index: int) -> bytes:
    """The file's piece of 1 MiB with this number: no two are the same."""
    return struct.pack(">Q", index) + BLOCK[8:]


def main() -> int:
    count = int(sys.argv[1])
    listener = socket.create_server(("127.0.0.1", 0), backlog=64)
    print(listener.getsockname()[1], flush=True)
    seen: Counter[str] = Counter()
    threading.Thread(target=_accept, args=(listener, count, seen), daemon=True).start()
    sys.stdin.read()
    return 0


def _accept(listener: socket.socket, count: int, seen: Counter[str]) -> None:
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=_serve, args=(connection, count, seen), daemon=True).start()


def _serve(connection: socket.socket, count: int, seen: Counter[str]) -> None:
    with connection, connection.makefile("rb") as reader:
        try:
            while line := reader.readline().decode():
                method, target, _ = line.split(" ")
                headers: dict[str, str] = {}
                while (header := reader.readline().decode().strip()) != "":
                    name, _, value = header.partition(": ")
                    headers[name.lower()] = value
                seen[target] += 1
                ends_at = count * seen[target] // 3 if seen[target] <= 2 else None
                if method == "PUT":
                    _take(connection, reader, headers, count, ends_at)
                else:
                    _give(connection, headers, count, ends_at)
        except (OSError, EOFError):  # The client has gone, or is to.
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def _take(connection: socket.socket, reader: object, headers: dict[str, str], count: int, ends_at: int | None) -> None:
    sha = hashlib.sha256()
    for index in range(count):
        if index == ends_at:
            raise EOFError
        if "transfer-encoding" in headers:
            sha.update(_chunks(reader, PIECE))
        else:
            sha.update(reader.read(PIECE))  # type: ignore[attr-defined]
    if "transfer-encoding" in headers:
        assert reader.readline() + reader.readline() == b"0\r\n\r\n"  # type: ignore[attr-defined]
    body = sha.hexdigest().encode()
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body))


def _chunks(reader: object, size: int) -> bytes:
    """Reads this number of bytes; the client sends each piece as separate chunks."""
    taken = b""
    while len(taken) < size:
        length = int(reader.readline(), 16)  # type: ignore[attr-defined]
        taken += reader.read(length)  # type: ignore[attr-defined]
        reader.readline()  # type: ignore[attr-defined]
    return taken


def _give(connection: socket.socket, headers: dict[str, str], count: int, ends_at: int | None) -> None:
    start = int(headers["range"].split("=")[1].rstrip("-")) if "range" in headers else 0
    size = count * PIECE
    status = "206 Partial Content" if start else "200 OK"
    head = f'HTTP/1.1 {status}\r\nETag: "large"\r\nContent-Length: {size - start}\r\n'
    if start:
        head += f"Content-Range: bytes {start}-{size - 1}/{size}\r\n"
    connection.sendall(head.encode() + b"\r\n")
    for index in range(start // PIECE, count):
        if index == ends_at:
            # What is on its way reaches the client; then it is over, in the middle.
            connection.shutdown(socket.SHUT_WR)
            raise EOFError
        connection.sendall(piece(index)[start - index * PIECE if index == start // PIECE else 0 :])


if __name__ == "__main__":
    sys.exit(main())

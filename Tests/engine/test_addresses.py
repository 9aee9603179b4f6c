"""Names with two addresses, as libcurl has them for localhost: the connection in use is the one that is looked at."""

from __future__ import annotations

import socket
import time
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from boxretry import Client, ConnectError, Timeout
from calls import Background, eventually, in_both_ways, once, statuses
from fault_server import FaultServer
from raw_server import ANSWER

if TYPE_CHECKING:
    from typing_extensions import Self

ADDRESSES = {socket.AF_INET6: "::1", socket.AF_INET: "127.0.0.1"}
SIZE = 2_000_000
SYN_SENT = "02"  # as Linux has it in /proc


def idle(milliseconds: int) -> Timeout:
    return Timeout(timeout_interval_for_request_ms=milliseconds)


def connecting(port: int) -> int:
    """How many sockets of this machine try to connect to that port."""
    lines = [line.split() for name in ("tcp", "tcp6") for line in Path("/proc/net", name).read_text().splitlines()[1:]]
    return sum(line[3] == SYN_SENT and line[2].endswith(f":{port:04X}") for line in lines)


REFUSED = "Connection refused"


@pytest.mark.parametrize(
    ("scheme", "host", "reason"),
    [
        ("http", "127.0.0.1", REFUSED),
        ("https", "127.0.0.1", REFUSED),
        ("http", "localhost", REFUSED),
        ("http", "255.255.255.255", "Network is unreachable"),
    ],
)
def test_the_error_says_why_there_is_no_connection(
    server: FaultServer, client: Client, scheme: str, host: str, reason: str
) -> None:
    for error in in_both_ways(client, "GET", f"{scheme}://{host}:{server.ports['refused']}/", strategy=once()):
        assert str(error).startswith(f"could not connect: {reason} (")


@pytest.mark.parametrize(
    ("way", "where", "reason"),
    [
        ("proxy", "http://127.0.0.1:{}", REFUSED),
        ("proxy", "socks5://127.0.0.1:{}", REFUSED),
        ("unix_socket", "/nonexistent", "No such file or directory"),
    ],
)
def test_the_error_says_why_there_is_no_connection_to_what_is_in_between(
    server: FaultServer, way: str, where: str, reason: str
) -> None:
    options: dict[str, Any] = {way: where.format(server.ports["refused"])}
    with Client(once(), **options) as client, pytest.raises(ConnectError) as raised:
        client.get("http://127.0.0.1/")
    assert str(raised.value).startswith(f"could not connect: {reason} (")


class Listeners:
    """At one port of 127.0.0.1 and of ::1; none accepts before its `take`, since others fill its queue."""

    def __init__(self) -> None:
        self._sockets = ExitStack()
        self._listeners: dict[int, socket.socket] = {}

    def __enter__(self) -> Self:
        while len(self._listeners) < len(ADDRESSES):
            self._listeners.clear()
            self._sockets.close()
            with suppress(OSError):  # the port that the first has found may be another's at the second address
                self._listen()
        return self

    def _listen(self) -> None:
        self.port = 0
        for family, address in ADDRESSES.items():
            listener = self._sockets.enter_context(closing(socket.socket(family)))
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
            listener.bind((address, self.port))
            listener.listen(0)
            self.port = listener.getsockname()[1]
            self._sockets.enter_context(closing(socket.socket(family))).connect((address, self.port))
            self._listeners[family] = listener

    def take(self, family: int) -> socket.socket:
        """The connection that comes, after the one that has filled the queue."""
        self._listeners[family].accept()[0].close()
        return self._listeners[family].accept()[0]

    def __exit__(self, *_: object) -> None:
        self._sockets.close()


def has_both() -> bool:
    """Whether this machine has both."""
    try:
        with socket.socket(socket.AF_INET6) as probe:
            probe.bind(("::1", 0))
    except OSError:
        return False
    return True


def test_f38_the_first_address_refuses(server: FaultServer, client: Client) -> None:
    """M1. Given a listener at the second only, then what its kernel drains counts as moving, as ever."""
    port, id = server.open("http", rcvbuf=65_536), server.new_id()
    target = server.target("/seq/200", id=id, read=50_000, read_every=50)
    response = client.put(f"http://localhost:{port}{target}", data=bytes(SIZE), timeout=idle(700))
    assert statuses(response.attempts) == [200]
    assert response.attempts[0].ended_ms > 1_500


def drain_slowly(connection: socket.socket) -> None:
    """Reads the request, in longer than the idle time; what is unread, the kernels have."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(65_536)
    left = SIZE - len(received.split(b"\r\n\r\n", 1)[1])
    while left:
        left -= len(connection.recv(min(left, 50_000), socket.MSG_WAITALL))
        time.sleep(0.14)
    connection.sendall(ANSWER)


@pytest.mark.skipif(not has_both(), reason="this machine has no ::1")
@pytest.mark.parametrize("winner", ADDRESSES)
def test_f38_both_addresses_are_tried_at_once(client: Client, winner: int) -> None:
    """M1. Given two that do not answer yet: the one that does is looked at, whichever was tried first."""
    with Listeners() as listeners:
        url = f"http://localhost:{listeners.port}/"
        call = Background(lambda: client.put(url, data=bytes(SIZE), timeout=idle(3_500), strategy=once()))
        eventually(lambda: connecting(listeners.port) == 2)
        with closing(listeners.take(winner)) as connection:
            drain_slowly(connection)
        response = call.result()
    assert statuses(response.attempts) == [200]
    assert response.attempts[0].ended_ms > 5_000

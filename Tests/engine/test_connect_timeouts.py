"""W5: all addresses of a name are tried, failures are not remembered, and `connect_timeout` bounds connecting."""

from __future__ import annotations

import math
import socket
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from boxretry import Client, ConnectError, IdleTimeoutError, InvalidArgumentError, NetworkError, RetrySafety, Timeout
from calls import PATIENCE, once, quick, statuses, takes
from fault_server import FaultServer
from programs import preloaded, run
from raw_server import RawServer

if TYPE_CHECKING:
    from typing_extensions import Self


class Swallowing:
    """A port of loopback addresses where connections are never made: the queue of the listener is full."""

    def __init__(self, *addresses: str, port: int = 0) -> None:
        self._addresses = addresses
        self.port = port
        self._sockets = ExitStack()

    def __enter__(self) -> Self:
        for address in self._addresses:
            listener = self._sockets.enter_context(socket.socket())
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((address, self.port))
            listener.listen(0)
            self.port = listener.getsockname()[1]
            self._sockets.enter_context(socket.socket()).connect((address, self.port))
        return self

    def __exit__(self, *_: object) -> None:
        self._sockets.close()


GET = """
from boxretry import Timeout
def get(url, **settings):
    try:
        attempts = client.get(url, **settings).attempts
    except BoxRetryError as error:
        attempts = error.attempts
        print(type(error).__name__, end=" ")
    print(*(attempt.status or attempt.cause.name for attempt in attempts))
    return attempts
client = Client(RetryStrategy(retry_base_interval=0.001), proxy=Proxy.NONE)
url = sys.argv[1]
"""


@pytest.mark.parametrize("limit", ["timeout=Timeout(2000)", "connect_timeout=2", "deadline=2", ""])
@pytest.mark.parametrize("dead", [1, 2])
def test_f87_the_first_address_swallows_the_connection(scripted_lookups: str, limit: str, dead: int) -> None:
    """W5. Given names of which the first addresses do not answer, the next one is tried within the attempt.

    Also with only the default timeouts: then the first address has five seconds.
    """
    if dead == 2 and not limit:
        pytest.skip("the second address has half of the minute that is left")
    addresses = ["127.0.0.2", "127.0.0.3"][:dead]
    with RawServer() as server, Swallowing(*addresses, port=server.port):
        output = run(
            f"{GET}\nget(url, {limit})",
            f"http://two.test:{server.port}/",
            LD_PRELOAD=scripted_lookups,
            LOOKUPS=f"two.test={','.join(addresses)},127.0.0.1",
        )
    assert output == "200\n"


def test_f87_the_first_addresses_refuse(scripted_lookups: str) -> None:
    """W5. Given a name whose first two addresses of one family refuse, the third one is tried at once."""
    with RawServer() as server:
        output = run(
            f"{GET}\nattempt, = get(url)\nprint(attempt.ended_ms)",
            f"http://three.test:{server.port}/",
            LD_PRELOAD=scripted_lookups,
            LOOKUPS="three.test=127.0.0.2,127.0.0.3,127.0.0.1",
        )
    ending, ended_ms = output.splitlines()
    assert ending == "200"
    assert float(ended_ms) < 4000


def test_w5_the_idle_time_is_for_all_addresses_together(scripted_lookups: str) -> None:
    """M1. Given three addresses that do not answer, the attempt ends after its idle time, not after three of them."""
    program = f"{GET}\nattempt, = get(url, timeout=Timeout(1000), strategy=once)\nprint(attempt.ended_ms)"
    addresses = ["127.0.0.2", "127.0.0.3", "127.0.0.4"]
    with Swallowing(*addresses) as dead:
        url = f"http://three.test:{dead.port}/"
        output = run(program, url, LD_PRELOAD=scripted_lookups, LOOKUPS=f"three.test={','.join(addresses)}")
    ending, ended_ms = output.splitlines()
    assert ending == "IdleTimeoutError TIMEOUT_IDLE"
    assert 1000 <= float(ended_ms) < 1900


@pytest.mark.parametrize("first", ["127.0.0.5", "-"])
def test_f88_after_a_failure_the_name_is_looked_up_again(scripted_lookups: str, first: str, tmp_path: Path) -> None:
    """W5. Given a resolver that gives a dead address, or none, and then a good one, attempt 2 succeeds.

    The good one is kept for the next calls.
    """
    log = tmp_path / "log"
    with RawServer() as server:
        output = run(
            f"{GET}\nget(url)\nget(url)",
            f"http://moves.test:{server.port}/",
            LD_PRELOAD=scripted_lookups,
            LOOKUPS=f"moves.test={first}|127.0.0.1",
            LOOKUPS_LOG=str(log),
        )
    assert output == f"{'RESOLVE' if first == '-' else 'CONNECT'} 200\n200\n"
    assert log.read_text() == "moves.test\n" * 2


def test_w5_another_call_does_not_take_a_dead_address_either(scripted_lookups: str) -> None:
    """Given a call that could not connect and was not retried, then the next call looks the name up again."""
    with RawServer() as server:
        output = run(
            f"{GET}\nget(url, strategy=once)\nget(url, strategy=once)",
            f"http://moves.test:{server.port}/",
            LD_PRELOAD=scripted_lookups,
            LOOKUPS="moves.test=127.0.0.5|127.0.0.1",
        )
    assert output == "ConnectError CONNECT\n200\n"


# MARK: connect_timeout


def check_timeout(error: ConnectError, seconds: float) -> None:
    """Each attempt ended on time and sent nothing, and the error detail says why."""
    assert "timed out" in error.detail and "connect_timeout_ms" in error.detail
    for attempt in error.attempts:
        assert (attempt.cause.name, attempt.request_sent.name) == ("CONNECT", "NOTHING")
        assert seconds * 1000 <= attempt.ended_ms - attempt.started_ms < (seconds + PATIENCE) * 1000


@pytest.mark.parametrize("kind", ["backlog", "silent"])
def test_w5_connect_timeout_bounds_tcp_and_tls(server: FaultServer, kind: str) -> None:
    """It begins again with each attempt."""
    url = f"https://127.0.0.1:{server.ports[kind]}/"
    client = Client(quick(max_retries_on_exception=1), connect_timeout=0.25)
    with client, takes(0.5), pytest.raises(ConnectError) as raised:
        client.get(url)
    assert statuses(raised.value.attempts) == ["CONNECT", "CONNECT"]
    check_timeout(raised.value, 0.25)


def test_w5_connect_timeout_bounds_a_look_up(tmp_path: Path) -> None:
    """Given one that sleeps."""
    output = run(
        f"{GET}\nattempt, = get(url, connect_timeout=0.3, strategy=once)\nprint(attempt.ended_ms)",
        "http://never.sleeps.test/",
        LD_PRELOAD=preloaded("slow_lookups.c", tmp_path),
    )
    ending, ended_ms = output.splitlines()
    assert ending == "ConnectError CONNECT"
    assert 300 <= float(ended_ms) < PATIENCE * 1000


def test_m5_libcurl_may_notice_first_that_the_time_is_up(server: FaultServer, tmp_path: Path) -> None:
    """M5, W5. Given a loop that is late since connect() took a second, the attempt has timed out, and is not early."""
    program = f"{GET}\nattempt, = get(url, connect_timeout=0.25, strategy=once)\nprint(attempt.ended_ms)"
    url = f"https://127.0.0.1:{server.ports['silent']}/"
    ending, ended_ms = run(program, url, LD_PRELOAD=preloaded("slow_connects.c", tmp_path)).splitlines()
    assert ending == "ConnectError CONNECT"
    assert float(ended_ms) >= 1000


def test_w5_connect_timeout_bounds_the_connect_of_a_proxy(server: FaultServer) -> None:
    """Given a proxy that accepts connections and does not answer."""
    proxy = f"http://127.0.0.1:{server.ports['silent']}"
    with Client(once(), proxy=proxy, connect_timeout=0.2) as client, pytest.raises(ConnectError) as raised:
        client.get("https://example.test/")
    check_timeout(raised.value, 0.2)


def test_w5_connect_timeout_ends_with_connecting(server: FaultServer) -> None:
    """Given an answer that comes later than it, on a new connection and on a used one, nothing has timed out."""
    url = server.url("/seq/200", id=server.new_id(), first=1200)
    with Client(once(), connect_timeout=1) as client:
        assert client.get(url).status == 200
        assert client.get(url).status == 200


@pytest.mark.parametrize("calls", [2, 20])
def test_w5_connect_timeout_of_those_who_wait_for_a_shared_connection(server: FaultServer, calls: int) -> None:
    """Given calls that could share a connection of HTTP/2 that does not come about, each of them ends on time.

    The connection that there was has to go first, with a request that is sent on it.
    """
    port = server.open("h2,silent")
    id = server.new_id()
    url = f"https://127.0.0.1:{port}{server.target('/seq/200', id=id)}"
    with Client(once(), ca_file=server.ca, connect_timeout=1.5) as client:
        assert client.get(url).attempts[0].http_version == 20  # so that the client knows that connections can be shared
        server.hang_up(id)
        with pytest.raises(NetworkError):
            client.get(url, connect_timeout=0.1, retry_safety=RetrySafety.UNSAFE)
        running = [client.submit("GET", url) for _ in range(calls)]
        for call in running:
            with pytest.raises(ConnectError) as raised:
                call.response()
            (attempt,) = raised.value.attempts
            assert "timed out" in raised.value.detail
            assert 1500 <= attempt.ended_ms - attempt.started_ms < (1.5 + PATIENCE) * 1000


def test_w5_a_request_overrides_its_client(server: FaultServer) -> None:
    url = f"https://127.0.0.1:{server.ports['silent']}/"
    with Client(once(), connect_timeout=30) as client:
        with pytest.raises(ConnectError) as raised:
            client.get(url, connect_timeout=0.1)
        check_timeout(raised.value, 0.1)
    with Client(once(), connect_timeout=0.1) as client, pytest.raises(IdleTimeoutError):
        client.get(url, connect_timeout=math.inf, timeout=Timeout(300))


def test_w5_each_redirect_connects_again(server: FaultServer) -> None:
    """Given a redirect to where no connection comes about, it has the whole time, even after other connections."""
    slow = f"http://127.0.0.1:{server.ports['backlog']}/"
    url = server.url("/seq/302", {"h": f"Location:{slow}"}, id=server.new_id(), first=1200)
    with Client(once(), connect_timeout=1) as client, pytest.raises(ConnectError) as raised:
        client.get(url)
    (attempt,) = raised.value.attempts
    assert attempt.redirects == 1 and attempt.ended_ms - attempt.started_ms >= 2200


@pytest.mark.parametrize("seconds", [0, -1, math.nan, -math.inf])
def test_w5_what_connect_timeout_may_not_be(server: FaultServer, seconds: float) -> None:
    with pytest.raises(InvalidArgumentError, match="connect_timeout"):
        Client(connect_timeout=seconds)
    with Client(once()) as client, pytest.raises(InvalidArgumentError, match="connect_timeout"):
        client.get("http://127.0.0.1:1/", connect_timeout=seconds)

"""Proxies: which one is used, and what it may say."""

from __future__ import annotations

import pytest
from boxretry import Client, ConnectError, InvalidArgumentError, NetworkError, Proxy
from calls import once, quick, recorded, statuses, waits
from fault_server import FaultServer
from raw_server import RawServer
from relay import Tunnel


def test_proxy_given() -> None:
    with RawServer() as proxy, Client(once(), proxy=f"http://127.0.0.1:{proxy.port}") as client:
        assert client.get("http://example.test/some?thing=1").content == b"ok"
        assert proxy.heads[0].startswith("GET http://example.test/some?thing=1 HTTP/1.1\r\n")


def test_proxy_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with RawServer() as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        with Client(once()) as client:
            assert client.get("http://example.test/").content == b"ok"
        assert len(proxy.heads) == 1


def test_proxy_of_the_environment_but_not_for_all(server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{server.ports['refused']}")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with Client(once()) as client:
        assert client.get(server.url("/seq/200", id=server.new_id())).status == 200


def test_no_proxy_whatever_the_environment_says(server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{server.ports['refused']}")
    url = server.url("/seq/200", id=server.new_id())
    with Client(once()) as client, pytest.raises(ConnectError):
        client.get(url)
    with Client(once(), proxy=Proxy.NONE) as client:
        assert client.get(url).status == 200


@pytest.mark.parametrize("proxy", ["", "a b", "http://a\r\nb", Proxy.GIVEN])
def test_a_proxy_that_is_none(proxy: str) -> None:
    with pytest.raises(InvalidArgumentError, match="proxy"):
        Client(proxy=proxy)


@pytest.mark.parametrize("hangs_up", [False, True])
def test_b7_a_proxy_that_builds_a_tunnel_lends_no_headers(server: FaultServer, hangs_up: bool) -> None:
    """Given an answer to CONNECT with a Retry-After, then it is not that of the response behind it."""
    url = server.url("/seq/503,200", kind="https", id=server.new_id())
    answer = "HTTP/1.1 200 OK\r\nRetry-After: 60\r\nX-Proxy: yes\r\n\r\n"
    with Tunnel(answer) as proxy, Client(quick(), proxy=proxy.url, ca_file=server.ca) as client:
        if hangs_up:
            client.get(server.url("/seq/200", kind="https", id=server.new_id()))
            proxy.hang_up()
        response = client.get(url)
    assert (response.status, statuses(response.attempts), waits(response.attempts)) == (200, [503, 200], [0.002])
    assert "X-Proxy" not in response.headers


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("answer", ["503 Busy", "407 Who are you?", "302 Elsewhere"])
def test_b2_a_proxy_that_builds_no_tunnel_is_a_network_exception(server: FaultServer, method: str, answer: str) -> None:
    """B12. Nothing of the request was sent: it is retried, whatever its method, and the proxy's status is nobody's."""
    id = server.new_id()
    with Tunnel(f"HTTP/1.1 {answer}\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n") as proxy:
        strategy = quick(max_retries_on_exception=1, retry_unsafe_methods=False)
        with Client(strategy, proxy=proxy.url, ca_file=server.ca) as client, pytest.raises(NetworkError) as raised:
            client.request(method, server.url("/seq/200", kind="https", id=id), data="body")
    assert [attempt.status for attempt in raised.value.attempts] == [0, 0]
    assert waits(raised.value.attempts) == [0.002]
    assert server.seen(id) == []


def test_a_proxy_that_nobody_is_behind(server: FaultServer) -> None:
    proxy = f"http://127.0.0.1:{server.ports['refused']}"
    with Client(quick(), proxy=proxy) as client, pytest.raises(ConnectError) as raised:
        client.get("http://example.test/")
    assert recorded(raised.value.attempts) == 3

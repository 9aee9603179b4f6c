"""Proxies: which one is used, and what it may say."""

from __future__ import annotations

import contextlib
import ctypes
import socket
import ssl
from collections.abc import Callable
from typing import Any

import pytest
from boxretry import (
    Client,
    ConnectError,
    CustomRetryStrategy,
    InvalidArgumentError,
    Outcome,
    Proxy,
    Reason,
    RequestSent,
)
from boxretry._c import _abi, arguments
from boxretry._sending import setters
from calls import LIBCURL, once, quick, recorded, statuses, waits
from fault_server import FaultServer
from raw_server import Accepting, RawServer
from relay import Flood, Tunnel


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


#: Between "a" and "b" in a host: IDNA maps them to / @ : ? # % and a space, or to "a/c".
DELIMITERS = ["\uff0f", "\uff20", "\uff1a", "\uff1f", "\uff03", "\uff05", "\u3000", "\u2100", "%EF%BC%8F"]


@pytest.mark.skipif(LIBCURL < (7, 88), reason="libcurl 7.87 does not say how it converts a name")
@pytest.mark.parametrize("host", [*(f"a{character}b" for character in DELIMITERS), "\u00ad"], ids=ascii)
@pytest.mark.parametrize("path", ["direct", "proxy", "redirect"])
def test_a_host_that_would_be_sent_with_a_delimiter_in_it_is_invalid(
    server: FaultServer, client: Client, host: str, path: str
) -> None:
    """A soft hyphen is mapped to nothing."""
    url = f"http://{host}/x"
    if path == "redirect":
        id = server.new_id()
        location = "Location:" + url.encode().decode("latin-1")
        response = client.get(server.url("/seq/302,200", {"302.h": location}, id=id))
        assert (response.status, len(server.seen(id))) == (302, 1)
        return
    with RawServer() as proxy:
        options: dict[str, Any] = {"proxy": f"http://127.0.0.1:{proxy.port}"} if path == "proxy" else {}
        with (
            Client(once(), **options) as other,
            pytest.raises(InvalidArgumentError, match=r"request\.url: has an invalid host"),
        ):
            other.get(url)
        assert proxy.heads == []


@pytest.mark.parametrize(
    ("host", "sent"), [("b\u00fccher.example", "xn--bcher-kva.example"), ("\uff41\u3002b", "a.b")], ids=ascii
)
def test_other_international_hosts_are_sent_as_they_are_converted(host: str, sent: str) -> None:
    with RawServer() as proxy, Client(once(), proxy=f"http://127.0.0.1:{proxy.port}") as client:
        assert client.get(f"http://{host}/x").content == b"ok"
    assert proxy.heads[0].startswith(f"GET http://{sent}/x HTTP/1.1\r\nHost: {sent}\r\n")


@pytest.mark.parametrize("name", ["no_proxy", "NO_PROXY"])
def test_a_proxy_that_was_given_overrides_the_environment(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """F140. Given a proxy for the client, then no_proxy does not count, for calls without their own proxy."""
    monkeypatch.setenv(name, "*")
    with RawServer() as proxy, Client(once(), proxy=f"http://127.0.0.1:{proxy.port}") as client:
        assert client.get("http://example.test/").content == b"ok"
    assert len(proxy.heads) == 1


def test_no_proxy_overrides_the_environment(server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{server.ports['refused']}")
    url = server.url("/seq/200", id=server.new_id())
    with Client(once()) as client, pytest.raises(ConnectError):
        client.get(url)
    with Client(once(), proxy=Proxy.NONE) as client:
        assert client.get(url).status == 200


@pytest.mark.parametrize("proxy", ["", "a b", "http://a\r\nb", Proxy.GIVEN])
def test_an_invalid_proxy(proxy: str) -> None:
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


#: As libcurl has them.
CURLOPT_PROXY_SSL_VERIFYPEER, CURLOPT_PROXY_SSL_VERIFYHOST = 248, 249

REFUSAL = "HTTP/1.1 {} Refused\r\nRetry-After: 60\r\nContent-Length: 4\r\n\r\nbody"


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("status", [403, 503, 302, 199, 999])
def test_f89_a_proxy_that_refuses_connect_is_named(server: FaultServer, method: str, status: int) -> None:
    """W6, B2, B12. Given any status but 2xx and 407, nothing was sent, and the call is retried, with any method.

    The proxy's status is that of no response, and its headers are dropped.
    """
    id = server.new_id()
    with Tunnel(REFUSAL.format(status)) as proxy:
        strategy = quick(max_retries_on_exception=1, retry_unsafe_methods=False)
        url = proxy.url.replace("://", "://user:hidden@")
        with Client(strategy, proxy=url, ca_file=server.ca) as client, pytest.raises(ConnectError) as raised:
            client.request(method, server.url("/seq/200", kind="https", id=id), data="body")
    assert f"proxy {proxy.name}: answered CONNECT with status {status}" in raised.value.detail
    assert statuses(raised.value.attempts) == ["CONNECT", "CONNECT"]
    assert [attempt.proxy_status for attempt in raised.value.attempts] == [status] * 2
    assert {attempt.request_sent for attempt in raised.value.attempts} == {RequestSent.NOTHING}
    assert waits(raised.value.attempts) == [0.002]
    assert len(proxy.heads) == 2
    assert server.seen(id) == []


class Always(CustomRetryStrategy):
    def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
        return True

    def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
        return 0


@pytest.mark.parametrize("strategy", ["box", "custom"])
@pytest.mark.parametrize("user", ["", "user:hidden@"])
@pytest.mark.parametrize("challenge", ["", "Proxy-Authenticate: Basic realm=x\r\n", "Proxy-Authenticate: Digest\r\n"])
def test_f89_a_407_is_not_retried(server: FaultServer, user: str, challenge: str, strategy: str) -> None:
    """W6. Given a proxy that wants other credentials, one CONNECT is sent, and the decision says why it is the last."""
    own = quick() if strategy == "box" else Always()
    with Tunnel(f"HTTP/1.1 407 Who\r\n{challenge}Content-Length: 0\r\n\r\n") as proxy:
        url = proxy.url.replace("://", f"://{user}")
        with Client(own, proxy=url, ca_file=server.ca) as client, pytest.raises(ConnectError) as raised:
            client.get(server.url("/seq/200", kind="https", id=server.new_id()))
    (attempt,) = raised.value.attempts
    assert (attempt.proxy_status, attempt.reason) == (407, Reason.PROXY_UNAUTHORIZED)
    assert f"proxy {proxy.name}: answered CONNECT with status 407" in raised.value.detail
    assert "hidden" not in str(raised.value)
    assert len(proxy.heads) == 1


def test_w6_a_refusal_without_end_delays_no_call(server: FaultServer) -> None:
    """W6, W5, K1. Given a 407 whose body does not end, then that call ends, and others of the client are answered."""
    strategy = quick()
    with Flood() as proxy, Client(strategy, proxy=f"http://127.0.0.1:{proxy.port}", ca_file=server.ca) as client:
        refused = client.submit("GET", server.url("/seq/200", kind="https", id=server.new_id()), deadline=30)
        direct = client.submit("GET", server.url("/seq/200", kind="https", id=server.new_id()), deadline=30)
        for call in (refused, direct):
            with pytest.raises(ConnectError, match="status 407"):
                call.response()


def test_f89_a_proxy_of_the_environment_is_named(server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """W6."""
    with Tunnel(REFUSAL.format(403)) as proxy:
        monkeypatch.setenv("https_proxy", proxy.url.replace("://", "://user:hidden@"))
        with Client(once(), ca_file=server.ca) as client, pytest.raises(ConnectError) as raised:
            client.get(server.url("/seq/200", kind="https", id=server.new_id()))
    assert f"proxy {proxy.name}: answered CONNECT with status 403" in raised.value.detail


@pytest.mark.parametrize("status", [200, 403])
def test_f89_a_proxy_that_speaks_tls(server: FaultServer, status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """W6. It refuses, or lets through, as another one does."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(server.files["client_certificate"], server.files["client_key"])
    make = arguments.new

    def trust_the_proxy(_: int, easy: int) -> None:
        for option in (CURLOPT_PROXY_SSL_VERIFYPEER, CURLOPT_PROXY_SSL_VERIFYHOST):
            ctypes.CDLL("libcurl.so.4").curl_easy_setopt(ctypes.c_void_p(easy), option, ctypes.c_long(0))

    hook = _abi.TransferCallback(trust_the_proxy)

    def new_with_hook(struct: type[ctypes.Structure], initialize: Callable[..., int]) -> Any:
        options = make(struct, initialize)
        if struct is _abi.ClientOptions:
            options.on_transfer = hook
        return options

    monkeypatch.setattr(setters, "new", new_with_hook)
    url = server.url("/seq/200", kind="https", id=server.new_id())
    answer = "HTTP/1.1 200 OK\r\n\r\n" if status == 200 else REFUSAL.format(status)
    with Tunnel(answer, context) as proxy, Client(once(), proxy=proxy.url, ca_file=server.ca) as client:
        try:
            attempts = client.get(url).attempts
        except ConnectError as error:
            attempts = error.attempts
            assert f"proxy {proxy.name}: answered CONNECT with status 403" in error.detail
    assert statuses(attempts) == [200 if status == 200 else "CONNECT"]
    assert attempts[0].proxy_status == status


def test_w6_a_tunnel_that_was_built_is_in_the_record(server: FaultServer) -> None:
    """A request on an existing tunnel has status 0."""
    url = server.url("/seq/200", kind="https", id=server.new_id())
    with Tunnel("HTTP/1.1 200 OK\r\n\r\n") as proxy, Client(once(), proxy=proxy.url, ca_file=server.ca) as client:
        assert [client.get(url).attempts[0].proxy_status for _ in range(2)] == [200, 0]


class Socks(Accepting):
    """A SOCKS5 proxy that refuses: the client's way to say who it is, or to connect to any host."""

    def __init__(self, answers: list[bytes]) -> None:
        super().__init__(socket.create_server(("127.0.0.1", 0)))
        self.name = f"127.0.0.1:{self._listener.getsockname()[1]}"
        self._answers = answers
        self.connections = 0

    def take(self, connection: socket.socket) -> None:
        self.connections += 1
        # libcurl from 8.17 on does not read all of a refusal: its end of the connection is then reset.
        with connection, contextlib.suppress(ConnectionResetError):
            for answer in self._answers:
                connection.recv(65536)
                connection.sendall(answer)
            connection.recv(65536)


@pytest.mark.parametrize("answers", [[b"\x05\xff"], [b"\x05\x00", b"\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00"]])
@pytest.mark.parametrize("scheme", ["socks5", "socks5h"])
def test_f89_a_socks_proxy_that_refuses_is_named(scheme: str, answers: list[bytes]) -> None:
    """W6. There is no status, and it is retried."""
    with Socks(answers) as proxy:
        strategy = quick(max_retries_on_exception=1)
        url = f"{scheme}://user:hidden@{proxy.name}"
        with Client(strategy, proxy=url) as client, pytest.raises(ConnectError) as raised:
            client.get("http://127.0.0.1:1/")
    assert f"proxy {proxy.name}: refused to connect to the host" in raised.value.detail
    assert statuses(raised.value.attempts) == ["CONNECT", "CONNECT"]
    assert {attempt.proxy_status for attempt in raised.value.attempts} == {0}
    assert proxy.connections == 2


def test_a_proxy_without_a_listener(server: FaultServer) -> None:
    proxy = f"http://127.0.0.1:{server.ports['refused']}"
    with Client(quick(), proxy=proxy) as client, pytest.raises(ConnectError) as raised:
        client.get("http://example.test/")
    assert recorded(raised.value.attempts) == 3

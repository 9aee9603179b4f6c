"""F141: what a TLS handshake failed for."""

from __future__ import annotations

import contextlib
import socket
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from boxretry import Client, ClientTokenProviderFailedError, OAuth2Token, TLSError, TokenRetryPolicy
from c_programs import build
from calls import in_both_ways, once, quick
from fault_server import FaultServer
from raw_server import Accepting
from relay import Tunnel

REASONS = {
    "https_expired": "certificate has expired",
    "https_not_yet_valid": "certificate is not yet valid",
    "https_wrong_name": "hostname mismatch",
    "https_self_signed": "self-signed certificate",
    "tls_garbage": "the peer does not use TLS",
}
UNKNOWN_AUTHORITY = "unable to get local issuer certificate"
GENERAL = "the TLS handshake or the certificate check failed"
TOO_OLD = b"\x15\x03\x01\x00\x02\x02\x46"  # A fatal alert: protocol_version (RFC 8446, 6).


Get = Callable[..., list[str]]


class Answering(Accepting):
    """A server that answers a ClientHello with these bytes, or with a handshake of that context."""

    def __init__(self, answer: bytes | ssl.SSLContext) -> None:
        super().__init__(socket.create_server(("127.0.0.1", 0)))
        self._answer = answer
        self.url = f"https://127.0.0.1:{self._listener.getsockname()[1]}/"

    def take(self, connection: socket.socket) -> None:
        with connection, contextlib.suppress(OSError):  # The client hangs up.
            if isinstance(self._answer, bytes):
                connection.recv(65536)
                connection.sendall(self._answer)
                connection.recv(65536)
            else:
                self._answer.wrap_socket(connection, server_side=True).close()


def reason(error: Exception) -> str:
    """What the error says beside its class, the request, and libcurl's text."""
    text = str(error)
    assert type(error) is TLSError
    assert text.startswith(GENERAL)
    return text.removeprefix(GENERAL).partition(" (")[0].removeprefix(": ")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
@pytest.mark.parametrize("kind", REASONS)
def test_f141_the_error_says_what_is_wrong(server: FaultServer, client: Client, kind: str, host: str) -> None:
    url = server.url("/seq/200", kind=kind, id=server.new_id()).replace("127.0.0.1", host)
    for error in in_both_ways(client, "GET", url):
        assert reason(error) == REASONS[kind]


@pytest.mark.parametrize("kind", ["h2_expired", "h2_wrong_name"])
def test_f141_over_http2_too(server: FaultServer, client: Client, kind: str) -> None:
    with pytest.raises(TLSError) as raised:
        client.get(server.url("/seq/200", kind=kind, id=server.new_id()))
    assert reason(raised.value) == REASONS[kind.replace("h2", "https")]


def test_f141_an_authority_that_is_not_known(server: FaultServer) -> None:
    with Client(once()) as client, pytest.raises(TLSError) as raised:
        client.get(server.url("/seq/200", kind="https", id=server.new_id()))
    assert reason(raised.value) == UNKNOWN_AUTHORITY


def test_f141_an_authority_that_the_server_shows(server: FaultServer, tmp_path: Path) -> None:
    """Given a chain with its root, which the client does not know."""
    chain, folder = tmp_path / "chain.pem", Path(server.ca).parent
    chain.write_text((folder / "good.pem").read_text() + (folder / "ca.pem").read_text())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain, folder / "good.key")
    with Answering(context) as shown, Client(once()) as client, pytest.raises(TLSError) as raised:
        client.get(shown.url)
    assert reason(raised.value) == "self-signed certificate in certificate chain"


def test_f141_no_version_in_common(client: Client) -> None:
    with Answering(TOO_OLD) as old, pytest.raises(TLSError) as raised:
        client.get(old.url)
    assert reason(raised.value) == "no TLS version in common"


@pytest.mark.parametrize("kind", ["tls_cut", "tls_reset"])
def test_f141_a_handshake_that_breaks_off_has_no_reason(server: FaultServer, client: Client, kind: str) -> None:
    with pytest.raises(TLSError) as raised:
        client.get(server.url("/seq/200", kind=kind, id=server.new_id()))
    assert reason(raised.value) == ""


def test_f141_the_reason_is_that_of_the_last_attempt(server: FaultServer) -> None:
    """Given a handle of libcurl's that is used again after each kind of failure."""
    with Client(once(), ca_file=server.ca) as client:
        for kind in [*REASONS, "https", *reversed(REASONS)]:
            url = server.url("/seq/200", kind=kind, id=server.new_id())
            if kind == "https":
                assert client.get(url).status == 200
                continue
            with pytest.raises(TLSError) as raised:
                client.get(url)
            assert reason(raised.value) == REASONS[kind]
    port = server.open("https_self_signed,https_expired")
    with Client(quick(max_retries_on_exception=1), ca_file=server.ca) as client, pytest.raises(TLSError) as raised:
        client.get(f"https://127.0.0.1:{port}/")
    assert len(raised.value.attempts) == 2
    assert reason(raised.value) == REASONS["https_expired"]


def test_f141_a_token_endpoint(server: FaultServer) -> None:
    for kind, expected in (*REASONS.items(), ("tls_cut", "tls")):
        url = server.url("/token", kind=kind, id=server.new_id())
        source = OAuth2Token(url, policy=TokenRetryPolicy.none(), ca_file=server.ca)
        with source, pytest.raises(ClientTokenProviderFailedError) as raised:
            source.get()
        assert str(raised.value) == f"the provider failed (calls: 1; last: {expected})"


# --- Proxies ---


def test_f141_a_proxy_and_not_the_server(server: FaultServer, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a proxy that cannot be trusted, then it is named; then a host that needs no proxy is not."""
    monkeypatch.setenv("https_proxy", f"https://127.0.0.1:{server.ports['https_self_signed']}")
    monkeypatch.setenv("no_proxy", "localhost")
    with Client(once(), ca_file=server.ca) as client:
        for url, expected in (
            ("https://example.test/", "proxy: self-signed certificate"),
            (f"https://localhost:{server.ports['https_expired']}/", "certificate has expired"),
            (f"https://localhost:{server.ports['https_wrong_name']}/", "hostname mismatch"),
        ):
            with pytest.raises(TLSError) as raised:
                client.get(url)
            assert reason(raised.value) == expected


def test_f141_a_server_behind_a_proxy(server: FaultServer) -> None:
    """The reason is the server's."""
    with Tunnel("HTTP/1.1 200 OK\r\n\r\n") as proxy, Client(once(), proxy=proxy.url, ca_file=server.ca) as client:
        for kind, expected in REASONS.items():
            with pytest.raises(TLSError) as raised:
                client.get(server.url("/", kind=kind))
            assert reason(raised.value) == expected


# --- C ---


@pytest.fixture(scope="module")
def get(tmp_path_factory: pytest.TempPathFactory) -> Get:
    """The error of a GET in C, and the detail after boxretry_response_error()."""
    program = build("tls_reasons", tmp_path_factory.mktemp("tls"), "-lcurl")

    def get(ca: str, url: str, *proxy: str) -> list[str]:
        result = subprocess.run([str(program), ca, url, *proxy], capture_output=True, text=True, timeout=90)
        assert (result.returncode, result.stderr) == (0, ""), result
        return result.stdout.splitlines()

    return get


@pytest.mark.parametrize("kind", REASONS)
def test_f141_in_c(server: FaultServer, get: Get, kind: str) -> None:
    assert get(server.ca, server.url("/", kind=kind)) == ["tls", REASONS[kind]]


def test_f141_in_c_no_reason(server: FaultServer, get: Get) -> None:
    assert get(server.ca, server.url("/seq/200", kind="https", id=server.new_id())) == ["ok", ""]
    assert get(server.ca, server.url("/", kind="tls_cut")) == ["tls", ""]


def test_f141_in_c_an_authority_that_is_not_known(server: FaultServer, get: Get) -> None:
    assert get("", server.url("/", kind="https")) == ["tls", UNKNOWN_AUTHORITY]
    assert get("", server.url("/"), server.url("", kind="https")) == ["tls", f"proxy: {UNKNOWN_AUTHORITY}"]


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("kind", REASONS)
def test_f141_in_c_a_proxy_over_tls(server: FaultServer, get: Get, kind: str, scheme: str) -> None:
    """The error says that the reason is the proxy's."""
    assert get(server.ca, f"{scheme}://example.test/", server.url("", kind=kind)) == ["tls", f"proxy: {REASONS[kind]}"]

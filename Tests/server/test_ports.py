"""Kinds of ports: TLS and its faults, ports without an answer, and ports that change."""

from __future__ import annotations

import socket
import ssl

import pytest
from fault_server import FaultServer, pattern
from http2_wire import Http2Wire
from wire import Wire


def trusting(server: FaultServer, port: int) -> Wire:
    return Wire(port, ca=server.ca)


def test_a_good_certificate_is_accepted(server: FaultServer) -> None:
    with trusting(server, server.ports["https"]) as wire:
        assert wire.get("/seq/200?size=3000000").body == pattern(3_000_000)


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("https_expired", "certificate has expired"),
        ("https_not_yet_valid", "certificate is not yet valid"),
        ("https_wrong_name", "Hostname mismatch"),
        ("https_self_signed", "self-signed certificate|self signed certificate"),
    ],
)
def test_a_bad_certificate_is_refused_for_what_is_wrong_with_it(server: FaultServer, kind: str, reason: str) -> None:
    port = server.open(kind)
    with pytest.raises(ssl.SSLCertVerificationError, match=reason):
        trusting(server, port)
    (connection,) = server.connections(port, opened=1, ended=True)
    assert connection["requests"] == [], "nothing was sent"
    assert connection["tls"].startswith("failed: ")


@pytest.mark.parametrize("kind", ["https_expired", "https_wrong_name", "https_self_signed"])
def test_a_client_that_checks_nothing_can_use_them(server: FaultServer, kind: str) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    plain = socket.create_connection(("127.0.0.1", server.ports[kind]), timeout=60)
    with context.wrap_socket(plain) as wire:
        wire.sendall(b"GET /seq/204 HTTP/1.1\r\n\r\n")
        assert wire.recv(13) == b"HTTP/1.1 204 "


@pytest.mark.parametrize(
    ("kind", "error", "ended"),
    [
        ("tls_cut", ssl.SSLEOFError, "server_cut"),
        ("tls_reset", ConnectionResetError, "server_reset"),
        ("tls_garbage", ssl.SSLError, "server_closed"),
        ("close", ssl.SSLEOFError, "server_closed"),
        ("reset", ConnectionResetError, "server_reset"),
    ],
)
def test_a_handshake_can_break(server: FaultServer, kind: str, error: type[Exception], ended: str) -> None:
    port = server.open(kind)
    with pytest.raises(error):
        trusting(server, port)
    (connection,) = server.connections(port, opened=1, ended=True)
    assert connection["ended"] == ended


def test_a_handshake_that_is_cut_has_begun(server: FaultServer) -> None:
    with Wire(server.ports["tls_cut"]) as wire:
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        context = ssl.create_default_context(cafile=server.ca)
        client = context.wrap_bio(incoming, outgoing, server_hostname="localhost")
        with pytest.raises(ssl.SSLWantReadError):
            client.do_handshake()
        wire.send(outgoing.read())
        data, ending = wire.read_to_end()
    assert data[0] == 22, "a record of the handshake"
    assert (len(data) > 100, ending) == (True, "closed")


def test_a_silent_port_accepts_and_says_nothing(server: FaultServer) -> None:
    port = server.open("silent")
    with Wire(port) as wire:
        wire.request("/seq/200")
        (connection,) = server.connections(port, opened=1)
        assert (connection["ended"], connection["requests"]) == (None, [])
        wire.socket.setblocking(False)
        with pytest.raises(BlockingIOError):
            wire.socket.recv(1)
    (connection,) = server.connections(port, ended=True)
    assert connection["ended"] == "client_closed"


def test_a_refused_port_refuses(server: FaultServer) -> None:
    for port in (server.ports["refused"], server.open("refused")):
        with pytest.raises(ConnectionRefusedError):
            Wire(port)


def test_a_full_backlog_never_answers(server: FaultServer) -> None:
    for port in (server.ports["backlog"], server.open("backlog")):
        with pytest.raises(socket.timeout):
            socket.create_connection(("127.0.0.1", port), timeout=0.2)


def test_a_port_can_treat_each_connection_in_another_way(server: FaultServer) -> None:
    port = server.open("tls_reset,https_expired,https")
    with pytest.raises(ConnectionResetError):
        trusting(server, port)
    with pytest.raises(ssl.SSLCertVerificationError):
        trusting(server, port)
    for _ in range(2):
        with trusting(server, port) as wire:
            assert wire.get("/seq/200").status == 200
    kinds = [connection["kind"] for connection in server.connections(port)]
    assert kinds == ["tls_reset", "https_expired", "https", "https"]


def test_a_port_can_go_down_and_come_up_again(server: FaultServer) -> None:
    port = server.open("http")
    with Wire(port) as wire:
        assert wire.get("/seq/200").status == 200
        server.open("refused", port=port)
        with pytest.raises(ConnectionRefusedError):
            Wire(port)
        assert wire.get("/seq/200").status == 200, "connections stay"
        server.open("http", port=port)
        with Wire(port) as another:
            assert another.get("/seq/200").status == 200
    server.control("shut", port=port)
    with pytest.raises(ConnectionRefusedError):
        Wire(port)


def test_a_port_that_is_taken_is_not_opened(server: FaultServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(ValueError, match="in use"):
        server.open("http", port=taken.getsockname()[1])


def test_without_tls_there_are_no_tls_ports() -> None:
    with FaultServer() as plain:
        assert set(plain.ports) == {"http", "h2c", "silent", "close", "reset", "refused", "backlog"}
        with pytest.raises(ValueError, match="no such kind"):
            plain.open("https")


# TLS for both protocols; certificates of clients


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("h2_expired", "certificate has expired"),
        ("h2_wrong_name", "Hostname mismatch"),
        ("h2_self_signed", "self-signed certificate|self signed certificate"),
    ],
)
def test_a_bad_certificate_is_refused_in_any_protocol(server: FaultServer, kind: str, reason: str) -> None:
    port = server.open(kind)
    with pytest.raises(ssl.SSLCertVerificationError, match=reason):
        Http2Wire(port, ca=server.ca)
    (connection,) = server.connections(port, opened=1, ended=True)
    assert (connection["requests"], connection["tls"][:8]) == ([], "failed: ")


@pytest.mark.parametrize("kind", ["https_client", "h2_client"])
def test_a_client_that_shows_its_certificate_is_let_in_and_recorded(server: FaultServer, kind: str) -> None:
    port = server.open(kind)
    own = (server.files["client_certificate"], server.files["client_key"])
    with Wire(port, ca=server.ca, certificate=own) as wire:
        assert wire.get("/seq/200").status == 200
    if kind == "h2_client":
        with Http2Wire(port, ca=server.ca, certificate=own) as two:
            assert two.ask("/seq/200").status == 200
    for connection in server.connections(port, ended=True):
        assert (connection["client_certificate"], connection["tls"]) == ("CN=client", "done")


@pytest.mark.parametrize("kind", ["https_client", "h2_client"])
@pytest.mark.parametrize(
    ("whose", "alert", "why"),
    [
        ("", "certificate required", "PEER_DID_NOT_RETURN_A_CERTIFICATE"),
        ("stranger", "ca", "CERTIFICATE_VERIFY_FAILED"),
    ],
)
def test_a_client_without_the_right_certificate_learns_why_it_is_refused(
    server: FaultServer, kind: str, whose: str, alert: str, why: str
) -> None:
    port = server.open(kind)
    own = (server.files["stranger_certificate"], server.files["stranger_key"]) if whose else None
    for _ in range(5):
        with Wire(port, ca=server.ca, certificate=own) as wire:
            wire.request("/seq/200")
            with pytest.raises(ssl.SSLError, match=alert):
                wire.read(1)
            assert wire.socket.recv(1) == b"", "no reset, though the server has not read the request"
    for connection in server.connections(port, ended=True):
        assert (connection["client_certificate"], connection["tls"]) == ("", "failed: " + why)
        assert (connection["requests"], connection["ended"]) == ([], "server_closed")


def test_a_client_that_need_not_show_a_certificate_has_no_name(server: FaultServer) -> None:
    port = server.open("https")
    with Wire(port, ca=server.ca) as wire:
        wire.get("/seq/200")
        assert [connection["client_certificate"] for connection in server.connections(port)] == [""]

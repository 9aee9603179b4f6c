"""TLS: whom a client trusts, and that nothing turns the check off."""

from __future__ import annotations

from pathlib import Path

import pytest
from boxretry import Client, NetworkError, ReceiveError, SettingError, Timeout, TLSError
from calls import in_both_ways, once, quick
from fault_server import FaultServer


def test_a_given_authority_is_trusted(server: FaultServer) -> None:
    url = server.url("/seq/503,200", kind="https", id=server.new_id())
    with Client(quick(), ca_file=server.ca) as client:
        assert client.get(url).status == 200


def test_an_authority_that_was_not_given_is_not(server: FaultServer) -> None:
    id = server.new_id()
    with Client(once()) as client:
        for error in in_both_ways(client, "GET", server.url("/seq/200", kind="https", id=id)):
            assert type(error) is TLSError
    assert server.seen(id) == []


@pytest.mark.parametrize("kind", ["https_expired", "https_wrong_name", "https_self_signed"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_bad_certificates_are_refused(server: FaultServer, client: Client, kind: str, method: str) -> None:
    """Nothing is sent. It is a network exception, retried as any other."""
    id = server.new_id()
    for error in in_both_ways(client, method, server.url("/seq/200", kind=kind, id=id), data="secret"):
        assert type(error) is TLSError
        assert [attempt.cause.name for attempt in error.attempts] == ["TLS"] * 3
    assert server.seen(id) == []


@pytest.mark.parametrize("kind", ["tls_cut", "tls_reset", "tls_garbage"])
def test_a_handshake_that_breaks_off(server: FaultServer, client: Client, kind: str) -> None:
    for error in in_both_ways(client, "GET", server.url("/seq/200", kind=kind, id=server.new_id())):
        assert type(error) is TLSError
        assert len(error.attempts) == 3


def test_a_handshake_that_breaks_off_once_is_retried(server: FaultServer, client: Client) -> None:
    port = server.open("tls_cut,https")
    response = client.get(f"https://127.0.0.1:{port}{server.target('/seq/200', id=server.new_id())}")
    assert [attempt.cause.name for attempt in response.attempts] == ["TLS", "NONE"]


def test_plain_http_where_tls_is_spoken(server: FaultServer, client: Client) -> None:
    url = f"http://127.0.0.1:{server.ports['https']}/"
    with pytest.raises(NetworkError):
        client.get(url, strategy=once())


@pytest.mark.parametrize("content", [None, "", "no certificate"])
def test_a_ca_file_that_cannot_be_used(server: FaultServer, tmp_path: Path, content: str | None) -> None:
    """B2. That is a local failure: it ends the call, and nothing is retried."""
    path = tmp_path / "ca.pem"
    if content is not None:
        path.write_text(content)
    with Client(quick(), ca_file=str(path), timeout=Timeout(5_000)) as client:
        with pytest.raises(SettingError) as raised:
            client.get(server.url("/seq/200", kind="https", id=server.new_id()))
        assert len(raised.value.attempts) <= 1
        assert client.get(server.url("/seq/200", id=server.new_id())).status == 200

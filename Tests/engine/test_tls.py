"""TLS: whom a client trusts, and what turns the check off."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from boxretry import (
    Client,
    ClientTokenProviderFailedError,
    NetworkError,
    OAuth2Token,
    SettingError,
    Timeout,
    TLSError,
    TokenRetryPolicy,
)
from calls import in_both_ways, once, quick
from fault_server import FaultServer
from trusted import trusted_by


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


@pytest.mark.parametrize("kind", ["https_expired", "https_not_yet_valid", "https_wrong_name", "https_self_signed"])
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


# --- Directories of certificates, and checks turned off (issue 12, item 9) ---


@pytest.fixture(scope="module")
def ca_path(server: FaultServer, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the server's authority, as `openssl rehash` makes it."""
    folder = tmp_path_factory.mktemp("certificates")
    (folder / "ca.pem").write_bytes(Path(server.ca).read_bytes())
    subprocess.run(["openssl", "rehash", str(folder)], check=True)
    return folder


def test_a_given_directory_of_authorities_is_trusted(server: FaultServer, ca_path: Path) -> None:
    url = server.url("/seq/200", kind="https", id=server.new_id())
    with Client(once(), ca_path=ca_path) as client:
        assert client.get(url).status == 200


def test_a_directory_without_the_authority_is_not_enough(server: FaultServer, tmp_path: Path) -> None:
    id = server.new_id()
    with Client(once(), ca_path=tmp_path) as client, pytest.raises(TLSError):
        client.get(server.url("/seq/200", kind="https", id=id))
    assert server.seen(id) == []


def test_file_and_directory_are_trusted_together(server: FaultServer, ca_path: Path, tmp_path: Path) -> None:
    """Given a file with another authority, the directory's is trusted too."""
    key, other = tmp_path / "key.pem", tmp_path / "other.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=other"]
    subprocess.run([*make, "-keyout", str(key), "-out", str(other)], check=True, capture_output=True)
    url = server.url("/seq/200", kind="https", id=server.new_id())
    with Client(once(), ca_file=str(other), ca_path=ca_path) as client:
        assert client.get(url).status == 200
    with Client(once(), ca_file=str(other)) as client, pytest.raises(TLSError):
        client.get(url)


@pytest.mark.parametrize("given", [{"ca_file"}, {"ca_path"}, {"ca_file", "ca_path"}, set()])
def test_given_authorities_replace_those_of_the_system(server: FaultServer, ca_path: Path, given: set[str]) -> None:
    """libcurl says what it trusts: only what was given. 0.1.0 trusted libcurl's built-in directory beside a file."""
    files = {"ca_file": server.ca, "ca_path": str(ca_path)}
    file, folder = trusted_by(server.url("/", kind="https"), **{name: files[name] for name in given})
    if given:
        assert (file, folder) == (files["ca_file"] if "ca_file" in given else "none", folder)
        assert folder in ([files["ca_path"]] if "ca_path" in given else ["none", "/dev/null"])
    else:
        assert (file, folder) != ("none", "none"), "the system's"


@pytest.mark.parametrize("kind", ["https_expired", "https_wrong_name", "https_self_signed", "https"])
def test_tls_verify_off_accepts_any_certificate(server: FaultServer, kind: str) -> None:
    """Only where it is False: True and None check."""
    id = server.new_id()
    url = server.url("/seq/200", kind=kind, id=id)
    for verify in (True, None):
        with Client(once(), tls_verify=verify) as client, pytest.raises(TLSError):
            client.get(url)
    assert server.seen(id) == []
    with Client(once(), tls_verify=False) as client:
        assert client.get(url).status == 200


def test_a_token_endpoint_has_the_same_settings(server: FaultServer, ca_path: Path) -> None:
    url, policy = server.url("/token", kind="https", id=server.new_id()), TokenRetryPolicy.none()
    for source in (
        OAuth2Token(url, policy=policy, ca_path=ca_path),
        OAuth2Token(url, policy=policy, tls_verify=False),
    ):
        with source:
            assert source.get().value.startswith("token-")
    with OAuth2Token(url, policy=policy) as source, pytest.raises(ClientTokenProviderFailedError):
        source.get()


def test_tls_verify_must_be_a_bool() -> None:
    with pytest.raises(TypeError, match="tls_verify: must be a bool, not int"):
        Client(tls_verify=0)  # type: ignore[arg-type]

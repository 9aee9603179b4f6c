"""How a client reaches a server: client certificates, Unix sockets, compression, how many at once."""

from __future__ import annotations

import contextlib
import gzip
import socket
import subprocess
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from boxretry import Client, NetworkError, ResponseTooLargeError, SettingError, TLSError
from calls import in_both_ways, once, quick, sent_header
from fault_server import FaultServer, pattern
from nginx import Nginx
from programs import run
from raw_server import Accepting

# --- Client certificates ---


@pytest.mark.parametrize("kind", ["https_client", "h2_client"])
@pytest.mark.parametrize("form", ["two files", "one file", "with password"])
def test_a_client_shows_its_certificate(server: FaultServer, tmp_path: Path, kind: str, form: str) -> None:
    certificate, key = server.files["client_certificate"], server.files["client_key"]
    cert: Any = (certificate, key)
    if form == "one file":
        cert = tmp_path / "both.pem"
        cert.write_text(Path(certificate).read_text() + Path(key).read_text())
    elif form == "with password":
        encrypted = tmp_path / "key.pem"
        command = ["openssl", "pkey", "-in", key, "-aes256", "-passout", "pass:secret", "-out", str(encrypted)]
        subprocess.run(command, check=True, capture_output=True)
        cert = (certificate, encrypted, "secret")
    with Client(once(), ca_file=server.ca, cert=cert) as client:
        for response in in_both_ways(client, "GET", server.url("/seq/200", id=server.new_id(), kind=kind)):
            assert response.status == 200


@pytest.mark.parametrize("kind", ["https_client", "h2_client"])
@pytest.mark.parametrize("which", ["none", "stranger"])
def test_without_the_right_certificate_nothing_is_answered(server: FaultServer, kind: str, which: str) -> None:
    id = server.new_id()
    cert = (server.files["stranger_certificate"], server.files["stranger_key"]) if which == "stranger" else None
    with Client(once(), ca_file=server.ca, cert=cert) as client:
        for error in in_both_ways(client, "GET", server.url("/seq/200", id=id, kind=kind)):
            assert isinstance(error, NetworkError)
    assert server.seen(id) == []


@pytest.mark.parametrize("wrong", ["no file", "no certificate", "no key", "other key", "password"])
def test_a_certificate_that_cannot_be_used(server: FaultServer, tmp_path: Path, wrong: str) -> None:
    """B2. A local failure: not retried; and what does not need it continues."""
    certificate, key = server.files["client_certificate"], server.files["client_key"]
    (tmp_path / "text").write_text("nothing")
    encrypted = tmp_path / "key.pem"
    command = ["openssl", "pkey", "-in", key, "-aes256", "-passout", "pass:secret", "-out", str(encrypted)]
    subprocess.run(command, check=True, capture_output=True)
    cert: Any = {
        "no file": (tmp_path / "none", key),
        "no certificate": (tmp_path / "text", key),
        "no key": certificate,
        "other key": (certificate, server.files["stranger_key"]),
        "password": (certificate, encrypted, "wrong"),
    }[wrong]
    with Client(quick(), ca_file=server.ca, cert=cert) as client:
        for error in in_both_ways(client, "GET", server.url("/seq/200", id=server.new_id(), kind="https_client")):
            assert type(error) is SettingError
            assert len(error.attempts) <= 1
        assert client.get(server.url("/seq/200", id=server.new_id())).status == 200


def test_a_certificate_is_not_shown_to_who_does_not_ask(server: FaultServer) -> None:
    cert = (server.files["client_certificate"], server.files["client_key"])
    with Client(once(), ca_file=server.ca, cert=cert) as client:
        assert client.get(server.url("/seq/200", id=server.new_id(), kind="https")).status == 200
        with pytest.raises(TLSError):
            client.get(server.url("/seq/200", id=server.new_id(), kind="https_expired"))


# --- Unix sockets ---


class Forwards(Accepting):
    """A Unix socket that leads to a port."""

    def __init__(self, path: Path, port: int) -> None:
        listener = socket.socket(socket.AF_UNIX)
        listener.bind(str(path))
        listener.listen()
        super().__init__(listener)
        self.path, self._port = path, port
        self.connections = 0

    def take(self, connection: socket.socket) -> None:
        self.connections += 1
        far = socket.create_connection(("127.0.0.1", self._port))
        for source, target in ((connection, far), (far, connection)):
            threading.Thread(target=self._forward, args=(source, target), daemon=True).start()

    @staticmethod
    def _forward(source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(65_536):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:  # Reset: which goes no further than that it is over.
            with contextlib.suppress(OSError):
                target.shutdown(socket.SHUT_RDWR)


def test_all_connections_are_made_to_a_unix_socket(server: FaultServer, tmp_path: Path) -> None:
    """With any host in the URL, no name is looked up. And retries make new ones."""
    id = server.new_id()
    with Forwards(tmp_path / "socket", server.ports["http"]) as way, Client(quick(), unix_socket=way.path) as client:
        response = client.put(f"http://nobody.invalid{server.target('/seq/reset,200', id=id)}", data="x")
        assert (response.status, way.connections) == (200, 2)
    assert sent_header(server.seen(id)[0], "Host") == ["nobody.invalid"]


@pytest.mark.parametrize("there", [True, False])
def test_a_unix_socket_without_a_listener(tmp_path: Path, there: bool) -> None:
    if there:
        (tmp_path / "socket").write_bytes(b"")
    with Client(quick(max_retries_on_exception=1), unix_socket=tmp_path / "socket") as client:
        for error in in_both_ways(client, "GET", "http://localhost/"):
            assert isinstance(error, NetworkError)
            assert [attempt.cause.name for attempt in error.attempts] == ["CONNECT"] * 2


# --- Compression ---


@pytest.mark.parametrize("kind", ["http", "h2"])
@pytest.mark.parametrize("place", ["client", "request"])
def test_compressed_responses_are_unpacked_if_they_are_asked_for(server: FaultServer, kind: str, place: str) -> None:
    id = server.new_id()
    url = server.url("/seq/503,200", {"id": id, "size": 100_000, "gzip": "", "503.body": "why"}, kind=kind)
    with Client(quick(), ca_file=server.ca, compression=place == "client") as client:
        response = client.get(url, compression=None if place == "client" else True)
        assert response.content == pattern(100_000)
        assert response.attempts[1].bytes_received < 50_000
        assert all("gzip" in "".join(sent_header(request, "Accept-Encoding")) for request in server.seen(id))


def test_compression_is_off_by_default(server: FaultServer, client: Client) -> None:
    """Then it is not asked for, and what comes all the same is the caller's."""
    id = server.new_id()
    response = client.get(server.url("/seq/200", {"id": id, "size": 1_000, "gzip": ""}))
    assert sent_header(server.seen(id)[0], "Accept-Encoding") == []
    assert gzip.decompress(response.content) == pattern(1_000)
    with Client(quick(), compression=True) as other:
        other.get(server.url("/seq/200", id=id), compression=False)
    assert sent_header(server.seen(id)[1], "Accept-Encoding") == []


def test_b15_the_limit_is_for_what_is_unpacked(server: FaultServer, client: Client) -> None:
    """A bomb: 200 MB in 200 kB. In memory, in a file, and as an error's body, which is cut off."""
    url = server.url("/seq/200", {"id": server.new_id(), "size": 200_000_000, "gzip": ""})
    for arguments in ({"body_limit": 1_000_000}, {"body_limit": 1_000_000, "sink": lambda data: None}):
        with pytest.raises(ResponseTooLargeError):
            client.get(url, compression=True, **arguments)
    with Client(quick(), compression=True, body_limit=1_000_000) as small, pytest.raises(ResponseTooLargeError):
        small.get(url, sink=lambda data: None)  # The client's own limit is also for what comes compressed.
    response = client.get(
        server.url("/seq/404", {"id": server.new_id(), "size": 200_000_000, "gzip": ""}), compression=True
    )
    assert (len(response.content), response.content_is_cut_off) == (1_048_576, True)


def test_b15_a_bomb_takes_no_memory(server: FaultServer) -> None:
    run(
        """
        url, limit = sys.argv[1:]
        with Client(once, compression=True, body_limit=int(limit)) as client:
            for _ in range(3):
                before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
                try:
                    client.get(url)
                except ResponseTooLargeError:
                    pass
                else:
                    raise AssertionError
            assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000
        """,
        server.url("/seq/200", {"id": server.new_id(), "size": 400_000_000, "gzip": ""}),
        1_000_000,
    )


@pytest.mark.parametrize("kind", ["http", "h2"])
def test_compression_with_nginx(kind: str) -> None:
    data = pattern(300_000)
    with Nginx() as nginx, Client(quick(), ca_file=nginx.ca, compression=True) as client:
        (nginx.files / "text").write_bytes(data)
        response = client.get(nginx.url("/gzip/text", kind=kind))
        assert response.content == data
        assert nginx.seen(1)[0]["sent_length"] < 100_000


@pytest.mark.parametrize("framing", ["", "h2"])
def test_what_is_not_compressed_as_it_says(server: FaultServer, framing: str) -> None:
    """It is an exception, as any body that breaks off."""
    url = server.url(
        "/seq/200", {"h": "Content-Encoding:gzip", "body": "plain"}, id=server.new_id(), kind=framing or "http"
    )
    with Client(once(), ca_file=server.ca, compression=True) as client:
        for error in in_both_ways(client, "GET", url):
            assert isinstance(error, NetworkError)


# --- How many at once ---


@pytest.mark.parametrize("kind", ["http", "h2"])
def test_transfers_to_one_host_are_limited(server: FaultServer, kind: str) -> None:
    """The others wait for their turn; those to another host and port do not wait for them."""
    other_id = server.new_id()
    with Client(quick(), ca_file=server.ca, max_transfers_per_host=3) as client:
        id = server.new_id()
        url = server.url("/seq/200", {"id": id, "first": 100}, kind=kind)
        start = time.monotonic()
        calls = [client.submit("GET", url) for _ in range(12)]
        assert client.get(server.url("/seq/200", id=other_id, kind="https")).status == 200
        other_ended = server.seen(other_id)[0]["time_ms"]
        for call in calls:
            assert call.response().status == 200
        assert time.monotonic() - start >= 0.4
    times = sorted(request["time_ms"] for request in server.seen(id))
    assert all(later - earlier >= 99 for earlier, later in zip(times, times[3:]))
    assert other_ended < times[-1]


def test_a_host_that_is_full_does_not_hold_the_client(server: FaultServer) -> None:
    """Given more that wait for one host than the client has transfers."""
    with Client(quick(), max_transfers_per_host=1, max_transfers=2) as client:
        stalled = [client.submit("GET", server.url("/seq/stall", id=server.new_id())) for _ in range(20)]
        other = f"http://localhost:{server.ports['http']}{server.target('/seq/200', id=server.new_id())}"
        for _ in range(5):
            assert client.submit("GET", other).response(10).status == 200
        for call in stalled:
            call.cancel()

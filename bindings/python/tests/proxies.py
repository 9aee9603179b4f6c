"""For tests: proxies that make tunnels or refuse to, a server that wants a client certificate, and certificates."""

from __future__ import annotations

import contextlib
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

#: What is wrong with the certificate of each kind of port (F141); with that of `https` if its authority is not trusted.
#: Patterns: before OpenSSL 3.0, "self signed" was written without a hyphen.
TLS_REASONS = [
    ("https_expired", "certificate has expired"),
    ("https_not_yet_valid", "certificate is not yet valid"),
    ("https_wrong_name", "hostname mismatch"),
    ("https_self_signed", "self.signed certificate"),
    ("https", "unable to get local issuer certificate"),
]


class TunnelProxy:
    """Connects each client to the host that it asks for with CONNECT, or refuses to."""

    def __init__(self, is_refusing: bool) -> None:
        self.heads: list[str] = []
        self._is_refusing = is_refusing
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._tunnel, args=(client,), daemon=True).start()

    def _tunnel(self, client: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            head += client.recv(1)
        self.heads.append(head.decode())
        if self._is_refusing:
            with client:
                client.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
            return
        host, _, port = head.split()[1].decode().rpartition(":")
        server = socket.create_connection((host, int(port)))
        client.sendall(b"HTTP/1.1 200 yes\r\n\r\n")
        back = threading.Thread(target=_copy, args=(server, client), daemon=True)
        back.start()
        _copy(client, server)
        back.join()
        client.close()
        server.close()

    def close(self) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._thread.join()
        self._listener.close()


def _copy(source: socket.socket, sink: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            sink.sendall(data)
    with contextlib.suppress(OSError):
        sink.shutdown(socket.SHUT_WR)


@contextlib.contextmanager
def tunnel_proxy(*, is_refusing: bool = False) -> Iterator[TunnelProxy]:
    """A proxy for the duration of a test. `is_refusing`: it answers each CONNECT with 403."""
    proxy = TunnelProxy(is_refusing)
    try:
        yield proxy
    finally:
        proxy.close()


@contextlib.contextmanager
def server_that_wants_a_certificate(files: dict[str, str]) -> Iterator[str]:
    """The URL of a server that refuses each client without a certificate during the handshake, as TLS 1.2 does.

    `files` are those of the fault server. The server has the certificate of its client, which is not for 127.0.0.1.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(files["client_certificate"], files["client_key"])

    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with contextlib.suppress(OSError):
                while True:
                    connection, _ = listener.accept()
                    with connection, contextlib.suppress(OSError):
                        context.wrap_socket(connection, server_side=True).close()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield f"https://127.0.0.1:{listener.getsockname()[1]}/"
        finally:
            listener.shutdown(socket.SHUT_RDWR)
            thread.join()


def ca_folder(ca: str, folder: Path) -> Path:
    """A directory of certificates, named by hash."""
    folder.mkdir()
    shutil.copy(ca, folder / "ca.pem")
    subprocess.run(["openssl", "rehash", folder], check=True)
    return folder

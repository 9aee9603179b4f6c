"""Where distributions keep the certificates that they trust."""

from __future__ import annotations

import shutil

from bare_root import BareRoot
from fault_server import FaultServer

BUNDLES = {
    "Debian": "etc/ssl/certs/ca-certificates.crt",
    "Fedora": "etc/pki/tls/certs/ca-bundle.crt",
    "openSUSE": "etc/ssl/ca-bundle.pem",
    "Alpine": "etc/ssl/cert.pem",
}


def put_certificates(root: BareRoot, server: FaultServer, bundle: str | None) -> None:
    """The server's certificate authority is in this bundle, and there is no other bundle. None: there is no bundle."""
    for path in BUNDLES.values():
        (root.path / path).unlink(missing_ok=True)
    if bundle:
        (root.path / bundle).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(server.ca, root.path / bundle)

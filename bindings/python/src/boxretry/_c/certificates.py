"""Finds the system's certificates, for a library that has a libcurl of its own in it.

Such a libcurl, in a wheel that runs on any Linux, cannot know where they are; a system's own libcurl does.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from . import _abi, library

#: Where distributions keep the certificates that they trust, all in one file in PEM form.
PLACES = (
    "/etc/ssl/certs/ca-certificates.crt",  # Debian, Ubuntu, Arch, Alpine
    "/etc/pki/tls/certs/ca-bundle.crt",  # Fedora, RHEL
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  # Fedora, RHEL: what the one above links to
    "/etc/ssl/ca-bundle.pem",  # openSUSE
    "/etc/ssl/cert.pem",  # Alpine without the package ca-certificates
)


def default_ca_file() -> str | None:
    """What `ca_file` is where the caller has not said it. None: the library knows by itself."""
    return system_ca_file() if library.is_in_package(_abi.library) else None


def system_ca_file(places: Sequence[str] = PLACES) -> str | None:
    """The first of these files that there is; None if there is none, and then no certificate is trusted."""
    return next((place for place in places if Path(place).is_file()), None)

"""boxretry._c.certificates: which certificates are trusted where the library has a libcurl of its own in it."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from boxretry import Client, OAuth2Token, Proxy, SettingError
from boxretry._c import _abi, certificates, library


def test_the_first_place_that_has_a_file_is_taken(tmp_path: Path) -> None:
    for name in ("a folder", "second", "third"):
        (tmp_path / name).mkdir() if " " in name else (tmp_path / name).touch()
    places = [str(tmp_path / name) for name in ("nothing", "a folder", "second", "third")]
    assert certificates.system_ca_file(places) == str(tmp_path / "second")


def test_without_such_a_file_there_is_none(tmp_path: Path) -> None:
    assert certificates.system_ca_file([str(tmp_path / "nothing")]) is None


def test_the_library_of_the_system_knows_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "is_in_package", lambda library: False)
    assert certificates.default_ca_file() is None


def test_a_library_in_the_folder_of_the_package_is_the_one_in_the_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not library.is_in_package(_abi.library)
    monkeypatch.setattr(library, "__file__", str(Path(_abi.library._name).parent / "_c" / "library.py"))
    assert library.is_in_package(_abi.library)


def test_a_client_trusts_the_certificates_of_the_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given the library in the package, when a client connects over TLS, then it opens the file that was found."""
    monkeypatch.setattr(library, "is_in_package", lambda library: True)
    monkeypatch.setattr(certificates, "system_ca_file", lambda: "/nowhere/of-the-place.pem")
    server = socket.create_server(("127.0.0.1", 0))
    with server, Client(proxy=Proxy.NONE) as client, pytest.raises(SettingError):
        client.get(f"https://127.0.0.1:{server.getsockname()[1]}/")


def test_a_client_that_is_told_what_to_trust_does_not_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "is_in_package", lambda library: True)
    looked: list[None] = []
    monkeypatch.setattr(certificates, "system_ca_file", lambda: looked.append(None))
    Client(ca_file="/nowhere/given.pem").close()
    assert not looked
    Client().close()
    assert looked


def test_a_token_endpoint_looks_as_a_client_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "is_in_package", lambda library: True)
    looked: list[None] = []
    monkeypatch.setattr(certificates, "system_ca_file", lambda: looked.append(None))
    OAuth2Token("https://127.0.0.1/token", refresh_token="refresh", ca_file="/nowhere/given.pem").close()
    assert not looked
    OAuth2Token("https://127.0.0.1/token", refresh_token="refresh").close()
    assert looked

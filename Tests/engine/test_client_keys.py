"""F105: an encrypted private key, and no terminal to ask for its password."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from fault_server import FaultServer
from programs import HEAD

PROGRAM = """
cert = (*sys.argv[2:4], sys.argv[5]) if sys.argv[5] else tuple(sys.argv[2:4])
with Client(once, ca_file=sys.argv[1], cert=cert) as client:
    try:
        print(client.get(sys.argv[4]).status)
    except BoxRetryError as error:
        print(type(error).__name__, error)
"""


def run_on_terminal(*arguments: object) -> tuple[int, str]:
    """Runs PROGRAM in a session whose terminal is all that it has to read from and to write to."""
    child, terminal = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-c", HEAD + textwrap.dedent(PROGRAM), *map(str, arguments)])
    output = b""
    while True:
        try:
            piece = os.read(terminal, 4096)
        except OSError:  # The other end is closed.
            piece = b""
        if not piece:
            break
        output += piece
        assert b"pass phrase" not in output, "it asks"
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), output.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("form", [[], ["-traditional"]], ids=["PKCS 8", "traditional"])
@pytest.mark.parametrize(
    ("password", "expected"),
    [
        ("", "client_key_password: is needed: the private key is encrypted"),
        ("wrong", "client_key_password: does not fit the private key"),
        ("secret", "200"),
    ],
)
def test_f105_an_encrypted_key(
    server: FaultServer, tmp_path: Path, form: list[str], password: str, expected: str
) -> None:
    """B2, F105. Given standard input that is a terminal: an error that says so, at once, and no prompt."""
    certificate, key = server.files["client_certificate"], tmp_path / "key.pem"
    command = ["openssl", "pkey", "-in", server.files["client_key"], "-aes256", "-passout", "pass:secret", *form]
    key.write_bytes(subprocess.run(command, check=True, capture_output=True).stdout)
    url = server.url("/seq/200", kind="https_client", id=server.new_id(), cycle="", quiet="")
    code, output = run_on_terminal(server.ca, certificate, key, url, password)
    assert code == 0
    assert expected in output

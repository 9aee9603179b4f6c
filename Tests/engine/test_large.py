"""Large bodies with flat memory, checked by their hash. `large.py` is the long form."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
from boxretry import Client
from calls import quick
from large_server import piece
from nginx import Nginx


def test_b15_r5_a_large_file_up_and_down_in_every_way(request: pytest.FixtureRequest) -> None:
    """Given connections and streams that break off in the middle, then what comes is whole, and the memory is flat."""
    program = [sys.executable, str(Path(__file__).with_name("large.py"))]
    is_long = request.config.getoption("--long")
    if not is_long:
        program += ["--mebibytes", "32"]
    result = subprocess.run(program, capture_output=True, text=True, timeout=1800 if is_long else 180)
    assert (result.returncode, result.stderr) == (0, ""), result.stdout
    assert result.stdout.count(": ok, ") == 10


@pytest.mark.parametrize("kind", ["http", "https", "h2"])
def test_a_large_file_up_and_down_with_nginx(tmp_path: Path, kind: str) -> None:
    """Given a server of the world's, over each protocol."""
    path = tmp_path / "large"
    path.write_bytes(b"".join(piece(index) for index in range(64)))
    with Nginx() as nginx, Client(quick(), ca_file=nginx.ca) as client:
        with path.open("rb") as file:
            assert client.put(nginx.url("/uploads/large", kind=kind), data=file).status == 201
        (nginx.uploads / "large").rename(nginx.files / "large")
        response = client.get(nginx.url("/files/large", kind=kind), to_file=tmp_path / "down")
        assert response.attempts[0].http_version == (20 if kind == "h2" else 11)
    assert hashlib.sha256((tmp_path / "down").read_bytes()).digest() == hashlib.sha256(path.read_bytes()).digest()

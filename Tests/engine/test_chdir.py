"""F102: a relative path means what it meant when the request or the client was made, in spite of a later chdir()."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from c_programs import build
from fault_server import FaultServer


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build("chdirs", tmp_path_factory.mktemp("chdirs"))


def run(program: Path, folder: Path, server: FaultServer, what: str, when: str, url: str) -> str:
    (folder / "other").mkdir()
    (folder / "upload").write_bytes(b"a file")
    shutil.copy(server.ca, folder / "ca.pem")
    command = [str(program), what, when, url]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=90)
    assert (result.returncode, result.stderr) == (0, "")
    return result.stdout


@pytest.mark.parametrize("when", ["early", "late"])
def test_f102_a_download(server: FaultServer, tmp_path: Path, program: Path, when: str) -> None:
    """B15, F102. The file is in the folder where the call was made, and no temporary file is left."""
    url = server.url("/seq/200", id=server.new_id(), size=10, first=50, every=30)
    assert run(program, tmp_path, server, "download", when, url) == "ok 200\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ca.pem", "download", "other", "upload"]
    assert (tmp_path / "download").stat().st_size == 10
    assert list((tmp_path / "other").iterdir()) == []


@pytest.mark.parametrize("what", ["upload", "form"])
def test_f102_an_upload(server: FaultServer, tmp_path: Path, program: Path, what: str) -> None:
    """B15, F102. Its file is opened again for the second attempt."""
    mine = server.new_id()
    assert run(program, tmp_path, server, what, "early", server.url("/seq/503,200", id=mine)) == "ok 200\n"
    assert len(server.seen(mine)) == 2


def test_f102_a_certificate_authority(server: FaultServer, tmp_path: Path, program: Path) -> None:
    """F102. Its file is read when the connection of the second attempt is made."""
    url = server.url("/seq/close,200", kind="https", id=server.new_id())
    assert run(program, tmp_path, server, "ca_file", "early", url) == "ok 200\n"

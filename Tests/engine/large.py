"""A large file up and down in every way there is, with connections and streams that break off in the middle.

    python Tests/engine/large.py [--mebibytes 1024]

For each way it prints the seconds, the speed of what came through whole, the attempts, and by how much the memory has
grown, and in the end the most that there was; it fails if that is not flat, or the hash at the far end is another. The
suite runs it with 64 MiB, its long form with 1024. BOXRETRY_LIBRARY and PYTHONPATH are those of the tests.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

from boxretry import Client, Response, RetryStrategy
from fault_server import FaultServer
from large_server import piece

#: KiB that a way may need more than those before it.
MOST_KIB = 24_000


class Hashes:
    """A sink that keeps no more than the hash."""

    def __init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        self.sha = hashlib.sha256()

    def write(self, data: bytes) -> None:
        self.sha.update(data)


class Ways:
    """Methods named upload or download, and how, are ways: they answer with the response, and the far end's hash."""

    def __init__(self, client: Client, url: str, count: int, folder: Path) -> None:
        self._client, self._url, self._count, self._folder = client, url, count, folder
        self._file = folder / "large"
        with self._file.open("wb") as file:
            for each in self._pieces():
                file.write(each)

    def _pieces(self) -> Iterator[bytes]:
        return (piece(index) for index in range(self._count))

    def sha256(self) -> str:
        return _sha256(self._file)

    def upload_of_a_file(self) -> tuple[Response, str]:
        with self._file.open("rb") as file:
            response = self._client.put(self._url + "upload_of_a_file", data=file)
        return response, response.text

    def upload_of_a_generator(self) -> tuple[Response, str]:
        response = self._client.put(
            self._url + "upload_of_a_generator", data=self._pieces, data_length=self._file.stat().st_size
        )
        return response, response.text

    def upload_in_chunks(self) -> tuple[Response, str]:
        response = self._client.put(self._url + "upload_in_chunks", data=self._pieces)
        return response, response.text

    def download_to_a_file(self) -> tuple[Response, str]:
        path = self._folder / "download"
        response = self._client.get(self._url + "download_to_a_file", to_file=path)
        return response, _sha256(path)

    def download_that_is_resumed(self) -> tuple[Response, str]:
        path = self._folder / "resumed"
        response = self._client.get(self._url + "download_that_is_resumed", to_file=path, resume=True)
        assert [attempt.resumed_from > 0 for attempt in response.attempts] == [False, True, True]
        return response, _sha256(path)

    def download_to_a_function(self) -> tuple[Response, str]:
        hashes = Hashes()
        response = self._client.get(self._url + "download_to_a_function", sink=hashes)
        return response, hashes.sha.hexdigest()

    def download_with_a_slow_reader(self) -> tuple[Response, str]:
        """What has broken off is the reader's: he begins again."""
        for _ in range(2):
            with self._client.stream("GET", self._url + "download_with_a_slow_reader") as stream:
                next(stream.iter_bytes())
        sha = hashlib.sha256()
        with self._client.stream("GET", self._url + "download_with_a_slow_reader") as stream:
            for index, each in enumerate(stream.iter_bytes(1_000_003)):
                sha.update(each)
                if index % 16 == 0:
                    time.sleep(0.01)
            return stream.response, sha.hexdigest()


class HTTP2Ways:
    """The same over HTTP/2: the first two streams are reset, those of downloads in the middle of their bodies."""

    #: What the fault server's bodies repeat.
    BLOCK = b"".join(b"%015d\n" % offset for offset in range(0, 1_000_000, 16))

    def __init__(self, client: Client, server: FaultServer, count: int, folder: Path) -> None:
        self._client, self._server, self._size, self._folder = client, server, count * 1024 * 1024, folder

    def _pieces(self) -> Iterator[bytes]:
        whole, rest = divmod(self._size, len(self.BLOCK))
        yield from itertools.repeat(self.BLOCK, whole)
        yield self.BLOCK[:rest]

    def sha256(self) -> str:
        hashes = Hashes()
        for each in self._pieces():
            hashes.write(each)
        return hashes.sha.hexdigest()

    def _download(self) -> str:
        parameters: dict[str, Any] = {
            "size": self._size,
            "1.stream_reset_after": self._size // 3,
            "2.stream_reset_after": self._size * 2 // 3,
        }
        return self._server.url("/seq/200*3", parameters, kind="h2", id=self._server.new_id())

    def download_over_http2_to_a_file(self) -> tuple[Response, str]:
        path = self._folder / "http2"
        response = self._client.get(self._download(), to_file=path)
        return response, _sha256(path)

    def download_over_http2_to_a_function(self) -> tuple[Response, str]:
        hashes = Hashes()
        response = self._client.get(self._download(), sink=hashes)
        return response, hashes.sha.hexdigest()

    def upload_over_http2(self) -> tuple[Response, str]:
        id = self._server.new_id()
        url = self._server.url("/seq/stream_reset:request*2,200", kind="h2", id=id)
        response = self._client.put(url, data=self._pieces, data_length=self._size)
        return response, self._server.seen(id)[-1]["body_sha256"]


def _sha256(path: Path) -> str:
    sha = hashlib.sha256()
    with path.open("rb") as file:
        while data := file.read(1024 * 1024):
            sha.update(data)
    return sha.hexdigest()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mebibytes", type=int, default=1024)
    count = parser.parse_args().mebibytes
    program = [sys.executable, str(Path(__file__).with_name("large_server.py")), str(count)]
    with (
        subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as server,
        tempfile.TemporaryDirectory(prefix="large.", dir=os.environ.get("TMPDIR")) as folder,
        FaultServer(tls=True) as http2,
        Client(RetryStrategy(retry_base_interval=0.001), ca_file=http2.ca) as client,
    ):
        assert server.stdout is not None
        ways = Ways(client, f"http://127.0.0.1:{server.stdout.readline().strip()}/?id=", count, Path(folder))
        failures = 0
        for each in (ways, HTTP2Ways(client, http2, count, Path(folder))):
            expected = each.sha256()
            for name in [name for name in vars(type(each)) if re.match("(up|down)load", name)]:
                failures += _run(name, getattr(each, name), expected, count)
    print(f"at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss} KiB")
    return 1 if failures else 0


def _run(name: str, way: Callable[[], Any], expected: str, mebibytes: int) -> int:
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
    response, actual = way()
    seconds, grown = time.monotonic() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    attempts = [attempt.status or attempt.cause.name for attempt in response.attempts]
    is_good = actual == expected and grown <= MOST_KIB
    figures = f"{seconds:.2f} s, {mebibytes / seconds:.0f} MiB/s, {attempts}, {grown} KiB more"
    print(f"{name}: {'ok' if is_good else 'FAILED'}, {figures}", flush=True)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())

"""A scripted server of HTTP/1.1 and HTTP/2 that misbehaves as a URL asks, and reports what it saw.

README.md beside it is its manual.

    python Tests/server/fault_server.py [--tls] [--port N]

prints one line of JSON with its ports, and runs until its standard input closes or SIGTERM comes. In Python:

    with FaultServer() as server:
        url = server.url("/seq/503,200", id="a")
        ...
        assert [request["answer"] for request in server.seen("a")] == ["503", "200"]
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import http.client
import itertools
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Union
from urllib.parse import quote, urlencode

from faults import certificates
from faults.content import pattern
from faults.ports import HAS_HTTP2
from faults.server import Server
from faults.vocabulary import PortInUse

__all__ = ["FaultServer", "pattern"]

Value = Union[str, int, Sequence[Union[str, int]]]


class FaultServer:
    """The server in a separate process, so that tests which run out of descriptors or processor do not harm it."""

    def __init__(self, *, tls: bool = False) -> None:
        self._options = ["--tls"] if tls else []
        self._numbers = itertools.count(1)

    def __enter__(self) -> FaultServer:
        self._process = subprocess.Popen(
            [sys.executable, __file__, *self._options], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"the fault server did not start (exit code {self._process.wait()})")
        start = json.loads(line)
        self.files = {name: path for name, path in start.items() if isinstance(path, str)}  # of certificates and keys
        self.ca: str = self.files["ca"]  # path of the certificate that TLS clients are to trust
        self.ports: dict[str, int] = {kind: port for kind, port in start.items() if kind not in self.files}
        return self

    def __exit__(self, *_: object) -> None:
        self._process.communicate()  # closes its input, and waits
        if self._process.returncode != 0:
            raise RuntimeError("the fault server has failed; it says why above")

    def new_id(self) -> str:
        """An id that no other test has."""
        return f"test-{next(self._numbers)}"

    def url(self, path: str, parameters: dict[str, Value] | None = None, *, kind: str = "http", **more: Value) -> str:
        """A URL of the vocabulary: url("/seq/503,200", {"503.h": "Retry-After:7"}, id="a")."""
        is_tls = "https" in kind or "tls" in kind or (kind.startswith("h2") and kind != "h2c")
        scheme = "https" if is_tls else "http"
        return f"{scheme}://127.0.0.1:{self.ports[kind]}{self.target(path, parameters, **more)}"

    def target(self, path: str, parameters: dict[str, Value] | None = None, **more: Value) -> str:
        """The part of a URL after the host."""
        query = urlencode({**(parameters or {}), **more}, doseq=True, quote_via=quote, encoding="latin-1")
        return path + ("?" + query if query else "")

    def seen(self, id: str, *, requests: int = 0, over: bool = False, ended: bool = False) -> list[dict[str, Any]]:
        """The requests with this id, in order.

        Waits, for some seconds, until there are `count`, all of them are over, or their connections have ended.
        """
        parameters: dict[str, Value] = {"id": id, "requests": requests, "over": int(over), "ended": int(ended)}
        return self.control("seen", **parameters)  # type: ignore[no-any-return]

    def connections(self, port: int, *, opened: int = 0, ended: bool = False) -> list[dict[str, Any]]:
        """The connections to this port, in order; waits as seen() does."""
        return self.control("connections", port=port, opened=opened, ended=int(ended))  # type: ignore[no-any-return]

    def hang_up(self, id: str, how: str = "close") -> int:
        """Ends the connections whose last request has this id; they have ended when this returns."""
        return int(self.control("hangup", id=id, how=how)["connections"])

    def say(self, id: str, text: str) -> int:
        """Writes a text, of Latin-1, to the connections whose last request has this id; the kernel has it when this
        returns."""
        return int(self.control("say", id=id, text=text)["connections"])

    def open(self, kind: str, **parameters: Value) -> int:
        """The number of a new port."""
        return int(self.control("open", kind=kind, **parameters)["port"])

    def control(self, command: str, **parameters: Value) -> Any:
        """What a path under /_ answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.ports["http"], timeout=60)
        try:
            connection.request("GET", self.target("/_" + command, None, **parameters))
            response = connection.getresponse()
            result = json.loads(response.read())
        finally:
            connection.close()
        if response.status != 200:
            raise ValueError(result["error"])
        return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--tls", action="store_true", help="also open the TLS ports; needs the openssl command and the package h2"
    )
    parser.add_argument("--port", type=int, default=0, help="of plain HTTP; 0 (default) is any free one")
    arguments = parser.parse_args()
    if arguments.tls and not HAS_HTTP2:
        parser.error("--tls needs the package h2")
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    with tempfile.TemporaryDirectory(prefix="fault_server.") as folder:
        try:
            return asyncio.run(_serve(arguments.port, Path(folder), arguments.tls))
        except PortInUse as error:
            print(f"fault_server: port {error.number} is in use; choose another with --port", file=sys.stderr)
            return 1


async def _serve(port: int, folder: Path, tls: bool) -> int:
    loop = asyncio.get_running_loop()
    stop = asyncio.Event()
    failures: list[dict[str, Any]] = []

    def on_failure(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        failures.append(context)
        loop.default_exception_handler(context)

    loop.set_exception_handler(on_failure)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    server = Server(*certificates.make(folder)) if tls else Server({}, {"ca": ""})
    server.start(port)
    print(json.dumps(server.description()), flush=True)
    threading.Thread(target=_wait_for_end_of_input, args=(loop, stop), daemon=True).start()
    gc.freeze()  # what was there at the start stays: no use in looking at it again
    await stop.wait()
    return 1 if failures else 0


def _wait_for_end_of_input(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    while os.read(0, 4096):
        pass
    loop.call_soon_threadsafe(stop.set)


if __name__ == "__main__":
    sys.exit(main())

"""How the tests run `boxretry fetch`: to its end, or with a hand on it while it runs."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import select
import signal
import subprocess
import termios
from pathlib import Path
from types import TracebackType
from typing import Any, Callable

from fault_server import FaultServer
from tool_program import TOOL, Run, refuse_constant, run_tool

# In any environment, the fault server is not behind a proxy.
NO_PROXIES = dict.fromkeys(
    ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY"], ""
)

# Retries come at once. (0 seconds, for each attempt.)
AT_ONCE = "--retry-base-interval=0"
NO_RETRIES = "--preset=january"


def fetch(*arguments: str | bytes, **environment: str) -> Run:
    return run_tool("fetch", *arguments, **{**NO_PROXIES, **environment})


def fetch_with_stdin(content: bytes, *arguments: str) -> Run:
    """The same, with something to read."""
    finished = subprocess.run(
        [TOOL, "fetch", *arguments],
        env={**os.environ, **NO_PROXIES},
        input=content,
        capture_output=True,
        timeout=60,
        check=False,
    )
    return Run(finished.returncode, finished.stdout.decode(), finished.stderr.decode())


def json_line(output: str) -> Any:
    """Exactly one line of JSON, and nothing else."""
    assert output.endswith("\n") and output.count("\n") == 1, output
    return json.loads(output, parse_constant=refuse_constant)


def fetch_json(*arguments: str | bytes, exit_code: int = 0, **environment: str) -> Any:
    """What the line of JSON says of a call that ends with this exit code."""
    run = fetch("--json", *arguments, **environment)
    assert run.exit_code == exit_code, run
    assert (run.errors == "") == (exit_code == 0), "stderr is for errors alone"
    return json_line(run.output)


def attempts_of(answer: Any) -> list[int | str]:
    """The outcome of each attempt: its status, or the cause of its exception."""
    return [attempt["error"] or attempt["status"] for attempt in answer["attempts"]]


def header_of(request: dict[str, Any], name: str) -> str | None:
    """The value of a header of a request that the server has seen; None if it has none such."""
    return {header.lower(): value for header, value in request["headers"]}.get(name.lower())


def authorizations(server: FaultServer, id: str) -> list[str | None]:
    """What each request with this id said of who sends it."""
    return [header_of(request, "Authorization") for request in server.seen(id)]


class Running:
    """The tool while it runs, with a terminal as its stderr, and as the terminal that Ctrl-C comes from."""

    def __init__(
        self,
        *arguments: str,
        environment: dict[str, str] | None = None,
        prepare: Callable[[], None] | None = None,
    ) -> None:
        self._terminal, theirs = pty.openpty()
        self._screen = b""

        def in_child() -> None:
            fcntl.ioctl(2, termios.TIOCSCTTY, 0)
            # Where the tests run in the background of a shell, or by nohup, some of them are ignored.
            for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
                signal.signal(number, signal.SIG_DFL)
            if prepare is not None:
                prepare()

        self.process = subprocess.Popen(
            [TOOL, "fetch", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=theirs,
            env={**os.environ, **NO_PROXIES, "TERM": "dumb", **(environment or {})},
            start_new_session=True,
            preexec_fn=in_child,
        )
        os.close(theirs)

    def __enter__(self) -> Running:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
        os.close(self._terminal)

    @property
    def screen(self) -> str:
        """What the terminal shows so far."""
        return self._screen.decode().replace("\r\n", "\n")

    def read_until(self, text: str) -> None:
        """Reads what the terminal shows, until there is this text."""
        while text not in self.screen:
            assert self._read(), self.screen

    def press_ctrl_c(self) -> None:
        self.type("\x03")

    def type(self, text: str) -> None:
        os.write(self._terminal, text.encode())

    def interrupt(self, number: int = signal.SIGINT) -> None:
        self.process.send_signal(number)

    def holds_back(self, number: int) -> bool:
        """Whether the tool's first thread has this signal blocked."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        mask = next(line.split()[1] for line in status.splitlines() if line.startswith("SigBlk:"))
        return bool(int(mask, 16) & 1 << (number - 1))

    def finish(self) -> Run:
        """Waits for its end."""
        while self._read():
            pass
        output, _ = self.process.communicate(timeout=60)
        return Run(self.process.returncode, output.decode(), self.screen)

    def _read(self) -> bool:
        """False once the tool has closed the terminal."""
        assert select.select([self._terminal], [], [], 60)[0], f"nothing comes after {self.screen!r}"
        try:
            piece = os.read(self._terminal, 4096)
        except OSError:  # Linux says so when the other side is closed.
            return False
        self._screen += piece
        return bool(piece)


def on_terminal(*arguments: str, **environment: str) -> Run:
    """A run to its end; its `errors` are what the terminal shows."""
    with Running(*arguments, environment=environment) as running:
        return running.finish()


def rows_of(screen: str) -> list[str]:
    """The table without its title, with each time, which differs, as T."""
    title, *rows = screen.splitlines()
    assert title == "attempt       took  result        then"
    return [re.sub(r"^( {6}\d|  token) {2} {1,3}\d+\.\d{3} s", r"\1  T", row) for row in rows]

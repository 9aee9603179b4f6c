"""Runs the benchmarks against the installed library, and writes what they say to bench/RESULTS.md.

    python bench/run.py [NAME…]      decision, token, startup, size, http, idle; all of them by default

Machines are shared and noisy: what counts is a ratio of two things measured in turn in one run, and its median.
"""

from __future__ import annotations

import contextlib
import datetime
import inspect
import os
import platform
import resource
import shlex
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Callable, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
PREFIX = Path(os.environ.get("BOXRETRY_PREFIX", ROOT / "build/prefix"))
LIBRARY = PREFIX / "lib/libboxretry.so.0"
OUT = ROOT / "build/bench"


def run(command: str) -> str:
    return subprocess.run(shlex.split(command), check=True, text=True, stdout=subprocess.PIPE).stdout


def compile_c(name: str, *, options: str = "") -> Path:
    """Compiles bench/NAME.c against the installed header."""
    OUT.mkdir(parents=True, exist_ok=True)
    program = OUT / name
    run(f"cc -std=gnu11 -O2 -Wall -Wextra -Werror -I{PREFIX}/include {ROOT}/bench/{name}.c -o {program} {options}")
    return program


def decision() -> str:
    """One decision through the library against the same rules in plain C in a shared library."""
    compile_c("plain_rules", options=f"-fPIC -shared -o {OUT}/libplain_rules.so")
    program = compile_c(
        "decision",
        options=f"-L{OUT} -lplain_rules -L{PREFIX}/lib -lboxretry -Wl,-rpath,{OUT}:{PREFIX}/lib",
    )
    return (
        "Processor time for each, in nanoseconds, and the ratio (31 rounds in turn, medians). The goal is 1.5.\n\n"
        + table(run(str(program)))
    )


def token() -> str:
    """Reading a valid token from a source against a mutex, the same clock and a copy of the same bytes in C."""
    program = compile_c("token", options=f"-L{PREFIX}/lib -lboxretry -lpthread -Wl,-rpath,{PREFIX}/lib")
    introduction = (
        "Processor time for each, in nanoseconds, and the ratio; million reads in a second over all threads (15 rounds "
        "in turn, medians). The goals: 1.0 with one thread, and no less with more threads.\n\n"
    )
    return introduction + table(run(str(program)))


def startup(rounds: int = 101) -> str:
    """From dlopen to the first decision, each time in a new process; libcurl's start for comparison."""
    program = compile_c("startup", options="-ldl")
    subjects = {"boxretry": str(LIBRARY), "curl": "libcurl.so.4"}
    times: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(rounds):
        for name, library in subjects.items():
            times[name].append(float(run(f"{program} {name} {library}")))
    rows = ["subject,least µs,median µs,most µs"]
    for name, values in times.items():
        rows.append(f"{name},{min(values):.0f},{statistics.median(values):.0f},{max(values):.0f}")
    return f"{rounds} processes of each, in turn.\n\n" + markdown([row.split(",") for row in rows])


def size() -> str:
    """The stripped library."""
    return f"{LIBRARY.resolve().stat().st_size} bytes."


class Cost(NamedTuple):
    """What a run of bench/http.c has taken."""

    seconds: float
    processor_seconds: float
    peak_kib: float


class Load(NamedTuple):
    """How many requests, how many of them at once, and who sends them: bare libcurl in its ways, and ours."""

    requests: int
    in_flight: int
    bare: tuple[str, ...]
    ours: str


LOADS = (
    Load(10_000, 1, ("easy",), "perform"),
    Load(20_000, 64, ("poll", "epoll"), "queue"),
    Load(20_000, 1_000, ("poll", "epoll"), "queue"),
    Load(20_000, 10_000, ("poll", "epoll"), "queue"),
)

NGINX = """
daemon off; worker_processes 1; pid {folder}/pid; error_log stderr emerg;
events {{ worker_connections 16384; }}
http {{
  access_log off; keepalive_requests 1000000000; keepalive_timeout 600;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  server {{ listen 127.0.0.1:{port} backlog=16384; location / {{ return 200 "{body}"; }} }}
}}
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextlib.contextmanager
def nginx() -> Iterator[str]:
    """A server that answers at once, with 256 bytes; its URL."""
    with tempfile.TemporaryDirectory() as folder:
        port = free_port()
        configuration = Path(folder) / "nginx.conf"
        configuration.write_text(NGINX.format(folder=folder, port=port, body="x" * 256))
        server = subprocess.Popen(["nginx", "-e", "stderr", "-c", str(configuration)])
        try:
            while socket.socket().connect_ex(("127.0.0.1", port)) != 0:
                if server.poll() is not None:
                    sys.exit("bench: nginx did not start")
                time.sleep(0.01)
            yield f"http://127.0.0.1:{port}/"
        finally:
            server.terminate()
            server.wait()


def raise_descriptor_limit() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def http(rounds: int = 3) -> str:
    """Requests through the client against bare libcurl, on kept-alive connections to nginx on this machine.

    A ratio is ours to the best of libcurl's ways in that round; of memory, it is what we need beyond the leanest one.
    """
    raise_descriptor_limit()
    program = compile_c("http", options=f"-L{PREFIX}/lib -lboxretry -lcurl -Wl,-rpath,{PREFIX}/lib")
    rows = [
        ["in flight", "requests/s", "bare", "ratio", "µs of CPU each", "bare", "ratio", "KiB more for each in flight"]
    ]
    with nginx() as url:
        for load in LOADS:
            costs: list[dict[str, Cost]] = []
            for _ in range(rounds):
                costs.append({subject: http_cost(program, subject, url, load) for subject in (*load.bare, load.ours)})
            rows.append([f"{load.in_flight:,}", *http_cells(load, costs)])
    return f"{rounds} rounds in turn, medians.\n\n" + markdown(rows)


def http_cost(program: Path, subject: str, url: str, load: Load) -> Cost:
    seconds, processor_seconds, peak_kib = run(f"{program} {subject} {url} {load.requests} {load.in_flight}").split()
    return Cost(float(seconds), float(processor_seconds), float(peak_kib))


def http_cells(load: Load, rounds: list[dict[str, Cost]]) -> list[str]:
    median = statistics.median
    ours = [costs[load.ours] for costs in rounds]
    bare = [Cost(*map(min, zip(*(costs[subject] for subject in load.bare)))) for costs in rounds]
    pairs = list(zip(ours, bare))
    return [
        f"{load.requests / median(cost.seconds for cost in ours):,.0f}",
        f"{load.requests / median(cost.seconds for cost in bare):,.0f}",
        f"{median(theirs.seconds / mine.seconds for mine, theirs in pairs):.2f}",
        f"{median(cost.processor_seconds for cost in ours) / load.requests * 1e6:.1f}",
        f"{median(cost.processor_seconds for cost in bare) / load.requests * 1e6:.1f}",
        f"{median(mine.processor_seconds / theirs.processor_seconds for mine, theirs in pairs):.2f}",
        f"{median((mine.peak_kib - theirs.peak_kib) / load.in_flight for mine, theirs in pairs):.2f}",
    ]


def idle(rounds: int = 3) -> str:
    """How late idle timeouts are, in milliseconds; below 0 they are early.

    Of 300 ms with all transfers begun at once, and of 3 s, for which all connections are there before one is due.
    """
    raise_descriptor_limit()
    program = compile_c("idle", options=f"-L{PREFIX}/lib -lboxretry -Wl,-rpath,{PREFIX}/lib")
    rows = [["transfers", "timeout ms", "early", "least", "median", "99 %", "most"]]
    for transfers, timeout in ((100, 300), (1_000, 300), (10_000, 300), (10_000, 3_000)):
        results = [[float(word) for word in run(f"{program} {transfers} {timeout}").split()] for _ in range(rounds)]
        medians = [statistics.median(column) for column in zip(*results)]
        rows.append([f"{transfers:,}", f"{timeout:,}", f"{medians[0]:.0f}", *(f"{value:.2f}" for value in medians[1:])])
    return f"{rounds} runs, medians.\n\n" + markdown(rows)


BENCHMARKS: dict[str, Callable[[], str]] = {
    "decision": decision,
    "token": token,
    "startup": startup,
    "size": size,
    "http": http,
    "idle": idle,
}


def table(text: str) -> str:
    """A table whose columns stand two spaces or more apart, as Markdown."""
    rows = [[cell.strip() for cell in line.split("  ") if cell.strip()] for line in text.splitlines()]
    return markdown(rows)


def markdown(rows: list[list[str]]) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * len(rows[0]))
    return "\n".join(lines)


def main(names: list[str]) -> None:
    unknown = set(names) - set(BENCHMARKS)
    if unknown:
        sys.exit(f"bench: there is no {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    sections = []
    for name in names or BENCHMARKS:
        benchmark = BENCHMARKS[name]
        section = f"## {name}\n\n{inspect.getdoc(benchmark)}\n\n{benchmark()}\n"
        print(section, flush=True)
        sections.append(section)
    if not names:
        introduction = (
            "# Results\n\n"
            f"Made by `scripts/bench` on {datetime.date.today()}: {platform.machine()}, {os.cpu_count()} processors, "
            f"{platform.system()} {platform.release().split('-')[0]}, shared with other work; "
            f"{run('cc --version').splitlines()[0]}. "
            "Only ratios mean something.\n\n"
        )
        (ROOT / "bench/RESULTS.md").write_text(introduction + "\n".join(sections))


if __name__ == "__main__":
    main(sys.argv[1:])

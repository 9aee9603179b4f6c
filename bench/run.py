"""Runs the benchmarks against the installed library, and writes the results to bench/RESULTS.md.

    python bench/run.py [NAME…]      all of them by default, in less than ten minutes; only then are results written

decisions/ has what decides without I/O, transfers/ requests and bodies, timers/ waits, startup/ the first request of a
process, python/ the Python package, and counts/ what profiling.py counts. Here is what they share.

Machines are shared and noisy: what counts is a ratio of two things measured in turn in one run, and its median.
"""

from __future__ import annotations

import datetime
import inspect
import os
import platform
import sys
import time
from typing import Callable

import outage
from decisions import rules
from measure import ROOT, commit, run
from python import clients
from server import nginx_version
from startup import start
from timers import timers
from transfers import bulk, idle, sending

BENCHMARKS: dict[str, Callable[[], str]] = {
    "decision": rules.decision,
    "token": rules.token,
    "size": rules.size,
    "startup": start.startup,
    "first": start.first_response,
    "http": sending.http,
    "retries": sending.retries,
    "streams": sending.streams,
    "growth": sending.growth,
    "bulk": bulk.bulk,
    "timers": timers.timers,
    "waiting": timers.waiting,
    "idle": idle.idle,
    "outage": outage.outage,
    "python": clients.python,
}


def main(names: list[str]) -> None:
    unknown = set(names) - set(BENCHMARKS)
    if unknown:
        sys.exit(f"bench: there is no {', '.join(sorted(unknown))}; there are {', '.join(BENCHMARKS)}")
    version, began = commit(), time.monotonic()
    sections = []
    for name in names or BENCHMARKS:
        benchmark = BENCHMARKS[name]
        section = f"## {name}\n\n{inspect.getdoc(benchmark)}\n\n{benchmark()}\n"
        print(section, flush=True)
        sections.append(section)
    if not names:
        versions = [
            run("curl-config --version").strip(),
            nginx_version(),
            f"Python {platform.python_version()}",
            run("swift --version").splitlines()[0],
            run("cc --version").splitlines()[0],
        ]
        introduction = (
            "# Results\n\n"
            f"Made by `scripts/bench` on {datetime.date.today()} at {version}, "
            f"in {time.monotonic() - began:.0f} seconds: "
            f"{platform.machine()}, {os.cpu_count()} processors, "
            f"{platform.system()} {platform.release().split('-')[0]}, shared with other work; {', '.join(versions)}. "
            "Only ratios are meaningful. Each is the median of the ratios of the rounds, and can differ from the ratio "
            "of the medians next to it. The least and the most are in brackets. "
            "For bare libcurl, each round takes the best figure of its interfaces.\n\n"
        )
        (ROOT / "bench/RESULTS.md").write_text(introduction + "\n".join(sections))


if __name__ == "__main__":
    main(sys.argv[1:])

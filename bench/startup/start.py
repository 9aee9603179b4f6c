"""How long it takes until something can be done."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

import goals
from goals import Goal
from measure import LIBRARY, PREFIX, ROOT, compile_c, markdown, median, run
from server import nginx


def startup(rounds: int = 101) -> str:
    """From dlopen to the first decision, each time in a new process, compared with the start of libcurl.

    The goal: at most 0.5 ms more than libcurl.
    """
    program = compile_c("startup/startup", options="-ldl")
    subjects = {"boxretry": str(LIBRARY), "curl": "libcurl.so.4"}
    times: dict[str, list[float]] = {name: [] for name in subjects}
    for _ in range(rounds):
        for name, library in subjects.items():
            times[name].append(float(run(f"{program} {name} {library}")))
    more = (median(times["boxretry"]) - median(times["curl"])) / 1e3
    aims = [Goal("ms beyond libcurl's", more, 0.5)]
    return f"{rounds} processes of each, in turn, in µs.\n\n{spread(times)}{goals.said('startup', aims)}"


def first_response(rounds: int = 21) -> str:
    """From the start of a process to its end, with one request.

    Python's modules are compiled in advance, like those of installed packages.
    """
    client = compile_c("startup/first", options=f"-L{PREFIX}/lib -lboxretry -Wl,-rpath,{PREFIX}/lib")
    bare = compile_c("startup/first", options="-DBARE -lcurl", output="first-bare")
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}/bindings/python/src", "BOXRETRY_LIBRARY": str(LIBRARY)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    times: dict[str, list[float]] = {}
    with nginx() as server, tempfile.TemporaryDirectory() as compiled:
        environment["PYTHONPYCACHEPREFIX"] = compiled
        url = f"{server.http}/"
        subjects = {
            "C, boxretry": [str(client), url],
            "C, libcurl": [str(bare), url],
            "Python, nothing": [sys.executable, "-c", ""],
            "Python, boxretry": [sys.executable, "-c", f"import boxretry; boxretry.Client().get('{url}').content"],
            "Python, requests": [sys.executable, "-c", f"import requests; requests.get('{url}').content"],
        }
        for command in subjects.values():
            subprocess.run(command, check=True, env=environment)
        for _ in range(rounds):
            for name, command in subjects.items():
                began = time.perf_counter()
                subprocess.run(command, check=True, env=environment)
                times.setdefault(name, []).append((time.perf_counter() - began) * 1e6)
    return f"{rounds} processes of each, in turn, in µs.\n\n" + spread(times)


def spread(times: dict[str, list[float]]) -> str:
    rows = [["subject", "least", "median", "most"]]
    for name, values in times.items():
        rows.append([name, f"{min(values):,.0f}", f"{median(values):,.0f}", f"{max(values):,.0f}"])
    return markdown(rows)

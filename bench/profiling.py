"""Counts where the time goes, and writes bench/PROFILE.md.

scripts/profile             counts, and compares with what was kept
scripts/profile --keep      keeps what it counts in bench/counts/profile.json, as what later versions are compared with
"""

from __future__ import annotations

import collections
import datetime
import json
import os
import platform
import sys
from typing import Any

from counts import counting
from counts.counting import Numbers
from measure import OUT, PREFIX, ROOT, compile_c, compile_client, markdown, run
from server import nginx

KEPT = ROOT / "bench/counts/profile.json"

DECISIONS = (
    "503 without headers",
    "network exception",
    "200 with 10 headers",
    "503 with 10 headers",
    "429 with 12 headers",
)
"""The rows of bench/decisions/decision.c."""

INTRODUCTION = """# Where the time goes

Made by `scripts/profile` on {today} at {version}: {machine}; {tools}. "Before" is {before}.

Counts are repeatable; seconds are not. Each count is the difference of two runs, of which one does more, so that work
at the start cancels out. Instructions and calls are counted by callgrind, for 2,500 requests minus 500, or 6,000
decisions minus 3,000. System calls are counted by strace, for 6,000 requests minus 2,000. All threads of the client
count. The server, nginx on this machine, does not count.

"Atomic" counts instructions with a lock; the compiler emits some of them instead of a call of `swift_retain`. In
callgrind a program is about fifty times slower. So with many requests in flight, more of them are ready at the same
moment than in a normal run, and work that is done once for several requests is done for more of them."""


def of_requests(url: str) -> tuple[dict[str, dict[str, float]], Numbers, Numbers]:
    """What a request takes, by who sends it; and our side's instructions by function, for one at a time and many."""
    program = compile_client("transfers/http")
    figures, own = {}, {}
    for subject, in_flight in (("easy", 1), ("perform", 1), ("poll", 64), ("queue", 64)):
        command = f"{program} {subject} {url} COUNT {in_flight}"
        counted = counting.of_each(command, 500, 2_500)
        calls = counting.system_calls_of_each(command, 2_000, 6_000)
        figures[subject] = {**counted.total, "system calls": sum(calls.values())}
        figures[subject] |= {f"{name}()": count for name, count in calls.items() if count >= 0.01}
        own[subject] = counted.own
    return figures, own["perform"], own["queue"]


def of_decisions() -> tuple[dict[str, dict[str, float]], Numbers]:
    """What a decision takes, by who makes it; and our side's instructions by function, without headers."""
    compile_c("decisions/plain_rules", options=f"-fPIC -shared -o {OUT}/libplain_rules.so")
    libraries = f"-L{OUT} -lplain_rules -L{PREFIX}/lib -lboxretry -Wl,-rpath,{OUT}:{PREFIX}/lib"
    program = compile_c("decisions/decision", options=libraries)
    figures, own = {}, {}
    for row, name in enumerate(DECISIONS):
        for who in ("plain", "ours"):
            counted = counting.of_each(f"{program} {who} {row} COUNT", 3_000, 6_000)
            figures[f"{who}, {name}"] = dict(counted.total)
            own[f"{who}, {name}"] = counted.own
    return figures, own[f"ours, {DECISIONS[0]}"]


def compared(figures: dict[str, dict[str, float]], before: Any, floor: str, ours: str) -> str:
    """A table of ours against the floor, and against what ours took when it was kept."""
    kept = before.get(ours, {})
    rows = [["for each", floor.split(",")[0], "before", ours.split(",")[0], "ratio to the first"]]
    for what in sorted({*figures[floor], *figures[ours], *kept}, key=lambda what: place_of(what, figures[ours])):
        least, now = figures[floor].get(what, 0), figures[ours].get(what, 0)
        if max(least, now, kept.get(what, 0)) < 0.01:
            continue
        rows.append([what, shown(least), shown(kept.get(what, 0)), shown(now), f"{now / least:.2f}" if least else ""])
    return markdown(rows)


def place_of(what: str, figures: dict[str, float]) -> tuple[int, float]:
    """Where in a table it stands: after its kind, the largest first."""
    kinds = (
        "instructions",
        "of them in",
        "of them atomic",
        "allocations",
        "locks",
        "readings",
        "calls of",
        "system calls",
        "",
    )
    kind = next(index for index, kind in enumerate(kinds) if what.startswith(kind))
    return kind, -figures.get(what, 0)


def shown(number: float) -> str:
    return f"{number:,.0f}" if number >= 1000 else f"{number:.2f}"


def ours(counts: Numbers, bytes_of_functions: Numbers) -> Numbers:
    """Those of the library's functions."""
    return {name: count for name, count in counts.items() if name in bytes_of_functions}


def functions(counts: Numbers, number: int, heading: str = "each") -> str:
    """The functions with the largest counts."""
    names = sorted((name for name in counts if counts[name] >= 0.01), key=lambda name: -counts[name])[:number]
    whole = sum(counts.values())
    rows = [["function", heading, "part"]]
    for name, text in zip(names, counting.readable(names)):
        shortened = text if len(text) <= 90 else text[:89] + "…"
        rows.append([f"`{shortened}`", shown(counts[name]), f"{counts[name] / whole:.1%}"])
    return markdown(rows)


def main(arguments: list[str]) -> None:
    if arguments not in ([], ["--keep"]):
        sys.exit(__doc__)
    counting.build_library()
    with nginx() as server:
        requests, own_of_one, own_of_many = of_requests(f"{server.http}/")
    decisions, own_of_decision = of_decisions()
    bytes_of_functions = counting.sizes()
    bytes_of_modules = collections.Counter[str]()
    for name, size in bytes_of_functions.items():
        bytes_of_modules[counting.module_of(name)] += int(size)

    version = run("git log -1 --format=%h").strip()
    if arguments:
        figures = {**requests, **decisions, "bytes": dict(bytes_of_modules)}
        KEPT.write_text(json.dumps({"version": version, "figures": figures}, indent=2) + "\n")
    kept = json.loads(KEPT.read_text())
    before = kept["figures"]

    sections = [
        INTRODUCTION.format(
            today=datetime.date.today(),
            version=version,
            before=kept["version"],
            machine=f"{platform.machine()}, {os.cpu_count()} processors, "
            f"{platform.system()} {platform.release().split('-')[0]}",
            tools=", ".join(run(f"{tool} --version").splitlines()[0] for tool in ("curl-config", "valgrind", "swift")),
        ),
        "## One request after another\n\nBare libcurl's `curl_easy_perform`, and `boxretry_client_perform`.",
        compared(requests, before, "easy", "perform"),
        "Instructions by function, for all code on the client's side, libc and libcurl included:",
        functions(own_of_one, 30),
        "The library's own functions:",
        functions(ours(own_of_one, bytes_of_functions), 60),
        "## 64 requests in flight\n\nBare libcurl's `curl_multi_poll`, and `boxretry_client_submit` with a queue.",
        compared(requests, before, "poll", "queue"),
        "Instructions by function, for all code on the client's side, libc and libcurl included:",
        functions(own_of_many, 30),
        "The library's own functions:",
        functions(ours(own_of_many, bytes_of_functions), 60),
        "## One decision\n\nThe same rules in plain C, and `boxretry_strategy_should_retry`.",
        *(f"{name}:\n\n{compared(decisions, before, f'plain, {name}', f'ours, {name}')}" for name in DECISIONS),
        f"Instructions by function, of a {DECISIONS[0]} on our side:",
        functions(own_of_decision, 8),
        "## The library\n\nBytes of machine code.",
        markdown(
            [["module", "before", "now"]]
            + [
                [module, shown(before["bytes"].get(module, 0)), shown(size)]
                for module, size in bytes_of_modules.most_common()
            ]
        ),
        "The largest functions:",
        functions(bytes_of_functions, 40, "bytes"),
        (ROOT / "bench/counts/tried.md").read_text().strip(),
    ]
    (ROOT / "bench/PROFILE.md").write_text("\n\n".join(sections) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])

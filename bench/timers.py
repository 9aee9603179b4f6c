"""Waiting."""

from __future__ import annotations

import plot
from measure import OUT, ROOT, compile_client, markdown, median, run, table
from server import nginx


def timers() -> str:
    """The engine's timer queue against a binary heap in C, which like it allocates each entry.

    The queue is compiled from its source, as the library is. The goals: 1.5, and 200 bytes for 1,000,000.
    """
    compiled = OUT / "timers.o"
    OUT.mkdir(parents=True, exist_ok=True)
    run(
        "swiftc -O -wmo -parse-as-library -enable-experimental-feature Embedded -enforce-exclusivity=unchecked "
        f"-module-name Timers -emit-object -o {compiled} "
        f"{ROOT}/bench/timers.swift {ROOT}/Sources/CurlEngine/Loop/TimerQueue.swift"
    )
    program = compile_client("timers", more=str(compiled))
    lines = ["waiting  operation  ours  C  ratio"]
    points: dict[str, list[tuple[float, float]]] = {"add": [], "cancel": [], "fire": [], "bytes": []}
    for count in (1_000, 10_000, 100_000, 1_000_000):
        for line in run(f"{program} {count}").splitlines():
            lines.append(line)
            _, operation, ours, _, _ = line.split("  ")
            points[operation.split()[0].strip(",")].append((count, float(ours)))
    picture = plot.lines("nanoseconds for each, and bytes", "waiting", points)
    (ROOT / "bench/timers.svg").write_text(picture)
    return table("\n".join(lines)) + "\n\n![The same as a picture](timers.svg)"


def waiting(rounds: int = 3) -> str:
    """Whole calls that wait for their next attempt: memory and processor time for each.

    1,000,000 of them need 2 GB, and are measured once.
    """
    program = compile_client("waiting")
    rows = [["calls", "bytes each", "µs until it waits", "µs to cancel it"]]
    points: dict[str, list[tuple[float, float]]] = {"KiB each": [], "until it waits": [], "to cancel it": []}
    with nginx() as server:
        for count, times in ((1_000, rounds), (10_000, rounds), (100_000, rounds), (1_000_000, 1)):
            results = [map(float, run(f"{program} {server.http}/later {count}").split()) for _ in range(times)]
            size, begin, cancel = (median(column) for column in zip(*results))
            rows.append([f"{count:,}", f"{size:,.0f}", f"{begin:.1f}", f"{cancel:.2f}"])
            for name, value in zip(points, (size / 1024, begin, cancel)):
                points[name].append((count, value))
    picture = plot.lines("µs of processor time for a call, and KiB", "calls that wait", points)
    (ROOT / "bench/waiting.svg").write_text(picture)
    return f"{rounds} runs, medians.\n\n{markdown(rows)}\n\n![The same as a picture](waiting.svg)"

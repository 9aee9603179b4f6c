"""Waiting."""

from __future__ import annotations

import goals
import plot
from goals import Goal
from measure import OUT, ROOT, compile_client, markdown, median, rows_of, run
from server import nginx


def timers() -> str:
    """The engine's timer queue, compared with a binary heap in C. Both allocate each entry.

    The queue is compiled from its source, as the library is. The goals, for 1,000,000: 1.5, and 200 bytes.
    """
    compiled = OUT / "timers.o"
    OUT.mkdir(parents=True, exist_ok=True)
    run(
        "swiftc -O -wmo -parse-as-library -enable-experimental-feature Embedded -enforce-exclusivity=unchecked "
        f"-module-name Timers -emit-object -o {compiled} "
        f"{ROOT}/bench/timers/timers.swift {ROOT}/Sources/CurlEngine/Clock/TimerQueue.swift"
    )
    program = compile_client("timers/timers", more=str(compiled))
    rows = [["waiting", "operation", "ours", "C", "ratio"]]
    aims = []
    points: dict[str, list[tuple[float, float]]] = {"add": [], "cancel": [], "fire": [], "bytes": []}
    for count in (1_000, 10_000, 100_000, 1_000_000):
        for row in rows_of(run(f"{program} {count}")):
            rows.append([f"{count:,}", *row[1:]])
            _, operation, ours, _, ratio = row
            name = operation.split()[0].strip(",")
            points[name].append((count, float(ours)))
            if count == 1_000_000:
                aims.append(Goal("bytes each", float(ours), 200) if name == "bytes" else Goal(name, float(ratio), 1.5))
    picture = plot.lines("nanoseconds for each, and bytes", "waiting", points)
    (ROOT / "bench/timers/timers.svg").write_text(picture)
    return f"{markdown(rows)}{goals.said('timers', aims)}\n\n![The figures as a chart](timers/timers.svg)"


def waiting(rounds: int = 3) -> str:
    """Whole calls that wait for their next attempt: memory and processor time for each.

    1,000,000 calls need 2 GB and are measured once.
    """
    program = compile_client("timers/waiting")
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
    (ROOT / "bench/timers/waiting.svg").write_text(picture)
    return f"{rounds} runs, medians.\n\n{markdown(rows)}\n\n![The figures as a chart](timers/waiting.svg)"

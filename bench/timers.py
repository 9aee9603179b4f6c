"""Waiting."""

from __future__ import annotations

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
    lines.extend(run(f"{program} {count}").strip() for count in (1_000, 100_000, 1_000_000))
    return table("\n".join(lines))


def waiting(rounds: int = 3) -> str:
    """Whole calls that wait for their next attempt: memory and processor time for each."""
    program = compile_client("waiting")
    rows = [["calls", "bytes each", "µs until it waits", "µs to cancel it"]]
    with nginx() as server:
        for count in (1_000, 10_000, 100_000):
            results = [map(float, run(f"{program} {server.http}/later {count}").split()) for _ in range(rounds)]
            size, begin, cancel = (median(column) for column in zip(*results))
            rows.append([f"{count:,}", f"{size:,.0f}", f"{begin:.1f}", f"{cancel:.2f}"])
    return f"{rounds} runs, medians.\n\n" + markdown(rows)

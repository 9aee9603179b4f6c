"""Timeouts."""

from __future__ import annotations

import goals
from goals import Goal
from measure import PREFIX, compile_c, markdown, median, raise_descriptor_limit, run


def idle(rounds: int = 3) -> str:
    """How late idle timeouts are, in milliseconds; below 0 they are early.

    The goals, for 10,000 of 300 ms: none early, and 99 % within 5 ms.

    With 300 ms, all transfers begin at once. With 3 s, all connections exist before the first timeout.
    """
    raise_descriptor_limit()
    program = compile_c("transfers/idle", options=f"-L{PREFIX}/lib -lboxretry -Wl,-rpath,{PREFIX}/lib")
    aims = []
    rows = [["transfers", "timeout ms", "early", "least", "median", "99 %", "most"]]
    for transfers, timeout in ((100, 300), (1_000, 300), (10_000, 300), (10_000, 3_000)):
        results = [[float(word) for word in run(f"{program} {transfers} {timeout}").split()] for _ in range(rounds)]
        medians = [median(column) for column in zip(*results)]
        rows.append([f"{transfers:,}", f"{timeout:,}", f"{medians[0]:.0f}", *(f"{value:.2f}" for value in medians[1:])])
        if (transfers, timeout) == (10_000, 300):
            aims = [
                Goal("early", max(early for early, *_ in results), 0),
                Goal("ms until 99 % are there", medians[3], 5),
            ]
    return f"{rounds} runs, medians.\n\n{markdown(rows)}{goals.said('idle', aims)}"

"""Large bodies."""

from __future__ import annotations

import goals
from goals import Goal
from measure import best, compile_client, cost, markdown, median, with_spread
from server import LARGE, nginx


def bulk(rounds: int = 3) -> str:
    """1 GiB from nginx on this machine, and 1 GiB to it, compared with bare libcurl with buffers of the same size.

    The goals, as for requests: CPU 1.05, MiB/s 0.97.
    """
    program = compile_client("transfers/bulk")
    rows = [["what", "MiB/s", "bare", "ratio", "ms of CPU", "bare", "ratio", "peak KiB", "bare"]]
    aims = []
    with nginx() as server:
        for scheme, url, options in (("http", server.http, ""), ("https", server.https, f"ca={server.ca}")):
            for way, path in (("down", "/large"), ("up", "/")):
                pairs = [
                    tuple(cost(f"{program} {kind}{way} {url}{path} {LARGE} {options}") for kind in ("", "bare-"))
                    for _ in range(rounds)
                ]
                ours, bare = zip(*pairs)
                size = LARGE >> 20
                speeds = [theirs.seconds / mine.seconds for mine, theirs in pairs]
                processor = [mine.processor_seconds / theirs.processor_seconds for mine, theirs in pairs]
                aims.append(Goal(f"CPU, {scheme}, {way}", median(processor), 1.05))
                aims.append(Goal(f"MiB/s, {scheme}, {way}", median(speeds), 0.97, is_least=True))
                rows.append(
                    [
                        f"{scheme}, {way}",
                        f"{size / median(one.seconds for one in ours):,.0f}",
                        f"{size / median(one.seconds for one in bare):,.0f}",
                        with_spread(speeds),
                        f"{median(one.processor_seconds for one in ours) * 1e3:,.0f}",
                        f"{median(one.processor_seconds for one in bare) * 1e3:,.0f}",
                        with_spread(processor),
                        f"{best(ours).peak_kib:,.0f}",
                        f"{best(bare).peak_kib:,.0f}",
                    ]
                )
    return f"{rounds} rounds in turn, medians.\n\n{markdown(rows)}{goals.said('bulk', aims)}"

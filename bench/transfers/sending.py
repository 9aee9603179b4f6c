"""Small requests through the client against bare libcurl, on kept-alive connections to nginx on this machine.

A ratio is ours to the best of libcurl's ways in that round, with the least and the most of all rounds; of memory, it is
what we need beyond the leanest one.
"""

from __future__ import annotations

from typing import NamedTuple

import goals
import plot
from goals import Goal
from measure import ROOT, Cost, best, compile_client, cost, markdown, median, raise_descriptor_limit, with_spread
from server import nginx

WAYS = ("threads", "poll", "epoll")
MULTI = WAYS[1:]
"""Without a thread for each request."""


class Load(NamedTuple):
    """How many requests, how many of them at once, and who sends them: bare libcurl in its ways, and ours."""

    requests: int
    in_flight: int
    bare: tuple[str, ...] = WAYS
    ours: str = "queue"


class Round(NamedTuple):
    ours: Cost
    bare: Cost

    @property
    def speed(self) -> float:
        return self.bare.seconds / self.ours.seconds

    @property
    def processor(self) -> float:
        return self.ours.processor_seconds / self.bare.processor_seconds

    @property
    def kib_more(self) -> float:
        return self.ours.peak_kib - self.bare.peak_kib


ONE = Load(10_000, 1, ("easy",), "perform")
HEADINGS = ["requests/s", "bare", "ratio", "µs of CPU each", "bare", "ratio", "KiB more for each in flight"]


def measured(load: Load, rounds: int, url: str, options: str = "") -> list[Round]:
    program = compile_client("transfers/http")
    results = []
    for _ in range(rounds):
        costs = {
            subject: cost(f"{program} {subject} {url} {load.requests} {load.in_flight} {options}")
            for subject in (*load.bare, load.ours)
        }
        results.append(Round(costs[load.ours], best(costs[subject] for subject in load.bare)))
    return results


def cells(load: Load, rounds: list[Round]) -> list[str]:
    def each(values: list[float]) -> float:
        return median(values) / load.requests * 1e6

    return [
        f"{load.requests / median(ours.seconds for ours, _ in rounds):,.0f}",
        f"{load.requests / median(bare.seconds for _, bare in rounds):,.0f}",
        with_spread(one.speed for one in rounds),
        f"{each([ours.processor_seconds for ours, _ in rounds]):.1f}",
        f"{each([bare.processor_seconds for _, bare in rounds]):.1f}",
        with_spread(one.processor for one in rounds),
        f"{median(one.kib_more / load.in_flight for one in rounds):.2f}",
    ]


def processor_goal(rounds: list[Round], limit: float, name: str) -> Goal:
    return Goal(f"CPU, {name}", median(one.processor for one in rounds), limit)


def speed_goal(rounds: list[Round], limit: float, name: str) -> Goal:
    return Goal(f"requests/s, {name}", median(one.speed for one in rounds), limit, is_least=True)


def goals_of(load: Load, rounds: list[Round]) -> list[Goal]:
    """Those of requests of which none fails."""
    name = f"{load.in_flight:,} in flight"
    if load.in_flight == 1:
        return [processor_goal(rounds, 1.15, name), speed_goal(rounds, 0.91, name)]
    kib_more = median(one.kib_more / load.in_flight for one in rounds)
    return [
        processor_goal(rounds, 1.05, name),
        speed_goal(rounds, 0.97, name),
        Goal(f"KiB more for each, {name}", kib_more, 1),
    ]


def http(rounds: int = 5) -> str:
    """One request after another, and 64 and 1,000 at once.

    The goals: CPU 1.15 for one after another, else 1.05; requests/s 0.91 (wall time 1.10) and 0.97; 1 KiB.
    """
    raise_descriptor_limit()
    rows = [["in flight", *HEADINGS]]
    aims = []
    with nginx() as server:
        for load in (ONE, Load(20_000, 64), Load(20_000, 1_000)):
            costs = measured(load, rounds, f"{server.http}/")
            rows.append([f"{load.in_flight:,}", *cells(load, costs)])
            aims += goals_of(load, costs)
    return f"{rounds} rounds in turn, medians.\n\n{markdown(rows)}{goals.said('http', aims)}"


def retries(rounds: int = 5) -> str:
    """Requests that get a 503 with Retry-After: 0, and then a 200, compared with twice the requests with bare libcurl.

    With one in flight each fails exactly once; with more, once on average. The goal: CPU 1.08.
    """
    rows = [["in flight", *HEADINGS]]
    aims = []
    with nginx() as server:
        for load in (Load(5_000, 1, ONE.bare, ONE.ours), Load(10_000, 64)):
            costs = measured(load, rounds, f"{server.http}/busy", "retried")
            rows.append([f"{load.in_flight:,}", *cells(load, costs)])
            aims.append(processor_goal(costs, 1.08, f"{load.in_flight:,} in flight"))
    introduction = f"{rounds} rounds in turn, medians. Requests are those that succeed.\n\n"
    return f"{introduction}{markdown(rows)}{goals.said('retries', aims)}"


def streams(rounds: int = 5) -> str:
    """100 requests at once over one connection: HTTP/2 over TLS.

    The goals of many at once: CPU 1.05, requests/s 0.97; 1 KiB.
    """
    load = Load(20_000, 100, MULTI)
    with nginx() as server:
        costs = measured(load, rounds, f"{server.https}/", f"ca={server.ca}")
    rows = markdown([HEADINGS, cells(load, costs)])
    return f"{rounds} rounds in turn, medians.\n\n{rows}{goals.said('streams', goals_of(load, costs))}"


def growth(rounds: int = 3) -> str:
    """The cost of a request with more of them in flight.

    The goals, for 10,000: CPU 1.05, requests/s 0.97; 1 KiB.
    """
    raise_descriptor_limit()
    rows = [["in flight", *HEADINGS]]
    time: dict[str, list[tuple[float, float]]] = {"boxretry": [], "bare libcurl": []}
    memory: dict[str, list[tuple[float, float]]] = {"boxretry": [], "bare libcurl": []}
    with nginx() as server:
        for in_flight in (1, 10, 100, 1_000, 10_000):
            load = Load(10_000, in_flight, WAYS if in_flight <= 1_000 else MULTI)
            costs = measured(load, rounds, f"{server.http}/")
            rows.append([f"{in_flight:,}", *cells(load, costs)])
            for name, index in (("boxretry", 0), ("bare libcurl", 1)):
                each = median(one[index].processor_seconds for one in costs) / load.requests * 1e6
                time[name].append((in_flight, each))
                memory[name].append((in_flight, median(one[index].peak_kib for one in costs) / 1024))
    pictures = {
        "growth.svg": plot.lines("µs of processor time for a request", "requests in flight", time),
        "growth-memory.svg": plot.lines("MiB at most, all in all", "requests in flight", memory),
    }
    for name, picture in pictures.items():
        (ROOT / "bench/transfers" / name).write_text(picture)
    shown = "\n".join(f"![The figures as a chart](transfers/{name})" for name in pictures)
    aims = goals_of(load, costs)
    return f"{rounds} rounds in turn, medians.\n\n{markdown(rows)}{goals.said('growth', aims)}\n\n{shown}"

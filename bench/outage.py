"""What the calls of one process do to a server that fails or limits the rate: measured, beside `boxretry simulate`.

python bench/outage.py            exits with 1 if the two do not agree; two minutes
python bench/outage.py --short    the same in a fifth of the time, once each, without the picture; half a minute
"""

from __future__ import annotations

import dataclasses
import json
import math
import multiprocessing
import sys
import time
from collections import Counter
from dataclasses import dataclass, field

from measure import PREFIX, ROOT, markdown, run

sys.path[:0] = [str(ROOT / "bindings" / "python" / "src"), str(ROOT / "Tests" / "server")]

from boxretry import Client, RetryStrategy  # noqa: E402
from counting_server import Answer, CountingServer  # noqa: E402

#: How often each is simulated, and measured, with different arrivals.
SEEDS = (1, 2, 3)
#: By how much the peak that is measured may differ from the one that is simulated; in the short form, chance does more.
TOLERANCE, SHORT_TOLERANCE = 0.15, 0.25
PICTURE = ROOT / "docs" / "measured-load.svg"


@dataclass(frozen=True)
class World:
    """A server, and a process that sends requests to it; times are in seconds."""

    title: str
    policies: tuple[str, ...]
    rate: float = 30
    capacity: float = 45
    queue: int = 45
    overflow: int = 503
    outage: tuple[float, float] = (5, 10)
    #: In the outage; without one, 503 alone.
    retry_after: float | None = None
    latency: float = 0.05
    duration: float = 35
    base: float = 1

    def arguments(self, seed: int) -> list[str]:
        """For `boxretry simulate`."""
        values: dict[str, object] = {
            "clients": 1,
            "rate": self.rate,
            "capacity": self.capacity,
            "queue": self.queue,
            "overflow": self.overflow,
            "outage": f"{self.outage[0]},{self.outage[1]},503" + ("" if self.retry_after is None else "-retry-after"),
            "retry-after": self.base if self.retry_after is None else self.retry_after,
            "latency": self.latency,
            "duration": self.duration,
            "seed": seed,
        }
        chosen = [f"--policy={name}:retry-base-interval={self.base}" for name in self.policies]
        return [f"--{name}={value}" for name, value in values.items()] + chosen


WORLDS = (
    World("Down for 10 s: 503", ("box", "box-budget")),
    World("Down for 10 s: 503 with Retry-After: 2", ("box", "box-gate"), retry_after=2),
    World("Rate limit, 20 of 30 a second: 429 with Retry-After: 1", ("box", "box-gate"), capacity=20, queue=20,
          overflow=429, outage=(0, 0)),
)  # fmt: skip


def shortened(world: World) -> World:
    """The same in a fifth of the time, with as many requests."""
    return dataclasses.replace(
        world,
        rate=5 * world.rate,
        capacity=5 * world.capacity,
        outage=(world.outage[0] / 5, world.outage[1] / 5),
        retry_after=None if world.retry_after is None else world.retry_after / 5,
        latency=world.latency / 5,
        duration=world.duration / 5,
        base=world.base / 5,
    )


@dataclass
class Curve:
    """The load over time, relative to normal, in steps of this length in seconds."""

    start: float
    step: float
    values: list[float]

    @property
    def peak(self) -> float:
        return max(self.values)


def mean_of(curves: list[Curve]) -> Curve:
    values = [sum(each) / len(curves) for each in zip(*(curve.values for curve in curves))]
    return Curve(curves[0].start, curves[0].step, values)


def simulated(world: World, seed: int) -> dict[str, Curve]:
    """The curve of each policy."""
    arguments = " ".join(f"'{argument}'" for argument in world.arguments(seed))
    answer = json.loads(run(f"{PREFIX}/bin/boxretry simulate {arguments} --json"))
    return {policy["name"]: Curve(**policy["load"]) for policy in answer["policies"]}


# --- The same in reality ---


class Random:
    """The generator of `boxretry simulate`, so that the same seed means the same arrivals."""

    def __init__(self, seed: int) -> None:
        self._state = seed
        self._state = self._next()

    def _next(self) -> int:
        most = 2**64 - 1
        self._state = self._state + 0x9E3779B97F4A7C15 & most
        mixed = (self._state ^ self._state >> 30) * 0xBF58476D1CE4E5B9 & most
        mixed = (mixed ^ mixed >> 27) * 0x94D049BB133111EB & most
        return mixed ^ mixed >> 31

    def unit(self) -> float:
        return ((self._next() >> 11) + 0.5) / 2**53

    def exponential(self, mean: float) -> float:
        return -math.log(self.unit()) * mean


def arrivals(world: World, seed: int) -> list[float]:
    """When calls begin."""
    random, moments = Random(seed), []
    moment = random.exponential(1 / world.rate)
    while moment < world.duration:
        moments.append(moment)
        random.unit()  # Which client it is, of one.
        moment += random.exponential(1 / world.rate)
    return moments


@dataclass
class ModelServer:
    """Answers as the server of `boxretry simulate` does."""

    world: World
    free_at: float = field(default=0)

    def answer(self, _: str, now: float) -> Answer:
        world, (start, length) = self.world, self.world.outage
        if start <= now < start + length:
            return Answer(503, world.retry_after, world.latency)
        if math.ceil((self.free_at - now) * world.capacity) > world.queue:
            return Answer(world.overflow, None if world.overflow == 503 else world.base, world.latency)
        self.free_at = max(self.free_at, now) + 1 / world.capacity
        return Answer(200, None, self.free_at - now + world.latency)


def client_of(policy: str, world: World) -> Client:
    """A client that retries as the policy of that name does."""
    budget = {"budget_capacity": 10} if policy == "box-budget" else {}
    strategy = RetryStrategy(retry_base_interval=world.base)
    return Client(strategy, share_retry_after=policy == "box-gate", **budget)  # type: ignore[arg-type]


def measure(job: tuple[World, str, int]) -> list[float]:
    """When requests arrived at the server."""
    world, policy, seed = job
    with CountingServer(ModelServer(world).answer) as server, client_of(policy, world) as client:
        calls = []
        for moment in [*arrivals(world, seed), world.duration]:
            time.sleep(max(server.began + moment - time.monotonic(), 0))
            calls.append(client.submit("GET", server.url()))
        client.close()
        return [at for _, at in server.arrivals if at < world.duration]


def curve_of(moments: list[float], like: Curve, world: World) -> Curve:
    counts = Counter(math.floor((moment - like.start) / like.step) for moment in moments)
    normal = world.rate * like.step
    return Curve(like.start, like.step, [counts[index] / normal for index in range(len(like.values))])


@dataclass(frozen=True)
class Comparison:
    """One policy in one world."""

    world: World
    policy: str
    simulated: Curve
    measured: Curve

    @property
    def ratio(self) -> float:
        return self.measured.peak / self.simulated.peak


def compare(world: World, seeds: tuple[int, ...] = SEEDS) -> list[Comparison]:
    """Measures all policies of a world at once."""
    curves = [simulated(world, seed) for seed in seeds]
    jobs = [(world, policy, seed) for policy in world.policies for seed in seeds]
    with multiprocessing.get_context("spawn").Pool(len(jobs)) as pool:
        moments = dict(zip(jobs, pool.map(measure, jobs, chunksize=1)))
    results = []
    for policy in world.policies:
        each = [curve[policy] for curve in curves]
        measured = [curve_of(moments[world, policy, seed], like, world) for seed, like in zip(seeds, each)]
        results.append(Comparison(world, policy, mean_of(each), mean_of(measured)))
    return results


# --- The picture ---

WIDTH, PANEL, LEFT, RIGHT, TOP, GAP = 760, 150, 48, 20, 34, 62
STYLE = """
text{font:12px sans-serif;fill:#222}.small{font-size:11px}
.page{fill:#fff}.grid{stroke:#ddd}.outage{fill:#eee}
.line{fill:none;stroke-width:1.8}.simulated{stroke-dasharray:5 4}
.p0{stroke:#b04a0b}.p1{stroke:#0b5fb0}
@media (prefers-color-scheme:dark){text{fill:#ddd}.page{fill:#16181c}.grid{stroke:#3a3d44}.outage{fill:#2a2d34}
.p0{stroke:#f0a060}.p1{stroke:#6db3f2}}
"""


def panel(index: int, comparisons: list[Comparison]) -> list[str]:
    """The curves of one world."""
    world = comparisons[0].world
    top, right = TOP + index * (PANEL + GAP), WIDTH - RIGHT
    highest = math.ceil(max(curve.peak for one in comparisons for curve in (one.simulated, one.measured)))

    def x(seconds: float) -> float:
        return LEFT + (right - LEFT) * seconds / world.duration

    def y(load: float) -> float:
        return top + PANEL * (1 - load / highest)

    start, length = world.outage
    parts = [f'<text x="{LEFT}" y="{top - 10}">{world.title}</text>']
    if length:
        width = x(start + length) - x(start)
        parts.append(f'<rect class="outage" x="{x(start):.1f}" y="{top}" width="{width:.1f}" height="{PANEL}"/>')
    for load in range(highest + 1):
        parts.append(f'<line class="grid" x1="{LEFT}" y1="{y(load):.1f}" x2="{right}" y2="{y(load):.1f}"/>')
        parts.append(f'<text class="small" x="{LEFT - 8}" y="{y(load) + 4:.1f}" text-anchor="end">{load}</text>')
    for seconds in range(0, math.floor(world.duration) + 1, 5):
        parts.append(
            f'<text class="small" x="{x(seconds):.1f}" y="{top + PANEL + 16}" text-anchor="middle">{seconds} s</text>'
        )
    for number, one in enumerate(comparisons):
        for kind, curve in (("simulated", one.simulated), ("measured", one.measured)):
            points = " ".join(
                f"{x(curve.start + (place + 0.5) * curve.step):.1f},{y(load):.1f}"
                for place, load in enumerate(curve.values)
            )
            parts.append(f'<polyline class="line {kind} p{number}" points="{points}"/>')
        for offset, kind in ((0, "measured"), (165, "simulated")):
            at, name_at = right - 330 + offset, top - 14 + 14 * number - 10
            parts.append(
                f'<line class="line {kind} p{number}" x1="{at}" y1="{name_at}" x2="{at + 28}" y2="{name_at}"/>'
            )
            parts.append(f'<text class="small" x="{at + 34}" y="{name_at + 4}">{one.policy}, {kind}</text>')
    return parts


def picture(worlds: list[list[Comparison]]) -> str:
    height = TOP + len(worlds) * (PANEL + GAP) - 20
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}">',
        "<title>Load over time relative to normal, measured and simulated</title>",
        f"<style>{STYLE}</style>",
        f'<rect class="page" width="{WIDTH}" height="{height}"/>',
    ]
    for index, comparisons in enumerate(worlds):
        parts += panel(index, comparisons)
    return "\n".join([*parts, "</svg>\n"])


def outage() -> str:
    """One process sends 30 requests a second, 1,000 in all, to a server that is down for 10 s, or limits the rate.

    Load relative to normal, the mean of three runs with different arrivals; the simulation has the same arrivals. The
    two agree if their peaks differ by at most 15 %. The picture is docs/measured-load.svg.
    """
    return report([compare(world) for world in WORLDS])[0]


def report(worlds: list[list[Comparison]], tolerance: float = TOLERANCE) -> tuple[str, bool]:
    """The table, and whether all agree. Draws the picture."""
    if tolerance == TOLERANCE:
        PICTURE.write_text(picture(worlds))
    rows = [["world", "policy", "peak, simulated", "peak, measured", "ratio"]]
    for comparisons in worlds:
        for one in comparisons:
            peaks = [f"{curve.peak:.2f}" for curve in (one.simulated, one.measured)]
            rows.append([one.world.title, one.policy, *peaks, f"{one.ratio:.2f}"])
    apart = sum(abs(one.ratio - 1) > tolerance for comparisons in worlds for one in comparisons)
    return f"{markdown(rows)}\n\n{f'{apart} do not agree' if apart else 'All agree'}.", not apart


def main(arguments: list[str]) -> int:
    if arguments == ["--short"]:
        text, agree = report([compare(shortened(world), seeds=(1,)) for world in WORLDS], SHORT_TOLERANCE)
    else:
        text, agree = report([compare(world) for world in WORLDS])
    print(text)
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Measures the Python clients against others, in turn in one run, against an nginx on this machine.

    pip install -r Tests/requirements.txt -r bench/python/requirements.txt
    PYTHONPATH=bindings/python/src BOXRETRY_LIBRARY=… python bench/python/compare.py [--rounds N] [--requests N]

`scripts/bench python` does that.

Prints tables: one request after another, and many at once under asyncio, beside pycurl's own way. Processor time is
that of the whole process, the engine's own thread included. Ratios are of one round; what is printed is the median of
all rounds, and their least and most.

pycurl from PyPI brings its own libcurl, which may be newer than the system's: the table says which. To compare
with the very same libcurl too: pip install --no-binary pycurl --no-deps --target FOLDER pycurl, and --pycurl FOLDER.
"""

# Types can be checked without all packages that are measured.
# mypy: disable-error-code="import-not-found,import-untyped,untyped-decorator"

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import gc
import importlib.util
import io
import sys
import threading
import time
from collections.abc import Awaitable, Coroutine, Iterator
from pathlib import Path
from typing import Any, Callable, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import aiohttp
import aiohttp_retry
import boxretry
import goals
import httpx
import pycurl
import requests
import tenacity
from box_sdk_gen.networking.box_network_client import BoxNetworkClient
from box_sdk_gen.networking.fetch_options import FetchOptions, ResponseFormat
from box_sdk_gen.networking.network import NetworkSession
from boxretry.aio import AsyncClient
from boxretry.integrations.box_sdk import RetryNetworkClient
from boxretry.integrations.httpx import RetryTransport
from boxretry.integrations.requests import RetryAdapter
from goals import Goal
from measure import markdown, median, raise_descriptor_limit, with_spread
from server import nginx
from urllib3.util.retry import Retry

#: Sends one request, and answers with the length of the body.
Send = Callable[[], int]


class Cost(NamedTuple):
    """What a request has taken, in seconds."""

    wall: float
    processor: float


# One after another: each makes what sends, once, and closes it after the last round.


@contextlib.contextmanager
def ours(url: str) -> Iterator[Send]:
    with boxretry.Client() as client:
        yield lambda: len(client.get(url).content)


@contextlib.contextmanager
def with_pycurl(url: str, module: Any = pycurl) -> Iterator[Send]:
    curl = module.Curl()
    curl.setopt(module.URL, url)

    def send() -> int:
        body = io.BytesIO()
        curl.setopt(module.WRITEDATA, body)
        curl.perform()
        assert curl.getinfo(module.RESPONSE_CODE) == 200
        return len(body.getvalue())

    yield send
    curl.close()


def other_pycurl(folder: Path) -> Any:
    """A second pycurl, in a separate folder."""
    (file,) = folder.glob("pycurl/_pycurl*.so")
    specification = importlib.util.spec_from_file_location("_pycurl", file)
    assert specification is not None and specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@contextlib.contextmanager
def with_requests(url: str) -> Iterator[Send]:
    retry = Retry(5, backoff_factor=1, status_forcelist=[429, 500, 502, 503, 504])
    yield from sessions(url, requests.adapters.HTTPAdapter(max_retries=retry))


@contextlib.contextmanager
def requests_on_ours(url: str) -> Iterator[Send]:
    yield from sessions(url, RetryAdapter())


def sessions(url: str, adapter: Any) -> Iterator[Send]:
    with requests.Session() as session:
        session.mount("http://", adapter)
        yield lambda: len(session.get(url).content)


@contextlib.contextmanager
def with_httpx(url: str) -> Iterator[Send]:
    with httpx.Client() as client:

        @tenacity.retry(stop=tenacity.stop_after_attempt(5), wait=tenacity.wait_exponential_jitter())
        def send() -> int:
            return len(client.get(url).raise_for_status().content)

        yield send


@contextlib.contextmanager
def httpx_on_ours(url: str) -> Iterator[Send]:
    with httpx.Client(transport=RetryTransport()) as client:
        yield lambda: len(client.get(url).raise_for_status().content)


@contextlib.contextmanager
def box_sdk(url: str) -> Iterator[Send]:
    yield fetch(url, BoxNetworkClient())


@contextlib.contextmanager
def box_sdk_on_ours(url: str) -> Iterator[Send]:
    client = RetryNetworkClient()
    yield fetch(url, client)
    client.close()


def fetch(url: str, network_client: Any) -> Send:
    session = NetworkSession(network_client=network_client)

    def send() -> int:
        options = FetchOptions(url, "GET", response_format=ResponseFormat.BINARY, network_session=session)
        content = network_client.fetch(options).content
        return len(content.read())

    return send


class Subject(NamedTuple):
    """Who sends, and whether on a thread that is not the main one (where nothing has to look out for signals)."""

    make: Callable[[str], contextlib.AbstractContextManager[Send]]
    in_thread: bool = False


def called_pycurl(module: Any) -> str:
    return f"pycurl ({module.version.split()[1]})"


def is_pycurl(who: str) -> bool:
    return who.startswith("pycurl")


ONE_AFTER_ANOTHER = {
    "boxretry, main thread": Subject(ours),
    "boxretry, another thread": Subject(ours, in_thread=True),
    called_pycurl(pycurl): Subject(with_pycurl),
    "requests + urllib3 Retry": Subject(with_requests),
    "requests on boxretry": Subject(requests_on_ours),
    "httpx + tenacity": Subject(with_httpx),
    "httpx on boxretry": Subject(httpx_on_ours),
    "Box SDK": Subject(box_sdk),
    "Box SDK on boxretry": Subject(box_sdk_on_ours),
}
BASE = "requests + urllib3 Retry"


def measure(send: Send, requests: int) -> Cost:
    for _ in range(20):
        assert send() == 256
    gc.collect()
    wall, processor = time.perf_counter(), time.process_time()
    for _ in range(requests):
        send()
    return Cost((time.perf_counter() - wall) / requests, (time.process_time() - processor) / requests)


def measured_in_thread(send: Send, requests: int) -> Cost:
    costs: list[Cost] = []
    thread = threading.Thread(target=lambda: costs.append(measure(send, requests)))
    thread.start()
    thread.join()
    return costs[0]


def one_after_another(url: str, rounds: int, requests: int) -> str:
    taken: dict[str, list[Cost]] = {name: [] for name in ONE_AFTER_ANOTHER}
    with contextlib.ExitStack() as stack:
        senders = {name: stack.enter_context(subject.make(url)) for name, subject in ONE_AFTER_ANOTHER.items()}
        for _ in range(rounds):
            for name, subject in ONE_AFTER_ANOTHER.items():
                run = measured_in_thread if subject.in_thread else measure
                taken[name].append(run(senders[name], requests))
    mine = taken["boxretry, main thread"]
    fastest = [
        min(costs, key=lambda cost: cost.wall) for costs in zip(*(taken[who] for who in taken if is_pycurl(who)))
    ]
    aims = [
        Goal("requests/s, times pycurl's", median(speeds(mine, fastest)), 1, is_least=True),
        Goal("requests/s, times requests'", median(speeds(mine, taken[BASE])), 3, is_least=True),
        Goal("CPU, of requests'", median(processor(mine, taken[BASE])), 0.33),
    ]
    return table(taken, BASE) + goals.said("python, one after another", aims)


# Many at once.


async def many(send: Callable[[], Awaitable[int]], in_flight: int, requests: int) -> Cost:
    async def worker(count: int) -> None:
        for _ in range(count):
            assert await send() == 256

    async def workers(each: int) -> None:
        await asyncio.gather(*(worker(each) for _ in range(in_flight)))

    await workers(1)
    gc.collect()
    each = max(requests // in_flight, 1)
    wall, processor = time.perf_counter(), time.process_time()
    await workers(each)
    count = each * in_flight
    return Cost((time.perf_counter() - wall) / count, (time.process_time() - processor) / count)


async def ours_at_once(url: str, in_flight: int, requests: int) -> Cost:
    async with AsyncClient(max_transfers=max(in_flight, 512)) as client:

        async def send() -> int:
            return len((await client.get(url)).content)

        return await many(send, in_flight, requests)


async def aiohttp_at_once(url: str, in_flight: int, requests: int) -> Cost:
    session = aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0))
    options = aiohttp_retry.ExponentialRetry(attempts=5)
    async with aiohttp_retry.RetryClient(client_session=session, retry_options=options) as client:

        async def send() -> int:
            async with client.get(url) as response:
                return len(await response.read())

        return await many(send, in_flight, requests)


async def pycurl_at_once(url: str, in_flight: int, requests: int, module: Any = pycurl) -> Cost:
    """CurlMulti, with its own loop instead of asyncio's."""
    multi = module.CurlMulti()
    bodies: dict[Any, io.BytesIO] = {}

    def begin(curl: Any) -> None:
        bodies[curl] = io.BytesIO()
        curl.setopt(module.WRITEDATA, bodies[curl])
        multi.add_handle(curl)

    def send_all(count: int) -> None:
        begun = ended = 0
        for curl in handles:
            begin(curl)
            begun += 1
        while ended < count:
            multi.perform()
            _, done, failed = multi.info_read()
            assert not failed, failed
            if not done:
                multi.select(1.0)
            for curl in done:
                multi.remove_handle(curl)
                assert curl.getinfo(module.RESPONSE_CODE) == 200 and len(bodies[curl].getvalue()) == 256
                ended += 1
                if begun < count:
                    begin(curl)
                    begun += 1

    handles = [module.Curl() for _ in range(in_flight)]
    for curl in handles:
        curl.setopt(module.URL, url)
    send_all(in_flight)
    gc.collect()
    wall, processor = time.perf_counter(), time.process_time()
    send_all(requests)
    cost = Cost((time.perf_counter() - wall) / requests, (time.process_time() - processor) / requests)
    for curl in handles:
        curl.close()
    multi.close()
    return cost


SendMany = Callable[[str, int, int], Coroutine[Any, Any, Cost]]

AT_ONCE: dict[str, SendMany] = {
    "boxretry.aio": ours_at_once,
    "aiohttp + aiohttp-retry": aiohttp_at_once,
    called_pycurl(pycurl): pycurl_at_once,
}
#: CurlMulti waits with select(), which takes no descriptor from 1,024 on.
MOST_OF_PYCURL = 64


def at_once(url: str, in_flight: int, rounds: int, requests: int) -> str:
    subjects = {who: run for who, run in AT_ONCE.items() if in_flight <= MOST_OF_PYCURL or not is_pycurl(who)}
    base = "aiohttp + aiohttp-retry"
    taken: dict[str, list[Cost]] = {name: [] for name in subjects}
    for _ in range(rounds):
        for name, run in subjects.items():
            taken[name].append(asyncio.run(run(url, in_flight, requests)))
    times = median(speeds(taken["boxretry.aio"], taken[base]))
    aims = [Goal("requests/s, times aiohttp's", times, 2, is_least=True)]
    return table(taken, base) + goals.said("python, at once", aims)


# What they took.


def speeds(mine: list[Cost], theirs: list[Cost]) -> list[float]:
    """Our requests/s to theirs, in each round."""
    return [their.wall / my.wall for my, their in zip(mine, theirs)]


def processor(mine: list[Cost], theirs: list[Cost]) -> list[float]:
    """Our processor time to theirs, in each round."""
    return [my.processor / their.processor for my, their in zip(mine, theirs)]


def table(taken: dict[str, list[Cost]], base: str) -> str:
    rows = [["who", "requests/s", f"times {base}", "µs of CPU each", "ratio"]]
    for name, costs in taken.items():
        rows.append(
            [
                name,
                f"{1 / median(cost.wall for cost in costs):,.0f}",
                with_spread(speeds(costs, taken[base])),
                f"{median(cost.processor for cost in costs) * 1e6:.1f}",
                with_spread(processor(costs, taken[base])),
            ]
        )
    return markdown(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--requests", type=int, default=3000, help="of each, in each round")
    parser.add_argument("--pycurl", type=Path, help="the folder of a pycurl that uses the system's libcurl")
    arguments = parser.parse_args()
    if arguments.pycurl:
        module = other_pycurl(arguments.pycurl)
        ONE_AFTER_ANOTHER[called_pycurl(module)] = Subject(functools.partial(with_pycurl, module=module))
        AT_ONCE[called_pycurl(module)] = functools.partial(pycurl_at_once, module=module)
    raise_descriptor_limit()
    with nginx() as server:
        url = f"{server.http}/"
        print(f"## One after another\n\n{one_after_another(url, arguments.rounds, arguments.requests)}\n", flush=True)
        for in_flight in (64, 1_000):
            results = at_once(url, in_flight, arguments.rounds, max(arguments.requests, 10 * in_flight))
            print(f"## {in_flight:,} in flight\n\n{results}\n", flush=True)


if __name__ == "__main__":
    main()

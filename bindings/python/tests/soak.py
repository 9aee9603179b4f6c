"""Sends very many requests in each of several ways, and checks that nothing is left behind.

    python bindings/python/tests/soak.py [--requests N] [WAY…]

For each way, it prints what the process has in use after a tenth of the requests, and the growth after all of them.
It fails if that is more than a fixed small number of objects and kilobytes, for any number of requests. It also prints
how many objects the garbage collector found in cycles: this package must not make any.

The environment is that of the tests (`BOXRETRY_LIBRARY`, and the fault server). test_soak.py runs it in the suite.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import gc
import io
import itertools
import os
import sys
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from pathlib import Path
from typing import Any, Callable, NamedTuple

from memory import Footprint, footprint

from boxretry import (
    AttemptRequest,
    Client,
    ConnectError,
    CustomRetryStrategy,
    Event,
    Outcome,
    RetryStrategy,
    TokenSource,
)
from boxretry.aio import AsyncClient
from boxretry.aio import TokenSource as AsyncTokenSource

#: The fault server; its class is in another folder.
Server = Any
#: Sends one request, and uses the response.
Send = Callable[[], object]

#: The allowed growth, for any number of requests: caches of Python, of the packages and of libcurl. Python gets its
#: memory from the system in pieces of 1 MiB: resident memory may grow by one of them.
MOST = Footprint(objects=100, blocks=500, heap=256 << 10, resident=2048, descriptors=2)

PIECES = [b"a" * 1000, b"b" * 3000]


class Result(NamedTuple):
    """The result of a way."""

    before: Footprint
    growth: Footprint
    #: Objects that only the garbage collector has freed.
    cyclic: int


def url_of(server: Server, statuses: str = "200", **parameters: Any) -> str:
    """A URL that is answered in this way each time, and that the server does not record."""
    url: str = server.url(f"/seq/{statuses}", {"id": server.new_id(), "quiet": "", "cycle": "", **parameters})
    return url


# --- The blocking client ---


@contextlib.contextmanager
def get(server: Server) -> Iterator[Send]:
    url = url_of(server)
    with Client() as client:
        yield lambda: (client.get(url).content, client.get(url).headers["Content-Length"])


@contextlib.contextmanager
def get_in_thread(server: Server) -> Iterator[Send]:
    """On a thread that does not have to check for signals."""
    url = url_of(server)
    with Client() as client:

        def send() -> None:
            thread = threading.Thread(target=lambda: [client.get(url).content for _ in range(50)])
            thread.start()
            thread.join()

        yield send


@contextlib.contextmanager
def retries(server: Server) -> Iterator[Send]:
    url = url_of(server, "503,200", h="Retry-After:0")
    with Client() as client:
        yield lambda: [attempt.status for attempt in client.get(url).attempts]


@contextlib.contextmanager
def failures(server: Server) -> Iterator[Send]:
    url = f"http://127.0.0.1:{server.ports['refused']}/"
    with Client(RetryStrategy(max_retries_on_exception=0)) as client:

        def send() -> None:
            attempts = []
            try:
                client.get(url)
            except ConnectError as error:
                attempts = error.attempts
            assert len(attempts) == 1

        yield send


class Never(CustomRetryStrategy):
    """Python code that decides about each outcome."""

    def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
        return False


@contextlib.contextmanager
def callbacks(server: Server) -> Iterator[Send]:
    """All callbacks except those for bodies."""
    url = url_of(server)
    seen: list[Event] = []

    def told(event: Event) -> None:
        seen[:] = [event]

    def change(request: AttemptRequest) -> None:
        request.set_header("X-A", "b")

    with Client(Never(), on_event=told, before_attempt=change) as client:
        yield lambda: client.get(url, user_data=object(), on_progress=id).content


@contextlib.contextmanager
def tokens(server: Server) -> Iterator[Send]:
    """A new token for each request, because the server always rejects the current one."""
    url = url_of(server, "401,200", h="Retry-After:0")
    number = itertools.count()
    with TokenSource(lambda: (f"token-{next(number)}", 3600)) as source, Client(token_source=source) as client:
        yield lambda: client.get(url).content


@contextlib.contextmanager
def stream(server: Server) -> Iterator[Send]:
    url = url_of(server, size="5000")
    with Client() as client:

        def send() -> None:
            with client.stream("GET", url) as response:
                assert sum(map(len, response.iter_bytes())) == 5000

        yield send


@contextlib.contextmanager
def upload(server: Server) -> Iterator[Send]:
    url = url_of(server)
    with Client() as client:
        yield lambda: client.post(url, data=lambda: (piece for piece in PIECES)).content


# --- The asynchronous client ---


@contextlib.contextmanager
def in_loop(one: Callable[[AsyncClient], Coroutine[Any, Any, object]], at_once: int = 10) -> Iterator[Send]:
    """Runs `at_once` tasks at a time on one event loop, again and again."""
    loop = asyncio.new_event_loop()
    client = AsyncClient()

    async def crowd() -> None:
        await asyncio.gather(*(one(client) for _ in range(at_once)))

    try:
        yield lambda: loop.run_until_complete(crowd())
    finally:
        loop.run_until_complete(client.aclose())
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.close()


@contextlib.contextmanager
def async_get(server: Server) -> Iterator[Send]:
    url = url_of(server)

    async def one(client: AsyncClient) -> None:
        assert (await client.get(url)).content

    with in_loop(one) as send:
        yield send


@contextlib.contextmanager
def async_tokens(server: Server) -> Iterator[Send]:
    """Like `tokens`, with a provider on the loop."""
    url, number = url_of(server, "401,200", h="Retry-After:0"), itertools.count()

    async def provide() -> tuple[str, float]:
        await asyncio.sleep(0)
        return f"token-{next(number)}", 3600

    with AsyncTokenSource(provide) as source:

        async def one(client: AsyncClient) -> None:
            assert (await client.get(url, token_source=source)).attempts

        with in_loop(one) as send:
            yield send


@contextlib.contextmanager
def async_cancelled(server: Server) -> Iterator[Send]:
    url = url_of(server, "stall")

    async def one(client: AsyncClient) -> None:
        task = asyncio.ensure_future(client.get(url))
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])

    with in_loop(one) as send:
        yield send


@contextlib.contextmanager
def async_stream(server: Server) -> Iterator[Send]:
    url = url_of(server, size="5000")

    async def one(client: AsyncClient) -> None:
        async with client.stream("GET", url) as response:
            assert len(await response.read()) == 5000

    with in_loop(one) as send:
        yield send


@contextlib.contextmanager
def async_upload(server: Server) -> Iterator[Send]:
    url = url_of(server)

    async def pieces() -> AsyncIterator[bytes]:
        for piece in PIECES:
            yield piece

    async def one(client: AsyncClient) -> None:
        assert (await client.post(url, data=pieces)).content

    with in_loop(one) as send:
        yield send


# --- The adapters ---


@contextlib.contextmanager
def requests_adapter(server: Server) -> Iterator[Send]:
    import requests

    from boxretry.integrations.requests import RetryAdapter

    url, long = url_of(server), url_of(server, size="5000")
    with requests.Session() as session:
        session.mount("http://", RetryAdapter())

        def send() -> None:
            assert session.get(url).content
            assert session.post(url, data=(piece for piece in PIECES)).ok
            with session.get(long, stream=True) as response:
                assert sum(map(len, response.iter_content(1000))) == 5000

        yield send


@contextlib.contextmanager
def httpx_transport(server: Server) -> Iterator[Send]:
    import httpx

    from boxretry.integrations.httpx import RetryTransport

    url, long = url_of(server), url_of(server, size="5000")
    with httpx.Client(transport=RetryTransport()) as client:

        def send() -> None:
            assert client.get(url).content
            assert client.post(url, content=(piece for piece in PIECES)).is_success
            with client.stream("GET", long) as response:
                assert sum(map(len, response.iter_bytes())) == 5000

        yield send


@contextlib.contextmanager
def httpx_async_transport(server: Server) -> Iterator[Send]:
    import httpx

    from boxretry.integrations.httpx import AsyncRetryTransport

    url, long, loop = url_of(server), url_of(server, size="5000"), asyncio.new_event_loop()
    client = httpx.AsyncClient(transport=AsyncRetryTransport())

    async def pieces() -> AsyncIterator[bytes]:
        for piece in PIECES:
            yield piece

    async def one() -> None:
        assert (await client.get(url)).content
        assert (await client.post(url, content=pieces())).is_success
        async with client.stream("GET", long) as response:
            assert len(await response.aread()) == 5000

    yield lambda: loop.run_until_complete(one())
    loop.run_until_complete(client.aclose())
    loop.run_until_complete(loop.shutdown_default_executor())
    loop.close()


@contextlib.contextmanager
def box_sdk_client(server: Server) -> Iterator[Send]:
    from box_sdk_gen.networking.fetch_options import FetchOptions, MultipartItem, ResponseFormat

    from boxretry.integrations.box_sdk import RetryNetworkClient

    url, long = url_of(server), url_of(server, size="5000")
    client = RetryNetworkClient()

    def send() -> None:
        form = [MultipartItem(part_name="file", file_stream=io.BytesIO(b"a" * 5000), file_name="a")]
        options = FetchOptions(url, "POST", multipart_data=form, content_type="multipart/form-data")
        assert client.fetch(options).status == 200
        download = client.fetch(FetchOptions(long, "GET", response_format=ResponseFormat.BINARY))
        assert download.content is not None
        assert len(download.content.read()) == 5000

    yield send
    client.close()


class Way(NamedTuple):
    """A way to send requests."""

    open: Callable[[Server], contextlib.AbstractContextManager[Send]]
    #: How many requests each step sends.
    requests: int = 1
    #: The host package itself makes cycles.
    has_cycles: bool = False


WAYS = {
    "Client.get": Way(get, 2),
    "Client.get, another thread": Way(get_in_thread, 50),
    "Client.get, retried": Way(retries),
    "Client.get, refused": Way(failures),
    "Client.get, callbacks": Way(callbacks),
    "Client.get, tokens": Way(tokens),
    "Client.stream": Way(stream),
    "Client.post, a generator": Way(upload),
    "AsyncClient.get": Way(async_get, 10),
    "AsyncClient.get, tokens": Way(async_tokens, 10),
    "AsyncClient.get, cancelled": Way(async_cancelled, 10),
    "AsyncClient.stream": Way(async_stream, 10),
    "AsyncClient.post, a generator": Way(async_upload, 10),
    "requests": Way(requests_adapter, 3, has_cycles=True),
    "httpx": Way(httpx_transport, 3, has_cycles=True),
    "httpx, async": Way(httpx_async_transport, 3, has_cycles=True),
    "Box SDK": Way(box_sdk_client, 2, has_cycles=True),
}


def soak(way: Way, server: Server, requests: int) -> Result:
    """Sends this number of requests."""
    with way.open(server) as send:

        def send_many(count: int) -> None:
            for _ in range(max(1, count // way.requests)):
                send()

        def settled() -> Footprint:
            # A generator that was collected is closed when its loop runs the next time.
            gc.collect()
            send()
            return footprint()

        send_many(requests // 10)
        before = settled()
        if not way.has_cycles:
            gc.disable()
        try:
            send_many(requests - requests // 10)
            cyclic = gc.collect()
        finally:
            gc.enable()
        return Result(before, settled().growth(before), cyclic)


def faults_of(way: Way, result: Result) -> list[str]:
    """The faults of a result; empty if there are none."""
    most = MOST._replace(resident=max(MOST.resident, result.before.resident // 100))
    wrong = [
        f"{grown} {name} more" for name, grown, limit in zip(Footprint._fields, result.growth, most) if grown > limit
    ]
    if not way.has_cycles and result.cyclic > MOST.objects:
        wrong.append(f"{result.cyclic} objects in cycles")
    return wrong


def main() -> None:
    from fault_server import FaultServer

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ways", nargs="*", metavar="WAY", help=", ".join(WAYS))
    parser.add_argument("--requests", type=int, default=100_000, help="in each way")
    arguments = parser.parse_args()
    failed = False
    print("| way | objects | more | blocks | more | heap, KiB | more | resident, KiB | more | in cycles |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in arguments.ways or WAYS:
        with FaultServer() as server:
            result = soak(WAYS[name], server, arguments.requests)
        before, growth = result.before, result.growth
        numbers = [
            *(before.objects, growth.objects, before.blocks, growth.blocks),
            *(before.heap // 1024, growth.heap // 1024, before.resident, growth.resident, result.cyclic),
        ]
        print(f"| {name} | {' | '.join(f'{number:,}' for number in numbers)} |", flush=True)
        for fault in faults_of(WAYS[name], result):
            failed = True
            print(f"{name}: {fault}", file=sys.stderr)
    sys.exit(failed)


if __name__ == "__main__":
    own = Path(__file__).resolve().parents[3] / "Tests" / "server"
    sys.path.append(os.environ.get("FAULT_SERVER", str(own)))
    main()

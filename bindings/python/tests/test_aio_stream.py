"""AsyncClient.stream(), and bodies from asynchronous iterators."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import threading
from collections.abc import AsyncIterator, Awaitable, Iterator
from pathlib import Path
from typing import Any, Callable

import pytest
from loops import in_loop, until

from boxretry import (
    CancelledError,
    Client,
    ClosedError,
    ConnectError,
    InvalidArgumentError,
    NetworkError,
    Progress,
    Reason,
    ResponseHead,
    RetryStrategy,
    SourceError,
    Timeout,
)
from boxretry.aio import AsyncClient

Server = Any

KINDS = ["http", "h2"]


@pytest.fixture(name="server")
def _server(tls_server: Server) -> Server:
    return tls_server


def over(server: Server, work: Callable[[AsyncClient], Awaitable[None]]) -> None:
    """Like `in_loop()`, with a client that trusts the server."""
    in_loop(work, ca_file=server.files["ca"])


def pattern(size: int) -> bytes:
    """The bytes that the server sends."""
    return b"".join(b"%015d\n" % (offset % 1_000_000) for offset in range(0, size + 16, 16))[:size]


# Downloads


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_is_read_in_pieces(server: Server, kind: str) -> None:
    async def work(client: AsyncClient) -> None:
        url = server.url("/seq/503,200", {"id": server.new_id(), "size": 300_000}, kind=kind)
        async with client.stream("GET", url) as stream:
            assert (stream.status, stream.headers["content-length"]) == (200, "300000")
            assert (stream.url, stream.http_version) == (url, 20 if kind == "h2" else 11)
            pieces = [piece async for piece in stream.iter_bytes(70_000)]
            assert [len(each) for each in pieces] == [70_000] * 4 + [20_000]
            assert b"".join(pieces) == pattern(300_000)
            assert [attempt.status for attempt in (await stream.response()).attempts] == [503, 200]
            assert await stream.read() == b""
        assert (await stream.response()).status == 200

    over(server, work)


@pytest.mark.parametrize("chunk_size", [1, 16, 299_999, 300_000, 10**9, None])
def test_pieces_of_any_size(server: Server, chunk_size: int | None) -> None:
    size = 1_000 if chunk_size == 1 else 300_000

    async def work(client: AsyncClient) -> None:
        async with client.stream("GET", server.url("/seq/200", id=server.new_id(), size=size)) as stream:
            assert b"".join([piece async for piece in stream.iter_bytes(chunk_size)]) == pattern(size)

    over(server, work)


@pytest.mark.parametrize("begun", [0, 50])
def test_status_and_headers_are_there_at_the_beginning(server: Server, begun: int) -> None:
    """Given a body of which only the beginning has arrived, or nothing."""
    id = server.new_id()

    async def work(client: AsyncClient) -> None:
        url = server.url("/seq/503,200", {"id": id, "size": 100, "2.stall_after": begun})
        async with client.stream("GET", url) as stream:
            assert (stream.status, stream.headers["Content-Length"]) == (200, "100")

    over(server, work)
    server.seen(id, ended=True)


def test_other_responses_than_a_2xx_can_be_read_too(server: Server) -> None:
    async def work(client: AsyncClient) -> None:
        for status, body in ((404, b"why"), (204, b"")):
            url = server.url(f"/seq/{status}", id=server.new_id(), body="why")
            async with client.stream("POST", url, data=b"x") as stream:
                assert (stream.status, stream.http_version, await stream.read()) == (status, 11, body)
                assert (await stream.response()).content == body

    over(server, work)


@pytest.mark.parametrize("kind", KINDS)
def test_no_more_than_some_waits_for_a_slow_reader(server: Server, kind: str) -> None:
    """Given an endless body: the transfer pauses, and continues when the body is read. A pause is not idle time."""
    told: list[Progress] = []

    async def work(client: AsyncClient) -> None:
        async with client.stream(
            "GET",
            server.url("/seq/200", {"id": server.new_id(), "size": "endless"}, kind=kind),
            on_progress=told.append,
            timeout=Timeout(timeout_interval_for_request_ms=10_000),
        ) as stream:
            read, pieces = 0, stream.iter_bytes(100_000)
            async for piece in pieces:
                read += len(piece)
                assert all(progress.received <= read + 2_000_000 for progress in told)
                told.clear()
                if read >= 10_000_000:
                    break

    over(server, work)


def test_k1_cancelling_the_task_cancels_the_call(server: Server) -> None:
    """While it waits for the head, for a piece, and for the end."""

    async def work(client: AsyncClient) -> None:
        for stage, fault in (("head", "stall"), ("piece", "stall:body"), ("end", "stall:body")):
            id, entered = server.new_id(), asyncio.Event()

            async def read(id: str = id, stage: str = stage, fault: str = fault, entered: Any = entered) -> None:
                async with client.stream("GET", server.url(f"/seq/{fault}", id=id)) as stream:
                    entered.set()
                    await (stream.read() if stage == "piece" else stream.response())

            task = asyncio.ensure_future(read())
            await (asyncio.to_thread(server.seen, id, requests=1) if stage == "head" else entered.wait())
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.to_thread(server.seen, id, ended=True)
        await until(lambda: client.stats().calls_ended == 3)

    over(server, work)


def test_who_leaves_early_cancels(server: Server) -> None:
    id = server.new_id()

    async def work(client: AsyncClient) -> None:
        async with client.stream("GET", server.url("/seq/200", id=id, size="endless")) as stream:
            pieces = stream.iter_bytes()
            assert await pieces.__anext__()
        await asyncio.to_thread(server.seen, id, ended=True)
        with pytest.raises(ClosedError):
            await pieces.__anext__()
        with pytest.raises(ClosedError):
            await stream.response()
        await stream.aclose()

    over(server, work)


def test_a_stream_that_nobody_has_any_more_is_cancelled(server: Server) -> None:
    id = server.new_id()

    async def work(client: AsyncClient) -> None:
        stream = await client.stream("GET", server.url("/seq/200", id=id, size="endless")).__aenter__()
        pieces = stream.iter_bytes()
        assert await pieces.__anext__()
        await pieces.aclose()  # type: ignore[attr-defined]  # It is a generator.
        del stream, pieces
        gc.collect()
        await until(lambda: client.stats().calls_ended == 1)

    over(server, work)
    server.seen(id, ended=True)


def test_a_stream_is_used_in_its_block_only(server: Server) -> None:
    async def work(client: AsyncClient) -> None:
        stream = client.stream("GET", server.url("/seq/200", id=server.new_id()))
        for wrong in (lambda: stream.status, lambda: stream.headers):
            with pytest.raises(ClosedError):
                wrong()
        with pytest.raises(ClosedError):
            await stream.read()
        await stream.aclose()
        async with stream:
            with pytest.raises(ClosedError):
                await stream.__aenter__()
            with pytest.raises(InvalidArgumentError, match="chunk_size"):
                stream.iter_bytes(0)
        for arguments in ({"sink": print}, {"to_file": "x"}):
            given: dict[str, Any] = arguments
            with pytest.raises(TypeError, match="cannot be used with a stream"):
                client.stream("GET", "http://127.0.0.1:1/", **given)

    over(server, work)


def test_what_ends_the_call_is_raised(server: Server) -> None:
    """On entering, and in the middle, after what arrived before has been read (B15)."""

    async def work(client: AsyncClient) -> None:
        with pytest.raises(ConnectError):
            async with client.stream("GET", f"http://127.0.0.1:{server.ports['refused']}/"):
                pass
        read: list[bytes] = []
        url = server.url("/seq/200", id=server.new_id(), size=1_000, close_after=500)
        async with client.stream("GET", url) as stream:
            pieces = stream.iter_bytes()
            while sum(map(len, read)) < 500:
                read.append(await pieces.__anext__())
            with pytest.raises(NetworkError) as raised:
                await pieces.__anext__()
            assert stream.status == 200
        assert b"".join(read) == pattern(500)
        assert raised.value.attempts[-1].reason is Reason.SINK_CANNOT_RESTART

    over(server, work)


def test_many_streams_at_once_need_no_threads(server: Server) -> None:
    async def work(client: AsyncClient) -> None:
        async def read() -> int:
            url = server.url("/seq/200", id=server.new_id(), size=100_000, quiet="")
            async with client.stream("GET", url) as stream:
                assert threading.active_count() == 1
                return len(await stream.read())

        assert await asyncio.gather(*(read() for _ in range(50))) == [100_000] * 50

    over(server, work)


def test_a_closed_client_ends_its_streams(server: Server) -> None:
    async def work(client: AsyncClient) -> None:
        async with client.stream("GET", server.url("/seq/200", id=server.new_id(), stall_after=0)) as stream:
            await client.aclose()
            with pytest.raises(CancelledError):
                await stream.read()

    over(server, work)


def test_a_sink_and_files_are_as_for_the_blocking_client(server: Server, tmp_path: Path) -> None:
    """A download that continues where it stopped, a form, progress, and a sink that gets the response's head."""
    told: list[Progress] = []
    heads: list[ResponseHead] = []

    class Collects:
        content = b""

        def begin(self, head: ResponseHead) -> None:
            heads.append(head)

        def write(self, data: bytes) -> None:
            self.content += data

    async def work(client: AsyncClient) -> None:
        id, sink = server.new_id(), Collects()
        parameters = {"id": id, "size": 300_000, "h": 'ETag:"1"', "1.close_after": 100_000}
        response = await client.get(
            server.url("/seq/200,200", parameters), to_file=tmp_path / "out", resume=True, on_progress=told.append
        )
        assert (response.status, (tmp_path / "out").read_bytes()) == (200, pattern(300_000))
        assert any(name == "Range" for name, _ in server.seen(id)[1]["headers"])
        url = server.url("/seq/200", id=id)
        assert (await client.post(url, files={"part": tmp_path / "out"}, data={"a": "b"}, sink=sink)).status == 200
        assert server.seen(id)[-1]["body_length"] > 300_000
        assert (sink.content, [head.status for head in heads]) == (pattern(64), [200])

    over(server, work)
    assert told[-1].received == 300_000


# Uploads


async def chunks(*pieces: str | bytes) -> AsyncIterator[str | bytes]:
    for piece in pieces:
        await asyncio.sleep(0)
        yield piece


class Lasting:
    """An object that can be iterated over repeatedly."""

    def __aiter__(self) -> AsyncIterator[str | bytes]:
        return chunks("a", b"", b"b")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("how", ["lasting", "generator function", "function", "blocking function"])
def test_r3_what_can_be_made_anew_is_sent_again(server: Server, kind: str, how: str) -> None:
    id = server.new_id()
    data: dict[str, Any] = {
        "lasting": Lasting(),
        "generator function": lambda: chunks("a", b"b"),
        "function": Lasting,
        "blocking function": lambda: iter(["a", b"b"]),
    }

    async def work(client: AsyncClient) -> None:
        url = server.url("/seq/503,307,200", {"id": id}, kind=kind)
        assert (await client.put(url, data=data[how])).status == 200

    over(server, work)
    assert [seen["body_start"] for seen in server.seen(id)] == ["ab"] * 3


@pytest.mark.parametrize("kind", KINDS)
def test_r3_an_iterator_is_sent_once(server: Server, kind: str) -> None:
    id = server.new_id()

    async def work(client: AsyncClient) -> None:
        response = await client.put(server.url("/seq/503,200", {"id": id}, kind=kind), data=chunks("a", b"b"))
        assert (response.status, response.attempts[-1].reason) == (503, Reason.NOT_REPLAYABLE)
        with pytest.raises(InvalidArgumentError, match="data_length"):
            await client.put("http://127.0.0.1:1/", data=chunks(), data_length=-1)
        assert (await client.put(server.url("/echo", id=id), data=chunks("abc"), data_length=3)).status == 200

    over(server, work)
    first, last = server.seen(id)
    assert first["body_start"] == "ab"
    assert ["Content-Length", "3"] in last["headers"]


def test_bodies_go_both_ways_at_once(server: Server) -> None:
    async def work(client: AsyncClient) -> None:
        async with client.stream("PUT", server.url("/echo"), data=chunks(*([b"x" * 1000] * 10_000))) as stream:
            assert b'"body_length": 10000000' in await stream.read()

    over(server, work)


def test_both_bodies_pause_and_go_on_by_themselves(server: Server) -> None:
    """Given a server that answers before it has read the body, and larger bodies than the buffers hold."""

    async def work(client: AsyncClient) -> None:
        url = server.url("/seq/200", {"id": server.new_id(), "size": 10_000_000, "early": ""})
        async with client.stream("PUT", url, data=chunks(*([b"x" * 50_000] * 200))) as stream:
            assert await stream.read() == pattern(10_000_000)

    over(server, work)


@pytest.mark.parametrize("kind", KINDS)
def test_an_iterator_is_not_asked_far_ahead_of_the_transfer(server: Server, kind: str) -> None:
    """Given a server that does not read further, then it gives only what kernels and windows take."""
    given, last = [0], [0.0]
    size, piece = 100_000_000, b"x" * 50_000

    async def large() -> AsyncIterator[bytes]:
        for _ in range(size // len(piece)):
            given[0] += len(piece)
            last[0] = asyncio.get_running_loop().time()
            yield piece

    async def work(client: AsyncClient) -> None:
        parameters = {"id": server.new_id(), "read_pause_after": 10_000, "read_pause": 600_000}
        task = asyncio.ensure_future(client.put(server.url("/echo", parameters, kind=kind), data=large()))
        await until(lambda: given[0] > 1_000_000)
        await until(lambda: asyncio.get_running_loop().time() > last[0] + 0.5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    over(server, work)
    assert given[0] < size / 2


@pytest.mark.parametrize("kind", KINDS)
def test_m1_a_slow_iterator_does_not_hold_a_thread_and_its_idle_time_rests(server: Server, kind: str) -> None:
    async def slow() -> AsyncIterator[bytes]:
        yield b"a"
        await asyncio.sleep(0.5)
        assert threading.active_count() == 1
        yield b"b"

    async def work(client: AsyncClient) -> None:
        idle = Timeout(timeout_interval_for_request_ms=200)
        response = await client.put(server.url("/echo", {}, kind=kind), data=slow(), timeout=idle)
        assert response.json()["body_length"] == 2

    over(server, work)


@pytest.mark.parametrize("raised", [KeyError("mine"), TypeError])
def test_what_an_iterator_raises_comes_out_of_the_await(server: Server, raised: Any) -> None:
    """Also if it yields an object that is not a piece of a body."""

    async def fails() -> AsyncIterator[Any]:
        yield b"a"
        if raised is TypeError:
            yield 5
        raise raised

    async def work(client: AsyncClient) -> None:
        with pytest.raises(SourceError) as error:
            await client.put(server.url("/echo", id=server.new_id()), data=fails())
        assert isinstance(error.value.__cause__, type(raised) if raised is not TypeError else TypeError)
        with pytest.raises(SourceError) as error:
            async with client.stream("PUT", server.url("/echo", id=server.new_id()), data=fails):
                pass
        assert error.value.__cause__ is not None

    over(server, work)


@pytest.mark.parametrize("how", ["task", "call", "stream"])
def test_k1_the_end_of_the_call_ends_the_iterator(server: Server, how: str) -> None:
    """Given an iterator that hangs: the task is canceled, the call is answered early, or the stream is left."""
    log: list[str] = []

    async def hangs() -> AsyncIterator[bytes]:
        log.append("begun")
        try:
            yield b"a"
            log.append("hangs")
            await asyncio.sleep(3600)
        finally:
            log.append("ended")

    async def work(client: AsyncClient) -> None:
        if how == "task":
            task = asyncio.ensure_future(client.put(server.url("/echo", id=server.new_id()), data=hangs))
            await until(lambda: "hangs" in log)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
        elif how == "call":
            once, brief = RetryStrategy(max_retries_on_exception=0), Timeout(timeout_interval_for_resource_ms=300)
            with pytest.raises(NetworkError):
                await client.put(server.url("/echo", id=server.new_id()), data=hangs, timeout=brief, strategy=once)
        else:
            url = server.url("/seq/200", id=server.new_id(), early="", stall_after=0)
            async with client.stream("PUT", url, data=hangs) as stream:
                assert stream.status == 200
                await until(lambda: "hangs" in log)
        await until(lambda: log == ["begun", "hangs", "ended"])
        await until(lambda: len(asyncio.all_tasks()) == 1)

    over(server, work)


def test_a_generator_that_was_made_for_an_attempt_is_closed_after_it(server: Server) -> None:
    """Given a server that answers while the iterator of each attempt has more."""
    made, closed = list[int](), list[int]()

    async def endless() -> AsyncIterator[bytes]:
        made.append(1)
        try:
            while True:
                yield b"x" * 100_000
        finally:
            closed.append(1)

    async def work(client: AsyncClient) -> None:
        url = server.url("/seq/503,404", {"early": "", "close": "end", "quiet": ""}, id=server.new_id())
        with contextlib.suppress(NetworkError):
            await client.put(url, data=endless)
        await until(lambda: bool(made) and closed == made)

    over(server, work)


def test_a_blocking_client_refuses_an_asynchronous_iterator() -> None:
    with Client() as client, pytest.raises(TypeError, match="AsyncClient"):
        client.put("http://127.0.0.1:1/", data=Lasting())


def test_a_blocking_iterator_is_still_read(server: Server) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"a"
        yield b"b"

    async def work(client: AsyncClient) -> None:
        for data in (pieces(), ["a", "b"], pieces):
            assert (await client.put(server.url("/echo"), data=data)).json()["body_length"] == 2

    over(server, work)

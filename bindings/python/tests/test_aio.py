"""AsyncClient: calls that are awaited, and what happens to them when their tasks are canceled."""

from __future__ import annotations

import asyncio
import gc
import selectors
import sys
import threading
import weakref
from collections.abc import Coroutine
from typing import Any, Callable

import pytest
from loops import in_loop, until

from boxretry import (
    Action,
    BoxRetryError,
    CallbackFailedError,
    CancelledError,
    ClosedError,
    ConnectError,
    CustomRetryStrategy,
    DeadlineError,
    DelaySource,
    Event,
    InvalidArgumentError,
    Outcome,
    Response,
    SinkError,
    SourceError,
    WaitTimeoutError,
)
from boxretry.aio import AsyncClient, AsyncCustomRetryStrategy, TokenSource

Server = Any


@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete", "head", "options"])
def test_there_is_a_method_for_each(server: Server, method: str) -> None:
    id = server.new_id()
    url = server.url("/seq/200", id=id)
    response = in_loop(lambda client: getattr(client, method)(url, headers={"X-Mine": "1"}, params={"size": "5"}))
    assert response.status == 200
    (seen,) = server.seen(id)
    assert seen["method"] == method.upper()
    assert ["X-Mine", "1"] in seen["headers"]
    assert seen["path"].endswith("&size=5")


def test_bodies_move_in_pieces_and_hooks_are_asked(server: Server) -> None:
    """Given a body that is made again for each attempt, a sink, and a hook that signs, with a redirect between them."""
    id, taken = server.new_id(), bytearray()

    async def work(client: AsyncClient) -> Response:
        return await client.put(
            server.url("/seq/307,503,200", {"200.body": "hello", "503.h": "Retry-After:0"}, id=id),
            data=lambda: iter(["a", b"b"]),
            sink=taken.extend,
            before_attempt=lambda request: request.set_header("X-Attempt", str(request.attempt_number)),
            idempotency_key="key",
        )

    response = in_loop(work)
    assert (response.status, response.sink_length, bytes(taken)) == (200, 5, b"hello")
    assert [redirect.status for redirect in response.redirects] == [307]
    signed = [dict(seen["headers"])["X-Attempt"] for seen in server.seen(id)]
    assert signed[0] == signed[1] == "1"
    assert signed[-1] == "2"
    assert {seen["body_start"] for seen in server.seen(id)} == {"ab"}


@pytest.mark.parametrize(
    ("arguments", "raised"),
    [
        ({"data": lambda: (1 / 0 for _ in range(1))}, SourceError),
        ({"sink": lambda piece: 1 / 0}, SinkError),
        ({"before_attempt": lambda request: 1 / 0}, CallbackFailedError),
    ],
)
def test_what_a_callback_raises_is_the_cause(server: Server, arguments: Any, raised: type[BoxRetryError]) -> None:
    url = server.url("/seq/200", {"body": "hello"}, id=server.new_id())
    with pytest.raises(raised) as error:
        in_loop(lambda client: client.put(url, **arguments))
    assert isinstance(error.value.__cause__, ZeroDivisionError)


def test_a_response_has_all_its_parts(server: Server) -> None:
    url = server.url("/seq/503,200", {"200.body": "hello", "h": "X-A:1"}, id=server.new_id())
    response = in_loop(lambda client: client.post(url, json=[1]))
    assert (response.status, response.content, response.headers["x-a"], response.url) == (200, b"hello", "1", url)
    assert [attempt.status for attempt in response.attempts] == [503, 200]


def test_errors_are_those_of_the_blocking_client(server: Server) -> None:
    refused = f"http://127.0.0.1:{server.ports['refused']}/"
    stall = server.url("/seq/stall", id=server.new_id())

    async def work(client: AsyncClient) -> None:
        with pytest.raises(ConnectError) as raised:
            await client.get(refused)
        assert len(raised.value.attempts) == 3
        with pytest.raises(DeadlineError):
            await client.get(stall, deadline=0.05)
        with pytest.raises(InvalidArgumentError):
            await client.get("nonsense:")
        with pytest.raises(TypeError, match="wrong"):
            await client.get(stall, wrong=1)  # type: ignore[call-arg]
        await until(lambda: client.stats().calls_started == client.stats().calls_ended == 2)

    in_loop(work)


@pytest.mark.parametrize("path", ["/seq/stall", "/seq/503"])
def test_k1_cancelling_the_task_cancels_the_call(server: Server, path: str) -> None:
    """During an attempt, and during a wait of 60 s."""
    id = server.new_id()

    async def work(client: AsyncClient) -> None:
        task = asyncio.ensure_future(client.get(server.url(path, {"h": "Retry-After:60"}, id=id)))
        await until(lambda: client.stats().attempts == 1)
        await asyncio.to_thread(server.seen, id, requests=1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: client.stats().calls_ended == 1)

    in_loop(work)
    assert len(server.seen(id, ended=True)) == 1


def test_k1_a_time_out_of_asyncio_cancels_the_call(server: Server) -> None:
    async def work(client: AsyncClient) -> None:
        with pytest.raises(asyncio.TimeoutError):
            await asyncio.wait_for(client.get(server.url("/seq/stall", id=server.new_id())), 0.05)
        await until(lambda: client.stats().calls_ended == 1)

    in_loop(work)


def test_k1_cancelling_at_the_very_end(server: Server) -> None:
    """Given calls that end and are canceled in the same turns of the loop, then each has one of the two results."""
    url = server.url("/seq/200", id=server.new_id(), quiet="")

    async def work(client: AsyncClient) -> None:
        for turns in range(200):
            task = asyncio.ensure_future(client.get(url))
            for _ in range(turns % 40):
                await asyncio.sleep(0)
            task.cancel()
            (result,) = await asyncio.gather(task, return_exceptions=True)
            assert isinstance(result, asyncio.CancelledError) or result.status == 200  # type: ignore[union-attr]
        await until(lambda: client.stats().calls_ended == client.stats().calls_started)

    in_loop(work)


@pytest.mark.skipif(sys.version_info < (3, 11), reason="task groups came with Python 3.11")
def test_a_thousand_at_once_half_of_them_cancelled(server: Server) -> None:
    """In one task group; without cancellation, the canceled ones would never be answered.

    B8, T3: for a quarter, the token that all start with has expired. They get a new one, and the provider is called
    once for it.
    """
    retried = {"h": "Retry-After:0"}
    good = server.url("/seq/503,200", retried, id=server.new_id(), cycle="", quiet="")
    expired = server.url("/auth", accept="second", id=server.new_id(), quiet="")
    stall = server.url("/seq/stall", id=server.new_id(), quiet="")
    tokens = iter(["first", "second"])

    async def provide() -> tuple[str, float]:
        await asyncio.sleep(0)
        return next(tokens), 3600

    async def work(client: AsyncClient) -> None:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(client.get((good, stall, expired, stall)[number % 4])) for number in range(1000)]
            await until(lambda: all(task.done() for task in tasks[::2]))
            for task in tasks[1::2]:
                task.cancel()
        assert {task.result().status for task in tasks[::4]} <= {200, 503}
        statuses = {tuple(attempt.status for attempt in task.result().attempts) for task in tasks[2::4]}
        assert (401, 200) in statuses
        assert statuses <= {(401, 200), (200,)}  # Some may have started after the new token was there.
        assert all(task.cancelled() for task in tasks[1::2])
        await until(lambda: client.stats().calls_ended == 1000)

    with TokenSource(provide) as source:
        in_loop(work, max_transfers=1000, token_source=source)
    assert next(tokens, None) is None


def test_no_thread_for_a_call(server: Server) -> None:
    url = server.url("/seq/200", id=server.new_id(), quiet="", first=200)

    async def work(client: AsyncClient) -> None:
        tasks = [asyncio.ensure_future(client.get(url)) for _ in range(100)]
        await until(lambda: client.stats().attempts >= 100)
        assert threading.active_count() == 1
        await asyncio.gather(*tasks)

    in_loop(work)


def test_one_client_in_several_loops(server: Server) -> None:
    """One after another, and at once in several threads."""
    url = server.url("/seq/200", id=server.new_id(), quiet="")
    client = AsyncClient()

    async def some() -> None:
        for response in await asyncio.gather(*(client.get(url) for _ in range(20))):
            assert response.status == 200

    asyncio.run(some())
    raised: list[BaseException] = []

    def run() -> None:
        try:
            asyncio.run(some())
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert raised == []
    asyncio.run(client.aclose())


def test_a_loop_without_add_reader_gets_a_clear_error() -> None:
    class Without(asyncio.SelectorEventLoop):
        def add_reader(self, *_: Any) -> None:  # type: ignore[override]
            raise NotImplementedError

    async def work() -> None:
        async with AsyncClient() as client:
            with pytest.raises(RuntimeError, match=r"add_reader\(\), which Without does not have"):
                await client.get("http://127.0.0.1:1/")

    loop = Without(selectors.SelectSelector())
    try:
        loop.run_until_complete(work())
        loop.run_until_complete(loop.shutdown_default_executor())
    finally:
        loop.close()


def test_a_closed_client_refuses(server: Server) -> None:
    async def work(client: AsyncClient) -> None:
        waiting = [asyncio.ensure_future(client.get(server.url("/seq/stall", id=server.new_id()))) for _ in range(3)]
        await until(lambda: client.stats().attempts == 3)
        await client.aclose()
        for each in waiting:
            with pytest.raises(CancelledError):
                await each
        with pytest.raises(ClosedError):
            await client.get("http://127.0.0.1:1/")
        await client.aclose()

    in_loop(work)


def test_a_loop_that_is_closed_in_the_middle_is_forgotten(server: Server) -> None:
    """Given a loop that is stopped and closed during a call, then neither is kept."""
    id, client, loop = server.new_id(), AsyncClient(), asyncio.new_event_loop()
    task = loop.create_task(client.get(server.url("/seq/stall", id=id)))
    for _ in range(3):
        loop.call_soon(loop.stop)
        loop.run_forever()
    server.seen(id, requests=1)
    loop.close()
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    gone = weakref.ref(loop)
    del loop, task
    asyncio.run(client.aclose())
    client = AsyncClient()
    asyncio.run(client.request("GET", server.url("/seq/200", id=server.new_id())))
    gc.collect()
    assert gone() is None
    assert len(server.seen(id, ended=True)) == 1


class Asks(AsyncCustomRetryStrategy):
    """Retries everything but a success, if a coroutine agrees."""

    def __init__(self, ask: Callable[[Outcome], Coroutine[Any, Any, Any]]) -> None:
        self.ask = ask

    async def should_retry(self, outcome: Outcome, attempt_number: int) -> bool | Action:
        answer: bool | Action = await self.ask(outcome)
        return answer

    async def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
        return 0


def test_b9_a_strategy_with_coroutines_runs_on_the_loop(server: Server) -> None:
    """It can also send requests with the client that is calling it."""
    url = server.url("/seq/418,418,200", id=server.new_id())
    other = server.url("/seq/200", id=server.new_id(), body="yes")
    seen: list[tuple[int, bool, object]] = []

    async def work(client: AsyncClient) -> None:
        loop = asyncio.get_running_loop()

        async def ask(outcome: Outcome) -> bool:
            assert outcome.request is not None
            seen.append((outcome.status, asyncio.get_running_loop() is loop, outcome.request.user_data))
            response = await client.get(other)
            return outcome.status == 418 and response.text == "yes"

        response = await client.get(url, strategy=Asks(ask), user_data="mine")
        assert response.status == 200

    in_loop(work)
    assert seen == [(418, True, "mine"), (418, True, "mine"), (200, True, "mine")]


def test_b9_a_strategy_with_coroutines_for_the_whole_client(server: Server) -> None:
    async def never(outcome: Outcome) -> bool:
        return False

    url = server.url("/seq/503,200", id=server.new_id())
    assert in_loop(lambda client: client.get(url), strategy=Asks(never)).status == 503


def test_b9_the_default_wait_of_a_strategy_with_coroutines(server: Server) -> None:
    class Once(AsyncCustomRetryStrategy):
        async def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
            return outcome.status == 404

    url = server.url("/seq/404,200", {"h": "Retry-After:0"}, id=server.new_id())
    response = in_loop(lambda client: client.get(url), strategy=Once())
    assert [attempt.delay_source for attempt in response.attempts] == [DelaySource.RETRY_AFTER, DelaySource.NONE]


@pytest.mark.parametrize("raised", [KeyError("mine"), asyncio.CancelledError("mine")])
def test_b9_what_a_coroutine_raises_comes_out_of_the_await(server: Server, raised: BaseException) -> None:
    async def fail(outcome: Outcome) -> bool:
        raise raised

    async def work(client: AsyncClient) -> None:
        with pytest.raises((KeyError, asyncio.CancelledError)):
            await client.get(server.url("/seq/503", id=server.new_id()), strategy=Asks(fail))

    in_loop(work)


def test_b9_a_wrong_answer_of_a_coroutine(server: Server) -> None:
    async def wrong(outcome: Outcome) -> str:
        return "yes"

    async def work(client: AsyncClient) -> None:
        with pytest.raises(TypeError, match="should_retry"):
            await client.get(server.url("/seq/503", id=server.new_id()), strategy=Asks(wrong))

    in_loop(work)


def test_k1_cancelling_the_task_cancels_the_strategy(server: Server) -> None:
    ended: list[str] = []

    async def hang(outcome: Outcome) -> bool:
        ended.append("begun")
        try:
            await asyncio.sleep(3600)
        finally:
            ended.append("ended")
        return True

    async def work(client: AsyncClient) -> None:
        task = asyncio.ensure_future(client.get(server.url("/seq/503", id=server.new_id()), strategy=Asks(hang)))
        await until(lambda: ended == ["begun"])
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: ended == ["begun", "ended"])

    in_loop(work)


def test_b9_a_blocking_strategy_and_on_event_work_too(server: Server) -> None:
    class Teapots(CustomRetryStrategy):
        def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
            return outcome.status == 418

        def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
            return 0

    events: list[Event] = []
    url = server.url("/seq/418,200", id=server.new_id())
    response = in_loop(lambda client: client.get(url), strategy=Teapots(), on_event=events.append)
    assert response.status == 200
    assert [event.attempt_number for event in events if event.status == 418 and event.reason is not None] == [1, 1]


def test_what_on_event_raises_comes_out_of_the_await(server: Server) -> None:
    def on_event(event: Event) -> None:
        raise KeyError("mine")

    async def work(client: AsyncClient) -> None:
        with pytest.raises(KeyError, match="mine"):
            await client.get(server.url("/seq/200", id=server.new_id()))

    in_loop(work, on_event=on_event)


def test_a_blocking_client_refuses_coroutines(server: Server) -> None:
    from boxretry import Client

    async def never(outcome: Outcome) -> bool:
        return False

    with Client(strategy=Asks(never)) as client, pytest.raises(TypeError, match="needs a boxretry"):
        client.get(server.url("/seq/503", id=server.new_id()))


def test_closing_may_take_too_long(server: Server) -> None:
    """Given an `on_event` that hangs for a while, then aclose() raises in time."""
    may_go, hangs = threading.Event(), threading.Event()

    def on_event(event: Event) -> None:
        hangs.set()
        may_go.wait(30)

    async def work() -> None:
        client = AsyncClient(on_event=on_event)
        task = asyncio.ensure_future(client.get(server.url("/seq/200", id=server.new_id())))
        await until(hangs.is_set)
        with pytest.raises(WaitTimeoutError):
            await client.aclose(0.05)
        may_go.set()
        with pytest.raises(CancelledError):
            await task

    asyncio.run(work())

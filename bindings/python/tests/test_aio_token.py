"""Token sources whose provider is a coroutine: where it runs, what ends it, and what happens to its exceptions."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import weakref
from typing import Any, Callable

import pytest
from loops import in_loop, until

from boxretry import (
    CancelledError,
    CancelSwitch,
    Client,
    ClientTokenProviderFailedError,
    ClosedError,
    InCallbackError,
    InvalidArgumentError,
    InvalidClientTokenExpirationError,
    ManualClock,
    TokenProviderError,
    TokenRetryPolicy,
    WaitTimeoutError,
)
from boxretry.aio import AsyncClient, TokenSource

Server = Any

#: Longer than anything here takes.
PATIENCE = 60


class Provider:
    """Gives the answers of a list, in order, after some turns of the loop; the last one repeatedly."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.calls = 0
        self.threads: set[int] = set()

    async def __call__(self) -> Any:
        self.calls += 1
        self.threads.add(threading.get_ident())
        await asyncio.sleep(0)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, BaseException):
            raise answer
        return answer


class Hangs:
    """A provider that never answers."""

    def __init__(self) -> None:
        self.log: list[str] = []

    async def __call__(self) -> Any:
        self.log.append("begun")
        try:
            await asyncio.sleep(3600)
        finally:
            self.log.append("ended")


def authorizations(server: Server, id: str) -> list[str]:
    return [dict(request["headers"]).get("Authorization", "") for request in server.seen(id)]


def test_t3_many_requests_share_one_call_on_the_loop(server: Server) -> None:
    provider, id = Provider(("t1", 3600)), server.new_id()

    async def work() -> None:
        with TokenSource(provider) as source:
            async with AsyncClient(token_source=source) as client:
                calls = [client.get(server.url("/auth", accept="t1", id=id)) for _ in range(100)]
                assert {response.status for response in await asyncio.gather(*calls)} == {200}
                assert threading.active_count() == 1
            token = await source.get()
            assert (token.value, token.generation) == ("t1", 1)

    asyncio.run(work())
    assert (provider.calls, provider.threads) == (1, {threading.get_ident()})


def test_b8_a_401_gets_a_new_token(server: Server) -> None:
    """With the request's own source, made before there was a loop."""
    id, source = server.new_id(), TokenSource(Provider(("t1", 3600), ("t2", 3600)))

    async def work(client: AsyncClient) -> None:
        response = await client.get(server.url("/auth", accept="t2", id=id), token_source=source)
        assert [attempt.status for attempt in response.attempts] == [401, 200]

    in_loop(work)
    assert authorizations(server, id) == ["Bearer t1", "Bearer t2"]


def test_t5_retryable_failures_are_retried_in_virtual_time() -> None:
    """T4: and others are not. The provider's exception is the cause."""

    async def work() -> None:
        clock, provider = ManualClock(), Provider(TokenProviderError("soon", retryable=True), ("token", 3600))
        with TokenSource(provider, clock=clock, policy=TokenRetryPolicy(jitter_ratio=0)) as source:
            waiting = asyncio.ensure_future(source.get())
            await asyncio.to_thread(until_failed, provider)
            await asyncio.to_thread(clock.wait_for_timer, PATIENCE)
            clock.advance(1)
            assert (await waiting).value == "token"
            assert provider.calls == 2

    def until_failed(provider: Provider) -> None:
        while provider.calls == 0:
            threading.Event().wait(0.001)

    asyncio.run(work())


@pytest.mark.parametrize(
    ("answer", "cause"),
    [
        (KeyError("secret"), KeyError),
        (TokenProviderError("why"), TokenProviderError),
        (None, TypeError),
        ((5, 3600), TypeError),
    ],
)
def test_f68_what_a_provider_raises_is_the_cause(server: Server, answer: Any, cause: type[BaseException]) -> None:
    """T4. For `get()`, and for a call."""
    provider = Provider(answer)

    async def work(client: AsyncClient) -> None:
        with TokenSource(provider) as source:
            for waiting in (source.get(), client.get(server.url("/auth"), token_source=source)):
                with pytest.raises(ClientTokenProviderFailedError) as raised:
                    await waiting
                assert isinstance(raised.value.__cause__, cause)
                assert "secret" not in str(raised.value)

    in_loop(work)
    assert provider.calls == 2


def test_f113_a_provider_that_is_cancelled_cancels(server: Server) -> None:
    """T4. All waiting callers get CancelledError, after one call."""
    provider = Provider(asyncio.CancelledError())

    async def work(client: AsyncClient) -> None:
        async with TokenSource(provider) as source:
            waiting = [asyncio.ensure_future(source.get()) for _ in range(3)]
            for end in await asyncio.gather(*waiting, return_exceptions=True):
                assert type(end) is CancelledError
                assert isinstance(end.__cause__, asyncio.CancelledError)
            assert provider.calls == 1
            with pytest.raises(CancelledError, match="the token provider canceled"):
                await client.get(server.url("/auth"), token_source=source)

    in_loop(work)


def test_f121_async_with() -> None:
    """The source is closed at its end."""

    async def work() -> None:
        async with TokenSource(Provider(("token", 3600))) as source:
            assert (await source.get()).value == "token"
        with pytest.raises(ClosedError):
            await source.get()

    asyncio.run(work())


def test_t6_what_is_no_life_is_told_to_those_who_wait() -> None:
    async def work() -> None:
        with TokenSource(Provider(("token", -1))) as source, pytest.raises(InvalidClientTokenExpirationError):
            await source.get()

    asyncio.run(work())


def test_f67_a_provider_that_asks_its_own_source_is_refused(server: Server) -> None:
    """T4: immediately. Calls that do not need its token are possible."""
    causes: list[BaseException | None] = []

    async def work() -> None:
        async def provider() -> Any:
            url = server.url("/seq/200", id=server.new_id())
            assert (await client.get(url, authorization=False)).status == 200
            for waiting in (source.get(), client.get(url)):
                with pytest.raises(InCallbackError):
                    await waiting
            raise KeyError

        with TokenSource(provider) as source:
            async with AsyncClient(token_source=source) as client:
                with pytest.raises(ClientTokenProviderFailedError) as raised:
                    await client.get(server.url("/auth"))
                causes.append(raised.value.__cause__)

    asyncio.run(work())
    assert [type(cause) for cause in causes] == [KeyError]


def test_t9_who_waits_can_be_ended_and_the_fetch_goes_on() -> None:
    async def work() -> None:
        may_go = asyncio.Event()

        async def provider() -> tuple[str, float]:
            await may_go.wait()
            return "token", 3600

        with TokenSource(provider) as source, CancelSwitch() as switch:
            with pytest.raises(WaitTimeoutError):
                await source.get(0)
            with pytest.raises(InvalidArgumentError):
                await source.get(-1)
            task = asyncio.ensure_future(source.get())
            other = asyncio.ensure_future(source.get(cancel=switch))
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            switch.trigger()
            with pytest.raises(CancelledError):
                await other
            may_go.set()
            assert (await source.get()).generation == 1

    asyncio.run(work())


def test_t10_closing_the_source_cancels_its_provider(server: Server) -> None:
    provider = Hangs()

    async def work(client: AsyncClient) -> None:
        source = TokenSource(provider)
        waiting = asyncio.ensure_future(source.get())
        call = asyncio.ensure_future(client.get(server.url("/auth"), token_source=source))
        await until(lambda: provider.log == ["begun"])
        source.close()
        for each in (waiting, call):
            with pytest.raises(ClosedError):
                await each
        await until(lambda: provider.log == ["begun", "ended"])
        with pytest.raises(ClosedError):
            await source.get()

    in_loop(work)


def test_t4_a_provider_that_does_not_answer_in_time_is_cancelled_and_asked_again() -> None:
    log: list[str] = []

    async def provider() -> tuple[str, float]:
        log.append("begun")
        if len(log) == 1:
            try:
                await asyncio.sleep(3600)
            finally:
                log.append("ended")
        return "token", 3600

    async def work() -> None:
        policy = TokenRetryPolicy(initial_delay=0)
        with TokenSource(provider, provider_timeout=0.05, policy=policy) as source:
            assert (await source.get()).value == "token"
        await until(lambda: sorted(log) == ["begun", "begun", "ended"])

    asyncio.run(work())


def test_one_source_in_one_loop_after_the_other(server: Server) -> None:
    """Given a provider that its loop leaves unfinished: that is a failure, and the next loop calls it again."""
    provider = Provider(("t1", 3600))
    hanging = Hangs()
    answers: list[Any] = [hanging, provider]

    async def either() -> Any:
        return await answers[0]()

    source = TokenSource(either)

    async def leave() -> None:
        waiting = asyncio.ensure_future(source.get())
        await until(lambda: hanging.log == ["begun"])
        waiting.cancel()

    asyncio.run(leave())
    assert hanging.log == ["begun", "ended"]
    answers.pop(0)

    async def work(client: AsyncClient) -> None:
        assert (await client.get(server.url("/auth", accept="t1"), token_source=source)).status == 200

    in_loop(work)
    source.close()


def test_a_blocking_client_may_have_the_source_on_another_thread(server: Server) -> None:
    """But not without a loop."""
    source = TokenSource(Provider(("t1", 3600)))
    with Client(token_source=source) as client:
        with pytest.raises(ClientTokenProviderFailedError) as raised:
            client.get(server.url("/auth", accept="t1"))
        assert isinstance(raised.value.__cause__, RuntimeError)

        async def work() -> None:
            await source.get()
            source.clear()
            response = await asyncio.to_thread(client.get, server.url("/auth", accept="t1"))
            assert response.status == 200

        asyncio.run(work())


def test_what_is_no_provider_is_refused() -> None:
    for wrong in (None, 5):
        with pytest.raises(TypeError, match="provider"):
            TokenSource(wrong)  # type: ignore[arg-type]


def test_nothing_is_kept_without_need() -> None:
    class Mine:
        async def __call__(self) -> tuple[str, float]:
            return "token", 3600

    async def work() -> Callable[[], Any]:
        provider = Mine()
        source = TokenSource(provider)
        await source.get()
        await asyncio.sleep(0)
        return weakref.ref(provider)

    gone = asyncio.run(work())
    # A thread of the library may be about to release it.
    deadline = time.monotonic() + 10
    while gone() is not None and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.001)
    assert gone() is None

"""Token sources through the C interface: requests that are answered in each way that there is."""

from __future__ import annotations

import ctypes
import queue
import threading
from collections.abc import Callable
from typing import Any

import pytest
from isolated import isolated
from library import Library, address

FOR_EVER = 2**63 - 1
ENDED = "BOXRETRY_ERROR_TOKEN_REQUEST_ENDED"
FAILED = "BOXRETRY_ERROR_CLIENT_TOKEN_PROVIDER_FAILED"


class Source:
    """A source with the test's provider, and the waiters that get its tokens."""

    def __init__(self, provide: Callable[[Source, int], None], **options: Any) -> None:
        self.library = Library()
        self.freed = threading.Event()
        self.told: queue.SimpleQueue[tuple[str, str]] = queue.SimpleQueue()  # token or error, and the detail
        self.context = ctypes.create_string_buffer(1)
        struct = "boxretry_token_options"
        self._provider = self.library.callback(struct, "provider", lambda _, request: provide(self, request))
        self._context_free = self.library.callback(struct, "context_free", lambda _: self.freed.set())
        self._on_token = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int32, ctypes.c_void_p)(self._tell)
        self.options = self.library.struct(
            struct, provider=address(self._provider), context_free=address(self._context_free), **options
        )
        self.source = self.library.new("boxretry_token_source_new", ctypes.addressof(self.options))

    def _tell(self, context: int | None, error: int, token: int | None) -> None:
        text = self.read(token) if token else self.library.errors[error]
        self.told.put((text, self.library.detail))

    def read(self, token: int) -> str:
        """What a token is, which is freed."""
        text = self.library.call("boxretry_token_bytes", token).decode()
        assert self.library.call("boxretry_token_length", token) == len(text)
        self.library.call("boxretry_token_free", token)
        return str(text)

    def get(self, timeout_ms: int = FOR_EVER) -> str:
        """A token, or the error."""
        out = ctypes.c_void_p()
        answer = self.ask("get", timeout_ms, None, ctypes.addressof(out))
        return self.read(out.value or 0) if answer == "BOXRETRY_OK" else str(answer)

    def get_async(self) -> Any:
        return self.ask("get_async", None, address(self._on_token), None)

    def ask(self, function: str, *arguments: Any) -> Any:
        return self.library.call(f"boxretry_token_source_{function}", self.source, *arguments)

    def succeed(self, request: int, token: bytes = b"token", life: float = 3600) -> Any:
        text = ctypes.create_string_buffer(token)
        return self.library.call("boxretry_token_request_succeed", request, address(text), len(token), life)

    def fail(self, request: int, message: bytes | None = None, retryable: int = 0) -> Any:
        text = ctypes.create_string_buffer(message) if message is not None else None
        return self.library.call("boxretry_token_request_fail", request, text and address(text), retryable)

    def retain(self, request: int) -> None:
        self.library.call("boxretry_token_request_retain", request)

    def release(self, request: int) -> None:
        self.library.call("boxretry_token_request_release", request)


# Answers (T4)


@isolated
def test_f66_provider_answers_in_its_callback_and_only_once() -> None:
    answers: queue.SimpleQueue[list[Any]] = queue.SimpleQueue()

    def provide(source: Source, request: int) -> None:
        answers.put([source.succeed(request), source.succeed(request, b"second"), source.fail(request)])

    source = Source(provide)
    assert source.get() == "token"
    assert answers.get() == ["BOXRETRY_OK", ENDED, ENDED]
    assert source.get() == "token"


@isolated
def test_f66_provider_answers_later_from_another_thread() -> None:
    requests: queue.SimpleQueue[int] = queue.SimpleQueue()

    def provide(source: Source, request: int) -> None:
        source.retain(request)
        requests.put(request)

    source = Source(provide)
    assert source.get_async() == "BOXRETRY_OK"
    request = requests.get()
    assert source.succeed(request) == "BOXRETRY_OK"
    assert source.told.get()[0] == "token"
    source.release(request)


@pytest.mark.parametrize("retains", [0, 1, 2])
@isolated
def test_f66_provider_that_lets_go_of_its_request_without_an_answer_has_failed(retains: int) -> None:
    """T4: by its return, or by the last release; not retried."""
    calls: list[int] = []

    def provide(source: Source, request: int) -> None:
        for _ in range(retains):
            source.retain(request)
        calls.append(request)  # from here on, the other thread releases

    source = Source(provide)
    assert source.get_async() == "BOXRETRY_OK"
    if retains:
        while not calls:
            pass
        for _ in range(retains):
            source.release(calls[0])
    error, detail = source.told.get()
    assert error == FAILED and "without an answer" in detail
    assert len(calls) == 1


@isolated
def test_f113_provider_that_cancels_is_reported_as_cancellation() -> None:
    """T4: at once, after one call, and the detail says that it was the provider."""
    calls: list[int] = []

    def provide(source: Source, request: int) -> None:
        calls.append(request)
        assert source.library.call("boxretry_token_request_cancel", request) == "BOXRETRY_OK"

    source = Source(provide)
    assert source.get() == "BOXRETRY_ERROR_CANCELLED"
    assert source.library.detail == "the token provider canceled (calls: 1)"
    assert len(calls) == 1


@pytest.mark.parametrize(
    "message, shown",
    [
        (None, ""),
        (b"", ""),
        (b"why\r\nnot", ": why  not"),
        (b"%s%n", ": %s%n"),
        (b"x" * 1000, ": " + "x" * 160),
        ("é".encode() * 1000, ": " + "é" * 80),
    ],
)
@isolated
def test_t6_words_of_a_provider_reach_those_who_wait(message: bytes | None, shown: str) -> None:
    source = Source(lambda source, request: source.fail(request, message) and None)
    assert source.get() == FAILED
    assert source.library.detail == f"the provider failed (calls: 1){shown}"


@isolated
def test_f67_provider_that_asks_its_own_source_is_refused_in_both_ways() -> None:
    answers: list[Any] = []

    def provide(source: Source, request: int) -> None:
        answers.extend([source.get(0), source.get(), source.get_async()])
        source.succeed(request)

    source = Source(provide)
    assert source.get() == "token"
    assert answers == ["BOXRETRY_ERROR_IN_CALLBACK"] * 3


@isolated
def test_k5_provider_may_free_its_own_source() -> None:
    """T10: the waiters get the error, and the context is freed after the callback has returned."""
    seen: list[Any] = []

    def provide(source: Source, request: int) -> None:
        source.ask("free")
        seen.extend([source.freed.is_set(), source.succeed(request)])

    source = Source(provide)
    assert source.get_async() == "BOXRETRY_OK"
    assert source.told.get()[0] == "BOXRETRY_ERROR_CLOSED"
    assert source.freed.wait(60)
    assert seen == [False, ENDED]


@isolated
def test_request_outlives_its_source() -> None:
    requests: queue.SimpleQueue[int] = queue.SimpleQueue()

    def provide(source: Source, request: int) -> None:
        source.retain(request)
        requests.put(request)

    source = Source(provide)
    assert source.get(0) == "BOXRETRY_ERROR_WAIT_TIMEOUT"
    request = requests.get()
    source.ask("free")
    assert not source.freed.is_set(), "a request is a use of the source"
    assert source.succeed(request) == ENDED
    source.release(request)
    assert source.freed.wait(60)


@isolated
def test_context_stays_the_callers_if_no_source_is_made() -> None:
    source = Source(lambda source, request: None)
    source.ask("free")
    assert source.freed.wait(60)
    source.freed.clear()
    source.options.refresh_leeway = -1
    out = ctypes.c_void_p()
    answer = source.library.call("boxretry_token_source_new", ctypes.addressof(source.options), ctypes.addressof(out))
    assert (answer, source.freed.is_set()) == ("BOXRETRY_ERROR_INVALID_ARGUMENT", False)

"""What a `before_attempt` hook sees: its handle exists only while it runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import pytest
from arguments import Arguments, makers
from bodies import Streams
from calls import REFUSED, server
from facts import ANSWER_IF_FORKED, LIVES_IN_A_HOOK, MAY_ANSWER_NULL
from header import Function, read_header
from hostile import Override, cases, is_only_for_hooks, places
from isolated import isolated
from test_callbacks import BLOCKING
from test_hostile import check, describe

HEADER = read_header()
OF_A_SENDING = [function for function in HEADER.functions.values() if is_only_for_hooks(function)]
each_function = pytest.mark.parametrize("function", OF_A_SENDING, ids=lambda function: function.name)


class Hook:
    """Runs work inside a hook, with a handle of each kind, of which all but the sending have been made before."""

    def __init__(self, url: bytes = REFUSED) -> None:
        self.streams = Streams(url)
        self.library = self.streams.calls.library
        self.handles: dict[str, int] = {}
        for handle in HEADER.handles:
            makes = makers(HEADER, handle)
            if makes:
                arguments = Arguments(self.library, makes[0])
                assert arguments.call() == "BOXRETRY_OK"
                self.handles[handle] = arguments.result
        self._raised: list[BaseException] = []

    def run(self, work: Callable[[], object]) -> str:
        """How the call ends whose hook does this."""

        def inside() -> None:
            assert self.streams.sending
            self.handles[LIVES_IN_A_HOOK] = self.streams.sending
            try:
                work()
            except BaseException as error:
                self._raised.append(error)

        self.streams.inside["before_attempt"] = inside
        ending = self.streams.ended()
        if self._raised:
            raise self._raised[0]
        return ending

    def arguments(self, function: Function) -> Arguments:
        return Arguments(self.library, function, handles=self.handles)

    def call(self, function: str, *arguments: Any) -> Any:
        return self.library.call(f"boxretry_sending_{function}", self.handles[LIVES_IN_A_HOOK], *arguments)


@each_function
@isolated
def test_hostile_arguments_are_answered_inside_a_hook_as_the_header_says(function: Function) -> None:
    hook = Hook()
    wrong: list[str] = []
    done: list[int] = []

    def work() -> None:
        arguments = hook.arguments(function)
        for case in cases(function):
            problem = check(arguments, case)
            wrong.extend([f"{describe(function, case)}: {problem}"] if problem else [])
            done.append(1)

    hook.run(work)
    assert done and not wrong


def functions_of_other_handles() -> list[Function]:
    return [f for f in HEADER.functions.values() if f not in OF_A_SENDING and f.name not in BLOCKING]


@isolated
def test_sending_is_refused_where_another_handle_belongs() -> None:
    """Given a function that takes another handle, it says so, or answers as to NULL, and the sending is unharmed."""
    hook = Hook()
    asked: list[str] = []

    def work() -> None:
        sending = hook.handles[LIVES_IN_A_HOOK]
        for function in functions_of_other_handles():
            for place in places(function):
                if place.what.type.name not in HEADER.handles or place.what.type.pointers != 1:
                    continue
                arguments = hook.arguments(function)
                answer = arguments.call((Override(place, sending),))
                if function.can_fail:
                    assert answer == "BOXRETRY_ERROR_INVALID_ARGUMENT", (function.name, place.path)
                elif function.name in MAY_ANSWER_NULL:
                    assert answer is None, function.name
                asked.append(function.name)
        assert hook.call("attempt_number") == 1

    hook.run(work)
    assert len(asked) > 20


@isolated
def test_hook_sees_the_request_and_changes_its_headers() -> None:
    with server() as url:
        hook = Hook(url)
        text = hook.streams.calls.text
        hook.streams.request.user_pointer = 42
        seen: list[Any] = []

        def work() -> None:
            seen.extend(hook.call(name) for name in ("attempt_number", "method", "url", "user_pointer"))
            for value in (text(b"one"), text(b"two"), None):
                assert hook.call("set_header", text(b"X-Name"), value) == "BOXRETRY_OK"
                seen.append(hook.call("header", text(b"x-NAME")))

        assert hook.run(work) == "OK"
    assert seen == [1, b"PUT", url, 42, b"one", b"two", None]


@isolated
def test_hook_that_fails_ends_the_call_and_sends_nothing() -> None:
    with server() as url:
        hook = Hook(url)
        assert hook.run(lambda: hook.call("fail")) == "CALLBACK_FAILED"
    assert "read" not in hook.streams.called
    assert hook.streams.contexts_freed == {"source": 1, "sink": 1}


@each_function
@isolated
def test_child_that_is_forked_in_a_hook_is_refused_its_sending(function: Function) -> None:
    hook = Hook()
    exits: list[int] = []

    def work() -> None:
        arguments = hook.arguments(function)
        child = os.fork()
        if child == 0:
            answer = arguments.call()
            expected = "BOXRETRY_ERROR_FORKED" if function.can_fail else ANSWER_IF_FORKED.get(function.name)
            os._exit(answer != expected)
        exits.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))

    hook.run(work)
    assert exits == [0]

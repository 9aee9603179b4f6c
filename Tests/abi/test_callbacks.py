"""Callbacks that do what they should not, or all that they may (B9, K4, K5)."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from typing import Any

import pytest
from arguments import UNWRITTEN, Arguments, comparable
from custom import Custom, do_nothing
from header import read_header
from hostile import is_only_for_hooks
from isolated import isolated
from library import ROOM, address

HEADER = read_header()
LONGEST_DELAY = 2**31 - 1

# The functions that refuse to run inside any callback; two others refuse only those of their own loop or source.
BLOCKING = [
    function.name
    for function in HEADER.functions.values()
    if "IN_CALLBACK" in HEADER.documented_errors(function)
    and function.name not in ("boxretry_retry_loop_next", "boxretry_token_source_get_async")
]
NOT_BLOCKING = [
    name for name, function in HEADER.functions.items() if name not in BLOCKING and not is_only_for_hooks(function)
]

ASKING = {"should_retry": Custom.should_retry, "retry_after": Custom.retry_after, "next": Custom.next}
each_way_to_ask = pytest.mark.parametrize("ask", ASKING.values(), ids=ASKING)
each_way_to_decide = pytest.mark.parametrize("ask", [Custom.should_retry, Custom.next], ids=["should_retry", "next"])


# Wrong answers


@each_way_to_decide
@pytest.mark.parametrize("action", [None, -1, -2, 3, 4, 2**31 - 1, -(2**31)])
@isolated
def test_should_retry_that_gives_no_proper_answer_has_failed(ask: Callable[[Custom], Any], action: int | None) -> None:
    custom = Custom()
    custom.action = action
    assert ask(custom) == "BOXRETRY_ERROR_CALLBACK_FAILED"
    assert custom.library.detail
    assert bytes(custom.out)[8:] == UNWRITTEN[8:]
    assert custom.called == ["should_retry"]


@each_way_to_ask
@pytest.mark.parametrize("delay", [None, -1e300])
@isolated
def test_retry_after_that_gives_no_answer_has_failed(ask: Callable[[Custom], Any], delay: float | None) -> None:
    custom = Custom()
    custom.delay = delay
    assert ask(custom) == "BOXRETRY_ERROR_CALLBACK_FAILED"
    assert custom.library.detail
    assert bytes(custom.out)[8:] == UNWRITTEN[8:]


@pytest.mark.parametrize(
    "delay, expected",
    [
        (float("nan"), 0),
        (-1, 0),
        (float("-inf"), 0),
        (-5e-324, 0),
        (0, 0),
        (5e-324, 5e-324),
        (LONGEST_DELAY, LONGEST_DELAY),
        (2**31, LONGEST_DELAY),
        (1e308, LONGEST_DELAY),
        (float("inf"), LONGEST_DELAY),
    ],
)
@isolated
def test_delay_of_a_callback_is_kept_within_its_range(delay: float, expected: float) -> None:
    """B9: NaN and negative count as 0, what is too large as 2^31 - 1."""
    custom = Custom()
    custom.delay = delay
    assert custom.should_retry() == "BOXRETRY_OK"
    assert custom.decision.delay == expected
    assert custom.retry_after() == "BOXRETRY_OK"
    assert ctypes.c_double.from_buffer(custom.out).value == expected
    assert custom.next() == "BOXRETRY_OK"
    assert custom.decision.delay == expected


# Handles freed from inside


WAYS_IN = [
    pytest.param(Custom.should_retry, "should_retry", id="should_retry-should_retry"),
    pytest.param(Custom.should_retry, "retry_after", id="should_retry-retry_after"),
    pytest.param(Custom.retry_after, "retry_after", id="retry_after-retry_after"),
    pytest.param(Custom.next, "should_retry", id="next-should_retry"),
    pytest.param(Custom.next, "retry_after", id="next-retry_after"),
]


@pytest.mark.parametrize("free", [Custom.free_strategy, Custom.free_loop, Custom.free_both])
@pytest.mark.parametrize("ask, where", WAYS_IN)
@isolated
def test_callback_may_free_the_handles_that_it_is_called_from(
    ask: Callable[[Custom], Any], where: str, free: Callable[[Custom], None]
) -> None:
    """Given a callback that frees its strategy, its loop or both, the call that it runs in ends as if it had not."""
    custom = Custom()
    context_freed = []

    def free_inside() -> None:
        free(custom)
        context_freed.append("context_free" in custom.called)

    custom.inside[where] = free_inside
    assert ask(custom) == "BOXRETRY_OK"
    assert context_freed == [False], "the context was freed under its own callback"
    if free is Custom.free_strategy:
        custom.free_loop()
    if free is Custom.free_loop:
        custom.free_strategy()
    assert custom.called.count("context_free") == 1


@isolated
def test_context_is_freed_once_after_the_last_use() -> None:
    custom = Custom()
    custom.free_strategy()
    assert custom.called.count("context_free") == 0
    assert custom.next() == "BOXRETRY_OK"
    custom.free_loop()
    assert custom.called.count("context_free") == 1
    assert custom.contexts == {ctypes.addressof(custom.context)}


@isolated
def test_context_stays_the_callers_if_no_strategy_is_made() -> None:
    custom = Custom()
    callbacks = custom.callbacks
    answers = [custom.library.call("boxretry_strategy_new_custom", address(callbacks), None)]
    callbacks.should_retry = None
    answers.append(custom.library.call("boxretry_strategy_new_custom", address(callbacks), address(custom.out)))
    assert answers == ["BOXRETRY_ERROR_INVALID_ARGUMENT"] * 2
    assert custom.called.count("context_free") == 0


@isolated
def test_context_free_may_free_other_handles() -> None:
    outer, inner = Custom(), Custom()
    outer.inside["context_free"] = inner.free_both
    outer.free_both()
    assert outer.called == inner.called == ["context_free"]


# Calls from inside


@isolated
def test_loop_refuses_its_own_callbacks() -> None:
    """Given callbacks that ask their own loop, they are refused, nothing is written, and the loop continues."""
    custom = Custom()
    answers = []
    other = ctypes.create_string_buffer(UNWRITTEN, ROOM)
    custom.library.structs["boxretry_decision"].from_buffer(other).struct_size = 48

    def ask_again() -> None:
        arguments = (custom.loop, address(custom.outcome), address(other))
        answers.append(custom.library.call("boxretry_retry_loop_next", *arguments))

    custom.inside["should_retry"] = custom.inside["retry_after"] = ask_again
    assert custom.next() == "BOXRETRY_OK"
    assert custom.decision.attempt_number == 1
    assert answers == ["BOXRETRY_ERROR_IN_CALLBACK"] * 2
    assert bytes(other)[8:] == UNWRITTEN[8:]
    custom.inside["should_retry"] = custom.inside["retry_after"] = do_nothing
    assert custom.next() == "BOXRETRY_OK"
    assert custom.decision.attempt_number == 2


@each_way_to_ask
@isolated
def test_callback_may_ask_its_own_strategy(ask: Callable[[Custom], Any]) -> None:
    custom = Custom()
    answers = []

    def ask_again() -> None:
        if len(custom.called) < 10:
            answers.append(custom.should_retry())

    custom.inside["should_retry"] = custom.inside["retry_after"] = ask_again
    assert ask(custom) == "BOXRETRY_OK"
    assert answers and set(answers) == {"BOXRETRY_OK"}


@pytest.mark.parametrize("where", ["should_retry", "retry_after", "context_free"])
@pytest.mark.parametrize("name", BLOCKING)
@isolated
def test_what_blocks_refuses_to_run_in_a_callback(name: str, where: str) -> None:
    """K4. Once the callback has returned, it runs again."""
    custom = Custom()
    arguments = Arguments(custom.library, HEADER.functions[name])
    outside = arguments.call()
    answers = []
    custom.inside[where] = lambda: answers.append(arguments.call())
    custom.next()
    custom.free_both()
    assert answers == ["BOXRETRY_ERROR_IN_CALLBACK"]
    assert arguments.call() == outside != "BOXRETRY_ERROR_IN_CALLBACK"


@pytest.mark.parametrize("where", ["should_retry", "retry_after", "context_free"])
@pytest.mark.parametrize("name", NOT_BLOCKING)
@isolated
def test_what_does_not_block_may_be_called_in_a_callback(name: str, where: str) -> None:
    custom = Custom()
    arguments = Arguments(custom.library, HEADER.functions[name])
    outside = arguments.call()
    arguments.prepare()
    answers = []
    custom.inside[where] = lambda: answers.append(arguments.call())
    custom.next()
    custom.free_both()
    assert [comparable(arguments.function, answer) for answer in answers] == [comparable(arguments.function, outside)]


# A fork inside


def sleep_in_forked_child(ask: Callable[[Custom], Any]) -> tuple[bool, bool]:
    """Whether a child that is forked in a callback may block: inside the callback, and behind it."""
    custom = Custom()
    forks: list[int] = []
    answers: list[Any] = []

    def sleep() -> None:
        answers.append(custom.library.call("boxretry_clock_sleep", None, 0) == "BOXRETRY_OK")

    def fork() -> None:
        forks.append(os.fork())
        sleep()

    custom.inside["retry_after"] = fork
    ask(custom)
    sleep()
    if forks[0] == 0:
        os._exit(2 * answers[0] + answers[1])
    assert answers == [False, True], "this is so in the parent"
    code = os.waitstatus_to_exitcode(os.waitpid(forks[0], 0)[1])
    return bool(code & 2), bool(code & 1)


@each_way_to_ask
@isolated
def test_what_blocks_is_refused_in_a_callback_after_a_fork_in_it(ask: Callable[[Custom], Any]) -> None:
    inside, _ = sleep_in_forked_child(ask)
    assert not inside


@each_way_to_ask
@isolated
def test_what_blocks_is_allowed_behind_a_callback_after_a_fork_in_it(ask: Callable[[Custom], Any]) -> None:
    _, behind = sleep_in_forked_child(ask)
    assert behind

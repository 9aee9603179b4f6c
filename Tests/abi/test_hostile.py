"""No argument that can be looked at crashes the library (convention 7 of the header). Made from the header."""

from __future__ import annotations

import mmap
import struct
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from arguments import Arguments
from facts import ANSWER_IF_VALID, MAY_ANSWER_NULL, ONLY_DETAIL
from header import Function, read_header
from hostile import Case, Override, Place, cases, is_only_for_hooks, is_wrong
from isolated import ChildDied, begin_limit, run_in_child
from library import Library
from ways import MEMORY, Way, ways_for

FUNCTIONS = read_header().functions

SHOWN = 20
MARK = "-777"


def ways() -> list[Any]:
    """Each function, each way to make the handles that it takes, and each to fill in a request."""
    named = []
    for function in FUNCTIONS.values():
        if is_only_for_hooks(function):
            continue  # test_hooks.py
        for way in ways_for(function):
            named.append(pytest.param(function, 0, way, id=function.name + (f", {way.name}" if way != MEMORY else "")))
        if takes_strategy(function):
            named.append(pytest.param(function, 1, MEMORY, id=f"{function.name}, custom strategy"))
    return named


def takes_strategy(function: Function) -> bool:
    handles = [p.type.name for p in function.parameters if p.type.pointers == 1]
    return "boxretry_strategy" in handles or "boxretry_retry_loop" in handles


@pytest.mark.parametrize("function, variant, way", ways())
def test_hostile_arguments_are_answered_as_the_header_says(
    function: Function, variant: int, way: Way, count_calls: Callable[[int], None], is_long: bool
) -> None:
    """Given valid arguments but one or two, when the function is called, then it answers, and only what it may."""
    wrong, calls = check_all(function, variant, way, cases(function, way, all_pairs=is_long))
    count_calls(calls)
    more = f"\n… and {len(wrong) - SHOWN} more" if len(wrong) > SHOWN else ""
    assert not wrong, f"{len(wrong)} faults in {calls} calls:\n" + "\n".join(wrong[:SHOWN]) + more


def check_all(function: Function, variant: int, way: Way, todo: list[Case]) -> tuple[list[str], int]:
    """Makes every call. After one that ends the process, a new process continues with the next."""
    at = mmap.mmap(-1, 8)  # shared with the child: the number of the call that it is making
    wrong: list[str] = []
    calls = 0
    while todo:
        try:
            wrong += run_in_child(partial(check_each, todo, function, variant, way, at))
            calls += len(todo)
            break
        except ChildDied as death:
            (number,) = struct.unpack("q", at[:])
            wrong += run_in_child(
                partial(check_each, todo[:number], function, variant, way, at)
            )  # what it had found so far
            wrong.append(f"{describe(function, todo[number])}: {death}")
            calls += number + 1
            deadly = todo[number]
            todo = [case for case in todo[number + 1 :] if len(deadly) != 1 or deadly[0] not in case]
    return wrong, calls


def check_each(todo: list[Case], function: Function, variant: int, way: Way, at: mmap.mmap) -> list[str]:
    arguments = Arguments(Library(), function, variant, way)
    wrong = []
    wrong_alone: set[Override] = set()  # what is wrong alone is wrong in each pair
    for number, case in enumerate(todo):
        at[:] = struct.pack("q", number)
        begin_limit()
        problem = check(arguments, case)
        if problem and wrong_alone.isdisjoint(case):
            wrong.append(f"{describe(function, case)}: {problem}")
            if len(case) == 1:
                wrong_alone.update(case)
    arguments.close()
    return wrong


def check(arguments: Arguments, case: Case) -> str | None:
    """What is wrong with how the library answers."""
    library, function = arguments.library, arguments.function
    leave_a_mark_in_the_detail(library)
    answer = arguments.call(case)
    detail = library.detail
    if function.name in ONLY_DETAIL:
        return check_detail(case, answer, detail)
    if not function.can_fail:
        if function.result_handle:
            library.call(f"{function.result.name}_free", answer)
        never_null = function.result.pointers and function.name not in MAY_ANSWER_NULL
        return "answers NULL" if never_null and answer is None else None
    if not case and function.name in ANSWER_IF_VALID:
        return None if answer == ANSWER_IF_VALID[function.name] else f"{answer}: {detail}"
    if answer == "BOXRETRY_OK":
        return check_success(arguments, case)
    if arguments.has_written:
        return f"{answer}, and yet it wrote to {function.parameters[-1].name}"
    if answer == "BOXRETRY_ERROR_INVALID_ARGUMENT" and (not detail or MARK in detail):
        return "INVALID_ARGUMENT, and the error detail says nothing of it"
    if len(case) == 1 and is_wrong(case) and name_of(case[0].place) not in detail:
        return f"{answer}, and the error detail does not name what is wrong: {detail}"
    documented = library.header.documented_errors(function)
    if answer.replace("BOXRETRY_ERROR_", "") not in documented:
        return f"{answer}, which its comment in the header does not name"
    if not case:
        return f"{answer}, and yet all arguments are valid: {detail}"
    if is_wrong(case) is False and answer == "BOXRETRY_ERROR_INVALID_ARGUMENT":
        return f"INVALID_ARGUMENT, and yet the header allows this: {detail}"
    return None


def check_detail(case: Case, answer: int, detail: str) -> str | None:
    if answer != 0:
        return f"{answer}, where there is nothing"
    if is_wrong(case) is (MARK in detail):
        return f"an error detail that does not go with it: {detail}"
    if len(case) == 1 and is_wrong(case) and name_of(case[0].place) not in detail:
        return f"the error detail does not name what is wrong: {detail}"
    return None


def check_success(arguments: Arguments, case: Case) -> str | None:
    arguments.free_result()
    if is_wrong(case):
        return "BOXRETRY_OK, and yet the header does not allow this"
    has_out = not any(o.value is None and o.place.what == arguments.function.parameters[-1] for o in case)
    if arguments.out is not None and has_out and not arguments.has_written:
        return "BOXRETRY_OK, but there is no result"
    return None


def leave_a_mark_in_the_detail(library: Library) -> None:
    """Fails, so that a call that does not set the error detail is found out."""
    library.call("boxretry_backoff_delay", None, int(MARK), 0, None)


def name_of(place: Place) -> str:
    """What the error detail calls it: the field or parameter, or the array that it is in."""
    in_array = place.owner is not None and not place.owner.is_sized
    return place.path[-2 if in_array else -1]


def describe(function: Function, case: Case) -> str:
    return f"{function.name}({', '.join(map(str, case)) or 'all valid'})"

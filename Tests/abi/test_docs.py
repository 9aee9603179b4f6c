"""The comments of the header say what a caller must know, and contain the facts that the tests use."""

from __future__ import annotations

import re

import pytest
from facts import MAY_ANSWER_NULL, MAY_BE_NULL, NUMBERS, OF_A_CLIENT, TEXTS
from header import Function, read_header
from hostile import places

HEADER = read_header()
FUNCTIONS = HEADER.functions
FALLIBLE = [function for function in FUNCTIONS.values() if function.can_fail]

FACTS = {
    **{key: rule.words for key, rule in NUMBERS.items()},
    **MAY_BE_NULL,
    **{f"{function}.": words for function, words in MAY_ANSWER_NULL.items()},
    **{key: words for key, (words, _) in TEXTS.items()},
}


def comment_of(key: str) -> str:
    owner, name = key.removesuffix(OF_A_CLIENT).split(".")
    if owner in FUNCTIONS:
        assert name in ["", *(parameter.name for parameter in FUNCTIONS[owner].parameters)], f"there is no {key}"
        return f"{FUNCTIONS[owner].comment} {FUNCTIONS[owner].section}"
    return next(field.comment for field in HEADER.structs[owner].fields if field.name == name)


@pytest.mark.parametrize("key", [key for key, words in FACTS.items() if words])
def test_fact_is_in_the_header(key: str) -> None:
    assert FACTS[key] in comment_of(key)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_every_number_has_its_fact(function: Function) -> None:
    """Given a number that goes into the library, the tests know what it may be."""
    numbers = {p.key for p in places(function) if not p.what.type.pointers and p.what.type.parameters is None}
    assert {key for key in numbers if not key.endswith(".struct_size")} <= set(NUMBERS)


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_every_function_has_a_comment(function: Function) -> None:
    assert function.comment


@pytest.mark.parametrize("function", FALLIBLE, ids=lambda function: function.name)
def test_comment_lists_the_errors(function: Function) -> None:
    cannot_fail = "cannot fail" in function.comment.lower()
    assert "INVALID_ARGUMENT" in HEADER.documented_errors(function) or cannot_fail


@pytest.mark.parametrize("function", FALLIBLE, ids=lambda function: function.name)
def test_comment_lists_what_goes_with_its_arguments(function: Function) -> None:
    """Given a handle that goes in, FORKED is among the errors."""
    handles = [p for p in function.parameters if p.type.name in HEADER.handles]
    errors = HEADER.documented_errors(function)
    if any(p.type.pointers == 1 for p in handles):
        assert "FORKED" in errors


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)
def test_comment_says_which_threads_may_call_it(function: Function) -> None:
    """It, or the comment of the handle that it is about, or that of its section."""
    about = function.parameters[0].type.name if function.parameters else ""
    comments = f"{function.comment} {HEADER.handles.get(about, '')} {function.section}"
    words = r"[Aa]ny thread|[Oo]ne thread at a time|the thread's next call|Any number of threads"
    assert re.search(words, comments)

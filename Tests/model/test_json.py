"""The JSON reader and the form encoding of token endpoints against Python's (T12, R1), on generated documents.

A failure prints the seed; BOXRETRY_MODEL_SEED repeats one; by default each run draws another.
"""

from __future__ import annotations

import json
import math
import os
import random
import subprocess
from typing import Any
from urllib.parse import quote, quote_from_bytes, unquote_to_bytes

import pytest

NAMES = ["a", "b", "code", "token", "expires_in", "é", ""]
TEXTS = ["", "token_expired", 'q"\\/\b\f\n\r\t', "é€😀", "\x7f", "\u2028", "a" * 300]
NUMBERS = [0, -0.0, 1, -1, 3600, 3600.0, 0.1, 1e-7, 1e22, 1.7976931348623157e308, 5e-324, 123456789012345678, 2**70]
MOST_DEEP = 64
ANY_SEED = int(os.environ.get("BOXRETRY_MODEL_SEED") or random.randrange(2**32))


def any_value(draw: random.Random, depth: int = 0) -> Any:
    kind = draw.randrange(9 if depth < 5 else 6)
    if kind < 2:
        return draw.choice(TEXTS)
    if kind < 4:
        return draw.choice([draw.choice(NUMBERS), draw.uniform(-1e6, 1e6), draw.randrange(10**9)])
    if kind < 6:
        return draw.choice([True, False, None])
    if kind == 6:
        return [any_value(draw, depth + 1) for _ in range(draw.randrange(4))]
    if kind == 7:
        return {draw.choice([*NAMES, "x"]): any_value(draw, depth + 1) for _ in range(draw.randrange(4))}
    nested: Any = any_value(draw, 5)
    for _ in range(draw.choice([3, 20, MOST_DEEP - 1 - depth, MOST_DEEP - depth, MOST_DEEP - depth + 1])):
        nested = [nested] if draw.random() < 0.5 else {"x": nested}
    return nested


def any_document(draw: random.Random) -> bytes:
    """An object, mostly; written in one of many ways, and often changed here and there."""
    members = [(draw.choice([*NAMES, "x"]), any_value(draw)) for _ in range(draw.randrange(6))]
    separators = draw.choice([(",", ":"), (", ", ": "), (" ,\t", "\n:\r ")])
    parts = [
        json.dumps(name, ensure_ascii=draw.random() < 0.5)
        + separators[1]
        + json.dumps(value, ensure_ascii=draw.random() < 0.5, separators=separators)
        for name, value in members
    ]
    text = "{" + separators[0].join(parts) + "}"
    if draw.random() < 0.05:
        text = json.dumps(any_value(draw))
    document = bytearray(text.encode())
    if draw.random() < 0.6:
        for _ in range(draw.randrange(1, 4)):
            change(draw, document)
    return bytes(document)


PIECES = [
    b'"',
    b"\\",
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b" ",
    b"\n",
    b"0",
    b"1",
    b"-",
    b"+",
    b".",
    b"e",
    b"E",
    b"\x00",
]
PIECES += [b"\x1f", b"\x80", b"\xc3", b"\xff", b"\xed\xa0\x80", b"\\u0041", b"\\ud83d", b"\\ude00", b"\\u00", b"NaN"]
PIECES += [b"null", b"true", b'"a":1', b"\xef\xbb\xbf", b"\xf4\x90\x80\x80", b"\xe2\x82\xac", b"/", b"//", b"u", b"x"]


def change(draw: random.Random, document: bytearray) -> None:
    at = draw.randrange(len(document) + 1)
    how = draw.randrange(3)
    if how == 0:
        document[at:at] = draw.choice(PIECES)
    elif how == 1:
        del document[at : at + draw.randrange(1, 4)]
    else:
        document[at : at + 1] = draw.choice(PIECES)


def refuse(constant: str) -> None:
    raise ValueError(constant)


def is_whole(value: Any) -> bool:
    """Whether no text in it has one half of a pair."""
    if isinstance(value, str):
        return not any(0xD800 <= ord(character) <= 0xDFFF for character in value)
    if isinstance(value, list):
        return all(map(is_whole, value))
    return all(is_whole(k) and is_whole(v) for k, v in value.pairs) if isinstance(value, Pairs) else True


def depth(value: Any) -> int:
    if isinstance(value, list):
        return 1 + max(map(depth, value), default=0)
    return 1 + max((depth(inner) for _, inner in value.pairs), default=0) if isinstance(value, Pairs) else 0


#: In place of a value: several members have the name (F109).
REPEATED = object()


class Pairs:
    """An object with all its members, also where several have the same name."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        self.pairs = pairs


def read(document: bytes) -> dict[str, Any] | None:
    """The members as Python reads them, or REPEATED; None if it is not an object, or beyond the reader's limits."""
    if len(document) > 65536:
        return None
    try:
        value = json.loads(document.decode("utf-8"), parse_constant=refuse, object_pairs_hook=Pairs)
    except ValueError:
        return None
    if not isinstance(value, Pairs) or not is_whole(value) or depth(value) > MOST_DEEP + 1:
        return None
    members: dict[str, Any] = {}
    for name, member in value.pairs:
        if name in NAMES:
            members[name] = REPEATED if name in members else member
    return members


def agrees(answer: str, expected: dict[str, Any] | None) -> bool:
    if expected is None:
        return answer == "none"
    first, *words = answer.split(" ")
    members = dict(word.split("=") for word in words)
    return (
        first == "object"
        and members.keys() == expected.keys()
        and all(map(is_member, members.values(), [expected[name] for name in members]))
    )


def is_member(shown: str, expected: Any) -> bool:
    kind, _, value = shown.partition(":")
    if expected is REPEATED:
        return kind == "repeated"
    if isinstance(expected, str):
        return kind == "string" and bytes.fromhex(value).decode() == expected
    if isinstance(expected, bool) or not isinstance(expected, (int, float)):
        return kind == "other"
    try:
        number = float(expected)
    except OverflowError:
        number = math.copysign(math.inf, expected)
    return kind == "number" and math.isclose(float(value), number, rel_tol=1e-14, abs_tol=1e-320)


def answers(runner: list[str], commands: list[str]) -> list[str]:
    finished = subprocess.run(
        runner, input="\n".join(commands) + "\n", stdout=subprocess.PIPE, text=True, check=True, timeout=600
    )
    return finished.stdout.splitlines()


@pytest.mark.parametrize("seed", [1, 2, ANY_SEED])
def test_T12_the_reader_agrees_with_python(swift_runner: list[str], sequence_count: int, seed: int) -> None:
    """Given documents of which about half are well-formed, both refuse the same ones and see the same members."""
    draw = random.Random(seed)
    documents = [any_document(draw) for _ in range(5 * sequence_count)]
    expected = [read(document) for document in documents]
    whole = sum(members is not None for members in expected)
    assert 0.3 < whole / len(documents) < 0.8, "the test shows little"
    got = answers(swift_runner, [f"json {quote_from_bytes(document, safe='')}" for document in documents])
    assert len(got) == len(documents)
    wrong = [one for one in zip(documents, expected, got) if not agrees(one[2], one[1])]
    assert not wrong, f"seed {seed}: {len(wrong)} differ, such as {wrong[:3]}"


@pytest.mark.parametrize("seed", [1, ANY_SEED])
def test_T12_forms_are_what_python_reads(swift_runner: list[str], seed: int) -> None:
    """F74: any bytes come back as they were, and are encoded as fully as can be."""
    draw = random.Random(seed)
    texts = [b"a+b%c&d=e \xc3\xa9", *(draw.randbytes(draw.randrange(1, 40)) for _ in range(500))]
    got = answers(swift_runner, [f"form {quote_from_bytes(text, safe='')}" for text in texts])
    for text, line in zip(texts, got):
        encoded = line.removeprefix("encoded ")
        assert unquote_to_bytes(encoded) == text
        assert encoded == quote(text, safe="")

"""Hostile arguments, made from the header: what may stand at each place of a call, and what the header says of it."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Union

from facts import (
    BLOCKING,
    EXAMPLES,
    LEFT_OPEN,
    LIVES_IN_A_HOOK,
    MAY_BE_NULL,
    NEEDS_MORE,
    NUMBERS,
    OF_A_CLIENT,
    ONLY_FOR_CLIENTS,
    TEXTS,
    UNREAD,
)
from fixed import first_size
from header import TEXT, Function, Header, Number, Parameter, Struct, read_header
from layout import measure_sizes
from ways import MEMORY, SINK, SOURCE, Way

Path = tuple[str, ...]


@dataclass(frozen=True)
class AnotherHandle:
    """A handle of another kind than the one that belongs here."""

    kind: str


Value = Union[Number, bytes, None, AnotherHandle]


@dataclass(frozen=True)
class Place:
    """A parameter of a function, or a field of a struct that is reached from one."""

    path: Path
    key: str  # into the tables of facts
    what: Parameter
    owner: Struct | None = None

    @property
    def count(self) -> str | None:
        """The field that says how long the array of this field is."""
        return count_field(self.owner, self.what) if self.owner else None


@dataclass(frozen=True)
class Override:
    place: Place
    value: Value

    def __str__(self) -> str:
        value = self.value
        if value is None:
            text = "NULL"
        elif isinstance(value, bytes) and len(value) > 20:
            text = f"{len(value)} bytes"
        elif isinstance(value, AnotherHandle):
            text = f"a {value.kind}"
        else:
            text = repr(value)
        return f"{'.'.join(self.place.path)} = {text}"


Case = tuple[Override, ...]
"""A call in which all arguments are valid but these."""


def cases(function: Function, way: Way = MEMORY, *, all_pairs: bool = True) -> list[Case]:
    """The valid call, then each hostile value alone, then pairs of them: all, or so many that for each two places each
    value of one has met a value of the other.

    Where a request is filled in another way, only what is particular to that way is new.
    """
    meet = itertools.product if all_pairs else _meet_once
    overrides = [[Override(place, value) for value in hostile_values(place, way)] for place in places(function, way)]
    if way is not MEMORY:
        overrides = [group for group in overrides if group and {"body_source", "sink"} & set(group[0].place.path)]
    alone: list[Case] = [(override,) for group in overrides for override in group]
    pairs = (pair for a, b in itertools.combinations(overrides, 2) for pair in meet(a, b))
    return [(), *alone, *pairs]


def _meet_once(some: list[Override], others: list[Override]) -> Iterator[Case]:
    """Pairs in which each has a partner; the shorter list begins again until the longer one ends."""
    if some and others:
        for number in range(max(len(some), len(others))):
            yield some[number % len(some)], others[number % len(others)]


def is_wrong(case: Case) -> bool | None:
    """Whether the header forbids such a call; None if it leaves that open."""
    verdicts = [_is_wrong(override, case) for override in case if not _is_unseen(override.place, case)]
    if True in verdicts:
        return True
    return None if None in verdicts else False


def is_only_for_hooks(function: Function) -> bool:
    """Whether it can be called only while a hook runs: test_hooks.py."""
    return any(parameter.type.name == LIVES_IN_A_HOOK for parameter in function.parameters)


def count_field(owner: Struct, field: Parameter) -> str | None:
    names = {f.name for f in owner.fields}
    candidates = (field.name[:-1] + "_count", field.name + "_length")
    return next((name for name in candidates if field.type.pointers and name in names), None)


def input_struct(header: Header, parameter: Parameter) -> Struct | None:
    """The struct that the library reads through this pointer."""
    if parameter.type.is_text_array:
        return TEXT
    readable = parameter.type.pointers == 1 and parameter.type.const
    return header.structs.get(parameter.type.name) if readable else None


def output_struct(header: Header, parameter: Parameter) -> Struct | None:
    """The struct that the library writes through this pointer."""
    writable = parameter.type.pointers == 1 and not parameter.type.const
    return header.structs.get(parameter.type.name) if writable else None


def places(function: Function, way: Way = MEMORY) -> Iterator[Place]:
    header = read_header()
    for parameter in function.parameters:
        place = Place((parameter.name,), f"{function.name}.{parameter.name}", parameter)
        yield place
        written = output_struct(header, parameter)
        if written and written.is_sized and not function.name.endswith("_init"):
            size = written.fields[0]
            yield Place((*place.path, size.name), f"{written.name}.{size.name}", size, written)
        yield from _places_behind(header, function, place, way)


def _places_behind(header: Header, function: Function, place: Place, way: Way) -> Iterator[Place]:
    struct = input_struct(header, place.what)
    if struct is None:
        return
    for inner in read_fields(function, struct, place.path, way):
        yield inner
        yield from _places_behind(header, function, inner, way)


def read_fields(function: Function, struct: Struct, path: Path, way: Way = MEMORY) -> list[Place]:
    """The fields of a struct that the function looks at, where that path leads to the struct."""
    unread: set[str] = set()
    if struct.name == "boxretry_request":
        unread = UNREAD.get(function.name, set()) if _is_of_a_client(path) else ONLY_FOR_CLIENTS
    elif struct.name == "boxretry_client_options":
        unread = UNREAD.get(function.name, set())
    if _is_of_a_client(path):
        unread = unread | way.without(struct.name)
    fields = [field for field in struct.fields if field.name not in unread]
    return [Place((*path, f.name), _key(f"{struct.name}.{f.name}", path), f, struct) for f in fields]


def _key(key: str, path: Path) -> str:
    own = key + OF_A_CLIENT
    return own if _is_of_a_client(path) and (own in TEXTS or own in NUMBERS) else key


def _is_of_a_client(path: Path) -> bool:
    """Whether that is in a request to be sent, or in facts about one; others are in an outcome."""
    return path[0] == "request" or path[:2] == ("options", "headers")


KINDS = {f"{SOURCE}.kind", f"{SINK}.kind"}
"""Another kind that there is would be another way."""


def hostile_values(place: Place, way: Way = MEMORY) -> list[Value]:
    header = read_header()
    type = place.what.type
    if place.key in KINDS:
        rule = NUMBERS[place.key]
        numbers = _hostile_numbers(place)
        return [number for number in numbers if not rule.allows(number) or number == way.values[place.key]]
    if type.parameters is not None or type.pointers == 2 or type.name == "void":
        return [None]
    if type.pointers == 1 and type.name == "char":
        return [None, b"", b"x" * 100_000, b"\xff\xfe\xc0\x80\xed\xa0\x80", b"%s%n: \x01"]
    if type.pointers == 1:
        if type.name in header.handles:
            kinds = [kind for kind in header.handles if kind not in (type.name, LIVES_IN_A_HOOK)]
            return [None, *(AnotherHandle(kind) for kind in kinds)]
        return [None]
    if place.what.name == "struct_size":
        return list(wrong_sizes(_sized_struct(place).name))
    return list(_hostile_numbers(place))


def wrong_sizes(struct: str) -> list[int]:
    """What no version of that struct has as its size."""
    size = measure_sizes()[struct]
    small = [0, 1, 7, 8, first_size(struct) - 8, size - 1, size + 1, size + 4]
    return [*small, 1032, 2**31, 2**32 + size, 2**63, 2**64 - 8, 2**64 - 1]


def _sized_struct(place: Place) -> Struct:
    """The struct that a struct_size belongs to: a field, or a parameter of an _init function."""
    return place.owner or read_header().structs[place.key.split("_init.")[0]]


INTEGERS = {
    "int": (-(2**31), 2**31 - 1),
    "int32_t": (-(2**31), 2**31 - 1),
    "boxretry_error": (-(2**31), 2**31 - 1),
    "int64_t": (-(2**63), 2**63 - 1),
    "uint64_t": (0, 2**64 - 1),
    "size_t": (0, 2**64 - 1),
}


def _hostile_numbers(place: Place) -> Iterator[Number]:
    rule = NUMBERS[place.key]
    limits = [limit for limit in (rule.low, rule.high) if math.isfinite(limit)]
    numbers: list[Number]
    if place.what.type.name == "double":
        numbers = [0.0, -0.0, -1.0, math.nan, math.inf, -math.inf, 1e308, -1e308, 5e-324, -5e-324, 2.0**31, 2.0**63]
        numbers += [f for limit in limits for f in (math.nextafter(limit, -math.inf), math.nextafter(limit, math.inf))]
        numbers += [float(limit) for limit in limits]
    else:
        low, high = INTEGERS[place.what.type.name]
        numbers = [0, -1, low, high, -(2**31), 2**31 - 1, 2**31, 2**32, -(2**63), 2**63 - 1, 2**63]
        numbers += [int(limit) + step for limit in limits for step in (-1, 0, 1)]
        numbers = [number for number in numbers if low <= number <= high]
    for number in {repr(number): number for number in numbers}.values():  # each once; -0.0 is not 0.0
        waits = place.key in BLOCKING and number > 0 and rule.allows(number)
        reads_on = place.count is None and _counts_an_array(place) and number > 1 and rule.allows(number)
        if not waits and not reads_on:
            yield number


def _counts_an_array(place: Place) -> bool:
    """Whether the library may look at as many elements as this says; there is one."""
    return place.owner is not None and any(
        count_field(place.owner, field) == place.what.name
        and (field.type.name != "void" or _is_of_a_client(place.path))  # an outcome's body is not looked at
        for field in place.owner.fields
    )


def _is_wrong(override: Override, case: Case) -> bool | None:
    place, value = override.place, override.value
    if place.key in LEFT_OPEN or (place.key, value) in NEEDS_MORE:
        return None
    if value is None:
        if place.key not in MAY_BE_NULL:
            return True
        return place.count is not None and _value_of_count(place, case) != 0
    if isinstance(value, AnotherHandle):
        return True
    if isinstance(value, bytes):
        return place.key in TEXTS and not TEXTS[place.key][1](value)
    if place.what.name == "struct_size":
        return True
    rule = NUMBERS[place.key]
    return math.isnan(value) or not rule.allows(value)


def _value_of_count(place: Place, case: Case) -> Value:
    path = (*place.path[:-1], place.count)
    return next((override.value for override in case if override.place.path == path), 1)


def _is_unseen(place: Place, case: Case) -> bool:
    """Whether another value of this call takes this place out of sight: it lies behind NULL, or in an empty array."""
    for override in case:
        other = override.place
        if override.value is None and _lies_behind(place, other.path):
            return True
        if override.value == 0 and other.owner is not None:
            arrays = [f.name for f in other.owner.fields if count_field(other.owner, f) == other.what.name]
            if any(_lies_behind(place, (*other.path[:-1], array)) for array in arrays):
                return True
    return False


def _lies_behind(place: Place, pointer: Path) -> bool:
    return len(place.path) > len(pointer) and place.path[: len(pointer)] == pointer


def valid_value(place: Place, way: Way = MEMORY) -> Number | bytes:
    """A number or a text that the header allows there."""
    if place.key in way.values:
        return way.values[place.key]
    if place.key in EXAMPLES:
        return EXAMPLES[place.key]
    if place.what.type.name == "char":
        return b"text"
    rule = NUMBERS[place.key]
    return 0 if rule.allows(0) else rule.low

"""The ways to fill in a request that is sent: where its body comes from, and where that of the response goes.

What one way needs the others do not look at. A request has one of these, and all else in it is as the facts say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from header import Function, Number
from install import HEADER

SOURCE_FILE, SOURCE_DESCRIPTOR, SOURCE_CALLBACK, SOURCE_MULTIPART = 1, 2, 3, 4
SINK_FILE, SINK_CALLBACK = 1, 2

THIS_FILE = str(HEADER).encode()
"""A file that can be read."""


@dataclass(frozen=True)
class Way:
    """How a request is filled in."""

    name: str
    values: Mapping[str, Number | bytes] = field(default_factory=dict)  # by key: its value
    unread: Mapping[str, frozenset[str]] = field(default_factory=dict)  # by struct: what it does without

    def without(self, struct: str) -> frozenset[str]:
        return self.unread.get(struct, frozenset())


SOURCE, SINK, PART = "boxretry_body_source", "boxretry_sink", "boxretry_part"
_BODY = frozenset({"body", "body_length"})
_CALLBACKS_OF_A_SOURCE = frozenset({"read", "rewind", "context_free", "context"})
_PARTS = frozenset({"parts", "part_count"})
_FILE_SINK: dict[str, Number | bytes] = {
    f"{SINK}.kind": SINK_FILE,
    f"{SINK}.path": b"never opened, since no response comes",
}
_CALLBACKS_OF_A_SINK = frozenset({"write", "restart", "context_free", "context", "begin"})


def _multipart(name: str, unread: frozenset[str]) -> Way:
    return Way(
        name,
        {f"{SOURCE}.kind": SOURCE_MULTIPART, f"{PART}.path": THIS_FILE, **_FILE_SINK},
        {
            "boxretry_request": _BODY,
            SOURCE: _CALLBACKS_OF_A_SOURCE | {"descriptor", "path"},
            PART: unread,
            SINK: _CALLBACKS_OF_A_SINK,
        },
    )


MEMORY = Way("memory", {}, {"boxretry_request": frozenset({"body_source", "sink"})})

CALLBACKS = Way(
    "callbacks",
    {f"{SOURCE}.kind": SOURCE_CALLBACK, f"{SINK}.kind": SINK_CALLBACK},
    {
        "boxretry_request": _BODY,
        SOURCE: _PARTS | {"descriptor", "path"},
        SINK: frozenset({"path", "is_resumable"}),
    },
)

FILES = Way(
    "files",
    {f"{SOURCE}.kind": SOURCE_FILE, f"{SOURCE}.path": THIS_FILE, **_FILE_SINK},
    {
        "boxretry_request": _BODY,
        SOURCE: _CALLBACKS_OF_A_SOURCE | _PARTS | {"descriptor"},
        SINK: _CALLBACKS_OF_A_SINK,
    },
)

DATA_PARTS = _multipart("multipart", frozenset({"path"}))
FILE_PARTS = _multipart("multipart of files", frozenset({"data", "data_length"}))

WAYS = (MEMORY, CALLBACKS, FILES, DATA_PARTS, FILE_PARTS)


def ways_for(function: Function) -> tuple[Way, ...]:
    """All, if the function is given a request to be sent; else they make no difference."""
    is_sent = any(p.name == "request" and p.type.const for p in function.parameters)
    return WAYS if is_sent else (MEMORY,)

"""Converts the arguments `to_file` and `sink` of `Client.request()` to a boxretry_sink."""

from __future__ import annotations

from functools import cache
from typing import Any, Callable

from .._c import _abi
from .._c.arguments import Path, new, path_bytes
from ..calls._callbacks import begin_callback, restart_callback, write_callback
from ..calls._protocols import Sink
from ..enums import SinkKind


class FunctionSink:
    """A function as a sink."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self.write = write


def sink_of(sink: Any) -> Sink | None:
    """The sink for the argument `sink`. Raises TypeError."""
    if sink is None or hasattr(sink, "write"):
        return sink  # type: ignore[no-any-return]
    if callable(sink):
        return FunctionSink(sink)
    raise TypeError(f"sink: must be callable or have write(), not {type(sink).__name__}")


def file_sink_struct(path: Path, resume: bool) -> Any:
    """A sink that the library writes to by itself."""
    struct = new(_abi.Sink, _abi.boxretry_sink_init)
    struct.kind = SinkKind.FILE
    struct.path = path_bytes(path, "to_file")
    struct.is_resumable = bool(resume)
    return struct


def sink_struct(sink: Sink, token: int) -> Any:
    """The caller's own sink. `token` identifies the call."""
    defaults = _bytes_of_sink(getattr(sink, "takes_errors", False), hasattr(sink, "restart"), hasattr(sink, "begin"))
    struct = _abi.Sink.from_buffer_copy(defaults)
    struct.context = token
    return struct


@cache
def _bytes_of_sink(takes_errors: bool, has_restart: bool, has_begin: bool) -> bytes:
    """A boxretry_sink without its context. It is copied for each request: faster than filling in a new one."""
    struct = new(_abi.Sink, _abi.boxretry_sink_init)
    struct.kind = SinkKind.CALLBACK
    struct.write = write_callback
    struct.takes_errors = takes_errors
    if has_restart:
        struct.restart = restart_callback
    if has_begin:
        struct.begin = begin_callback
    return bytes(struct)

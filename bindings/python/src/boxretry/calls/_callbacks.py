"""The functions that the library calls while bodies are transferred, and before it sends a request.

They run on the thread that drives the calls. The library gets no reference to any object: its context is the token of
the call, by which the call is found here as long as a caller waits for it. If the call is not found, the callback gives
no answer, which the library treats as a failure. An exception is kept for the caller that waits.
"""

from __future__ import annotations

import ctypes
from ctypes import memmove
from typing import Any

from .._c import _abi
from .._c.texts import bytes_at
from ..enums import PAUSE, WriteAnswer
from ._telling import tell_before_attempt, tell_head
from .attempt_request import AttemptRequest
from .event import find_listener
from .progress import progress_from_struct
from .response_head import head_from_struct
from .watched import Watched, find_watched

_PAUSE, _TAKEN = int(WriteAnswer.PAUSE), int(WriteAnswer.TAKEN)


def _read(context: int, call: int, buffer: int, capacity: int, count_out: Any) -> None:
    watched = find_watched(context)
    if watched is None or watched.source is None:
        return
    try:
        piece = watched.source.read(capacity)
        if piece is PAUSE:
            count_out[0] = _abi.READ_PAUSE
        else:
            assert isinstance(piece, bytes)
            if len(piece) > capacity:
                raise ValueError(f"read({capacity}) of the file returned {len(piece)} bytes")
            memmove(buffer, piece, len(piece))
            count_out[0] = len(piece)
        watched.wake(call)
    except BaseException as exception:
        watched.failed(exception)


def _rewind(context: int, done_out: Any) -> None:
    watched = find_watched(context)
    if watched is None or watched.source is None:
        return
    try:
        watched.source.rewind()
        done_out[0] = 1
    except BaseException as exception:
        watched.failed(exception)


def _write(context: int, call: int, data: int, length: int, answer_out: Any) -> None:
    watched = find_watched(context)
    if watched is None or watched.sink is None:
        return
    try:
        is_pause = watched.sink.write(bytes_at(data, length)) is PAUSE
        answer_out[0] = _PAUSE if is_pause else _TAKEN
        watched.wake(call)
    except BaseException as exception:
        watched.failed(exception)


def _restart(context: int, done_out: Any) -> None:
    watched = find_watched(context)
    if watched is None or watched.sink is None:
        return
    try:
        watched.sink.restart()  # type: ignore[attr-defined]  # The library gets this callback only if it exists.
        done_out[0] = 1
    except BaseException as exception:
        watched.failed(exception)


def _begin(context: int, call: int, head: Any, done_out: Any) -> None:
    watched = find_watched(context)
    if watched is None or watched.sink is None:
        return
    try:
        begun = head_from_struct(head.contents)
        tell_head(watched, begun)
        watched.sink.begin(begun)  # type: ignore[attr-defined]  # As for `restart()`.
        done_out[0] = 1
        watched.wake(call)
    except BaseException as exception:
        watched.failed(exception)


def _on_progress(context: int, progress: Any) -> None:
    watched = find_watched(context)
    if watched is None or watched.on_progress is None:
        return
    try:
        watched.on_progress(progress_from_struct(progress.contents))
    except BaseException as exception:
        watched.on_progress = None
        watched.keep(exception)


def _before_attempt_of_client(context: int, sending: int) -> None:
    listener = find_listener(context)
    watched = find_watched(_abi.boxretry_sending_user_pointer(sending))
    _before_attempt(watched, None if listener is None else listener.callback, sending)


def _before_attempt_of_request(context: int, sending: int) -> None:
    watched = find_watched(context)
    _before_attempt(watched, None if watched is None else watched.before_attempt, sending)


def _before_attempt(watched: Watched | None, hook: Any, sending: int) -> None:
    if watched is None or hook is None:
        return _abi.boxretry_sending_fail(sending)  # type: ignore[no-any-return]
    request = AttemptRequest(sending, watched.request.user_data)
    try:
        tell_before_attempt(watched, request)
        hook(request)
    except BaseException as exception:
        _abi.boxretry_sending_fail(sending)
        watched.failed(exception)
    finally:
        request._close()


read_callback = _abi.ReadCallback(_read)
rewind_callback = _abi.RestartCallback(_rewind)
write_callback = _abi.WriteCallback(_write)
restart_callback = _abi.RestartCallback(_restart)
begin_callback = _abi.BeginCallback(_begin)
progress_callback = _abi.ProgressCallback(_on_progress)
before_attempt_of_client = _abi.BeforeAttemptCallback(_before_attempt_of_client)
before_attempt_of_request = _abi.BeforeAttemptCallback(_before_attempt_of_request)

# Never freed, as in `custom`: a daemon thread may be about to call them when the interpreter exits.
for _callback in (
    read_callback,
    rewind_callback,
    write_callback,
    restart_callback,
    begin_callback,
    progress_callback,
    before_attempt_of_client,
    before_attempt_of_request,
):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_callback))

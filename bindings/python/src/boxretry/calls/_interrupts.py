"""What signal handlers raise while the library calls Python on the main thread."""

from __future__ import annotations

import os
import sys
import threading
from threading import get_ident
from typing import Any, Callable

_PACKAGE = __name__.partition(".")[0]
_main_thread = threading.main_thread().ident


def _begin_in_child() -> None:
    global _main_thread
    _main_thread = get_ident()  # The thread that called os.fork() is the main thread of the child.


os.register_at_fork(after_in_child=_begin_in_child)


def on_main_thread() -> bool:
    """Whether this thread runs signal handlers. Asking `threading` takes three times as long."""
    return get_ident() == _main_thread


def waited(wait: Callable[..., int], *arguments: Any) -> int:
    """Calls a function of the library that waits. Raises what a signal handler raised in the meantime, such as Ctrl-C.

    The thread that waits also drives the calls, so it may run their callbacks. Python runs a signal handler before the
    first line of a callback, where the callback cannot catch the handler's exception, and ctypes can only give it to
    sys.unraisablehook(). Only the main thread runs signal handlers.
    """
    if get_ident() != _main_thread:
        return wait(*arguments)
    raised: list[BaseException] = []
    hook = sys.unraisablehook

    def keep(unraisable: Any) -> None:
        if on_main_thread() and _is_of_callback(unraisable):
            raised.append(unraisable.exc_value)
        else:
            hook(unraisable)

    try:
        sys.unraisablehook = keep
        status = wait(*arguments)
    finally:
        if sys.unraisablehook is keep:
            sys.unraisablehook = hook
    if raised:
        try:
            raise raised[0]
        finally:
            raised.clear()  # The exception's traceback refers to this frame.
    return status


def _is_of_callback(unraisable: Any) -> bool:
    """Whether the exception has left a function of this package, and not a destructor of the program's."""
    traceback = unraisable.exc_traceback
    if traceback is None or unraisable.exc_value is None:
        return False
    name: str = traceback.tb_frame.f_globals.get("__name__", "")
    return name.partition(".")[0] == _PACKAGE

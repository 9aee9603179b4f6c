"""Declares the functions of the library for ctypes."""

from __future__ import annotations

import ctypes
from typing import Any, Callable

from .library import load

library = load()

# The same library again, called without releasing the interpreter's lock. Releasing and taking the lock costs as much
# as a short function does, and more with several threads. But a function that keeps the lock while it blocks stops
# every thread, and may wait for one that waits for the lock. So this is for short functions that do not block: all
# functions except the clocks and those that send and wait.
#
# This includes making, using and freeing strategies and loops, although a custom strategy is Python code in a callback
# and may do anything. It is called on the thread that uses the loop, while the library holds no lock, and Python code
# in it releases and takes the interpreter's lock as always. Releasing the lock before the call would even be wrong:
# between that and the callback the interpreter may exit (if this is a daemon thread), and the callback then crashes.
_library_quick = ctypes.PyDLL(library._name, handle=library._handle)

#: Each function that is declared here, with the types of its result and its arguments.
DECLARED: dict[str, tuple[type | None, tuple[type, ...]]] = {}

Function = Callable[..., Any]


def blocking(name: str, result: type | None, *arguments: Any) -> Function:
    """Declares a function that releases the interpreter's lock while it runs."""
    DECLARED[name] = (result, arguments)
    return _prototype(library, name)


def quick(name: str, result: type | None, *arguments: Any) -> Function:
    """Declares a function that keeps the interpreter's lock: it is short and does not block."""
    DECLARED[name] = (result, arguments)
    return _prototype(_library_quick, name)


def _prototype(handle: ctypes.CDLL, name: str) -> Function:
    function = handle[name]
    function.restype, function.argtypes = DECLARED[name]
    return function

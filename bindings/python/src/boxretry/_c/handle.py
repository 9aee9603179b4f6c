"""Lifetimes: who owns a handle of the library, and when it is freed."""

from __future__ import annotations

import atexit
import weakref
from ctypes import byref, c_void_p
from types import TracebackType
from typing import Any, Callable, TypeVar

from ..errors import ClosedError, check

_Owner = TypeVar("_Owner", bound="HandleOwner")


class Handle:
    """A handle of the library. It is freed when nothing refers to this object any more.

    A method that passes the pointer to the library holds a reference to this object during the call. So nothing is
    freed during a call that still runs, even if another thread closes the object, or a custom strategy does in the
    middle of its own call.
    """

    __slots__ = ("__weakref__", "_keeps", "cell")

    #: Contains the pointer. A function that makes a handle writes it directly here, so that Ctrl-C can never lose it.
    cell: c_void_p

    def __init__(self, pointer: int | None, free: Callable[[int], None], keeps: object = None) -> None:
        """`pointer` None: it will be made later. `free` must not refer to this object. `keeps`: kept alive as long."""
        self.cell = c_void_p(pointer)
        self._keeps = keeps
        reference = _Reference(self, _free)
        reference.free, reference.cell = free, self.cell
        _references.add(reference)

    @property
    def pointer(self) -> int:
        """The pointer for the library. Raises ClosedError after the handle was freed.

        Only a `__del__` can see that, of an object that is collected in one cycle with this one: weak references are
        called before any `__del__`.
        """
        pointer = self.cell.value
        if pointer is None:
            raise ClosedError("is closed: it is being collected")
        return pointer


class _Reference(weakref.ref[Handle]):
    """Reports that a handle has gone. weakref.finalize() does the same in four times the time."""

    __slots__ = ("cell", "free")

    #: Contains the pointer until it is freed. The handle itself no longer exists then.
    cell: c_void_p
    free: Callable[[int], None]


#: A weak reference only reports while it exists itself.
_references: set[_Reference] = set()


def _free(reference: Any) -> None:
    _references.discard(reference)
    pointer, reference.cell.value = reference.cell.value, None
    if pointer is not None:
        reference.free(pointer)


# Nothing is freed at exit: threads may still run, and the process returns the memory anyway.
atexit.register(_references.clear)


def new_handle(make: Callable[..., int], *arguments: Any, free: Callable[[int], None], keeps: object = None) -> Handle:
    """Calls a `_new` function of the library; its last argument is where to write the pointer."""
    handle = Handle(None, free, keeps)
    check(make(*arguments, byref(handle.cell)))
    return handle


class HandleOwner:
    """An object with a handle. `close()` releases it; so do the end of `with` and the garbage collector."""

    _handle: Handle | None = None

    def close(self) -> None:
        """Closes this object: using it later raises ClosedError. You can call it again, and anywhere."""
        self._handle = None

    def __enter__(self: _Owner) -> _Owner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> Any:
        """Refuses copies and pickles: two objects would free the same handle."""
        raise TypeError(f"{type(self).__name__} objects cannot be copied or pickled")

    def _open_handle(self) -> Handle:
        handle = self._handle
        if handle is None:
            raise ClosedError(f"{type(self).__name__}: is closed")
        return handle

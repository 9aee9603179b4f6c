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
    """A handle of the library, which is freed when nothing refers to this object any more.

    A method that hands the pointer to the library holds a reference to this object meanwhile. So nothing is freed
    under a call that still runs, whoever closes whatever: another thread, or a custom strategy in the middle of its
    own call.
    """

    __slots__ = ("__weakref__", "_keeps", "cell")

    #: Where the pointer is. A function that makes a handle writes it here, so that there is no moment at which Ctrl-C
    #: could lose it.
    cell: c_void_p

    def __init__(self, pointer: int | None, free: Callable[[int], None], keeps: object = None) -> None:
        """`pointer` None: it is yet to be made. `free` must not refer to this object. `keeps`: what lives as long."""
        self.cell = c_void_p(pointer)
        self._keeps = keeps
        reference = _Reference(self, _free)
        reference.free, reference.cell = free, self.cell
        _references.add(reference)

    @property
    def pointer(self) -> int:
        """For the library. Raises ClosedError once the handle is freed.

        That is seen by a `__del__` alone, of an object that is collected in one cycle with this one: what weak
        references tell comes before any `__del__`.
        """
        pointer = self.cell.value
        if pointer is None:
            raise ClosedError("is closed: it is being collected")
        return pointer


class _Reference(weakref.ref[Handle]):
    """Tells when a handle is gone. weakref.finalize() does the same in four times the time."""

    __slots__ = ("cell", "free")

    #: Has the pointer until it is freed. The handle cannot be asked: it is no longer referred to.
    cell: c_void_p
    free: Callable[[int], None]


#: A weak reference only tells while it lives itself.
_references: set[_Reference] = set()


def _free(reference: Any) -> None:
    _references.discard(reference)
    pointer, reference.cell.value = reference.cell.value, None
    if pointer is not None:
        reference.free(pointer)


# Nothing is freed at exit: threads may still be at work, and the memory goes with the process anyway.
atexit.register(_references.clear)


def new_handle(make: Callable[..., int], *arguments: Any, free: Callable[[int], None], keeps: object = None) -> Handle:
    """Calls a `_new` function of the library; its last argument is where the pointer goes."""
    handle = Handle(None, free, keeps)
    check(make(*arguments, byref(handle.cell)))
    return handle


class HandleOwner:
    """What has a handle: `close()` lets go of it, and so does the end of `with`, and being collected."""

    _handle: Handle | None = None

    def close(self) -> None:
        """Ends this object: what is asked of it from now on raises ClosedError. May be called again, and anywhere."""
        self._handle = None

    def __enter__(self: _Owner) -> _Owner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> Any:
        """Refuses to be copied or pickled: two would free the same handle."""
        raise TypeError(f"{type(self).__name__} objects can be neither copied nor pickled")

    def _open_handle(self) -> Handle:
        handle = self._handle
        if handle is None:
            raise ClosedError(f"{type(self).__name__}: is closed")
        return handle

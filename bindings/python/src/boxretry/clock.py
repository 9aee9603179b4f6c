"""A clock that only moves when told, so that retries can be tested without waiting."""

from __future__ import annotations

import threading
import time
from ctypes import byref, c_double

from ._c import _abi
from ._c.arguments import Real, real
from ._c.handle import Handle, HandleOwner, new_handle
from .enums import Error, Timeline
from .errors import ClosedError, InvalidArgumentError, WaitTimeoutError, check

_LONGEST_DELAY = 2**31 - 1

#: Seconds between two looks at who waits on a clock inside the library.
_LOOK_EVERY = 0.005


class ManualClock(HandleOwner):
    """A clock that stands still. All its timelines begin at 0. Any number of threads may use one at once.

    >>> with ManualClock() as clock, RetryLoop(RetryStrategy(), clock=clock, deadline=60) as loop:
    ...     clock.advance(50)
    ...     loop.next(Outcome(503, headers={"Retry-After": "20"})).reason.text
    'the deadline has passed, or would pass during the wait'
    """

    # The waiting is done here, and not in boxretry_clock_sleep(). A thread that waits in there cannot be interrupted by
    # Ctrl-C; and one that is just about to cannot be told from one that does, so that close(), which has to end the
    # waits, would have to free the clock under it.

    def __init__(self) -> None:
        """Raises OutOfMemoryError."""
        self._handle = new_handle(_abi.boxretry_clock_new_manual, free=_abi.boxretry_clock_free)
        # Guards what follows, and wakes whoever waits for a change of it.
        self._changed = threading.Condition()
        self._elapsed = 0  # Nanoseconds on the monotonic timeline.
        self._due_times: list[int] = []  # Of those who sleep.

    def advance(self, seconds: Real) -> None:
        """Moves all timelines on, and ends each sleep whose time has come.

        seconds: 0 to 2^31 - 1; a clock goes up to 2^32 seconds in all. Raises InvalidArgumentError beyond; ForkedError,
        ClosedError.
        """
        handle, amount = self._usable_handle(), real(seconds, "seconds")
        with self._changed:
            check(_abi.boxretry_clock_advance(handle.pointer, amount))
            self._elapsed += _nanoseconds(amount)
            self._changed.notify_all()

    def suspend(self, seconds: Real) -> None:
        """Moves boottime and wall clock on, as if the machine had slept. As `advance()` in all else."""
        handle, amount = self._open_handle(), real(seconds, "seconds")
        check(_abi.boxretry_clock_suspend(handle.pointer, amount))

    def set_wall(self, unix_time: Real) -> None:
        """Sets the wall clock alone.

        unix_time: seconds since 1970, -62135596800 (year 1) to 253402300799 (year 9999). Raises InvalidArgumentError
            beyond; ForkedError, ClosedError.
        """
        handle, time = self._open_handle(), real(unix_time, "unix_time")
        check(_abi.boxretry_clock_set_wall(handle.pointer, time))

    def monotonic(self) -> float:
        """The seconds by which the clock was advanced. Raises ForkedError, ClosedError, as the next two."""
        return _now(self._open_handle(), Timeline.MONOTONIC)

    def boottime(self) -> float:
        """The seconds by which the clock was advanced and suspended."""
        return _now(self._open_handle(), Timeline.BOOTTIME)

    def wall(self) -> float:
        """The wall clock, in seconds since 1970."""
        return _now(self._open_handle(), Timeline.WALL)

    def sleep(self, seconds: Real) -> None:
        """Waits until the clock was advanced by so many seconds (0 to 2^31 - 1).

        Raises InvalidArgumentError; ClosedError, also if the clock is closed meanwhile; InCallbackError; ForkedError.
        """
        handle, amount = self._usable_handle(), real(seconds, "seconds")
        check(_abi.boxretry_clock_sleep(handle.pointer, 0.0))  # Refuses in a callback.
        if not 0 <= amount <= _LONGEST_DELAY:
            raise InvalidArgumentError(f"seconds: must be from 0 to 2^31 - 1, but is {amount:g}")
        with self._changed:
            due = self._elapsed + _nanoseconds(amount)
            self._due_times.append(due)
            self._changed.notify_all()
            try:
                self._changed.wait_for(lambda: self._elapsed >= due or self._handle is None)
                if self._elapsed < due:
                    raise ClosedError("the clock was closed while this call waited on it")
            finally:
                self._due_times.remove(due)

    def wait_for_timer(self, timeout: Real | None = None) -> None:
        """Waits, in real time, until someone waits on this clock: so a test knows that it may advance it.

        timeout: seconds, 0 or more; 0 only looks. None: for ever.

        Raises WaitTimeoutError; InvalidArgumentError; ClosedError, also if the clock is closed meanwhile;
        InCallbackError; ForkedError.
        """
        handle = self._usable_handle()
        limit = None if timeout is None else real(timeout, "timeout")
        if limit is not None and not limit >= 0:
            raise InvalidArgumentError(f"timeout: must be 0 or more, but is {limit:g}")
        due = None if limit is None else time.monotonic() + limit
        while (status := _abi.boxretry_clock_wait_for_timer(handle.pointer, 0)) == Error.WAIT_TIMEOUT:
            # The library's own waits (those of a token source) are not known here, and have to be looked for.
            left = _LOOK_EVERY if due is None else min(due - time.monotonic(), _LOOK_EVERY)
            with self._changed:
                if self._changed.wait_for(lambda: self._is_slept_on() or self._handle is None, max(left, 0)):
                    if not self._is_slept_on():
                        raise ClosedError("the clock was closed while this call waited on it")
                    return
            if due is not None and time.monotonic() >= due:
                raise WaitTimeoutError("timeout: has passed")
        check(status)

    def close(self) -> None:
        """Ends the clock, and the waits on it (ClosedError). May be called again, and anywhere."""
        handle = self._handle
        super().close()
        if handle is not None and not _is_forked(handle):
            with self._changed:
                self._changed.notify_all()

    def _is_slept_on(self) -> bool:
        return any(due > self._elapsed for due in self._due_times)

    def _usable_handle(self) -> Handle:
        """The handle, looked at before the lock is: in a child of os.fork() that may be held for ever."""
        handle = self._open_handle()
        _now(handle, Timeline.MONOTONIC)
        return handle


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1e9)


def _now(handle: Handle, timeline: Timeline) -> float:
    seconds = c_double()
    check(_abi.boxretry_clock_now(handle.pointer, timeline, byref(seconds)))
    return seconds.value


def _is_forked(handle: Handle) -> bool:
    status: int = _abi.boxretry_clock_now(handle.pointer, Timeline.MONOTONIC, byref(c_double()))
    return status == Error.FORKED

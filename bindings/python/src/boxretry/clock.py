"""A clock for tests: it moves when told, or by itself past every wait, so that no test has to wait."""

from __future__ import annotations

import threading
import time
from ctypes import byref, c_double
from dataclasses import dataclass

from ._c import _abi
from ._c.arguments import Real, real
from ._c.handle import Handle, HandleOwner, new_handle
from .enums import Error, Timeline
from .errors import ClosedError, InvalidArgumentError, WaitTimeoutError, check

_LONGEST_DELAY = 2**31 - 1

#: Seconds between two looks at who waits on a clock inside the library.
_LOOK_EVERY = 0.005


@dataclass(eq=False)
class _Sleeper:
    """A thread that sleeps on a clock."""

    #: When it wakes, compared with `ManualClock._elapsed`.
    due: int
    #: A thread sleeps for it inside the library, since the clock advances by itself.
    is_in_library: bool = False
    is_over: bool = False


class ManualClock(HandleOwner):
    """A clock that stands still, or advances by itself. All its timelines begin at 0. Any number of threads may use it.

    >>> with ManualClock() as clock, RetryLoop(RetryStrategy(), clock=clock, deadline=60) as loop:
    ...     clock.advance(50)
    ...     loop.next(Outcome(503, headers={"Retry-After": "20"})).reason.text
    'the deadline has passed, or would pass during the wait'
    """

    # The waiting is done here, and not in boxretry_clock_sleep(). A thread that waits in there cannot be interrupted by
    # Ctrl-C; and one that is just about to cannot be told from one that does, so that close(), which has to end the
    # waits, would have to free the clock under it. While the clock advances by itself, the library has to know of each
    # sleep, so a thread of its own waits in there.

    def __init__(self, *, auto_advance: bool = False) -> None:
        """Raises OutOfMemoryError; with auto_advance also ExhaustedError."""
        self._handle = new_handle(_abi.boxretry_clock_new_manual, free=_abi.boxretry_clock_free)
        # Guards what follows, and wakes whoever waits for a change of it.
        self._changed = threading.Condition()
        self._elapsed = 0  # Nanoseconds by which the clock was advanced, apart from those by which it did by itself.
        self._sleepers: list[_Sleeper] = []
        self._auto_advance = False
        if auto_advance:
            self.auto_advance = True

    @property
    def auto_advance(self) -> bool:
        """Whether the clock advances by itself. Setting it raises ExhaustedError, ForkedError, ClosedError.

        It jumps to the next time for which somebody waits once nothing else is left to wait for. That takes real time:
        1 ms without an attempt under way; 100 ms in which nothing moves with one; 1.5 s if a connection is being made,
        a token provider or a custom strategy is at work, or a body waits for your program. More on a busy machine.
        """
        return self._auto_advance

    @auto_advance.setter
    def auto_advance(self, on: bool) -> None:
        handle = self._usable_handle()
        with self._changed:
            check(_abi.boxretry_clock_set_auto_advance(handle.pointer, bool(on)))
            self._auto_advance = bool(on)
            if on:
                for sleeper in self._sleepers:
                    self._sleep_in_library(handle, sleeper)

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
            sleeper = _Sleeper(self._elapsed + _nanoseconds(amount))
            self._sleepers.append(sleeper)
            if self._auto_advance:
                self._sleep_in_library(handle, sleeper)
            self._changed.notify_all()
            try:
                self._changed.wait_for(lambda: self._is_over(sleeper) or self._handle is None)
                if not self._is_over(sleeper):
                    raise ClosedError("the clock was closed while this call waited on it")
            finally:
                self._sleepers.remove(sleeper)

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

    def _sleep_in_library(self, handle: Handle, sleeper: _Sleeper) -> None:
        """With the lock held."""
        if sleeper.is_in_library:
            return
        sleeper.is_in_library = True
        seconds = max(sleeper.due - self._elapsed, 0) / 1e9

        def sleep() -> None:
            _abi.boxretry_clock_sleep(handle.pointer, seconds)
            with self._changed:
                sleeper.is_over = True
                self._changed.notify_all()

        threading.Thread(target=sleep, daemon=True, name="boxretry.ManualClock").start()

    def _is_over(self, sleeper: _Sleeper) -> bool:
        return sleeper.is_over or self._elapsed >= sleeper.due

    def _is_slept_on(self) -> bool:
        return not all(self._is_over(sleeper) for sleeper in self._sleepers)

    def _usable_handle(self) -> Handle:
        """The handle, looked at before the lock is: in a child of os.fork() that may be held for ever."""
        handle = self._open_handle()
        _now(handle, Timeline.MONOTONIC)
        return handle


def clock_handle(clock: ManualClock) -> Handle:
    """The handle of an argument that must be a clock."""
    if not isinstance(clock, ManualClock):
        raise TypeError(f"clock: must be a ManualClock, not {type(clock).__name__}")
    return clock._open_handle()


def _nanoseconds(seconds: float) -> int:
    return round(seconds * 1e9)


def _now(handle: Handle, timeline: Timeline) -> float:
    seconds = c_double()
    check(_abi.boxretry_clock_now(handle.pointer, timeline, byref(seconds)))
    return seconds.value


def _is_forked(handle: Handle) -> bool:
    status: int = _abi.boxretry_clock_now(handle.pointer, Timeline.MONOTONIC, byref(c_double()))
    return status == Error.FORKED

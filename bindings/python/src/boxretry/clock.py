"""A manual clock for tests: it moves when told to, or jumps past every wait by itself, so tests do not have to wait."""

from __future__ import annotations

import threading
import time
from ctypes import byref, c_double
from dataclasses import dataclass
from functools import partial

from ._c import _abi
from ._c.arguments import Real, real
from ._c.handle import Handle, HandleOwner, new_handle
from .enums import Error, Timeline
from .errors import ClosedError, InvalidArgumentError, WaitTimeoutError, check

_LONGEST_DELAY = 2**31 - 1

#: Seconds between two checks for waits on a clock inside the library.
_LOOK_EVERY = 0.005


@dataclass(eq=False)
class _Sleeper:
    """A thread that sleeps on a clock."""

    #: When it wakes up, compared with `ManualClock._elapsed`.
    due: int
    #: A thread sleeps for it inside the library, because the clock advances by itself.
    is_in_library: bool = False
    is_over: bool = False
    #: The clock was closed before the sleep was over.
    is_cut_off: bool = False


class _ClockHandle(Handle):
    """The handle of a clock. Every user of the clock refers to it, except the helper threads of `ManualClock`.

    The helpers refer only to `clock`. After the last user has gone, the clock's time does not matter any more, so it
    advances by itself until the helpers have ended. Freeing the clock would end them too, but a helper may be about to
    begin its wait, and would then use freed memory.
    """

    __slots__ = ("clock", "helpers")

    def __init__(self) -> None:
        """Raises OutOfMemoryError."""
        self.clock = new_handle(_abi.boxretry_clock_new_manual, free=_abi.boxretry_clock_free)
        self.helpers: list[_Sleeper] = []
        super().__init__(self.clock.pointer, partial(_end_helpers, self.clock, self.helpers))


def _end_helpers(clock: Handle, helpers: list[_Sleeper], pointer: int) -> None:
    if helpers:
        _abi.boxretry_clock_set_auto_advance(clock.pointer, 1)


class ManualClock(HandleOwner):
    """A clock that stands still or advances by itself. All its timelines begin at 0. Any number of threads may use it.

    >>> with ManualClock() as clock, RetryLoop(RetryStrategy(), clock=clock, deadline=60) as loop:
    ...     clock.advance(50)
    ...     loop.next(Outcome(503, headers={"Retry-After": "20"})).reason.text
    'the deadline has passed, or would pass during the wait'
    """

    # The waits are here, and not in boxretry_clock_sleep(): Ctrl-C cannot interrupt a thread that waits there. Besides,
    # a thread that is about to wait there looks like one that waits already, so close(), which has to end the waits,
    # would have to free the clock while that thread uses it. While the clock advances by itself, the library has to
    # know about each sleep, so a separate thread waits there: a helper.

    def __init__(self, *, auto_advance: bool = False) -> None:
        """Raises OutOfMemoryError; with auto_advance also ExhaustedError."""
        self._handle = _ClockHandle()
        # Protects the fields below, and wakes the threads that wait for a change of them.
        self._changed = threading.Condition()
        self._elapsed = 0  # Nanoseconds that the clock was advanced by, without those that it advanced by itself.
        self._sleepers: list[_Sleeper] = []
        self._auto_advance = False
        if auto_advance:
            self.auto_advance = True

    @property
    def auto_advance(self) -> bool:
        """Whether the clock advances by itself. Setting it raises ExhaustedError, ForkedError, ClosedError.

        It jumps to the next time that a thread waits for, once there is nothing else to wait for. That takes real time:
        1 ms without an attempt in progress; 100 ms without data during an attempt; 1.5 s while a connection is opened,
        a token provider or a custom strategy runs, or a body waits for your program. More on a busy machine.
        """
        return self._auto_advance

    @auto_advance.setter
    def auto_advance(self, on: bool) -> None:
        handle = self._usable_handle()
        with self._changed:
            if on:
                for sleeper in self._sleepers:
                    self._sleep_in_library(handle, sleeper)
            check(_abi.boxretry_clock_set_auto_advance(handle.pointer, bool(on)))
            self._auto_advance = bool(on)

    def advance(self, seconds: Real) -> None:
        """Moves all timelines forward, and ends each sleep that is then over.

        seconds: 0 to 2^31 - 1; a clock reaches at most 2^32 seconds. Raises InvalidArgumentError beyond these limits;
            ForkedError, ClosedError.
        """
        handle, amount = self._usable_handle(), real(seconds, "seconds")
        with self._changed:
            check(_abi.boxretry_clock_advance(handle.pointer, amount))
            self._elapsed += _nanoseconds(amount)
            self._changed.notify_all()

    def suspend(self, seconds: Real) -> None:
        """Moves boottime and the wall clock forward, as if the machine had slept. Otherwise like `advance()`."""
        handle, amount = self._open_handle(), real(seconds, "seconds")
        check(_abi.boxretry_clock_suspend(handle.pointer, amount))

    def set_wall(self, unix_time: Real) -> None:
        """Sets the wall clock only.

        unix_time: seconds since 1970, -62135596800 (year 1) to 253402300799 (year 9999). Raises InvalidArgumentError
            beyond these limits; ForkedError, ClosedError.
        """
        handle, time = self._open_handle(), real(unix_time, "unix_time")
        check(_abi.boxretry_clock_set_wall(handle.pointer, time))

    def monotonic(self) -> float:
        """The seconds that the clock was advanced by. Raises ForkedError, ClosedError, like the next two methods."""
        return _now(self._open_handle(), Timeline.MONOTONIC)

    def boottime(self) -> float:
        """The seconds that the clock was advanced and suspended by."""
        return _now(self._open_handle(), Timeline.BOOTTIME)

    def wall(self) -> float:
        """The wall clock, in seconds since 1970."""
        return _now(self._open_handle(), Timeline.WALL)

    def sleep(self, seconds: Real) -> None:
        """Waits until the clock has been advanced by this number of seconds (0 to 2^31 - 1).

        Raises InvalidArgumentError; ClosedError, also if the clock is closed during the wait; InCallbackError;
        ForkedError.
        """
        handle, amount = self._usable_handle(), real(seconds, "seconds")
        check(_abi.boxretry_clock_sleep(handle.pointer, 0.0))  # Refuses inside a callback.
        if not 0 <= amount <= _LONGEST_DELAY:
            raise InvalidArgumentError(f"seconds: must be from 0 to 2^31 - 1 (got {amount:g})")
        with self._changed:
            sleeper = _Sleeper(self._elapsed + _nanoseconds(amount))
            self._sleepers.append(sleeper)
            if self._auto_advance:
                self._sleep_in_library(handle, sleeper)
            self._changed.notify_all()
            del handle  # So that close() can end the helper.
            try:
                self._changed.wait_for(lambda: self._is_over(sleeper) or self._handle is None)
                if sleeper.is_cut_off or not self._is_over(sleeper):
                    raise ClosedError("the clock was closed while this call waited on it")
            finally:
                self._sleepers.remove(sleeper)

    def wait_for_timer(self, timeout: Real | None = None) -> None:
        """Waits, in real time, until a thread waits on this clock, so that a test knows when to advance it.

        timeout: seconds, 0 or more; 0 only checks. None: no limit.

        Raises WaitTimeoutError; InvalidArgumentError; ClosedError, also if the clock is closed during the wait;
        InCallbackError; ForkedError.
        """
        handle = self._usable_handle()
        limit = None if timeout is None else real(timeout, "timeout")
        if limit is not None and not limit >= 0:
            raise InvalidArgumentError(f"timeout: must be 0 or more (got {limit:g})")
        due = None if limit is None else time.monotonic() + limit
        while (status := _abi.boxretry_clock_wait_for_timer(handle.pointer, 0)) == Error.WAIT_TIMEOUT:
            # Waits inside the library (those of a token source) are not known here; the library has to be asked.
            left = _LOOK_EVERY if due is None else min(due - time.monotonic(), _LOOK_EVERY)
            with self._changed:
                if self._changed.wait_for(lambda: self._is_slept_on() or self._handle is None, max(left, 0)):
                    if not self._is_slept_on():
                        raise ClosedError("the clock was closed while this call waited on it")
                    return
            if due is not None and time.monotonic() >= due:
                raise WaitTimeoutError("the wait timed out")
        check(status)

    def close(self) -> None:
        """Closes the clock and ends the waits on it (ClosedError). You can call it again, and anywhere."""
        handle = self._handle
        super().close()
        if handle is not None and not _is_forked(handle):
            with self._changed:
                for sleeper in self._sleepers:
                    # The helpers end when `handle` is freed, and then their sleeps look as if they were over.
                    sleeper.is_cut_off = not self._is_over(sleeper)
                self._changed.notify_all()

    def _sleep_in_library(self, handle: _ClockHandle, sleeper: _Sleeper) -> None:
        """Called with the lock held."""
        if sleeper.is_in_library:
            return
        sleeper.is_in_library = True
        handle.helpers.append(sleeper)
        seconds = max(sleeper.due - self._elapsed, 0) / 1e9
        began = _now(handle, Timeline.MONOTONIC)
        about = (handle.clock, handle.helpers, sleeper, seconds, began, self._changed)
        threading.Thread(target=_help, args=about, daemon=True, name="boxretry.ManualClock").start()

    def _is_over(self, sleeper: _Sleeper) -> bool:
        return sleeper.is_over or self._elapsed >= sleeper.due

    def _is_slept_on(self) -> bool:
        return not all(self._is_over(sleeper) for sleeper in self._sleepers)

    def _usable_handle(self) -> _ClockHandle:
        """The handle, checked before the lock is taken: in a child of os.fork() the lock may be held forever."""
        handle = self._open_handle()
        _now(handle, Timeline.MONOTONIC)
        assert isinstance(handle, _ClockHandle)
        return handle


def _help(
    clock: Handle,
    helpers: list[_Sleeper],
    sleeper: _Sleeper,
    seconds: float,
    began: float,
    changed: threading.Condition,
) -> None:
    """seconds: counted from the time `began`, because the clock may have advanced since."""
    _abi.boxretry_clock_sleep(clock.pointer, max(seconds - (_now(clock, Timeline.MONOTONIC) - began), 0))
    with changed:
        sleeper.is_over = True
        changed.notify_all()
    helpers.remove(sleeper)


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

"""Many threads at once."""

from __future__ import annotations

import sys
import threading
import time
from typing import Callable


def seconds_to_wake() -> float:
    """How long it takes now until a thread that waits for an event runs: on a busy machine, a while."""
    is_there, event = threading.Event(), threading.Event()
    woken: list[float] = []

    def wait() -> None:
        is_there.set()
        event.wait()
        woken.append(time.monotonic())

    thread = threading.Thread(target=wait)
    thread.start()
    is_there.wait()
    began = time.monotonic()
    event.set()
    thread.join()
    return woken[0] - began


def run_in_threads(work: Callable[[int], None], count: int) -> None:
    """Calls it with 0, 1, … in this number of threads at once, which switch as often as possible."""
    raised: list[BaseException] = []

    def run(number: int) -> None:
        try:
            work(number)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
    assert raised == []

"""Many threads at once."""

from __future__ import annotations

import sys
import threading
from typing import Callable


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

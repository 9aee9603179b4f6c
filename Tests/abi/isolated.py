"""Runs work in a child process, so that a crash or a hang of the library is a failed test and not the end of the suite.

The library is only ever loaded in such children: each starts with a fresh one.
"""

from __future__ import annotations

import functools
import json
import os
import signal
import traceback
from collections.abc import Callable
from typing import Any, TypeVar

Test = TypeVar("Test", bound=Callable[..., None])

# Far more than any of them needs. BOXRETRY_PATIENCE is for machines that are many times slower, such as qemu.
LIMIT_SECONDS = 300 * int(os.environ.get("BOXRETRY_PATIENCE", "1"))


class ChildDied(AssertionError):
    """The child process was ended by a signal."""


def begin_limit() -> None:
    """Gives this child process LIMIT_SECONDS from now. Work of many steps calls it for each: a hang is one step's."""
    signal.alarm(LIMIT_SECONDS)


def run_in_child(work: Callable[[], object]) -> Any:
    """What `work` returns (anything that JSON can hold) in a child process."""
    __tracebackhide__ = True
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        begin_limit()
        try:
            answer: dict[str, object] = {"result": work()}
        except BaseException:
            answer = {"failure": traceback.format_exc()}
        with os.fdopen(writing, "w") as pipe:
            json.dump(answer, pipe)
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        number = os.WTERMSIG(status)
        hint = f" (still running after {LIMIT_SECONDS} s)" if number == signal.SIGALRM else ""
        raise ChildDied(f"the process died of {signal.Signals(number).name}{hint}")
    answer = json.loads(text)
    if "failure" in answer:
        raise AssertionError(f"in the child process:\n{answer['failure']}")
    return answer["result"]


def isolated(test: Test) -> Test:
    """Makes a test run in a child process."""

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        run_in_child(lambda: test(*args, **kwargs))

    return run  # type: ignore[return-value]

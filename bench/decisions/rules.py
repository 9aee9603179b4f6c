"""What needs no network: decisions, tokens, the library itself."""

from __future__ import annotations

import goals
from goals import Goal
from measure import LIBRARY, OUT, PREFIX, compile_c, markdown, rows_of, run


def decision() -> str:
    """One decision with the library, compared with the same rules in plain C in a shared library.

    The goal: 1.5.
    """
    compile_c("decisions/plain_rules", options=f"-fPIC -shared -o {OUT}/libplain_rules.so")
    program = compile_c(
        "decisions/decision",
        options=f"-L{OUT} -lplain_rules -L{PREFIX}/lib -lboxretry -Wl,-rpath,{OUT}:{PREFIX}/lib",
    )
    rows = rows_of(run(str(program)))
    aims = [Goal(outcome, float(ratio), 1.5) for outcome, _, _, _, ratio, _ in rows[1:]]
    introduction = "Processor time for each, in nanoseconds, and the ratio (31 rounds in turn, medians).\n\n"
    return introduction + markdown(rows) + goals.said("decision", aims)


def token() -> str:
    """Reading a valid token from a source, compared with a mutex, the same clock and a copy of the same bytes in C.

    The goals: 1.0 with one thread, and more threads together are not slower.
    """
    program = compile_c("decisions/token", options=f"-L{PREFIX}/lib -lboxretry -lpthread -Wl,-rpath,{PREFIX}/lib")
    introduction = (
        "Processor time for each, in nanoseconds, and the ratio; million reads in a second over all threads (15 rounds "
        "in turn, medians).\n\n"
    )
    rows = rows_of(run(str(program)))
    reads = {int(row[0]): float(row[4]) for row in rows[1:]}
    aims = [Goal("CPU, one thread", float(rows[1][3]), 1)]
    for threads in (2, 4):
        aims.append(
            Goal(f"million reads in a second, {threads} threads, of one's", reads[threads], reads[1], is_least=True)
        )
    return introduction + markdown(rows) + goals.said("token", aims)


def size() -> str:
    """The stripped library. The goal is 400 KB."""
    size = LIBRARY.resolve().stat().st_size
    return f"{size:,} bytes." + goals.said("size", [Goal("KB", size / 1000, 400)])

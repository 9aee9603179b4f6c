"""What needs no network: decisions, tokens, the library itself."""

from __future__ import annotations

from measure import LIBRARY, OUT, PREFIX, compile_c, run, table


def decision() -> str:
    """One decision through the library against the same rules in plain C in a shared library.

    The goal: 1.5.
    """
    compile_c("plain_rules", options=f"-fPIC -shared -o {OUT}/libplain_rules.so")
    program = compile_c(
        "decision",
        options=f"-L{OUT} -lplain_rules -L{PREFIX}/lib -lboxretry -Wl,-rpath,{OUT}:{PREFIX}/lib",
    )
    return (
        "Processor time for each, in nanoseconds, and the ratio (31 rounds in turn, medians). The goal is 1.5.\n\n"
        + table(run(str(program)))
    )


def token() -> str:
    """Reading a valid token from a source against a mutex, the same clock and a copy of the same bytes in C.

    The goals: 1.0 with one thread, and more threads are no slower together.
    """
    program = compile_c("token", options=f"-L{PREFIX}/lib -lboxretry -lpthread -Wl,-rpath,{PREFIX}/lib")
    introduction = (
        "Processor time for each, in nanoseconds, and the ratio; million reads in a second over all threads (15 rounds "
        "in turn, medians). The goals: 1.0 with one thread, and no less with more threads.\n\n"
    )
    return introduction + table(run(str(program)))


def size() -> str:
    """The stripped library. The goal is 400 KB."""
    return f"{LIBRARY.resolve().stat().st_size} bytes."

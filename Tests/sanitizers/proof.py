"""As proof.c, for the library that Python has loaded: each fault must be reported. The argument says which."""

import ctypes
import os
import sys
import threading

library = ctypes.CDLL(os.environ["BOXRETRY_LIBRARY"])
parse_retry_after = library.boxretry_parse_retry_after
parse_retry_after.argtypes = [ctypes.c_void_p, ctypes.c_int64, ctypes.c_void_p]
malloc = ctypes.CDLL(None).malloc
malloc.argtypes = [ctypes.c_size_t]
malloc.restype = ctypes.c_void_p


def read_too_far() -> None:
    """The Swift code looks for the end of a string that has none."""
    value = malloc(3)
    ctypes.memmove(value, b"123", 3)
    parse_retry_after(value, 0, malloc(8))


def race() -> None:
    """Two threads let the Swift code write to the same place."""
    seconds = malloc(8)
    both_are_here = threading.Barrier(2)

    def write() -> None:
        both_are_here.wait()
        for _ in range(10000):
            parse_retry_after(b"1", 0, seconds)

    threads = [threading.Thread(target=write) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


{"over-read": read_too_far, "race": race}[sys.argv[1]]()

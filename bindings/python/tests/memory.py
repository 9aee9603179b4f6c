"""What a process has in use: Python's objects, memory, and descriptors."""

from __future__ import annotations

import gc
import os
import sys
from ctypes import CDLL, Structure, c_int, c_size_t
from typing import NamedTuple


class _HeapFigures(Structure):
    """struct mallinfo2 of glibc; `in_use` is the allocated memory, in bytes."""

    _fields_ = (("before", c_size_t * 7), ("in_use", c_size_t), ("after", c_size_t * 2))


class _OldHeapFigures(Structure):
    """struct mallinfo, of glibc before 2.33. It is right below 2 GiB."""

    _fields_ = (("before", c_int * 7), ("in_use", c_int), ("after", c_int * 2))


def _heap_in_use() -> int:
    libc = CDLL(None)
    figures, kind = (libc.mallinfo2, _HeapFigures) if hasattr(libc, "mallinfo2") else (libc.mallinfo, _OldHeapFigures)
    figures.restype = kind
    in_use: int = figures().in_use
    return in_use


class Footprint(NamedTuple):
    """What a process has in use."""

    #: Objects that the garbage collector knows.
    objects: int
    #: Blocks of Python's own memory.
    blocks: int
    #: Bytes of the heap of C that are in use. It also serves objects of more than 512 bytes.
    heap: int
    #: Resident memory, in KiB.
    resident: int
    descriptors: int

    def growth(self, before: Footprint) -> Footprint:
        """What has been added since `before`."""
        return Footprint(*(now - then for now, then in zip(self, before)))


def footprint() -> Footprint:
    """What this process has in use, without what the garbage collector can free."""
    gc.collect()
    with open("/proc/self/statm") as file:
        pages = int(file.read().split()[1])
    return Footprint(
        objects=len(gc.get_objects()),
        blocks=sys.getallocatedblocks(),
        heap=_heap_in_use(),
        resident=pages * os.sysconf("SC_PAGE_SIZE") // 1024,
        descriptors=len(os.listdir("/proc/self/fd")),
    )

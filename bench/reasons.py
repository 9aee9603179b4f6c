"""Why a goal is missed, where one is: a text for each section, true for any figures of a run."""

_REQUESTS = """\
Compared with bare libcurl, a request costs about 12,000 instructions more; libcurl itself takes 63,000. The library
checks and copies the request, times and records its attempts, and makes a list of the response's headers. It makes
about 60 allocations, libcurl 39: each call has separate memory, while the bare program reuses its buffers. libcurl
itself takes more, too, because different requests may follow on the same handle, and the options in which they
differ are set. [PROFILE.md](PROFILE.md) has the counts."""

_THREADS = """\
With many requests in flight, the engine uses a second thread. In a process with threads, glibc's allocator takes
locks and looks for an arena, and data that one thread passes to the other comes from the other processor's cache. A
bare program with one thread has neither cost. With few processors, shared with a server and other work, the two
threads also take turns, which costs wall time but no processor time. With one request after another there is no
second thread."""

REASONS = {
    "decision": """\
The library checks its arguments: pointers, the sizes of structs, ranges. It calls its strategy through a table of
functions, because strategies differ. The rules in plain C do neither. This costs about 260 instructions, with and
without headers. For a decision without headers, which takes about 100 in plain C, this is the largest part
([PROFILE.md](PROFILE.md)).""",
    "token": """\
More threads read more only if there are processors for them. This machine has few, and other work runs on them.
The nanoseconds of processor time do not depend on that, and show whether readers delay each other.""",
    "size": """\
[PROFILE.md](PROFILE.md) has the bytes of each module and of the largest functions.""",
    "startup": """\
The loader takes nearly all of the time, for libcurl and the many libraries that it needs, in both cases. On a
machine with other work, two processes of one kind differ by more than the goal allows: see the least and the
most.""",
    "http": f"{_REQUESTS}\n\n{_THREADS}\n\n"
    """\
With few requests in flight, most of the memory exists only once: the engine, its buffers and, with many in flight,
its thread and that thread's arena. It is divided by few requests.""",
    "retries": f"{_REQUESTS}\n\n{_THREADS}\n\n"
    """\
For each response that is retried, the library also makes a decision, waits in the timer queue, and records the
attempt. The bare program reads no header and sends the next request at once.""",
    "streams": f"{_REQUESTS}\n\n{_THREADS}\n\n"
    """\
Over one connection the kernel does less work for each request, so the rest is a larger part.""",
    "growth": f"{_REQUESTS}\n\n{_THREADS}",
    "bulk": """\
Both use the same libcurl with buffers of the same size. The kernel and the cipher take nearly all of the time. The
client has one more callback for each piece, and times the activity. The rounds of one row differ by more than that:
see the least and the most.""",
    "timers": """\
An entry in the engine's queue is an object with a reference count. It uses more memory than an entry of the heap in
C, and its count changes when it is added and removed.""",
    "idle": """\
An early timeout is a bug, or a time stamp that was taken late. Timeouts are late because all transfers begin at
nearly the same moment, and so are due at nearly the same moment. Ending one takes time: the engine closes its
connection, records its attempt, and delivers its response. The last ones wait for those before them and, if the
timeout is short, for connections that are still being made.""",
    "python, one after another": """\
pycurl performs one handle repeatedly on the calling thread. It sets no option for a request, and reads one number
of the response. The package sends each request with the engine (see http, above) and makes objects: the struct of
a request, and a response with its headers. On the main thread it also checks for signals while it waits.""",
    "python, at once": """\
With asyncio, each request is a task, a future and a turn of the loop. Python does this work for both clients.""",
}

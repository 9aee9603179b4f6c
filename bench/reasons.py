"""Why a goal is missed, where one is: a text for each section, true whatever the figures of a run are."""

_REQUESTS = """\
What a request takes beyond bare libcurl: the library's own work, some 12,000 instructions where libcurl's whole
takes 63,000: the request is checked and copied, its attempts are timed and recorded, its response has its
headers as a list. And some 60 allocations where libcurl makes 39: each call's memory is its own, while the bare
program keeps its buffers. libcurl itself takes more too, because other requests may follow on the same handle:
the options in which they differ are set. [PROFILE.md](PROFILE.md) has the counts."""

_THREADS = """\
With many in flight the engine has a thread of its own, beside that of the program. In a process with threads
glibc's allocator takes locks and looks for an arena, and what one thread hands over to the other has to be
fetched from the other processor's cache; a bare program with one thread knows neither. With few processors,
shared with a server and other work, the two threads are also given turns one after the other, which counts as
seconds though not as processor time. One after another there is no such thread."""

REASONS = {
    "decision": """\
The library checks what it is handed: pointers, the sizes of structs, ranges. It asks its strategy through a
table of functions, since strategies differ. The rules in plain C do neither. That is some 260 instructions, the
same without headers and with them: of a decision without headers, for which plain C takes some 100, it is most
([PROFILE.md](PROFILE.md)).""",
    "token": """\
More threads read more only if there are processors for them: here they are few, and other work runs on them.
The nanoseconds of processor time, which leave that out, say whether readers hold each other up.""",
    "size": """\
[PROFILE.md](PROFILE.md) has the bytes of each module and of the largest functions.""",
    "startup": """\
Nearly all of the time is the loader's, with libcurl and the many libraries that it brings, which both need.
Where other work runs, two processes of one kind differ by more than the goal allows: see the least and the
most.""",
    "http": f"{_REQUESTS}\n\n{_THREADS}\n\n"
    """\
Memory with few in flight is mostly what there is once: the engine, its buffers and, with many in flight, its
thread and that thread's arena, divided by few requests.""",
    "retries": f"{_REQUESTS}\n\n{_THREADS}\n\n"
    """\
Each answer that is retried is a decision and a wait in the timer queue beyond that, and its attempt is
recorded; the bare program looks at no header and sends the next request at once.""",
    "streams": f"{_REQUESTS}\n\n{_THREADS}\n\n"
    """\
Over one connection there is less of the kernel's work for each request, so what is left weighs more.""",
    "growth": f"{_REQUESTS}\n\n{_THREADS}",
    "bulk": """\
Both let the same libcurl read and write with buffers of the same size; nearly all of the time is the kernel's
and the cipher's. The client has a callback more for each piece, and times the activity. The rounds of one row
differ by more than that: see the least and the most.""",
    "timers": """\
An entry of the engine's is an object that counts its references: more memory to touch than the entry of the
heap in C, and a count to change when it goes in and out.""",
    "idle": """\
If any is early, that is a fault, or a time stamp that came late. As to lateness: all transfers begin within
moments of each other, and so they are due within moments of each other. To end one takes time: its connection
is closed, its attempt recorded, its response handed over. Those that are due last wait for those before them,
and, where the timeout is short, for connections that are still being made.""",
    "python, one after another": """\
pycurl performs one handle again and again on the calling thread: nothing is set for a request, and what is
asked of the response is one number. A request of the package's is one of the engine's (see http, above) and
makes objects: a request's struct, and a response with its headers. On the main thread it also looks out for
signals while it waits.""",
    "python, at once": """\
Under asyncio each request is a task, a future and a turn of the loop: that is Python's work, which is the same
for both clients.""",
}

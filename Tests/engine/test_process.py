"""What a client does to the process that it lives in: threads, descriptors, signals."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from boxretry import Client, CustomRetryStrategy, Outcome
from c_programs import build
from calls import Background, eventually, once
from fault_server import FaultServer
from programs import run


def threads() -> int:
    return len(os.listdir("/proc/self/task"))


class Stops(CustomRetryStrategy):
    """It is asked on threads of the library."""

    def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
        return False


def test_no_thread_is_left_behind(server: FaultServer) -> None:
    """Given clients that had threads for calls and for strategies, when they are closed, then the threads end."""
    before = threads()
    for _ in range(20):
        with Client(Stops()) as client:
            calls = [client.submit("GET", server.url("/seq/200", id="threads", quiet="")) for _ in range(5)]
            assert [call.response().status for call in calls] == [200] * 5
            assert threads() > before
    del client, calls
    eventually(lambda: threads() <= before)


def test_a_call_without_a_waiter_is_sent_too(server: FaultServer) -> None:
    """Given one who waits for call after call, for whom the engine's own thread leaves the loop alone."""
    waited, sent = server.url("/seq/200", id="waited", quiet=""), server.url("/seq/200", id="alone", cycle="")
    with Client() as client:
        calls = []
        for number in range(1, 51):
            client.submit("GET", waited).wait()
            calls.append(client.submit("GET", sent))
            if number % 5 == 0:
                assert len(server.seen("alone", requests=number)) == number


def test_every_descriptor_is_closed_in_programs_that_are_started(server: FaultServer) -> None:
    """Given calls under way, over TLS too, then all that the library has opened is marked FD_CLOEXEC.

    But for two sockets that are connected to each other, or the ends of a pipe: libcurl makes them for itself, and
    hides them.
    """
    program = """
    import contextlib, fcntl, socket
    ca, *urls = sys.argv[1:]
    def descriptors():
        for name in os.listdir("/proc/self/fd"):
            with contextlib.suppress(OSError):  # The one with which the directory is read.
                yield int(name), os.readlink(f"/proc/self/fd/{name}")
    before = dict(descriptors())
    client = Client(once, ca_file=ca)
    calls = [client.submit("GET", url) for url in urls]
    client.get(urls[0].replace("stall", "200"))
    calls += [client.submit("GET", url) for url in urls]
    opened = {}
    while sum(link.startswith("socket:") for link in opened.values()) < len(calls):
        opened = {fd: link for fd, link in descriptors() if fd not in before}
    for fd, link in opened.items():
        is_pair = link.startswith("socket:") and socket.socket(fileno=os.dup(fd)).family == socket.AF_UNIX
        if not (is_pair or link.startswith("pipe:")) and not fcntl.fcntl(fd, fcntl.F_GETFD) & fcntl.FD_CLOEXEC:
            print(link)
    """
    urls = [server.url("/seq/stall", kind=kind, id=server.new_id(), quiet="") for kind in ("http", "https")]
    assert run(program, server.ca, *urls) == ""


@pytest.mark.parametrize("kind", ["http", "https"])
@pytest.mark.parametrize("way", ["perform", "submit"])
def test_a_server_that_goes_raises_no_sigpipe(server: FaultServer, kind: str, way: str) -> None:
    """Given a program that does not ignore it, as C programs do not, and uploads to a server that hangs up."""
    program = f"""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    client, body, ends = Client(once, ca_file=sys.argv[1]), bytes(5_000_000), []
    def send():
        try:
            if {way!r} == "perform":
                client.put(sys.argv[2], data=body)
            else:
                client.submit("PUT", sys.argv[2], data=body).response()
        except NetworkError:
            ends.append("exception")
    for _ in range(20):
        thread = threading.Thread(target=send)
        thread.start()
        thread.join()
    client.close()
    print(len(ends), signal.pthread_sigmask(signal.SIG_BLOCK, []))
    """
    url = server.url("/seq/reset:request,close:request,cut:request", kind=kind, id=server.new_id(), cycle="", quiet="")
    assert run(program, server.ca, url) == "20 set()\n"


def test_signals_disturb_no_call(server: FaultServer) -> None:
    """Given a handler that interrupts what a thread waits in, again and again, then its call ends as it should."""
    program = """
    handled = []
    def handle(number, frame):
        handled.append(number)
    signal.signal(signal.SIGUSR1, handle)
    client, results = Client(once), []
    def perform():
        results.extend(client.get(sys.argv[1]).status for _ in range(5))
        results.extend(client.submit("GET", sys.argv[1]).response().status for _ in range(5))
    thread = threading.Thread(target=perform)
    thread.start()
    while thread.is_alive():
        signal.pthread_kill(thread.ident, signal.SIGUSR1)
        time.sleep(0.001)
    print(results, len(handled) > 50)
    """
    url = server.url("/seq/200", id=server.new_id(), first=50, every=5, size=10)
    assert run(program, url) == f"{[200] * 10} True\n"


def test_a_caller_s_blocked_signals_stay_blocked(server: FaultServer) -> None:
    """Given a SIGPIPE that was blocked and pends before a call, then both are so after it."""
    program = """
    def perform():
        signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGPIPE])
        signal.pthread_kill(threading.get_ident(), signal.SIGPIPE)
        assert client.get(sys.argv[1]).status == 200
        print(signal.pthread_sigmask(signal.SIG_BLOCK, []) == signal.sigpending() == {signal.SIGPIPE})
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    client = Client(once)
    thread = threading.Thread(target=perform)
    thread.start()
    thread.join()
    """
    assert run(program, server.url("/seq/200", id=server.new_id())) == "True\n"


def test_many_calls_need_few_threads(server: FaultServer) -> None:
    """Given 200 calls under way and callers that wait, then there is one thread for all, and none for each."""
    before = threads()
    with Client(once()) as client:
        calls = [client.submit("GET", server.url("/seq/stall", id="few", quiet="")) for _ in range(200)]
        waiting = Background(calls[0].wait)
        eventually(lambda: client.stats().attempts == 200)
        assert threads() <= before + 2
        calls[0].cancel()
        waiting.result()


@pytest.mark.parametrize("way", ["perform", "wait", "queue"])
def test_f104_a_canceled_thread_keeps_nothing_from_others(server: FaultServer, tmp_path: Path, way: str) -> None:
    """K1, F104. Given pthread_cancel() of a thread that drives the loop, then the deadlines of other calls hold."""
    url = server.url("/seq/stall", id=server.new_id(), cycle="", quiet="")
    result = subprocess.run([build("cancels", tmp_path), way, url], capture_output=True, text=True, timeout=90)
    assert (result.returncode, result.stdout, result.stderr) == (0, "deadline, then the thread was cancelled\n", "")

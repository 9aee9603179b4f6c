"""Many callers at once, and a machine that has nothing left."""

from __future__ import annotations

import functools
import threading
from pathlib import Path

from boxretry import Client
from calls import Background, eventually, once, quick
from fault_server import FaultServer, pattern
from programs import run


def test_a_hundred_threads_perform_at_once(server: FaultServer) -> None:
    """Each has its own answer, after its own retries."""
    ids, start = [server.new_id() for _ in range(100)], threading.Barrier(100)
    with Client(quick()) as client:

        def perform(number: int) -> None:
            url = server.url("/seq/503,reset:headers,200", {"200.size": 1000 + number}, id=ids[number])
            start.wait(30)
            for _ in range(3):
                response = client.get(url)
                assert (response.status, response.content) == (200, pattern(1000 + number))

        for thread in [Background(functools.partial(perform, number)) for number in range(100)]:
            thread.result()
        stats = client.stats()
    assert stats.calls_started == stats.calls_ended == 300
    assert [len(server.seen(id)) for id in ids] == [5] * 100


def test_many_calls_in_flight(server: FaultServer) -> None:
    url = server.url("/seq/200", id=server.new_id(), quiet="", first=100)
    with Client(once()) as client:
        calls = [client.submit("GET", url) for _ in range(2_000)]
        assert [call.response().status for call in calls] == [200] * 2_000


def test_running_out_of_descriptors(server: FaultServer) -> None:
    """It is an error, local and so not retried; and when there are some again the client works."""
    program = """
    url = sys.argv[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))
    client = Client()
    def outcome():
        try:
            return client.get(url).status
        except BoxRetryError as error:
            return type(error).__name__, len(error.attempts)
    results = []
    taken = []
    try:
        while True:
            taken.append(os.dup(0))
    except OSError:
        pass
    for _ in range(3):
        results.append(outcome())
        thread = threading.Thread(target=lambda: results.append(outcome()))
        thread.start()
        thread.join()
    try:
        Client()
    except ExhaustedError:
        results.append("no client")
    for descriptor in taken:
        os.close(descriptor)
    results.append(outcome())
    print(results)
    """
    output = run(program, server.url("/seq/200", id=server.new_id()))
    assert output == f"{[('ExhaustedError', 1)] * 6 + ['no client', 200]}\n"


def test_running_out_of_descriptors_with_connections_to_reuse(server: FaultServer) -> None:
    program = """
    url = sys.argv[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (200, 200))
    client = Client()
    assert client.get(url).status == 200
    try:
        while True:
            os.dup(0)
    except OSError:
        pass
    print([client.get(url).status for _ in range(5)])
    """
    assert run(program, server.url("/seq/200", id=server.new_id())) == "[200, 200, 200, 200, 200]\n"


def test_more_connections_than_there_are_descriptors(server: FaultServer) -> None:
    """Given 300 calls at once and 100 descriptors, then each call ends, and the client works afterwards."""
    program = """
    url = sys.argv[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))
    client = Client()
    calls = [client.submit("GET", url + "&first=100") for _ in range(300)]
    ends = set()
    for call in calls:
        try:
            ends.add(str(call.response().status))
        except BoxRetryError as error:
            ends.add(type(error).__name__)
    print(*sorted(ends))
    print(client.get(url).status)
    """
    output = run(program, server.url("/seq/200", id=server.new_id(), quiet=""))
    assert output == "200 ExhaustedError\n200\n"


def test_running_out_of_threads(server: FaultServer) -> None:
    """Given that no thread can be made, then submit() says so, and perform(), which needs none, works."""
    program = """
    import ctypes
    url = sys.argv[1]
    client = Client(once)
    results = []
    def perform():
        ready.wait()
        results.append(client.get(url).status)
        try:
            client.submit("GET", url)
        except BoxRetryError as error:
            results.append(type(error).__name__)
        done.set()
    ready, done = threading.Event(), threading.Event()
    threading.Thread(target=perform).start()
    # No address space is left for a stack of a thread.
    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + 4_000_000, resource.RLIM_INFINITY))
    ready.set()
    done.wait()
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    results.append(client.get(url).status)
    print(results)
    """
    assert run(program, server.url("/seq/200", id=server.new_id())) == "[200, 'ExhaustedError', 200]\n"


def test_ten_thousand_calls_are_freed_at_once(server: FaultServer) -> None:
    """K5. Given them, under way and waiting, then each has its one end, and the client works afterwards."""
    with Client(once()) as client:
        url = server.url("/seq/stall", id="freed", quiet="")
        calls = [client.submit("GET", url) for _ in range(10_000)]
        del calls
        eventually(lambda: client.stats().calls_ended == 10_000)
        assert client.get(server.url("/seq/200", id=server.new_id())).status == 200
        assert client.stats().calls_ended == 10_001


def test_a_disk_that_is_full(server: FaultServer, tmp_path: Path) -> None:
    """B2, B15. Given one, then the call ends, is not retried, and leaves no part, and the old file as it was."""
    program = """
    url, path = sys.argv[1:]
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
    client = Client()
    def download():
        try:
            client.get(url, to_file=path)
        except SinkError as error:
            print(len(error.attempts), os.listdir(os.path.dirname(path)), open(path).read())
    download()
    thread = threading.Thread(target=download)
    thread.start()
    thread.join()
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    print(client.get(url, to_file=path).status, os.path.getsize(path))
    """
    path = tmp_path / "out"
    path.write_text("old")
    output = run(program, server.url("/seq/200", {"size": 300_000}, id=server.new_id()), path)
    assert output == "1 ['out'] old\n" * 2 + "200 300000\n"

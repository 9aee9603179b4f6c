"""Look-ups of host names: the case F37. They are made to sleep by a library that is loaded before the system's."""

from __future__ import annotations

import pytest
from boxretry import Client, ResolveError
from calls import PATIENCE, once
from fault_server import FaultServer
from programs import preloaded, run


@pytest.fixture(scope="module")
def slow_lookups(tmp_path_factory: pytest.TempPathFactory) -> str:
    return preloaded("slow_lookups.c", tmp_path_factory.mktemp("lookups"))


def test_f37_a_look_up_that_never_answers(server: FaultServer, slow_lookups: str) -> None:
    """M5. Given one, then the caller has its exception after the idle time, and other transfers are not held up.

    Nor is the end of the process.
    """
    program = """
    url, timeout = sys.argv[1], Timeout(timeout_interval_for_request_ms=3000)
    others = []
    def look_up():
        try:
            client.get("http://never.sleeps.test/", timeout=timeout)
        except IdleTimeoutError as error:
            (attempt,) = error.attempts
            lasted.append(attempt.ended_ms - attempt.started_ms)
    lasted = []
    client = Client(once)
    thread = threading.Thread(target=look_up)
    thread.start()
    while thread.is_alive():
        start = time.monotonic()
        assert client.get(url).status == 200
        others.append(time.monotonic() - start)
    look_up()
    client.close()
    print(min(lasted), max(lasted), len(others), max(others))
    """
    url = server.url("/seq/200", id=server.new_id(), quiet="")
    output = run(program, url, LD_PRELOAD=slow_lookups)
    shortest, longest, count, longest_other = map(float, output.split())
    assert 3000 <= shortest <= longest < PATIENCE * 1000
    assert count > 10
    assert longest_other < 2.5


def test_m5_more_sleeping_look_ups_than_are_allowed_at_once(server: FaultServer, slow_lookups: str) -> None:
    """Given 200 names that never resolve, then transfers to addresses are not held up, and all calls end."""
    program = """
    url, timeout = sys.argv[1], Timeout(timeout_interval_for_request_ms=500)
    client = Client(once)
    calls = [client.submit("GET", f"http://n{i}.sleeps.test/", timeout=timeout, deadline=5) for i in range(200)]
    start = time.monotonic()
    assert client.get(url).status == 200
    print(time.monotonic() - start)
    ends = set()
    for call in calls:
        try:
            call.response()
        except BoxRetryError as error:
            ends.add(type(error).__name__)
    print(*sorted(ends))
    start = time.monotonic()
    call = client.submit("GET", "http://n.sleeps.test/")
    call.cancel()
    try:
        call.response()
    except CancelledError:
        pass
    client.close()
    print(time.monotonic() - start)
    """
    url = server.url("/seq/200", id=server.new_id(), quiet="")
    output = run(program, url, LD_PRELOAD=slow_lookups).splitlines()
    assert float(output[0]) < PATIENCE  # and not after the 60 s of a look-up
    assert set(output[1].split()) <= {"IdleTimeoutError", "DeadlineError"}
    assert float(output[2]) < PATIENCE


@pytest.mark.parametrize(("maximum", "ending"), [(1, "DeadlineError"), (2, "ResolveError")])
def test_max_lookups(server: FaultServer, slow_lookups: str, maximum: int, ending: str) -> None:
    """M5. Given a look-up that sleeps: with 1, another name is not looked up, and with 2 it is.

    What needs no look-up goes past both.
    """
    program = """
    url, maximum, events = sys.argv[1], int(sys.argv[2]), []
    begun = threading.Event()
    def on_event(event):
        if event.kind is EventKind.ATTEMPT_BEGAN:
            begun.set()
    client = Client(once, max_lookups=maximum, on_event=on_event)
    sleeping = client.submit("GET", "http://never.sleeps.test/")
    assert begun.wait(30)
    try:
        client.get("http://other.unknown.test/", deadline=2 if maximum == 1 else 60)
    except BoxRetryError as error:
        print(type(error).__name__)
    print(client.get(url).status)
    sleeping.cancel()
    client.close()
    """
    url = server.url("/seq/200", id=server.new_id(), quiet="")
    assert run(program, url, maximum, LD_PRELOAD=slow_lookups) == f"{ending}\n200\n"


def test_a_name_that_does_not_exist() -> None:
    """Names under .invalid never do (RFC 6761)."""
    with Client(once()) as client, pytest.raises(ResolveError) as raised:
        client.get("http://nowhere.invalid/", deadline=60)
    assert raised.value.attempts[0].cause.name == "RESOLVE"


def test_localhost_is_looked_up(server: FaultServer, client: Client) -> None:
    url = server.url("/seq/200", kind="https", id=server.new_id()).replace("127.0.0.1", "localhost")
    assert client.get(url).status == 200


def test_f103_many_hosts_at_once(server: FaultServer) -> None:
    """Quality. Four times as many hosts take about four times as long; lists of them took 10 times as long."""
    program = """
    port = sys.argv[1]
    def is_refused(call):
        try:
            call.response()
        except ConnectError:
            return True
    def seconds(count, name):
        start = time.process_time()  # Others may have the processor meanwhile.
        with Client(once, max_transfers=512, max_lookups=512, proxy=Proxy.NONE) as client:
            calls = [client.submit("GET", f"http://{name}{i}.localhost:{port}/") for i in range(count)]
            ended = sum(map(is_refused, calls))
        assert ended == count
        return time.process_time() - start
    few, many = seconds(4_000, "few"), seconds(16_000, "many")
    print(few, many)
    """
    few, many = map(float, run(program, server.ports["refused"], limit=600).split())
    assert many < 8 * few

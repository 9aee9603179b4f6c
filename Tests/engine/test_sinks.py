"""Where the bodies of responses go: F59, B15."""

from __future__ import annotations

import os
import stat
import threading
from functools import partial
from pathlib import Path
from typing import Any, Callable

import pytest
from boxretry import (
    PAUSE,
    CancelledError,
    CancelSwitch,
    Client,
    CustomRetryStrategy,
    DeadlineError,
    InvalidArgumentError,
    NetworkError,
    Outcome,
    Progress,
    ProtocolError,
    Reason,
    ReceiveError,
    ResponseHead,
    ResponseTooLargeError,
    SinkError,
    Timeout,
)
from calls import PATIENCE, Background, in_both_ways, once, quick, statuses
from fault_server import FaultServer, pattern

KINDS = ["http", "h2"]
SIZE = 300_000
BREAKS = ["reset:100000", "close:100000", "cut:100000", "short", "reset:40"]
STREAM_BREAKS = ["stream_reset:100000", "stream_end:100000", "goaway:100000"]


class Collects:
    """A sink that can start again."""

    def __init__(self) -> None:
        self.content, self.restarts = bytearray(), 0

    def write(self, data: bytes) -> None:
        self.content += data

    def restart(self) -> None:
        self.content.clear()
        self.restarts += 1


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("resume", [False, True])
def test_f108_nothing_is_kept_of_a_delivery_that_broke_off_if_the_retry_ends_in_404(
    server: FaultServer, client: Client, tmp_path: Path, kind: str, resume: bool
) -> None:
    """F108, B15. Given 1,000 bytes and then a 404: a sink's restart is called, and a file sink leaves nothing."""
    parameters: dict[str, Any] = {"size": 3_000, "h": 'ETag:"a"'}
    sink = Collects()
    url = server.url("/seq/close:1000,404", parameters, id=server.new_id(), kind=kind)
    response = client.get(url, sink=sink)
    assert (response.status, response.sink_length, len(response.attempts)) == (404, 0, 2)
    assert (bytes(sink.content), sink.restarts) == (b"", 1)
    url = server.url("/seq/close:1000,404", parameters, id=server.new_id(), kind=kind)
    response = client.get(url, to_file=tmp_path / "out", resume=resume)
    assert (response.status, response.sink_length, len(response.attempts)) == (404, 0, 2)
    assert names(tmp_path) == []


@pytest.mark.parametrize("kind", KINDS)
def test_f108_a_function_has_no_404_after_a_delivery_that_broke_off(
    server: FaultServer, client: Client, kind: str
) -> None:
    """F108, B15. Given a sink without restart, there is no retry, not even by a strategy that always wants one.

    The connection ends when the sink has the first bytes: of what arrives while the strategy decides, libcurl may
    drop all if the connection ends too.
    """
    for strategy in (None, Always()):
        received, id = bytearray(), server.new_id()

        def sink(data: bytes, received: bytearray = received, id: str = id) -> None:
            received.extend(data)
            if len(received) == 1_000:
                server.control("hangup", id=id)

        url = server.url("/seq/stall:1000,404", {"size": 3_000}, id=id, kind=kind)
        with pytest.raises(NetworkError) as raised:
            client.get(url, sink=sink, strategy=strategy)
        assert [attempt.reason for attempt in raised.value.attempts] == [Reason.SINK_CANNOT_RESTART]
        assert received == pattern(1_000)


class Always(CustomRetryStrategy):
    """Retries everything that is not a 2xx."""

    def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
        return not 200 <= outcome.status < 300

    def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
        return 0


class Later(CustomRetryStrategy):
    """Retries what is not 200, and one 200 too: the first."""

    def __init__(self) -> None:
        self._is_first = True

    def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
        is_first, self._is_first = self._is_first, False
        return is_first if outcome.status == 200 else attempt_number < 5

    def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
        return 0


def names(folder: Path) -> list[str]:
    return sorted(os.listdir(folder))


# --- F59 ---


@pytest.mark.parametrize(
    ("kind", "fault"),
    [*(("http", each) for each in BREAKS), *(("h2", each) for each in [*BREAKS[:3], *STREAM_BREAKS])],
)
@pytest.mark.parametrize("place", ["memory", "file", "restartable", "function"])
def test_f59_a_delivery_that_breaks_off(
    server: FaultServer, client: Client, tmp_path: Path, kind: str, fault: str, place: str
) -> None:
    """B15. Given a body that breaks off and then is whole: it is there once. A function alone cannot start again."""
    id = server.new_id()
    url = server.url(f"/seq/{fault},200", {"id": id, "size": SIZE}, kind=kind)
    sink, path, pieces = Collects(), tmp_path / "out", list[bytes]()
    ways: dict[str, dict[str, Any]] = {
        "memory": {},
        "file": {"to_file": path},
        "restartable": {"sink": sink},
        "function": {"sink": pieces.append},
    }
    arguments = ways[place]
    if place == "function":
        try:
            client.get(url, **arguments)
        except NetworkError as error:
            assert [attempt.reason for attempt in error.attempts] == [Reason.SINK_CANNOT_RESTART]
            assert len(server.seen(id)) == 1
            assert 0 < len(b"".join(pieces)) < SIZE
            assert pattern(SIZE).startswith(b"".join(pieces))
        else:
            # A reset may overtake what was sent before it. Then there was nothing to take back.
            assert fault.startswith("reset")
            assert b"".join(pieces) == pattern(SIZE)
        return
    response = client.get(url, **arguments)
    assert (statuses(response.attempts)[1:], response.status) == ([200], 200)
    body = {
        "memory": response.content,
        "file": path.read_bytes() if place == "file" else b"",
        "restartable": sink.content,
    }
    assert body[place] == pattern(SIZE)
    assert (response.content == b"") == (place != "memory")
    assert response.sink_length == (0 if place == "memory" else SIZE)
    assert len(server.seen(id)) == 2
    assert names(tmp_path) == (["out"] if place == "file" else [])


@pytest.mark.parametrize("kind", KINDS)
def test_b15_a_function_may_get_what_had_not_begun(server: FaultServer, client: Client, kind: str) -> None:
    """Given deliveries that break off before their first byte, then there is nothing to take back."""
    pieces: list[bytes] = []
    url = server.url("/seq/close,reset:headers,503,200", {"id": server.new_id(), "size": SIZE}, kind=kind)
    assert client.get(url, sink=pieces.append).status == 200
    assert b"".join(pieces) == pattern(SIZE)


# --- B15: only the body of a 2xx that is not retried ---


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", ["file", "sink"])
@pytest.mark.parametrize("status", [300, 404, 410, 500])
def test_b15_other_bodies_go_to_the_response(
    server: FaultServer, client: Client, tmp_path: Path, kind: str, place: str, status: int
) -> None:
    sink = Collects()
    arguments: dict[str, Any] = {"to_file": tmp_path / "out"} if place == "file" else {"sink": sink}
    response = client.get(server.url(f"/seq/{status}", id=server.new_id(), body="why", kind=kind), **arguments)
    assert (response.status, response.content, response.sink_length) == (status, b"why", 0)
    assert (names(tmp_path), bytes(sink.content), sink.restarts) == ([], b"", 0)


@pytest.mark.parametrize("kind", KINDS)
def test_b15_a_202_that_is_retried_is_not_delivered(server: FaultServer, client: Client, kind: str) -> None:
    """B3. But one without Retry-After, which is not retried, is."""
    sink = Collects()
    parameters: dict[str, Any] = {"1.h": "Retry-After:0", "1.body": "not yet", "2.body": "done"}
    for last in (200, 202):
        sink.content.clear()
        url = server.url(f"/seq/202,{last}", parameters, id=server.new_id(), kind=kind)
        response = client.get(url, sink=sink)
        assert (response.status, bytes(sink.content)) == (last, b"done")
    url = server.url("/seq/202", {"h": "Retry-After:0", "body": "not yet"}, id=server.new_id(), kind=kind)
    sink.content.clear()
    response = client.get(url, sink=sink, strategy=quick(max_attempts=2))
    assert (response.status, len(response.attempts)) == (202, 2)
    # The last one is not retried: so it is the caller's.
    assert (bytes(sink.content), response.content, sink.restarts) == (b"not yet", b"", 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", ["file", "restartable", "function"])
def test_b15_a_custom_strategy_is_asked_before_the_delivery(
    server: FaultServer, client: Client, tmp_path: Path, kind: str, place: str
) -> None:
    """Given one that retries a 200: then that one's body is not delivered, not even to one who cannot start again."""
    sink, pieces, path = Collects(), list[bytes](), tmp_path / "out"
    ways: dict[str, dict[str, Any]] = {
        "file": {"to_file": path},
        "restartable": {"sink": sink},
        "function": {"sink": pieces.append},
    }
    arguments = ways[place]
    url = server.url("/seq/200,503,200", {"1.body": "no", "3.size": SIZE}, id=server.new_id(), kind=kind)
    response = client.get(url, strategy=Later(), **arguments)
    assert statuses(response.attempts) == [200, 503, 200]
    got = path.read_bytes() if place == "file" else bytes(sink.content) + b"".join(pieces)
    assert (got, sink.restarts) == (pattern(SIZE), 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [0, 1, SIZE])
def test_b15_a_slow_strategy_holds_the_delivery(server: FaultServer, client: Client, kind: str, size: int) -> None:
    """Given one that takes longer than the idle time to say that a 200 is not retried (M1: it rests)."""

    class Slow(CustomRetryStrategy):
        def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
            threading.Event().wait(0.5)
            return False

    pieces: list[bytes] = []
    url = server.url("/seq/200", {"id": server.new_id(), "size": size}, kind=kind)
    idle = Timeout(timeout_interval_for_request_ms=200)
    response = client.get(url, strategy=Slow(), sink=pieces.append, timeout=idle)
    assert (response.status, b"".join(pieces)) == (200, pattern(size))


def test_an_empty_body_is_delivered_too(server: FaultServer, client: Client, tmp_path: Path) -> None:
    """Then there is an empty file, and a function is not called."""
    pieces: list[bytes] = []
    url = server.url("/seq/200", {"size": 0}, id=server.new_id())
    assert client.get(url, to_file=tmp_path / "out").status == 200
    assert (tmp_path / "out").read_bytes() == b""
    client.get(url, sink=pieces.append)
    assert pieces == []


def test_what_has_no_content_leaves_the_file_alone(server: FaultServer, client: Client, tmp_path: Path) -> None:
    """Given a 204, and a file that is there already."""
    (tmp_path / "out").write_bytes(b"precious")
    url = server.url("/seq/204", id=server.new_id())
    assert client.get(url, to_file=tmp_path / "out").status == 204
    assert (tmp_path / "out").read_bytes() == b"precious"


def test_a_part_that_was_not_requested_is_not_a_whole_file(server: FaultServer, client: Client, tmp_path: Path) -> None:
    """Given a 206 to a request without Range, then the file is not made of it."""
    url = server.url("/seq/206", id=server.new_id())
    with pytest.raises(ProtocolError):
        client.get(url, to_file=tmp_path / "out")
    assert not (tmp_path / "out").exists()


# --- What a sink gets first ---


class Told(Collects):
    """A sink that gets the heads of the responses whose bodies it gets."""

    def __init__(self) -> None:
        super().__init__()
        self.heads: list[ResponseHead] = []
        self.log: list[str] = []

    def begin(self, head: ResponseHead) -> None:
        self.heads.append(head)
        self.log.append(f"begin {head.status}")

    def write(self, data: bytes) -> None:
        super().write(data)
        if self.log[-1] != "write":
            self.log.append("write")

    def restart(self) -> None:
        super().restart()
        self.log.append("restart")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [0, 1, SIZE])
def test_b15_a_sink_gets_the_head_before_the_body(server: FaultServer, client: Client, kind: str, size: int) -> None:
    """Given a retry and a redirect: it sees the response that is delivered, and no other."""
    sink = Told()
    parameters: dict[str, Any] = {"3.h": "X-A:1", "size": size}
    url = server.url("/seq/503,307,201", parameters, id=server.new_id(), kind=kind)
    response = client.get(url, sink=sink)
    (head,) = sink.heads
    assert (head.status, head.http_version) == (201, 20 if kind == "h2" else 11)
    assert (head.headers.pairs, head.url) == (response.headers.pairs, response.url)
    assert head.headers["content-length"] == str(size)
    assert bytes(sink.content) == pattern(size)
    assert sink.log == ["begin 201", "write"][: 1 + (size > 0)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("fault", ["reset:headers", "reset:100000"])
def test_b15_a_sink_gets_the_head_again_after_a_restart(
    server: FaultServer, client: Client, kind: str, fault: str
) -> None:
    sink = Told()
    url = server.url(f"/seq/{fault},203", {"size": SIZE}, id=server.new_id(), kind=kind)
    assert client.get(url, sink=sink).status == 203
    assert [each for each in sink.log[:-3] if each != "write"] in ([], ["begin 200"])
    assert sink.log[-2:] == ["begin 203", "write"]
    assert sink.restarts == len(sink.heads) - 1
    assert sink.content == pattern(SIZE)


@pytest.mark.parametrize("kind", KINDS)
def test_b15_a_head_that_a_sink_got_is_not_taken_back(server: FaultServer, client: Client, kind: str) -> None:
    """Given a delivery that breaks off before its first byte, and a sink that cannot start again."""

    class Once:
        def __init__(self) -> None:
            self.told: list[int] = []

        def begin(self, head: ResponseHead) -> None:
            self.told.append(head.status)

        def write(self, data: bytes) -> None:
            raise AssertionError("nothing comes")

    sink = Once()
    url = server.url("/seq/200,200", {"1.close_after": 0, "size": SIZE}, id=server.new_id(), kind=kind)
    with pytest.raises(NetworkError) as raised:
        client.get(url, sink=sink)
    assert [attempt.reason for attempt in raised.value.attempts] == [Reason.SINK_CANNOT_RESTART]
    assert sink.told == [200]


@pytest.mark.parametrize("status", [204, 404])
def test_b15_a_sink_is_not_told_of_what_it_does_not_get(server: FaultServer, client: Client, status: int) -> None:
    sink = Told()
    assert client.get(server.url(f"/seq/{status}", id=server.new_id()), sink=sink).status == status
    assert client.head(server.url("/seq/200", id=server.new_id()), sink=sink).status == 200
    assert sink.log == []


@pytest.mark.parametrize("kind", KINDS)
def test_b2_what_a_sink_raises_when_it_gets_the_head_is_the_cause(
    server: FaultServer, client: Client, kind: str
) -> None:
    class Refuses(Told):
        def begin(self, head: ResponseHead) -> None:
            raise KeyError("mine")

    id, sink = server.new_id(), Refuses()
    for error in in_both_ways(client, "GET", server.url("/seq/200", {"id": id, "size": SIZE}, kind=kind), sink=sink):
        assert type(error) is SinkError
        assert isinstance(error.__cause__, KeyError)
    assert (len(server.seen(id)), sink.log) == (2, [])


# --- Files ---


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o755])
def test_b15_a_file_that_was_there_is_replaced_and_keeps_its_permissions(
    server: FaultServer, client: Client, tmp_path: Path, mode: int
) -> None:
    """It is written beside: who has the old one open reads that on."""
    path = tmp_path / "out"
    path.write_bytes(b"old")
    path.chmod(mode)
    before = path.stat()
    with path.open("rb") as old:
        client.get(server.url("/seq/200", id=server.new_id(), size=SIZE), to_file=path)
        assert old.read() == b"old"
    after = path.stat()
    assert path.read_bytes() == pattern(SIZE)
    assert after.st_ino != before.st_ino
    assert stat.S_IMODE(after.st_mode) == mode
    assert names(tmp_path) == ["out"]


def test_b15_what_was_fetched_does_not_run_in_the_name_of_the_file_s_owner(
    server: FaultServer, client: Client, tmp_path: Path
) -> None:
    """The bits that would let it are not among the permissions that are kept."""
    path = tmp_path / "out"
    path.write_bytes(b"old")
    path.chmod(0o6755)
    assert stat.S_IMODE(path.stat().st_mode) == 0o6755
    client.get(server.url("/seq/200", id=server.new_id(), size=SIZE), to_file=path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o755


def test_a_new_file_has_the_permissions_of_the_umask(server: FaultServer, client: Client, tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        client.get(server.url("/seq/200", id=server.new_id()), to_file=tmp_path / "out")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "out").stat().st_mode) == 0o640


def test_a_link_is_followed(server: FaultServer, client: Client, tmp_path: Path) -> None:
    """The file behind it is replaced, and the link stays: as with all who write to a path."""
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to(folder / "file")
    client.get(server.url("/seq/200", id=server.new_id(), size=SIZE), to_file=tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert (folder / "file").read_bytes() == pattern(SIZE)
    assert (names(tmp_path), names(folder)) == (["folder", "link"], ["file"])


@pytest.mark.parametrize("was_there", [True, False])
@pytest.mark.parametrize("how", ["breaks", "cancel", "switch", "deadline", "idle", "close", "free", "too large"])
def test_b15_nothing_is_left_of_what_did_not_become_whole(
    server: FaultServer, tmp_path: Path, how: str, was_there: bool
) -> None:
    """And a file that was there is as it was."""
    path, switch, began = tmp_path / "out", CancelSwitch(), threading.Event()
    if was_there:
        path.write_bytes(b"old")
    fault: dict[str, Any] = {"reset_after": 100_000} if how == "breaks" else {"stall_after": 100_000}
    ways: dict[str, dict[str, Any]] = {
        "deadline": {"deadline": 0.5},
        "idle": {"timeout": Timeout(timeout_interval_for_request_ms=200)},
        "too large": {"body_limit": 50_000},
    }
    arguments = ways.get(how, {})
    errors = {
        "breaks": ReceiveError,
        "deadline": DeadlineError,
        "idle": NetworkError,
        "too large": ResponseTooLargeError,
    }

    def on_progress(progress: Progress) -> None:
        if progress.received:
            began.set()

    with Client(once()) as client:
        url = server.url("/seq/200", {"id": server.new_id(), "size": SIZE, **fault})
        call = client.submit("GET", url, to_file=path, cancel=switch, on_progress=on_progress, **arguments)
        assert how == "too large" or began.wait(PATIENCE)  # What is refused at once never counts as received.
        end: dict[str, Callable[[], object]] = {"cancel": call.cancel, "switch": switch.trigger, "close": client.close}
        end.get(how, lambda: None)()
        if how == "free":
            del call, end
        else:
            with pytest.raises(errors.get(how, CancelledError)):
                call.response(10)
    assert names(tmp_path) == (["out"] if was_there else [])
    assert not was_there or path.read_bytes() == b"old"


def test_b15_a_response_that_is_not_a_success_leaves_the_file(
    server: FaultServer, client: Client, tmp_path: Path
) -> None:
    """Given a part of a 200, reset, then 404."""
    path = tmp_path / "out"
    path.write_bytes(b"old")
    url = server.url("/seq/reset:100000,404", {"id": server.new_id(), "size": SIZE, "404.body": "gone"})
    response = client.get(url, to_file=path)
    assert (response.status, response.content[:4], response.sink_length) == (404, b"gone", 0)
    assert (path.read_bytes(), names(tmp_path)) == (b"old", ["out"])


@pytest.mark.parametrize("where", ["no folder", "a folder", "a device", "a file as folder"])
def test_b2_a_file_that_cannot_be_written(server: FaultServer, client: Client, tmp_path: Path, where: str) -> None:
    """That is noticed before anything is sent."""
    (tmp_path / "file").write_bytes(b"x")
    path, why = {
        "no folder": (tmp_path / "none" / "out", "No such file or directory"),
        "a folder": (tmp_path, "Is a directory"),
        "a device": (Path("/dev/null"), "is not a regular file"),
        "a file as folder": (tmp_path / "file" / "out", "Not a directory"),
    }[where]
    id = server.new_id()
    for error in in_both_ways(client, "GET", server.url("/seq/200", id=id, size=SIZE), to_file=path):
        assert type(error) is InvalidArgumentError
        assert error.detail == f"sink.path: {why}"
    assert server.seen(id) == []
    assert names(tmp_path) == ["file"]
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_b2_a_folder_that_goes_while_the_request_is_under_way(
    server: FaultServer, client: Client, tmp_path: Path
) -> None:
    """A local failure: it ends the call, is not retried, and the error says which file and why."""
    folder = tmp_path / "folder"

    def remove(request: object) -> None:
        folder.rmdir()

    id = server.new_id()
    for way in range(2):
        folder.mkdir()
        request = partial(client.get, server.url("/seq/200", id=id), to_file=folder / "out", before_attempt=remove)
        with pytest.raises(SinkError, match=r"sink\.path: No such file or directory \(GET http://") as raised:
            request() if way == 0 else Background(request).result()
        assert "libcurl" not in str(raised.value)
        assert len(raised.value.attempts) == 1
    assert len(server.seen(id)) == 2


def test_downloads_to_one_file_at_once(server: FaultServer, client: Client, tmp_path: Path) -> None:
    """Then it is one of them that is there, whole, and nothing else."""
    bodies = [bytes([65 + index]) * 50_000 for index in range(8)]
    urls = [
        server.url("/seq/200", {"every": 1, "drip": 5_000, "body": body.decode()}, id=server.new_id())
        for body in bodies
    ]
    calls = [client.submit("GET", url, to_file=tmp_path / "out") for url in urls]
    for call in calls:
        assert call.response().sink_length == 50_000
    assert (tmp_path / "out").read_bytes() in bodies
    assert names(tmp_path) == ["out"]


# --- Functions: pauses, restarts, failures ---


@pytest.mark.parametrize("kind", KINDS)
def test_m1_the_idle_time_rests_while_the_sink_holds_the_transfer(
    server: FaultServer, client: Client, kind: str
) -> None:
    """Given pauses that are longer than the idle time, ended by another thread."""
    taken, paused, count = bytearray(), threading.Event(), iter(range(10**9))

    def sink(data: bytes) -> object:
        if next(count) in (0, 3):
            paused.set()
            return PAUSE
        taken.extend(data)
        return None

    url = server.url("/seq/200", {"id": server.new_id(), "size": SIZE}, kind=kind)
    call = client.submit("GET", url, sink=sink, timeout=Timeout(timeout_interval_for_request_ms=300))
    for _ in range(2):
        assert paused.wait(PATIENCE)
        paused.clear()
        threading.Event().wait(1)
        call.resume()
    assert call.response().sink_length == SIZE
    assert taken == pattern(SIZE)
    assert statuses(call.response().attempts) == [200]


@pytest.mark.parametrize("kind", KINDS)
def test_a_call_is_resumed_again_and_again(server: FaultServer, client: Client, kind: str) -> None:
    """Given a sink that pauses at each piece first, and two threads that resume each time, perhaps before it pauses."""
    taken, is_second, pauses = bytearray(), [False], [threading.Semaphore(0), threading.Semaphore(0)]

    def sink(data: bytes) -> object:
        is_second[0] = not is_second[0]
        if is_second[0]:
            for each in pauses:
                each.release()
            return PAUSE
        taken.extend(data)
        return None

    def resume(pause: threading.Semaphore) -> None:
        while pause.acquire(timeout=30) and not is_over.is_set():
            call.resume()

    is_over = threading.Event()
    call = client.submit(
        "GET", server.url("/seq/200", {"id": server.new_id(), "size": 10 * SIZE}, kind=kind), sink=sink
    )
    threads = [Background(partial(resume, each)) for each in pauses]
    try:
        call.response(30)
    finally:
        is_over.set()
        for each in pauses:
            each.release()
    for thread in threads:
        thread.result()
    assert taken == pattern(10 * SIZE)


@pytest.mark.parametrize("kind", KINDS)
def test_who_resumes_all_the_time_does_not_hold_the_call(server: FaultServer, client: Client, kind: str) -> None:
    taken, is_second, is_over = bytearray(), [False], threading.Event()

    def sink(data: bytes) -> object:
        is_second[0] = not is_second[0]
        if is_second[0]:
            return PAUSE
        taken.extend(data)
        return None

    def resume() -> None:
        while not is_over.is_set():
            call.resume()

    url = server.url("/seq/200", {"id": server.new_id(), "size": 10 * SIZE}, kind=kind)
    call = client.submit("GET", url, sink=sink)
    threads = [Background(resume), Background(resume)]
    try:
        call.response(PATIENCE)
    finally:
        is_over.set()
        for thread in threads:
            thread.result()
    assert taken == pattern(10 * SIZE)


def test_other_calls_continue_while_one_pauses_on_the_same_connection(server: FaultServer, client: Client) -> None:
    """HTTP/2. The one that pauses has a separate stream and window."""
    paused = threading.Event()
    held = {"is": True}
    taken = bytearray()

    def sink(data: bytes) -> object:
        if held["is"]:
            paused.set()
            return PAUSE
        taken.extend(data)
        return None

    size = 20_000_000
    call = client.submit("GET", server.url("/seq/200", {"id": server.new_id(), "size": size}, kind="h2"), sink=sink)
    assert paused.wait(PATIENCE)
    id = server.new_id()
    for _ in range(20):
        assert client.get(server.url("/seq/200", {"id": id, "size": SIZE}, kind="h2")).content == pattern(SIZE)
    held["is"] = False
    call.resume()
    assert call.response(30).sink_length == size
    assert taken == pattern(size)


@pytest.mark.parametrize("how", ["cancel", "switch", "deadline", "close"])
def test_k1_a_call_whose_sink_pauses_can_be_ended(server: FaultServer, how: str) -> None:
    paused, switch = threading.Event(), CancelSwitch()

    def sink(data: bytes) -> object:
        paused.set()
        return PAUSE

    with Client(quick()) as client:
        arguments: dict[str, Any] = {"deadline": 0.5} if how == "deadline" else {}
        call = client.submit("GET", server.url("/seq/200", id=server.new_id()), sink=sink, cancel=switch, **arguments)
        assert paused.wait(PATIENCE)
        end: dict[str, Callable[[], object]] = {"cancel": call.cancel, "switch": switch.trigger, "close": client.close}
        end.get(how, lambda: None)()
        with pytest.raises(DeadlineError if how == "deadline" else CancelledError):
            call.response(10)


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_sink_raises_is_the_cause_of_the_error(server: FaultServer, client: Client, kind: str) -> None:
    """B2. It ends the call, and is not retried."""
    id = server.new_id()

    def sink(data: bytes) -> None:
        raise KeyError("mine")

    for error in in_both_ways(client, "GET", server.url("/seq/200", {"id": id, "size": SIZE}, kind=kind), sink=sink):
        assert type(error) is SinkError
        assert isinstance(error.__cause__, KeyError)
        assert len(error.attempts) == 1
    assert len(server.seen(id)) == 2


def test_what_a_restart_raises_is_the_cause_of_the_error(server: FaultServer, client: Client) -> None:
    class Fails(Collects):
        def restart(self) -> None:
            raise OSError("mine")

    url = server.url("/seq/reset:100000,200", {"id": server.new_id(), "size": SIZE})
    with pytest.raises(SinkError) as raised:
        client.get(url, sink=Fails())
    assert isinstance(raised.value.__cause__, OSError)


def test_the_body_limit_holds_for_sinks_if_it_is_asked_for(server: FaultServer, client: Client) -> None:
    """The client's own limit is for memory; a request's is for all."""
    sink = Collects()
    url = server.url("/seq/200", {"id": server.new_id(), "size": SIZE})
    with Client(quick(), body_limit=1_000) as small:
        assert small.get(url, sink=sink).sink_length == SIZE
    with pytest.raises(ResponseTooLargeError):
        client.get(url, sink=sink, body_limit=SIZE - 1)
    with pytest.raises(ResponseTooLargeError, match="body_limit: the body is longer"):
        client.get(url, body_limit=SIZE - 1)
    assert client.get(url, sink=sink, body_limit=SIZE).status == 200


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "framing",
    [
        {},
        {"chunked": ""},
    ],
)
def test_progress_of_a_download(server: FaultServer, client: Client, kind: str, framing: dict[str, Any]) -> None:
    """It begins again with each attempt, and ends with the whole."""
    told: list[Progress] = []
    parameters = {"id": server.new_id(), "size": SIZE, "every": 20, "drip": 50_000, **framing}
    url = server.url("/seq/reset:100000,200", parameters, kind=kind)
    client.get(url, sink=Collects(), on_progress=told.append)
    assert {progress.attempt_number for progress in told} == {1, 2}
    for number in (1, 2):
        received = [progress.received for progress in told if progress.attempt_number == number]
        assert received == sorted(received)
    assert told[-1].received == SIZE
    assert {progress.receive_total for progress in told} <= ({None, 0} if framing else {None, 0, SIZE})
    assert {progress.sent for progress in told} == {0}


def test_what_on_progress_raises_comes_out_when_the_call_has_ended(server: FaultServer, client: Client) -> None:
    def on_progress(progress: Progress) -> None:
        raise KeyError("mine")

    for error in in_both_ways(client, "GET", server.url("/seq/200", id=server.new_id()), on_progress=on_progress):
        assert type(error) is KeyError

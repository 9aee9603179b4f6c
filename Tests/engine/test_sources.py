"""Bodies of requests that are not in memory: the same bytes each time, or none: F50 to F52, R3, R5."""

from __future__ import annotations

import gc
import io
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest
from boxretry import (
    PAUSE,
    Action,
    AttemptRequest,
    CancelledError,
    CancelSwitch,
    Cause,
    Client,
    CustomRetryStrategy,
    DeadlineError,
    HTTPStatusError,
    InvalidArgumentError,
    NetworkError,
    Outcome,
    Progress,
    Reason,
    RequestSent,
    SourceError,
    Timeout,
)
from boxretry._bodies.sources import SourceBody
from boxretry.enums import SourceKind
from calls import (
    LIBCURL,
    PATIENCE,
    Background,
    eventually,
    in_both_ways,
    once,
    quick,
    recorded,
    sent_header,
    sha256,
    statuses,
)
from fault_server import FaultServer, pattern

BODY = pattern(300_000)
SMALL = 1_000
KINDS = ["http", "h2"]
#: Where the server has to learn that a call has ended.
KINDS_THAT_TELL_THE_END = [
    "http",
    pytest.param(
        "h2",
        marks=pytest.mark.xfail(
            LIBCURL < (8, 15),
            strict=True,
            reason="libcurl before 8.15 does not reset a stream that is given up: it sends no RST_STREAM",
        ),
    ),
]


def given_up(server: FaultServer, id: str) -> list[dict[str, Any]]:
    """The requests, whose bodies the client has given up in the middle, and the server has learnt of that."""
    requests: list[dict[str, Any]] = server.control("seen", id=id, over=1, within=2_000)
    for request in requests:
        assert not request["body_complete"]
        assert request["stream_ended"] or request["connection_ended"]
    return requests


def in_pieces(size: int = 7_001) -> Iterator[bytes]:
    return (BODY[start : start + size] for start in range(0, len(BODY), size))


def a_file(folder: Path) -> Any:
    (folder / "body").write_bytes(BODY)
    return (folder / "body").open("rb")


def a_file_at_100(folder: Path) -> Any:
    (folder / "body").write_bytes(bytes(100) + BODY)
    file = (folder / "body").open("rb")
    file.read(100)
    return file


def an_object_at_100(folder: Path) -> Any:
    file = io.BytesIO(bytes(100) + BODY)
    file.seek(100)
    return file


#: Each makes a body that can be sent again and again.
REPLAYABLE: dict[str, Callable[[Path], Any]] = {
    "bytes": lambda folder: BODY,
    "bytearray": lambda folder: bytearray(BODY),
    "read-only view": lambda folder: memoryview(BODY),
    "file": a_file,
    "file at 100": a_file_at_100,
    "object at 100": an_object_at_100,
    "list": lambda folder: list(in_pieces()),
    "factory": lambda folder: in_pieces,
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("source", REPLAYABLE)
@pytest.mark.parametrize("fault", ["503", "reset:request", "307", "reset"])
def test_f51_the_same_bytes_both_times(
    server: FaultServer, client: Client, tmp_path: Path, kind: str, source: str, fault: str
) -> None:
    """R5. Also if the first attempt broke off in the middle of the body; from where a file stood at the beginning."""
    id = server.new_id()
    url = server.url(f"/seq/{fault},200", id=id, kind=kind)
    response = client.put(url, data=REPLAYABLE[source](tmp_path))
    assert response.status == 200
    *_, last = seen = server.seen(id)
    assert len(seen) == recorded(response.attempts) == 2
    assert {request["body_sha256"] for request in seen if request["body_complete"]} == {sha256(BODY)}
    assert last["body_complete"]
    is_length_known = source not in ("list", "factory")
    assert sent_header(last, "Content-Length") == (["300000"] if is_length_known else [])


class Refreshes(CustomRetryStrategy):
    """A 401 is retried as B8 does it, with a token that the caller's own hook puts in: there is no token source."""

    def should_retry(self, outcome: Outcome, attempt_number: int) -> bool | Action:
        return Action.REFRESH_TOKEN_AND_RETRY if outcome.status == 401 else False

    def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
        return 0


@pytest.mark.parametrize("kind", KINDS)
def test_f50_a_file_is_sent_again_after_a_401(server: FaultServer, client: Client, tmp_path: Path, kind: str) -> None:
    """R5. Only Authorization differs."""
    id = server.new_id()

    def sign(request: AttemptRequest) -> None:
        request.set_header("Authorization", f"Bearer token-{request.attempt_number}")

    url = server.url("/auth", id=id, accept="token-2", kind=kind)
    response = client.post(url, data=a_file(tmp_path), strategy=Refreshes(), before_attempt=sign)
    assert statuses(response.attempts) == [401, 200]
    first, second = server.seen(id)
    assert first["body_sha256"] == second["body_sha256"] == sha256(BODY)
    rest = [[each for each in request["headers"] if each[0].lower() != "authorization"] for request in (first, second)]
    assert rest[0] == rest[1]


def test_the_position_of_a_file_is_not_moved(server: FaultServer, client: Client, tmp_path: Path) -> None:
    """And the file may be closed, or written to behind that, as soon as the call has begun."""
    with a_file_at_100(tmp_path) as file:
        call = client.submit("PUT", server.url("/echo", id=server.new_id()), data=file)
        assert file.tell() == 100
    assert call.response().json()["body_sha256"] == sha256(BODY)


def test_a_part_of_a_file(server: FaultServer, client: Client, tmp_path: Path) -> None:
    with a_file_at_100(tmp_path) as file:
        response = client.put(server.url("/echo", id=server.new_id()), data=file, data_length=1_000)
        assert response.json()["body_sha256"] == sha256(BODY[:1_000])
        for error in in_both_ways(client, "PUT", server.url("/echo", id=server.new_id()), data=file, data_length=10**9):
            assert type(error) is InvalidArgumentError
            assert error.detail == "body_source.length: goes beyond the end of the file"


def test_an_empty_file(server: FaultServer, client: Client, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    id = server.new_id()
    with (tmp_path / "empty").open("rb") as file:
        client.put(server.url("/seq/503,200", id=id), data=file)
    assert [(each["body_length"], sent_header(each, "Content-Length")) for each in server.seen(id)] == [(0, ["0"])] * 2


@pytest.mark.parametrize("kind", KINDS_THAT_TELL_THE_END)
def test_a_file_that_becomes_shorter_ends_the_call(
    server: FaultServer, client: Client, tmp_path: Path, kind: str
) -> None:
    """B2. A local failure, not retried; and the server does not take the part for the whole."""
    path = tmp_path / "body"
    path.write_bytes(bytes(30_000_000))
    id = server.new_id()
    with path.open("rb") as file:
        url = server.url("/seq/200", {"id": id, "read": 65_536, "read_every": 20}, kind=kind)
        call = client.submit("PUT", url, data=file)
        server.seen(id, requests=1)
        path.write_bytes(b"short")
        with pytest.raises(SourceError, match=r"body_source\.\w+: the file has become shorter while it was sent"):
            call.response()
    assert len(given_up(server, id)) == 1


class PathBody(SourceBody):
    """A file at a path, which the library opens for each attempt."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.struct.kind, self.struct.path = SourceKind.FILE, str(path).encode()


class Wrapper(io.RawIOBase):
    """A file class of the caller: the library has only its methods."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("rb")

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()


def replaced(path: Path) -> None:
    """Another file of the same length, as editors save."""
    path.with_suffix(".new").write_bytes(bytes(500_000))
    path.with_suffix(".new").replace(path)


CHANGES: dict[str, Callable[[Path], object]] = {
    "shorter": lambda path: os.truncate(path, 1_000),
    "longer": lambda path: os.truncate(path, 1_000_000),
    "rewritten": lambda path: path.write_bytes(b"x" * 500_000),
    "replaced": replaced,
}


#: An open file stays the one that it is, and of a Python file only the length is known.
CHANGED = [
    *((kind, change) for kind in ("path", "form part") for change in CHANGES),
    *(("descriptor", change) for change in ("shorter", "longer", "rewritten")),
    *(("Python file", change) for change in ("shorter", "longer")),
]


@pytest.mark.parametrize(("kind", "change"), CHANGED)
def test_f129_a_file_that_has_changed_since_the_first_attempt_ends_the_call(
    server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, change: str
) -> None:
    """R5. Given a 503 to the file as it was, then nothing else is sent: the server sees one request."""
    path = tmp_path / "body"
    path.write_bytes(bytes(500_000))
    body: dict[str, Any] = {}
    if kind == "path":
        monkeypatch.setattr("boxretry._bodies.contents.body_of", PathBody)
        body["data"] = path
    elif kind == "form part":
        body["files"] = {"file": path}
    else:
        body["data"] = path.open("rb") if kind == "descriptor" else Wrapper(path)

    def hook(request: AttemptRequest) -> None:
        if request.attempt_number == 2:
            CHANGES[change](path)

    id = server.new_id()
    with Client(quick(), before_attempt=hook) as client, pytest.raises(SourceError) as raised:
        client.put(server.url("/seq/503,200", id=id), **body)
    assert statuses(raised.value.attempts) == [503, "NONE"]
    assert raised.value.attempts[1].request_sent is RequestSent.NOTHING
    assert [request["answer"] for request in server.seen(id)] == ["503"]
    told = str(raised.value if raised.value.__cause__ is None else raised.value.__cause__)
    assert "has changed since the call began" in told


@pytest.mark.parametrize("kind", ["path", "descriptor", "Python file", "form part"])
def test_r5_a_file_that_was_only_read_meanwhile_is_sent_again(
    server: FaultServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    path = tmp_path / "body"
    path.write_bytes(BODY)
    body: dict[str, Any] = {"data": path.open("rb") if kind == "descriptor" else Wrapper(path)}
    if kind == "path":
        monkeypatch.setattr("boxretry._bodies.contents.body_of", PathBody)
        body = {"data": path}
    elif kind == "form part":
        body = {"files": {"file": path}}

    def hook(request: AttemptRequest) -> None:
        path.read_bytes()
        path.chmod(0o600)

    id = server.new_id()
    with Client(quick(), before_attempt=hook) as client:
        client.put(server.url("/seq/503,307,200", id=id, to="http"), **body)
    assert len({request["body_sha256"] for request in server.seen(id)}) == 1
    assert len(server.seen(id)) == 3


# --- One-shot streams: R3 ---


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("status", [503, 429, 500])
def test_f52_a_stream_that_was_read_is_not_sent_again(
    server: FaultServer, client: Client, kind: str, status: int
) -> None:
    """R3. The response reaches the caller with its body, and the decision says why there is no retry."""
    id = server.new_id()
    for data in (in_pieces(), io.BufferedReader(OneShot(BODY))):
        response = client.put(server.url(f"/seq/{status}", id=id, body="why", kind=kind), data=data)
        assert (response.status, response.content) == (status, b"why")
        assert [attempt.reason for attempt in response.attempts] == [Reason.NOT_REPLAYABLE]
    assert [request["body_sha256"] for request in server.seen(id)] == [sha256(BODY)] * 2


class OneShot(io.RawIOBase):
    """A file that cannot be rewound, as a pipe."""

    def __init__(self, content: bytes) -> None:
        self._content = io.BytesIO(content)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        count: int = self._content.readinto(buffer)
        return count


@pytest.mark.parametrize("fault", ["reset", "reset:request", "close"])
def test_r3_an_exception_is_not_retried_with_a_stream_that_was_read(
    server: FaultServer, client: Client, fault: str
) -> None:
    id = server.new_id()
    with pytest.raises(NetworkError) as raised:
        client.put(server.url(f"/seq/{fault}", id=id), data=in_pieces())
    assert [attempt.reason for attempt in raised.value.attempts] == [Reason.NOT_REPLAYABLE]
    assert len(server.seen(id)) == 1


def test_r3_a_stream_of_which_nothing_was_read_is_sent_again(server: FaultServer, client: Client) -> None:
    """Given a handshake that breaks off, before the body's turn comes."""
    port, id = server.open("tls_cut,https"), server.new_id()
    response = client.put(f"https://127.0.0.1:{port}{server.target('/echo', id=id)}", data=in_pieces())
    assert statuses(response.attempts) == ["TLS", 200]
    assert response.json()["body_sha256"] == sha256(BODY)


@pytest.mark.parametrize("kind", KINDS)
def test_r3_a_redirect_that_wants_the_body_again_is_the_response(
    server: FaultServer, client: Client, kind: str
) -> None:
    """F107, R3. Given 307 or 308 and a one-shot body: not a success. A 303, which wants no body, is followed."""
    for status in (307, 308):
        id = server.new_id()
        response = client.put(server.url(f"/seq/{status}", id=id, kind=kind), data=in_pieces())
        assert (response.status, response.redirects, len(server.seen(id))) == (status, [], 1)
        (attempt,) = response.attempts
        assert (attempt.reason, attempt.retry, response.ok) == (Reason.NOT_REPLAYABLE, False, False)
        with pytest.raises(HTTPStatusError) as raised:
            response.raise_for_status()
        assert raised.value.response is response
    response = client.put(server.url("/seq/303,200", id=server.new_id(), kind=kind), data=in_pieces())
    assert (response.status, len(response.redirects)) == (200, 1)


def test_b13_a_stream_that_was_read_is_not_sent_again(server: FaultServer, client: Client) -> None:
    """Given a reused connection that ends on seeing the request: even a PUT is then an exception."""
    id = server.new_id()
    url = server.url("/seq/200,close,200", id=id)
    client.put(url, data=b"first")
    with pytest.raises(NetworkError) as raised:
        client.put(url, data=in_pieces())
    assert len(server.seen(id)) == 1 + recorded(raised.value.attempts) == 2


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", ["PUT", "POST"])
def test_f57_nothing_is_lost_on_expect_in_chunks(server: FaultServer, client: Client, method: str, kind: str) -> None:
    """Given a body of unknown length, and a server that ignores `Expect: 100-continue`: it is not asked."""
    id = server.new_id()
    response = client.request(method, server.url("/echo", id=id, expect="ignore", kind=kind), data=in_pieces())
    assert response.json()["body_sha256"] == sha256(BODY)
    (request,) = server.seen(id)
    assert sent_header(request, "Expect") == []
    assert sent_header(request, "Transfer-Encoding") == (["chunked"] if kind == "http" else [])


# --- What sources may do wrong ---


def raises_at_once() -> Iterator[bytes]:
    raise KeyError("mine")
    yield b""


def raises_later() -> Iterator[bytes]:
    yield BODY
    raise KeyError("mine")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("make", [raises_at_once, raises_later])
def test_what_a_source_raises_is_the_cause_of_the_error(
    server: FaultServer, client: Client, kind: str, make: Callable[[], Iterator[bytes]]
) -> None:
    """B2. It ends the call, and is not retried."""
    id = server.new_id()
    url = server.url("/seq/200", id=id, kind=kind)
    for error in in_both_ways(client, "PUT", url, data=make):
        assert type(error) is SourceError
        assert isinstance(error.__cause__, KeyError)
        assert len(error.attempts) <= 1
    assert client.get(server.url("/seq/200", id=server.new_id(), kind=kind)).status == 200
    given_up(server, id)


def test_what_a_factory_raises_the_second_time(server: FaultServer, client: Client) -> None:
    calls = iter([list(in_pieces())])
    with pytest.raises(SourceError) as raised:
        client.put(server.url("/seq/503,200", id=server.new_id()), data=lambda: iter(next(calls)))
    assert isinstance(raised.value.__cause__, StopIteration)
    assert statuses(raised.value.attempts)[0] == 503


@pytest.mark.parametrize("raised", [SystemExit(3), KeyboardInterrupt()])
def test_a_base_exception_comes_out_as_it_is(server: FaultServer, client: Client, raised: BaseException) -> None:
    def source() -> Iterator[bytes]:
        yield b"x"
        raise raised

    with pytest.raises(type(raised)) as here:
        client.put(server.url("/seq/200", id=server.new_id()), data=source())
    assert here.value is raised


@pytest.mark.parametrize("data", [[b"x", 5], [None], iter([object()])])
def test_a_source_that_gives_no_bytes(server: FaultServer, client: Client, data: Any) -> None:
    with pytest.raises(SourceError) as raised:
        client.put(server.url("/seq/200", id=server.new_id()), data=data)
    assert isinstance(raised.value.__cause__, TypeError)


@pytest.mark.parametrize("kind", KINDS_THAT_TELL_THE_END)
def test_a_source_that_ends_too_early(server: FaultServer, client: Client, kind: str) -> None:
    """Given a length, then what is shorter fails, and the server does not take it for the whole."""
    id = server.new_id()
    with pytest.raises(SourceError):
        client.put(server.url("/seq/200", id=id, kind=kind), data=in_pieces(), data_length=len(BODY) + 1)
    given_up(server, id)


@pytest.mark.parametrize("kind", KINDS)
def test_a_source_that_has_more_than_it_says(server: FaultServer, client: Client, kind: str) -> None:
    """Then no more is sent."""
    id = server.new_id()
    client.put(server.url("/seq/503,200", id=id, kind=kind), data=in_pieces, data_length=1_000)
    assert [each["body_sha256"] for each in server.seen(id)] == [sha256(BODY[:1_000])] * 2
    assert [sent_header(each, "Content-Length") for each in server.seen(id)] == [["1000"]] * 2


# --- Pauses ---


class Held:
    """A source that pauses after `after` bytes until the test resumes it. It reports the pause."""

    def __init__(self, after: int = 100_000) -> None:
        self.after, self.paused, self.goes_on = after, threading.Event(), threading.Event()

    def __call__(self) -> Iterator[Any]:
        if self.after:
            yield BODY[: self.after]
        while not self.goes_on.is_set():
            self.paused.set()
            yield PAUSE
        yield BODY[self.after :]


@pytest.mark.parametrize("kind", KINDS)
def test_m1_the_idle_time_rests_while_the_source_holds_the_transfer(
    server: FaultServer, client: Client, kind: str
) -> None:
    """Given a pause that is ten times as long as the idle time: that has to pass."""
    source, idle = Held(), Timeout(timeout_interval_for_request_ms=300)
    call = client.submit("PUT", server.url("/echo", id=server.new_id(), kind=kind), data=source, timeout=idle)
    assert source.paused.wait(PATIENCE)
    threading.Event().wait(3)
    source.goes_on.set()
    call.resume()
    response = call.response()
    assert response.json()["body_sha256"] == sha256(BODY)
    assert response.attempts[0].ended_ms > 3_000


@pytest.mark.parametrize("kind", KINDS)
def test_a_call_is_resumed_again_and_again(server: FaultServer, client: Client, kind: str) -> None:
    """Given a source that pauses before each piece, and another thread that resumes each time."""
    pauses, is_over = threading.Semaphore(0), threading.Event()

    def source() -> Iterator[Any]:
        for piece in in_pieces():
            pauses.release()
            yield PAUSE
            yield piece

    def resume() -> None:
        while pauses.acquire(timeout=30) and not is_over.is_set():
            call.resume()

    call = client.submit("PUT", server.url("/echo", id=server.new_id(), kind=kind), data=source)
    resuming = Background(resume)
    try:
        assert call.response(30).json()["body_sha256"] == sha256(BODY)
    finally:
        is_over.set()
        pauses.release()
        resuming.result()
    call.resume()


@pytest.mark.parametrize("kind", KINDS)
def test_a_source_that_pauses_is_resumed_although_a_sink_has_the_response(
    server: FaultServer, client: Client, kind: str
) -> None:
    """Given 2xx on seeing the head, after the source has paused; the sink has its body before the source continues."""
    source, id, taken, has_all = Held(after=0), server.new_id(), bytearray(), threading.Event()

    def sink(data: bytes) -> None:
        taken.extend(data)
        if len(taken) == SMALL:
            has_all.set()

    url = server.url("/seq/200", {"early": "", "size": SMALL}, id=id, kind=kind)
    call = client.submit("PUT", url, data=source, sink=sink, strategy=once())
    assert source.paused.wait(PATIENCE)
    assert has_all.wait(PATIENCE)
    source.goes_on.set()
    call.resume()
    assert call.response(10).status == 200
    assert taken == pattern(SMALL)
    (seen,) = server.seen(id, over=True)
    assert (seen["body_length"], seen["body_complete"]) == (len(BODY), True)


@pytest.mark.parametrize(
    "kind",
    [
        "http",
        "h2",
    ],
)
def test_an_answer_ends_a_call_whose_source_pauses(server: FaultServer, client: Client, kind: str) -> None:
    """Given 413 on seeing the head, and a source that never has more."""
    url = server.url(
        "/seq/413", {"early": "", "first": 300, "body": "why", "close": "end"}, id=server.new_id(), kind=kind
    )
    response = client.submit("PUT", url, data=Held(), strategy=once()).response(2)
    assert (response.status, response.content) == (413, b"why")


@pytest.mark.parametrize("how", ["cancel", "switch", "deadline", "close"])
def test_k1_a_call_whose_source_pauses_can_be_ended(server: FaultServer, how: str) -> None:
    source, switch = Held(), CancelSwitch()
    with Client(quick()) as client:
        deadline = 0.5 if how == "deadline" else None
        url = server.url("/seq/200", id=server.new_id())
        call = client.submit("PUT", url, data=source, cancel=switch, deadline=deadline)
        assert source.paused.wait(PATIENCE)
        end: dict[str, Callable[[], object]] = {
            "cancel": call.cancel,
            "switch": switch.trigger,
            "deadline": lambda: None,
            "close": client.close,
        }
        end[how]()
        with pytest.raises(DeadlineError if how == "deadline" else CancelledError):
            call.response(10)


def test_m2_the_resource_time_does_not_rest(server: FaultServer) -> None:
    with Client(once()) as client, pytest.raises(NetworkError) as raised:
        client.put(
            server.url("/seq/200", id=server.new_id()),
            data=Held(),
            timeout=Timeout(timeout_interval_for_resource_ms=300),
        )
    assert raised.value.attempts[0].cause is Cause.TIMEOUT_RESOURCE


@pytest.mark.parametrize("kind", KINDS)
def test_m1_a_source_that_blocks_holds_the_transfer(server: FaultServer, client: Client, kind: str) -> None:
    """Given one that takes longer for a piece than the idle time (which it should not, but may)."""
    never = threading.Event()

    def source() -> Iterator[bytes]:
        yield BODY[:100_000]
        never.wait(2)
        yield BODY[100_000:]

    idle = Timeout(timeout_interval_for_request_ms=1_000)
    response = client.put(server.url("/echo", id=server.new_id(), kind=kind), data=source, timeout=idle)
    assert statuses(response.attempts) == [200]


# --- Progress, and what is lent ---


@pytest.mark.parametrize("kind", KINDS)
def test_progress_of_an_upload(server: FaultServer, client: Client, tmp_path: Path, kind: str) -> None:
    """It grows from attempt to attempt, and ends with the whole."""
    told: list[Progress] = []
    url = server.url("/seq/503,200", {"id": server.new_id(), "read": 100_000, "read_every": 50}, kind=kind)
    client.put(url, data=a_file(tmp_path), on_progress=told.append)
    assert {progress.attempt_number for progress in told} == {1, 2}
    for number in (1, 2):
        sent = [progress.sent for progress in told if progress.attempt_number == number]
        assert sent == sorted(sent)
        assert sent[-1] == len(BODY)
    assert {progress.send_total for progress in told} == {len(BODY)}
    assert told[-1].received == told[-1].receive_total == 64


def test_progress_without_a_length(server: FaultServer, client: Client) -> None:
    told: list[Progress] = []
    client.put(server.url("/seq/200", id=server.new_id()), data=in_pieces, on_progress=told.append)
    assert {progress.send_total for progress in told} == {None}
    assert told[-1].sent == len(BODY)


def test_a_body_that_is_lent_is_kept_until_the_call_has_ended(server: FaultServer, client: Client) -> None:
    """Given calls without a handle, in the middle of their bodies; a buffer cannot shrink meanwhile."""
    for _ in range(20):
        id = server.new_id()
        url = server.url("/seq/200", {"id": id, "read": 65_536, "read_every": 10})
        call = client.submit("PUT", url, data=bytes(range(256)) * 40_000)
        server.seen(id, requests=1)
        del call
    gc.collect()
    data = bytearray(BODY)
    call = client.submit("PUT", server.url("/echo", id=server.new_id(), first=50), data=data)
    with pytest.raises(BufferError):
        data.clear()
    assert call.response().json()["body_sha256"] == sha256(BODY)
    del call
    gc.collect()
    eventually(lambda: client.stats().calls_ended == client.stats().calls_started)
    data.clear()


def test_arguments_that_make_no_sense(server: FaultServer, client: Client) -> None:
    misused: list[dict[str, Any]] = [{"data": b"x", "data_length": 1}, {"data": in_pieces(), "data_length": -1}]
    for arguments in misused:
        with pytest.raises(InvalidArgumentError, match="data_length"):
            client.put(server.url("/seq/200", id=server.new_id()), **arguments)

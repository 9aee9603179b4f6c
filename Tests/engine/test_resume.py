"""Downloads to a file that continue where they broke off (beyond the sources, off by default)."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from boxretry import Cause, Client, NetworkError, Progress, Reason, ReceiveError, Response
from calls import quick, statuses
from fault_server import pattern
from nginx import Nginx
from range_server import Answer, RangeServer
from raw_server import RawServer

FILE = pattern(300_000)
OTHER = bytes(reversed(FILE))
#: How a 200 that breaks off begins each of these tests.
BROKEN = Answer(FILE, breaks_at=100_000)


def download(server: RangeServer, folder: Path, **arguments: Any) -> Response:
    with Client(quick()) as client:
        return client.get(server.url, to_file=folder / "out", **{"resume": True, **arguments})


def content(folder: Path) -> bytes:
    """Of the one file that is there."""
    assert os.listdir(folder) == ["out"]
    return (folder / "out").read_bytes()


def test_a_download_continues_where_it_broke_off(tmp_path: Path) -> None:
    """Given a strong ETag, then the rest alone is asked for, as long as it is the same file; the record says so."""
    answers = [BROKEN, Answer(FILE, breaks_at=50_000), Answer(FILE)]
    told: list[Progress] = []
    with RangeServer(answers) as server:
        response = download(server, tmp_path, on_progress=told.append)
    assert content(tmp_path) == FILE
    assert server.asked == [(None, None), ("bytes=100000-", '"one"'), ("bytes=150000-", '"one"')]
    assert [attempt.resumed_from for attempt in response.attempts] == [0, 100_000, 150_000]
    assert [attempt.bytes_received for attempt in response.attempts] == [100_000, 50_000, 150_000]
    assert (response.status, response.sink_length) == (206, len(FILE))
    assert (told[-1].received, told[-1].receive_total) == (len(FILE), len(FILE))


def test_a_rest_with_the_largest_length(tmp_path: Path) -> None:
    """Given a server that says so, then the reported progress ends there, and the host continues."""
    endless = Answer(FILE, breaks_at=50_000, headers={"Content-Length": str(2**63 - 1)})
    told: list[Progress] = []
    with RangeServer([BROKEN, endless, Answer(FILE)]) as server:
        download(server, tmp_path, on_progress=told.append)
    assert content(tmp_path) == FILE
    assert 2**63 - 1 in [progress.receive_total for progress in told]


def test_it_is_off_by_default(tmp_path: Path) -> None:
    with RangeServer([BROKEN, Answer(FILE)]) as server:
        response = download(server, tmp_path, resume=False)
    assert server.asked == [(None, None)] * 2
    assert [attempt.resumed_from for attempt in response.attempts] == [0, 0]
    assert content(tmp_path) == FILE


@pytest.mark.parametrize("status", [0, 200])
def test_a_file_that_has_changed_starts_again(tmp_path: Path, status: int) -> None:
    """Then the server sends all of it."""
    with RangeServer([BROKEN, Answer(OTHER, etag='"two"', status=status)]) as server:
        response = download(server, tmp_path)
    assert server.asked[1] == ("bytes=100000-", '"one"')
    assert (content(tmp_path), response.status, response.sink_length) == (OTHER, 200, len(OTHER))
    assert [attempt.resumed_from for attempt in response.attempts] == [0, 0]


def test_a_file_that_has_changed_may_break_off_too(tmp_path: Path) -> None:
    """Then the download continues with the new one."""
    answers = [BROKEN, Answer(OTHER, etag='"two"', breaks_at=70_000), Answer(OTHER, etag='"two"')]
    with RangeServer(answers) as server:
        download(server, tmp_path)
    assert server.asked[2] == ("bytes=70000-", '"two"')
    assert content(tmp_path) == OTHER


@pytest.mark.parametrize("etag", ['W/"one"', None, "", "one", 'w/"one"'])
def test_without_a_strong_etag_it_starts_again(tmp_path: Path, etag: str | None) -> None:
    with RangeServer([Answer(FILE, breaks_at=100_000, etag=etag), Answer(FILE, etag=etag)]) as server:
        response = download(server, tmp_path)
    assert server.asked == [(None, None)] * 2
    assert content(tmp_path) == FILE
    assert response.attempts[1].resumed_from == 0


def test_what_comes_encoded_starts_again(tmp_path: Path) -> None:
    """Its bytes are not those of the file."""
    encoded = {"Content-Encoding": "gzip"}
    with RangeServer([Answer(FILE, breaks_at=100_000, headers=encoded), Answer(FILE, headers=encoded)]) as server:
        download(server, tmp_path)
    assert server.asked == [(None, None)] * 2


@pytest.mark.parametrize(
    "content_range",
    [
        "bytes 99999-299999/300000",
        "bytes 0-299999/300000",
        "bytes 100000-199999/300000",
        "bytes 100000-299999/400000",
        "bytes 100000-399999/400000",
        "bytes 100000-199999/*",
        "bytes 100000-99999/300000",
        "bytes 100000-299999",
        "",
        "nonsense",
        "bytes */5",
    ],
)
def test_a_part_that_was_not_asked_for_is_never_put_into_the_file(tmp_path: Path, content_range: str) -> None:
    """Given a 206 with another Content-Range or none, then it starts again, or the call fails; nothing else."""
    answers = [BROKEN, Answer(FILE, status=206, content_range=content_range), Answer(FILE), Answer(FILE)]
    with RangeServer(answers) as server:
        try:
            download(server, tmp_path)
        except NetworkError:
            assert os.listdir(tmp_path) == []
        else:
            assert content(tmp_path) == FILE


def test_a_part_of_another_file_is_never_put_into_the_file(tmp_path: Path) -> None:
    """Given a server that takes no notice of If-Range, and sends the rest of a file with another ETag."""
    another = Answer(OTHER, etag='"two"')
    with RangeServer([BROKEN, Answer(OTHER, status=206, etag='"two"'), another, another]) as server:
        try:
            download(server, tmp_path)
        except NetworkError:
            assert os.listdir(tmp_path) == []
        else:
            assert content(tmp_path) == OTHER


@pytest.mark.parametrize("content_range", ["bytes 100000-299999/300000", "bytes 100000-299999/*"])
@pytest.mark.parametrize("length", [100_005, 300_005])
def test_a_rest_of_another_length_than_announced_does_not_pass_for_the_file(
    tmp_path: Path, length: int, content_range: str
) -> None:
    """Given a rest that ends properly, but early or late: it is an attempt that broke off."""
    answers = [BROKEN, Answer((FILE + FILE)[:length], status=206, content_range=content_range), Answer(FILE)]
    with RangeServer(answers) as server:
        response = download(server, tmp_path)
    assert server.asked[2] == (("bytes=100005-", '"one"') if length < len(FILE) else (None, None))
    assert [attempt.cause for attempt in response.attempts] == [Cause.RECEIVE, Cause.RECEIVE, Cause.NONE]
    assert content(tmp_path) == FILE


def test_416_starts_again(tmp_path: Path) -> None:
    """Given a server that will not give the rest: the caller has asked for none, so that it is not for them to see."""
    with RangeServer([BROKEN, Answer(b"no", status=416), Answer(FILE)]) as server:
        response = download(server, tmp_path)
    assert server.asked == [(None, None), ("bytes=100000-", '"one"'), (None, None)]
    assert [attempt.cause for attempt in response.attempts] == [Cause.RECEIVE, Cause.PROTOCOL, Cause.NONE]
    assert (content(tmp_path), response.status) == (FILE, 200)


def test_other_answers_in_between(tmp_path: Path) -> None:
    """Given 503 and a connection that is reset, then the download continues with what was there before."""
    answers = [BROKEN, Answer(b"later", status=503), Answer(FILE, breaks_at=0), Answer(FILE)]
    with RangeServer(answers) as server:
        response = download(server, tmp_path)
    assert content(tmp_path) == FILE
    assert statuses(response.attempts)[1] == 503
    assert server.asked[3] in ((None, None), ("bytes=100000-", '"one"'))


def test_a_range_of_the_caller_s_own_is_left_alone(tmp_path: Path) -> None:
    """Then it is a part that is downloaded, and it starts again if it breaks off."""
    answers = [Answer(FILE, status=206, breaks_at=50_000), Answer(FILE, status=206)]
    with RangeServer(answers) as server:
        download(server, tmp_path, headers={"Range": "bytes=100000-"})
    assert {wanted for wanted, _ in server.asked} == {"bytes=100000-"}
    assert content(tmp_path) == FILE[100_000:]


def parts(most: int, count: int) -> list[Answer]:
    return [BROKEN_EARLY, *[Answer(FILE[:100_000], most=most)] * count]


#: A download of 100,000 bytes that breaks off at 40,000.
BROKEN_EARLY = Answer(FILE[:100_000], breaks_at=40_000)


def test_f90_a_server_that_sends_the_rest_in_parts_is_asked_for_each(tmp_path: Path) -> None:
    """F90, W7. Given the default options and 206 answers of 20,000 bytes: whole after three more requests, nothing is
    fetched twice, and each request is recorded."""
    with RangeServer(parts(20_000, 3)) as server:
        response = download(server, tmp_path)
    assert content(tmp_path) == FILE[:100_000]
    assert [wanted for wanted, _ in server.asked] == [None, "bytes=40000-", "bytes=60000-", "bytes=80000-"]
    assert statuses(response.attempts) == [Cause.RECEIVE.name, 206, 206, 206]
    assert [attempt.bytes_received for attempt in response.attempts] == [40_000, 20_000, 20_000, 20_000]
    assert [attempt.resumed_from for attempt in response.attempts] == [0, 40_000, 60_000, 80_000]
    assert [attempt.exception_number for attempt in response.attempts] == [1, 0, 0, 0]
    assert [attempt.reason for attempt in response.attempts[1:]] == [
        Reason.PARTIAL_CONTENT,
        Reason.PARTIAL_CONTENT,
        Reason.SUCCESS,
    ]
    assert [attempt.delay for attempt in response.attempts] == [0.002, 0, 0, 0]
    assert (response.status, response.sink_length) == (206, 100_000)


def test_f90_parts_take_the_retries_of_max_attempts(tmp_path: Path) -> None:
    """F90, W7, B5. Given parts that never come to an end within them: the server sees no more than six requests,
    and the call fails; nothing is left behind."""
    with RangeServer(parts(1_000, 20)) as server, pytest.raises(ReceiveError) as raised:
        download(server, tmp_path)
    assert len(server.asked) == 6
    assert statuses(raised.value.attempts) == ["RECEIVE", 206, 206, 206, 206, "RECEIVE"]
    assert raised.value.attempts[-1].reason is Reason.RETRIES_EXHAUSTED
    assert os.listdir(tmp_path) == []


def test_f90_a_part_may_break_off(tmp_path: Path) -> None:
    """F90, W7. Then it is an exception, and the next request asks for what is missing of the file."""
    short = Answer(FILE[:100_000], most=20_000)
    answers = [BROKEN_EARLY, Answer(FILE[:100_000], most=20_000, breaks_at=5_000), short, Answer(FILE[:100_000])]
    with RangeServer(answers) as server:
        response = download(server, tmp_path)
    assert content(tmp_path) == FILE[:100_000]
    assert [wanted for wanted, _ in server.asked] == [None, "bytes=40000-", "bytes=45000-", "bytes=65000-"]
    assert statuses(response.attempts) == [Cause.RECEIVE.name, Cause.RECEIVE.name, 206, 206]


def test_f90_a_part_with_more_bytes_than_it_says_is_not_kept(tmp_path: Path) -> None:
    """F90, W7. Given a part whose Content-Range ends before its body does: the download starts over."""
    longer = Answer(FILE[:100_000], content_range="bytes 40000-59999/100000")
    with RangeServer([BROKEN_EARLY, longer, Answer(FILE[:100_000])]) as server:
        download(server, tmp_path)
    assert server.asked[2] == (None, None)
    assert content(tmp_path) == FILE[:100_000]


def test_w7_a_part_of_a_file_of_unknown_length_is_not_its_end(tmp_path: Path) -> None:
    """W7. Given no length, then the end of the rest is unknown: the download starts over."""
    head = 'HTTP/1.1 {}\r\nConnection: close\r\nETag: "one"\r\n{}\r\n\r\n'
    answers = (
        head.format("200 OK", "Transfer-Encoding: chunked").encode() + b"5\r\nfirst\r\n",
        head.format("206 Partial", "Content-Length: 5\r\nContent-Range: bytes 5-9/*").encode() + b" part",
        head.format("200 OK", "Content-Length: 16").encode() + b"first part, rest",
    )
    with RawServer(*answers) as server, Client(quick()) as client:
        client.get(server.url, to_file=tmp_path / "out", resume=True)
    assert "Range: bytes=5-" in server.heads[1]
    assert content(tmp_path) == b"first part, rest"


def test_w7_a_coded_part_is_not_put_into_the_file(tmp_path: Path) -> None:
    """W7, W4. Given a 206 with Content-Encoding: its bytes are not those of the file."""
    coded = Answer(FILE[:100_000], headers={"Content-Encoding": "gzip"})
    with RangeServer([BROKEN_EARLY, coded, Answer(FILE[:100_000])]) as server:
        response = download(server, tmp_path, compression=True)
    assert content(tmp_path) == FILE[:100_000]
    assert statuses(response.attempts) == [Cause.RECEIVE.name, Cause.PROTOCOL.name, 200]


@pytest.mark.parametrize("kind", ["http", "h2"])
def test_with_nginx(tmp_path: Path, kind: str) -> None:
    """Given a server of the world's whose worker is killed in the middle."""
    data = pattern(1_000_000) * 20
    with Nginx("limit_rate 20m;") as nginx, Client(quick(), ca_file=nginx.ca) as client:
        (nginx.files / "large").write_bytes(data)
        is_killed = False

        def on_progress(progress: Progress) -> None:
            nonlocal is_killed
            if progress.received > 1_000_000 and not is_killed:
                is_killed = True
                os.kill(worker_of(nginx), signal.SIGKILL)

        url = nginx.url("/files/large", kind=kind)
        response = client.get(url, to_file=tmp_path / "out", resume=True, on_progress=on_progress)
        assert content(tmp_path) == data
        assert response.attempts[0].cause is Cause.RECEIVE
        assert response.attempts[-1].resumed_from > 1_000_000


def worker_of(nginx: Nginx) -> int:
    """The process that answers."""
    master = nginx._process.pid
    return int(Path(f"/proc/{master}/task/{master}/children").read_text().split()[0])

"""W4: a response is whole only if its framing and its content coding are."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Any
from urllib.parse import quote_from_bytes

import pytest
from boxretry import Cause, Client, NetworkError, ProtocolError, ReceiveError, Response
from calls import once, quick, statuses
from codings import CODINGS, OFFERED, framed
from fault_server import FaultServer, pattern
from raw_server import RawServer

PLAIN = pattern(5_000)
FRAMINGS = ["length", "chunked", "close"]


def packed(coding: str, data: bytes = PLAIN) -> tuple[str, bytes]:
    """The header line, and the bytes."""
    name, pack = CODINGS[coding]
    return f"Content-Encoding: {name}", pack(data)


def half(coding: str, framing: str, status: str = "200 OK") -> bytes:
    header, body = packed(coding)
    return framed(body[: len(body) // 2], framing, header, status=status)


def whole(coding: str, framing: str) -> bytes:
    header, body = packed(coding)
    return framed(body, framing, header)


def get(server: RawServer, strategy: Any = None, **arguments: Any) -> Response:
    with Client(strategy or quick(), compression=True) as client:
        return client.get(server.url, **arguments)


class Sink:
    """A callback that can start over."""

    def __init__(self) -> None:
        self.pieces: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.pieces.append(bytes(data))

    def restart(self) -> None:
        self.pieces.clear()


# --- Content codings ---


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("coding", CODINGS)
def test_f84_a_stream_that_stops_before_its_end_is_retried(tmp_path: Path, coding: str, framing: str) -> None:
    """F84, W4. Given half of a stream that is framed as if it were whole, to memory, to a file and to a callback."""
    answers = half(coding, framing), whole(coding, framing)
    with RawServer(*answers) as server:
        response = get(server)
    assert statuses(response.attempts) == [Cause.RECEIVE.name, 200]
    assert response.content == PLAIN
    with RawServer(*answers) as server:
        response = get(server, to_file=tmp_path / "out")
    assert (tmp_path / "out").read_bytes() == PLAIN
    assert (statuses(response.attempts), response.sink_length) == ([Cause.RECEIVE.name, 200], len(PLAIN))
    sink = Sink()
    with RawServer(*answers) as server:
        get(server, sink=sink)
    assert b"".join(sink.pieces) == PLAIN


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("coding", CODINGS)
def test_f84_an_old_file_stays_if_the_new_one_never_comes_whole(tmp_path: Path, coding: str, framing: str) -> None:
    """F84, W4. Given half of a stream each time: the call fails, and nothing else is left in the folder."""
    (tmp_path / "out").write_bytes(b"old")
    with RawServer(half(coding, framing)) as server, pytest.raises(ReceiveError) as raised:
        get(server, to_file=tmp_path / "out")
    assert statuses(raised.value.attempts) == [Cause.RECEIVE.name] * 3
    assert os.listdir(tmp_path) == ["out"]
    assert (tmp_path / "out").read_bytes() == b"old"


@pytest.mark.parametrize("coding", CODINGS)
def test_f84_over_http_2(server: FaultServer, coding: str) -> None:
    """F84, W4."""
    header, body = packed(coding, PLAIN[:1_000])
    for length, is_whole in ((len(body), True), (len(body) // 2, False)):
        target = server.target("/seq/200", {"h": header.replace(": ", ":")}, id=server.new_id())
        target += "&body=" + quote_from_bytes(body[:length])
        url = f"https://127.0.0.1:{server.ports['h2']}{target}"
        with Client(once(), ca_file=server.ca, compression=True) as client:
            if is_whole:
                response = client.get(url)
                assert (response.content, response.attempts[0].http_version) == (PLAIN[:1_000], 20)
            else:
                with pytest.raises(ReceiveError):
                    client.get(url)


@pytest.mark.parametrize("coding", CODINGS)
def test_w4_each_byte_of_a_stream_is_missed(coding: str) -> None:
    """W4. Given what comes before each byte of a stream, checksum included: only the whole stream is a success."""
    header, body = packed(coding, b"What is here is short, short, short.")
    answers = [framed(body[:length], "chunked", header) for length in range(len(body) + 1)]
    with RawServer(*answers) as server, Client(once(), compression=True) as client:
        for _ in range(len(body)):
            with pytest.raises(ReceiveError):
                client.get(server.url)
        assert client.get(server.url).content == b"What is here is short, short, short."


def test_w4_the_body_of_an_error_breaks_off_too() -> None:
    """W4, B2. Given a 404 with half of a stream, then it is an exception."""
    with RawServer(half("gzip", "length", "404 Not Found")) as server, pytest.raises(ReceiveError):
        get(server, once())


@pytest.mark.parametrize("framing", FRAMINGS)
@pytest.mark.parametrize("times", [2, 5])
def test_f85_several_members_of_gzip_are_unpacked(framing: str, times: int) -> None:
    """F85, W4. Also where a member ends with the last byte that has come so far."""
    header, member = packed("gzip")
    with RawServer(framed(member * times, framing, header)) as server:
        assert get(server).content == PLAIN * times
    with RawServer(framed(member * times + member[:-1], framing, header)) as server, pytest.raises(ReceiveError):
        get(server, once())


def test_f85_a_stream_that_comes_byte_by_byte(server: FaultServer, client: Client) -> None:
    """F85, W4."""
    _, member = packed("gzip", b"one member")
    target = server.target("/seq/200", {"h": "Content-Encoding:gzip", "chunked": "", "drip": 1}, id=server.new_id())
    url = f"http://127.0.0.1:{server.ports['http']}{target}&body={quote_from_bytes(member * 3)}"
    assert client.get(url, compression=True).content == b"one member" * 3


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("framing", FRAMINGS)
def test_w4_what_stands_behind_a_stream_is_not_ignored(coding: str, framing: str) -> None:
    """W4. Given bytes that do not belong to it: the body is not what its coding says."""
    header, body = packed(coding)
    with RawServer(framed(body + b"garbage", framing, header)) as server, pytest.raises(ProtocolError):
        get(server, once())


@pytest.mark.parametrize("coding", CODINGS)
def test_w4_a_stream_with_a_wrong_byte_is_not_handed_on(coding: str) -> None:
    """W4. Given a byte that was changed on the way, where the coding has a checksum, or that makes it unreadable."""
    header, body = packed(coding)
    spoilt = b"\xff" * 8 + body[8:]
    with RawServer(framed(spoilt, "length", header)) as server, pytest.raises(NetworkError):
        get(server, once())
    if coding in ("gzip", "deflate"):
        spoilt = body[:-4] + bytes(byte ^ 1 for byte in body[-4:])
        with RawServer(framed(spoilt, "length", header)) as server, pytest.raises(ProtocolError):
            get(server, once())


def test_w4_only_what_can_be_unpacked_is_asked_for() -> None:
    """W4. Given compression, then each name in Accept-Encoding is one that this process can unpack."""
    with RawServer(framed(b"", "length")) as server:
        get(server)
    (line,) = [line for line in server.heads[0].split("\r\n") if line.lower().startswith("accept-encoding:")]
    asked = [name.strip() for name in line.split(":")[1].split(",")]
    assert asked == OFFERED


def test_w4_a_coding_that_was_not_requested_is_not_handed_on() -> None:
    """W4. Given compression, and a coding that cannot be unpacked."""
    with RawServer(framed(b"abc", "length", "Content-Encoding: compress")) as server, pytest.raises(ProtocolError):
        get(server, once())


def test_w4_two_codings_one_after_the_other() -> None:
    """W4. Both have to come to their end."""
    pack = dict(CODINGS.values())
    twice = pack["deflate"](pack["gzip"](PLAIN))
    halved = pack["deflate"](pack["gzip"](PLAIN)[:-5])
    for headers in (["Content-Encoding: gzip, deflate"], ["Content-Encoding: gzip", "Content-Encoding: deflate"]):
        with RawServer(framed(halved, "length", *headers), framed(twice, "length", *headers)) as server:
            response = get(server)
        assert statuses(response.attempts) == [Cause.RECEIVE.name, 200]
        assert response.content == PLAIN


@pytest.mark.parametrize(
    "answer",
    [
        framed(b"", "length", "Content-Encoding: gzip"),
        framed(b"", "length", "Content-Encoding: gzip", status="204 No Content").replace(b"Content-Length: 0\r\n", b""),
        framed(PLAIN, "length", "Content-Encoding: identity"),
        framed(PLAIN, "chunked", "content-encoding:"),
    ],
    ids=["length 0", "204", "identity", "no name"],
)
def test_w4_what_has_no_coding_needs_no_end(answer: bytes) -> None:
    """W4. Given no body, as the head says, or one that comes as it is."""
    with RawServer(answer) as server:
        assert get(server, once()).content in (b"", PLAIN)


def test_w4_a_head_answers_for_a_body_that_does_not_come() -> None:
    """W4. Given HEAD, then Content-Encoding and Content-Length are those of the body that a GET would get."""
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 9\r\nConnection: close\r\n\r\n"
    with RawServer(head) as server, Client(once(), compression=True) as client:
        assert client.head(server.url).status == 200


def test_w4_a_part_is_not_asked_for_compressed() -> None:
    """W4. Given a Range, then a part of a compressed stream could not be unpacked: it comes as the server has it."""
    _, body = packed("gzip")
    part = framed(body[5:10], "length", "Content-Encoding: gzip", status="206 Partial Content")
    with RawServer(part) as server:
        assert get(server, headers={"Range": "bytes=5-9"}).content == body[5:10]
    assert "accept-encoding" not in server.heads[0].lower()


@pytest.mark.parametrize("coding", CODINGS)
def test_w4_a_reader_that_takes_its_time_gets_each_byte_once(server: FaultServer, coding: str) -> None:
    """W4, M1. Given much in little, and a reader that holds the transfer back again and again."""
    name, pack = CODINGS[coding]
    data = pattern(4_000_000)
    body = pack(data)
    with (
        RawServer(framed(body, "length", f"Content-Encoding: {name}")) as raw,
        Client(once(), compression=True) as client,
    ):
        received = bytearray()
        with client.stream("GET", raw.url) as response:
            for piece in response.iter_bytes():
                received += piece
    assert bytes(received) == data


def test_w4_an_answer_before_the_upload_was_read_has_to_be_whole(server: FaultServer) -> None:
    """W4. Given half of a stream as an early answer: its length has come, but not its end."""
    _, body = packed("gzip", b"early")
    target = server.target("/seq/200", {"h": "Content-Encoding:gzip", "early": ""}, id=server.new_id())
    url = f"http://127.0.0.1:{server.ports['http']}{target}&body="
    with Client(once(), compression=True) as client:
        assert client.put(url + quote_from_bytes(body), data=bytes(3_000_000)).content == b"early"
        with pytest.raises(ReceiveError):
            client.put(url + quote_from_bytes(body[:-3]), data=bytes(3_000_000))


def test_w4_off_by_default_nothing_is_unpacked() -> None:
    """W4. Given no compression, then the bytes are the caller's as they came, whole or not."""
    with RawServer(half("gzip", "length")) as server, Client(once()) as client:
        response = client.get(server.url)
    decompressor = zlib.decompressobj(wbits=31)
    assert PLAIN.startswith(decompressor.decompress(response.content))
    assert not decompressor.eof


# --- Framing ---


def message(*headers: str, body: bytes = b"12345678") -> bytes:
    return "\r\n".join(["HTTP/1.1 200 OK", "Connection: close", *headers, "\r\n"]).encode("latin-1") + body


@pytest.mark.parametrize(
    "headers",
    [
        ["Content-Length: 4", "Content-Length: 5"],
        ["Content-Length: 4, 5"],
        ["Content-Length: 4abc"],
        ["Content-Length: abc"],
        ["Content-Length: 9223372036854775808"],
        ["Content-Length: 99999999999999999999999999"],
        ["Content-Length: -4"],
        ["Content-Length: +4"],
        ["Content-Length: 0x4"],
        ["Content-Length: 4 4"],
        ["Content-Length: 4.0"],
        ["Content-Length: 4,"],
        ["Content-Length: 4", " 5"],
        ["Transfer-Encoding: gzip"],
        ["Transfer-Encoding: gzip, chunked"],
        ["Transfer-Encoding: chunked, chunked"],
        ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
        ["Transfer-Encoding: chunked, gzip"],
        ["Transfer-Encoding: xchunked"],
    ],
)
def test_f86_a_body_without_a_clear_end_is_not_handed_on(tmp_path: Path, headers: list[str]) -> None:
    """F86, W4 (RFC 9112, 6.3). Given framing that contradicts itself or cannot be read: an exception, in memory and
    with a file sink, whose old file stays."""
    (tmp_path / "out").write_bytes(b"old")
    with RawServer(message(*headers, body=b"4\r\n1234\r\n0\r\n\r\n")) as server:
        for to_file in (None, tmp_path / "out"):
            with pytest.raises(ProtocolError) as raised, Client(quick(max_retries_on_exception=1)) as client:
                client.get(server.url, to_file=to_file)
            assert statuses(raised.value.attempts) == [Cause.PROTOCOL.name] * 2
            assert "Content-Length or Transfer-Encoding cannot be used" in str(raised.value)
    assert (tmp_path / "out").read_bytes() == b"old"


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (["Content-Length: 4, 4"], b"12345678"),
        (["Content-Length: 4", "Content-Length: 4"], b"12345678"),
        (["content-length:0004"], b"12345678"),
        (["Content-Length: 9", "Transfer-Encoding: chunked"], b"4\r\n1234\r\n0\r\n\r\n"),
        (["Transfer-Encoding: Chunked", "Content-Length: 3"], b"4\r\n1234\r\n0\r\n\r\n"),
        (["Transfer-Encoding: identity", "Content-Length: 4"], b"1234"),
    ],
)
def test_f86_lengths_that_agree_and_chunks_that_override_them(headers: list[str], body: bytes) -> None:
    """F86, W4. Given one length said twice, or Transfer-Encoding beside it, which wins (RFC 9112, 6.3)."""
    with RawServer(message(*headers, body=body)) as server, Client(once()) as client:
        assert client.get(server.url).content == b"1234"


def test_f86_framing_does_not_matter_where_there_is_no_body() -> None:
    """F86, W4. Given HEAD or 304, which end with their head, even if it announces a body (RFC 9112, 6.3)."""
    with RawServer(message("Content-Length: 4", "Content-Length: 5", body=b"")) as server, Client(once()) as client:
        assert client.head(server.url).status == 200
    answer = message("Content-Length: 4", "Content-Length: 5", body=b"").replace(b"200 OK", b"304 Not Modified")
    with RawServer(answer) as server, Client(once()) as client:
        assert client.get(server.url).status == 304


@pytest.mark.parametrize(
    "parameters",
    [
        {"h": ["Content-Length:4", "Content-Length:5"]},
        {"h": "Content-Length:4abc"},
        {"h": "Content-Length:9223372036854775808"},
        {"h": "Content-Length:70"},
        {"h": "Transfer-Encoding:chunked"},
    ],
)
def test_f86_over_http_2(server: FaultServer, parameters: dict[str, Any]) -> None:
    """F86, W4 (RFC 9113, 8.1.1). Given lengths that contradict each other, or the body of 64 bytes."""
    url = server.url("/seq/200", parameters, id=server.new_id(), kind="h2")
    with Client(once(), ca_file=server.ca) as client, pytest.raises(ProtocolError):
        client.get(url)


def test_f86_over_http_2_more_than_was_announced_is_never_handed_on(server: FaultServer) -> None:
    """F86, W4. Given a body of 64 bytes and a Content-Length of 60: an exception, or what was announced."""
    url = server.url("/seq/200", {"h": "Content-Length:60"}, id=server.new_id(), kind="h2")
    with Client(once(), ca_file=server.ca) as client:
        try:
            assert client.get(url).content == pattern(60)
        except NetworkError as error:
            assert error.attempts[0].cause in (Cause.PROTOCOL, Cause.RECEIVE)

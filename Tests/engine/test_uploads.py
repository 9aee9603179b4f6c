"""Large and slow uploads (F38), and forms."""

from __future__ import annotations

import email
import email.policy
import io
from pathlib import Path
from typing import Any

import pytest
from boxretry import Client, IdleTimeoutError, InvalidArgumentError, SourceError, Timeout
from calls import once, quick, recorded, sent_header, sha256, statuses
from fault_server import FaultServer, pattern

KINDS = ["http", "h2"]


def idle(milliseconds: int) -> Timeout:
    return Timeout(timeout_interval_for_request_ms=milliseconds)


def steady(server: FaultServer, client: Client, file: Path, kind: str, piece: int, every: int) -> None:
    """An upload to a server that reads piece by piece, in all for longer than the idle time (M1)."""
    id, port = server.new_id(), server.open(kind, rcvbuf=262_144)
    target = server.target("/seq/200", id=id, read=piece, read_every=every)
    scheme = "https" if kind == "h2" else "http"
    with file.open("rb") as body:
        response = client.put(f"{scheme}://127.0.0.1:{port}{target}", data=body, timeout=idle(1_200))
    assert statuses(response.attempts) == [200]
    assert response.attempts[0].ended_ms > 1_200
    assert [request["body_length"] for request in server.seen(id)] == [file.stat().st_size]


def test_f38_an_upload_of_100_mb_that_is_slow_but_steady(server: FaultServer, client: Client, tmp_path: Path) -> None:
    (tmp_path / "body").write_bytes(bytes(100_000_000))
    steady(server, client, tmp_path / "body", "http", 2_000_000, 30)


def test_f38_an_upload_over_http_2_that_is_slow_but_steady(server: FaultServer, client: Client, tmp_path: Path) -> None:
    """Here it is the stream's window that holds it."""
    (tmp_path / "body").write_bytes(bytes(8_000_000))
    steady(server, client, tmp_path / "body", "h2", 65_535, 20)


def test_f38_what_the_kernel_drains_counts_as_moving(server: FaultServer, client: Client) -> None:
    """M1. Given 2 MB that the kernel takes at once, and a peer that needs longer than the idle time to read them."""
    port, id = server.open("http", rcvbuf=65_536), server.new_id()
    target = server.target("/seq/200", id=id, read=50_000, read_every=50)
    response = client.put(f"http://127.0.0.1:{port}{target}", data=bytes(2_000_000), timeout=idle(700))
    assert statuses(response.attempts) == [200]
    assert response.attempts[0].ended_ms > 1_500


def test_m1_an_upload_that_is_not_drained_is_idle(server: FaultServer) -> None:
    """Given the same, but a peer that stops reading."""
    port = server.open("http", rcvbuf=65_536)
    target = server.target("/seq/200", id=server.new_id(), read=50_000, read_pause_after=100_000, read_pause=20_000)
    with Client(once()) as client, pytest.raises(IdleTimeoutError) as raised:
        client.put(f"http://127.0.0.1:{port}{target}", data=bytes(2_000_000), timeout=idle(700))
    assert raised.value.attempts[0].ended_ms >= 700


def test_b12_much_that_was_sent_is_sent_again(server: FaultServer, client: Client) -> None:
    """Given resets in the middle of 20 MB, twice."""
    id, data = server.new_id(), pattern(1_000_000) * 20
    url = server.url("/seq/reset:request,close:request,200", {"id": id, "read": 100_000})
    response = client.put(url, data=data)
    assert response.status == 200
    assert len(server.seen(id)) == recorded(response.attempts) == 3
    assert server.seen(id)[2]["body_sha256"] == sha256(data)


# --- Forms ---


def parts_of(request: dict[str, Any]) -> list[tuple[dict[str, Any], str, Any]]:
    """The body as an independent parser reads it: the disposition's parameters, the type, the content."""
    head = f"Content-Type: {sent_header(request, 'Content-Type')[0]}\r\n\r\n".encode()
    message = email.message_from_bytes(head + request["body_start"].encode("latin-1"), policy=email.policy.HTTP)
    told = []
    for part in message.iter_parts():
        names = {name: part.get_param(name, header="content-disposition") for name in ("name", "filename")}
        told.append((names, part.get_content_type(), part.get_payload(decode=True)))
    return told


@pytest.mark.parametrize("kind", KINDS)
def test_a_form_with_fields_and_files(server: FaultServer, client: Client, tmp_path: Path, kind: str) -> None:
    """R5. The same bytes in each attempt, boundary and all."""
    path = tmp_path / "photo.png"
    path.write_bytes(b"\x89PNG\r\n")
    named = tmp_path / "named.txt"
    named.write_bytes(b"named")
    id = server.new_id()
    with named.open("rb") as file:
        response = client.post(
            server.url("/seq/503,200", id=id, kind=kind),
            data={"attributes": '{"name": "x"}', "second": b"2"},
            files=[
                ("path", path),
                ("text", ("report.csv", b"a,b", "text/csv")),
                ("file", file),
                ("object", ("object", io.BytesIO(b"object"), "application/x-mine", {"X-Part": "1"})),
                ("bytes", b"bytes"),
            ],
        )
    assert statuses(response.attempts) == [503, 200]
    first, second = server.seen(id)
    assert first["body_sha256"] == second["body_sha256"]
    assert sent_header(first, "Content-Length") == [str(first["body_length"])]
    assert sent_header(first, "Content-Type") == sent_header(second, "Content-Type")
    assert "X-Part: 1\r\n" in first["body_start"]
    assert parts_of(first) == [
        ({"name": "attributes", "filename": None}, "text/plain", b'{"name": "x"}'),
        ({"name": "second", "filename": None}, "text/plain", b"2"),
        ({"name": "path", "filename": "photo.png"}, "image/png", b"\x89PNG\r\n"),
        ({"name": "text", "filename": "report.csv"}, "text/csv", b"a,b"),
        ({"name": "file", "filename": "named.txt"}, "text/plain", b"named"),
        ({"name": "object", "filename": "object"}, "application/x-mine", b"object"),
        ({"name": "bytes", "filename": "bytes"}, "text/plain", b"bytes"),
    ]


@pytest.mark.parametrize("files", [None, {"field": b"x"}], ids=["bytes", "form"])
@pytest.mark.parametrize(
    "hint", ["", "HTTP/1.1 103 Early Hints\r\n\r\n", "HTTP/1.1 103 Early Hints\r\nX-Hint: 1\r\n\r\n"]
)
def test_a_second_response_that_begins_with_a_folded_line(
    server: FaultServer, client: Client, hint: str, files: dict[str, bytes] | None
) -> None:
    """R5. It is an answer or none, as libcurl takes it, but does not continue a header of the answer before it. What
    memory is read for that, Tests/valgrind sees."""
    id = server.new_id()
    folded = hint + "HTTP/1.1 200 OK\r\n folded: x\r\nContent-Length: 6\r\n\r\nfolded"
    url = server.url("/seq/503,200,200", {"1.h": "X-First:" + 40 * "a", "2.raw": folded}, id=id)
    response = client.put(url, data=None if files else b"x", files=files)
    if len(response.attempts) == 2:
        assert (statuses(response.attempts), response.content) == ([503, 200], b"folded")
        assert "X-First" not in response.headers
    else:
        assert statuses(response.attempts) == [503, "PROTOCOL", 200]
    requests = server.seen(id)
    assert len(requests) == len(response.attempts)
    assert len({request["body_sha256"] for request in requests}) == 1
    assert len({str(sent_header(request, "Content-Type")) for request in requests}) == 1


@pytest.mark.parametrize("name", ["a\r\nX-Smuggled: 1", "a\nb", "a\0b"])
@pytest.mark.parametrize("place", ["field", "file_name", "type", "header"])
def test_a_form_cannot_be_smuggled_into(client: Client, name: str, place: str) -> None:
    files: dict[str, Any] = {
        "field": {name: b"x"},
        "file_name": {"f": (name, b"x")},
        "type": {"f": ("f", b"x", name)},
        "header": {"f": ("f", b"x", "text/plain", {"X-A": name})},
    }
    with pytest.raises(InvalidArgumentError):
        client.post("http://127.0.0.1:1/", files=files[place])


@pytest.mark.parametrize("name", ['a"b', "a;b=c", "grün", "a\\b"])
def test_names_in_a_form_are_quoted(server: FaultServer, client: Client, name: str) -> None:
    """As browsers do it; so that a name cannot end early."""
    id = server.new_id()
    client.post(server.url("/seq/200", id=id), files={name: (name, b"x")})
    (request,) = server.seen(id)
    head = request["body_start"].encode("latin-1").split(b"\r\n\r\n")[0]
    quoted = name.replace('"', "%22").encode()
    assert b'; name="' + quoted + b'"; filename="' + quoted + b'"' in head


def test_a_large_file_in_a_form(server: FaultServer, client: Client, tmp_path: Path) -> None:
    """It is read while it is sent, again after a reset, and its length is known."""
    path = tmp_path / "large"
    path.write_bytes(bytes(20_000_000))
    id = server.new_id()
    response = client.post(server.url("/seq/reset:request,200", id=id), files={"large": path})
    assert response.status == 200
    first, second = server.seen(id)
    assert second["body_complete"]
    assert sent_header(first, "Content-Length") == sent_header(second, "Content-Length")
    assert second["body_length"] > 20_000_000


def test_b2_a_file_of_a_form_that_is_not_there(server: FaultServer, client: Client, tmp_path: Path) -> None:
    """A local failure: nothing is sent."""
    id = server.new_id()
    with pytest.raises(SourceError, match=r"^parts\[1\]\.path: No such file or directory$"):
        client.post(server.url("/seq/200", id=id), files={"here": b"x", "f": tmp_path / "none"})
    with pytest.raises(SourceError, match=r"^parts\[0\]\.path: Is a directory$"):
        client.post(server.url("/seq/200", id=id), files={"f": tmp_path})
    assert server.seen(id) == []


def test_a_file_of_a_form_that_goes_before_the_next_attempt(
    server: FaultServer, client: Client, tmp_path: Path
) -> None:
    path = tmp_path / "body"
    path.write_bytes(b"x")
    url = server.url("/seq/503", id=server.new_id())

    def remove(request: Any) -> None:
        if request.attempt_number == 2:
            path.unlink()

    with pytest.raises(SourceError, match=r"parts\[0\]\.path: No such file or directory") as raised:
        client.post(url, files={"f": path}, before_attempt=remove, strategy=quick())
    assert statuses(raised.value.attempts)[0] == 503

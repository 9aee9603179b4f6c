"""`boxretry fetch`: redirects, versions of HTTP, certificates of clients, sockets, compression, idempotency keys."""

from __future__ import annotations

import socket
import subprocess
import threading
from pathlib import Path

import pytest
from fault_server import FaultServer
from fetch_program import AT_ONCE, NO_RETRIES, attempts_of, fetch, fetch_json, header_of
from tool_program import run_tool

# --- Redirects ---


@pytest.mark.parametrize("option", [[], ["-L"], ["--location"], ["--no-location", "-L"]])
def test_redirects_are_followed_and_told(server: FaultServer, option: list[str]) -> None:
    mine = server.new_id()
    url = server.url("/seq/302,307,200", id=mine)
    answer = fetch_json(*option, url)
    assert attempts_of(answer) == [200], "a redirect is no attempt of its own"
    assert answer["attempts"][0]["redirects"] == 2
    assert [(each["attempt"], each["status"]) for each in answer["redirects"]] == [(1, 302), (1, 307)]
    assert [each["url"] for each in answer["redirects"]] == [url, url]
    assert len(server.seen(mine)) == 3


def test_no_location_follows_none(server: FaultServer) -> None:
    mine = server.new_id()
    answer = fetch_json("--no-location", server.url("/seq/302,200", id=mine))
    assert (attempts_of(answer), answer["redirects"], len(server.seen(mine))) == ([302], [], 1)


def test_max_redirs(server: FaultServer) -> None:
    """Given one redirect more than is followed, the call has failed."""
    for count, exit_code in ((2, 0), (3, 9)):
        url = server.url(f"/redirect/{count}", id=server.new_id())
        answer = fetch_json("--max-redirs=2", url, exit_code=exit_code)
        assert (answer["error"], len(answer["redirects"])) == (None if exit_code == 0 else "too_many_redirects", 2)
    answer = fetch_json(server.url("/redirect/21", id=server.new_id()), exit_code=9)
    assert len(answer["redirects"]) == 20, "the default"


@pytest.mark.parametrize("count", ["0", "-1"])
def test_a_number_of_redirects_that_means_something_else_to_others_is_refused(count: str) -> None:
    run = run_tool("fetch", f"--max-redirs={count}", "http://a")
    assert (run.exit_code, f"--max-redirs: '{count}' is less than 1" in run.errors) == (2, True)
    assert "max_redirects" in run_tool("fetch", "--max-redirs=1001", "http://a").errors


def test_the_table_tells_redirects_without_what_may_be_secret(server: FaultServer) -> None:
    """Neither user and password, nor the query."""
    place = server.url("/seq/200").replace("//", "//s3cret:s3cret@") + "?quiet&id=s3cret"
    run = fetch("-v", server.url("/seq/302", h=f"Location:{place}"))
    assert run.exit_code == 0 and "s3cret" not in run.errors
    assert f"\n      1  redirect to {server.url('/seq/200')}\n      1  " in run.errors


# --- Versions of HTTP ---


@pytest.mark.parametrize(
    ("option", "kind", "version"),
    [
        (None, "h2", 20),
        ("--http2", "h2", 20),
        ("--http1.1", "h2", 11),
        ("--http2", "https", 11),
        ("--http2", "http", 11),
        ("--http2-prior-knowledge", "h2c", 20),
    ],
)
def test_the_version_of_http(server: FaultServer, option: str | None, kind: str, version: int) -> None:
    arguments = ["--cacert", server.ca, *([option] if option else [])]
    answer = fetch_json(*arguments, server.url("/seq/200", kind=kind))
    assert (answer["status"], answer["attempts"][0]["http_version"]) == (200, version)


def test_a_large_body_comes_over_http2_whole(server: FaultServer, tmp_path: Path) -> None:
    """B15: given a stream that is reset in the middle, the file starts again."""
    mine = server.new_id()
    url = server.url("/seq/200,200", {"1.stream_reset": "body"}, size=9_000_000, kind="h2", id=mine)
    answer = fetch_json("--cacert", server.ca, "-o", str(tmp_path / "page"), AT_ONCE, url)
    assert (attempts_of(answer)[-1], answer["body_bytes"]) == (200, 9_000_000)
    assert (tmp_path / "page").stat().st_size == 9_000_000


# --- The client's certificate ---


def test_a_client_certificate_is_shown(server: FaultServer) -> None:
    url = server.url("/seq/200", kind="https_client")
    certificate, key = server.files["client_certificate"], server.files["client_key"]
    fetch_json("--cacert", server.ca, NO_RETRIES, url, exit_code=5)
    assert fetch_json("--cacert", server.ca, "--cert", certificate, "--key", key, url)["status"] == 200


def test_a_certificate_can_have_its_key_beside_it_and_a_password(server: FaultServer, tmp_path: Path) -> None:
    """FILE:PASSWORD, where a colon in the name of the file stands behind a backslash."""
    key = Path(server.files["client_key"])
    command = ["openssl", "pkey", "-in", str(key), "-aes256", "-passout", "pass:se:cret"]
    locked = subprocess.run(command, capture_output=True, check=True).stdout
    file = tmp_path / "a:b.pem"
    file.write_bytes(Path(server.files["client_certificate"]).read_bytes() + locked)
    name = str(file).replace(":", "\\:")
    url = server.url("/seq/200", kind="https_client")
    assert fetch_json("--cacert", server.ca, "--cert", f"{name}:se:cret", url)["status"] == 200
    assert fetch_json("--cacert", server.ca, "--cert", f"{name}:wrong", AT_ONCE, url, exit_code=9)["error"] == "setting"


# --- A unix socket ---


def test_unix_socket(tmp_path: Path) -> None:
    path = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def answer_once() -> None:
            connection, _ = listener.accept()
            with connection:
                connection.recv(65536)
                connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")

        thread = threading.Thread(target=answer_once)
        thread.start()
        run = fetch("--unix-socket", str(path), "http://no.such.host.invalid/")
        thread.join()
    assert (run.exit_code, run.output) == (0, "hello")


# --- Compression ---


def test_compressed_asks_for_it_and_unpacks_it(server: FaultServer) -> None:
    mine = server.new_id()
    run = fetch("--compressed", server.url("/seq/200", {"body": "the body", "gzip": ""}, id=mine))
    assert (run.exit_code, run.output) == (0, "the body")
    (request,) = server.seen(mine)
    assert "gzip" in (header_of(request, "Accept-Encoding") or "")


def test_by_default_compression_is_not_mentioned(server: FaultServer) -> None:
    mine = server.new_id()
    fetch(server.url("/seq/200", id=mine))
    assert header_of(server.seen(mine)[0], "Accept-Encoding") is None


# --- Idempotency keys ---


def keys_of(server: FaultServer, *arguments: str, exit_code: int = 0) -> list[str | None]:
    mine = server.new_id()
    run = fetch("-s", AT_ONCE, "-d", "x", *arguments, server.url("/seq/500,200", id=mine))
    assert run.exit_code == exit_code
    return [header_of(request, "Idempotency-Key") for request in server.seen(mine)]


def test_an_idempotency_key_is_the_same_in_all_attempts(server: FaultServer) -> None:
    """B12: and makes a POST safe to be sent again."""
    unsafe = "--no-retry-unsafe-methods"
    assert keys_of(server, unsafe, exit_code=4) == [None]
    assert keys_of(server, unsafe, "--idempotency-key", "mine-1") == ["mine-1", "mine-1"]
    first, second = keys_of(server, unsafe, "--idempotency-key", "auto")
    assert first == second and first not in (None, "auto")
    assert keys_of(server, "--idempotency-key", "auto") != [first, first], "each call has its own"


def test_an_empty_idempotency_key_is_refused() -> None:
    run = run_tool("fetch", "--idempotency-key", "", "http://a")
    assert (run.exit_code, "--idempotency-key: must not be empty" in run.errors) == (2, True)


# --- Presets ---


def test_the_preset_january_retries_nothing_unless_it_is_asked_to(server: FaultServer) -> None:
    for arguments, attempts in (([], 1), (["--max-attempts=3"], 3)):
        url = server.url("/seq/503")
        assert len(fetch_json("--preset=january", *arguments, AT_ONCE, url, exit_code=4)["attempts"]) == attempts
    for arguments, attempts in (([], 1), (["--max-retries-on-exception=1", "--max-attempts=3"], 2)):
        url = server.url("/seq/reset")
        assert len(fetch_json("--preset=january", *arguments, AT_ONCE, url, exit_code=5)["attempts"]) == attempts

"""`boxretry fetch` with access tokens: where they come from, and where they go."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path
from urllib.parse import parse_qsl

import pytest
from fault_server import FaultServer
from fetch_program import (
    AT_ONCE,
    NO_PROXIES,
    attempts_of,
    authorizations,
    fetch,
    fetch_json,
    fetch_with_stdin,
    header_of,
)
from tool_program import TOOL

EXPIRED = json.dumps({"code": "token_expired"})
NO_TOKEN = 8


def forms(server: FaultServer, id: str) -> list[list[tuple[str, str]]]:
    """The forms that a token endpoint got."""
    return [parse_qsl(request["body_start"], keep_blank_values=True) for request in server.seen(id)]


# --- One token ---


def test_a_token_is_sent_with_each_attempt(server: FaultServer) -> None:
    mine = server.new_id()
    assert attempts_of(fetch_json(AT_ONCE, "--token", " abc ", server.url("/seq/503,200", id=mine))) == [503, 200]
    assert authorizations(server, mine) == ["Bearer abc"] * 2, "without white space around it (T6)"


@pytest.mark.parametrize(
    "content", [b"abc", b"abc\n", b" abc\t\r\n", b"abc\nsecond line\n", b"abc\n\0" + b"x" * 200_000]
)
def test_the_first_line_of_a_file_is_the_token(server: FaultServer, tmp_path: Path, content: bytes) -> None:
    mine = server.new_id()
    (tmp_path / "token").write_bytes(content)
    fetch_json("--token-file", str(tmp_path / "token"), server.url("/seq/200", id=mine))
    assert authorizations(server, mine) == ["Bearer abc"]


def test_a_token_can_come_from_a_pipe(server: FaultServer, tmp_path: Path) -> None:
    mine = server.new_id()
    read_end, write_end = os.pipe()
    os.write(write_end, b"abc\n")
    command = [str(TOOL), "fetch", "--token-file", f"/dev/fd/{read_end}", server.url("/seq/200", id=mine)]
    # Its other end stays open: the first line is all that is waited for.
    subprocess.run(
        command,
        pass_fds=[read_end],
        env={**os.environ, **NO_PROXIES},
        stdout=subprocess.DEVNULL,
        timeout=60,
        check=True,
    )
    os.close(read_end)
    os.close(write_end)
    assert authorizations(server, mine) == ["Bearer abc"]


def test_a_token_can_come_from_stdin_which_may_be_a_terminal(server: FaultServer) -> None:
    mine = server.new_id()
    assert fetch_with_stdin(b"abc", "--token-file=-", server.url("/seq/200", id=mine)).exit_code == 0
    keyboard, stdin = pty.openpty()
    os.write(keyboard, b"typed\n")
    command = [str(TOOL), "fetch", "--token-file=-", server.url("/seq/200", id=mine, cycle="")]
    subprocess.run(
        command, stdin=stdin, env={**os.environ, **NO_PROXIES}, stdout=subprocess.DEVNULL, timeout=60, check=True
    )
    os.close(keyboard)
    os.close(stdin)
    assert authorizations(server, mine) == ["Bearer abc", "Bearer typed"]


def test_a_token_can_come_from_the_environment(server: FaultServer) -> None:
    mine = server.new_id()
    fetch_json("--token-env", "MY_TOKEN", server.url("/seq/200", id=mine), MY_TOKEN="abc")
    assert authorizations(server, mine) == ["Bearer abc"]


def test_of_a_token_that_is_given_twice_the_last_counts(server: FaultServer) -> None:
    mine = server.new_id()
    fetch_json("--token=first", "--token=second", server.url("/seq/200", id=mine))
    assert authorizations(server, mine) == ["Bearer second"]


# --- An endpoint ---


def test_a_token_comes_from_an_endpoint_for_a_form(server: FaultServer, tmp_path: Path) -> None:
    """T12: the fields in their order, wherever they come from, each byte as it is."""
    mine, theirs = server.new_id(), server.new_id()
    (tmp_path / "key").write_bytes(b"@ two\nlines\xff\n\n")
    (tmp_path / "other").write_bytes(b"no line end")
    (tmp_path / "windows").write_bytes(b"carriage return\r\n")
    fetch_json(
        *["--token-url", server.url("/token", id=theirs)],
        *["--token-form", "grant_type=client_credentials"],
        *["--token-form", f"key=@{tmp_path / 'key'}"],
        *["--token-form-env", "secret=MY_SECRET"],
        *["--token-form", f"other=@{tmp_path / 'other'}"],
        *["--token-form", f"windows=@{tmp_path / 'windows'}"],
        *["--token-form", "=".join(["text", "a=b&c d"]), "--token-form", "empty="],
        server.url("/seq/200", id=mine),
        MY_SECRET="@literally",
    )
    (request,) = server.seen(theirs)
    assert request["method"] == "POST"
    assert header_of(request, "Content-Type") == "application/x-www-form-urlencoded"
    assert forms(server, theirs) == [
        [
            ("grant_type", "client_credentials"),
            ("key", "@ two\nlines\ufffd\n"),
            ("secret", "@literally"),
            ("other", "no line end"),
            ("windows", "carriage return"),
            ("text", "a=b&c d"),
            ("empty", ""),
        ]
    ]
    assert authorizations(server, mine) == ["Bearer token-1"]


def test_a_field_can_come_from_stdin(server: FaultServer) -> None:
    theirs = server.new_id()
    url = server.url("/token", id=theirs)
    run = fetch_with_stdin(b"s3cret\n", "--token-form=key=@-", "--token-url", url, server.url("/seq/200"))
    assert run.exit_code == 0
    assert forms(server, theirs) == [[("key", "s3cret")]]


def test_an_endpoint_needs_no_form(server: FaultServer) -> None:
    mine = server.new_id()
    fetch_json("--token-url", server.url("/token", id=server.new_id()), server.url("/seq/200", id=mine))
    assert authorizations(server, mine) == ["Bearer token-1"]


def test_an_endpoint_is_reached_as_the_server_is(server: FaultServer) -> None:
    """With the same trust, through the same proxy, and under the same name."""
    mine, theirs = server.new_id(), server.new_id()
    url = server.url("/token", id=theirs, kind="https")
    fetch_json("--cacert", server.ca, "-A", "me/1.0", "--token-url", url, server.url("/seq/200", id=mine))
    assert [header_of(request, "User-Agent") for request in server.seen(theirs)] == ["me/1.0"]
    refused = server.url("", kind="refused")
    fetch_json(
        "--noproxy=*", "--token-url", server.url("/token", id=theirs), server.url("/seq/200"), http_proxy=refused
    )
    assert len(server.seen(theirs)) == 2
    assert authorizations(server, mine) == ["Bearer token-1"]


# --- Where it goes (T13) ---


def test_t13_an_authorization_of_the_user_wins(server: FaultServer) -> None:
    """And no token is asked for."""
    mine, theirs = server.new_id(), server.new_id()
    url = server.url("/token", id=theirs)
    arguments = ["-H", "authorization: Basic x", "--token-url", url, server.url("/seq/401", id=mine)]
    answer = fetch_json(AT_ONCE, *arguments, exit_code=4)
    assert (attempts_of(answer), authorizations(server, mine), server.seen(theirs)) == ([401], ["Basic x"], [])


def test_t13_a_redirect_elsewhere_goes_without_the_token(server: FaultServer) -> None:
    mine = server.new_id()
    elsewhere = f"http://localhost:{server.ports['http']}"
    fetch_json("--token=abc", server.url("/seq/302,302,200", {"1.to": "http", "2.to": elsewhere}, id=mine))
    assert authorizations(server, mine) == ["Bearer abc", "Bearer abc", None]


def test_t13_over_http_a_token_goes_to_another_machine_only_if_that_is_allowed(server: FaultServer) -> None:
    """The fault server is the proxy, on the way to a machine that there is not."""
    mine, theirs = server.new_id(), server.new_id()
    proxy = ["-x", server.url("")]
    elsewhere = "http://there.is.no.such.machine.invalid"
    url, token_url = elsewhere + server.target("/seq/200", id=mine), elsewhere + server.target("/token", id=theirs)
    refused = fetch(*proxy, "--token=abc", url)
    assert (refused.exit_code, "would send the token over plain http" in refused.errors) == (2, True)
    refused = fetch(*proxy, "--token-url", token_url, server.url("/seq/200", id=mine))
    assert (
        refused.exit_code,
        "--token-url: options.url: would send the secrets over plain http" in refused.errors,
    ) == (2, True)
    assert server.seen(mine) == server.seen(theirs) == []
    fetch_json(*proxy, "--allow-insecure-token", "--token-url", token_url, url)
    assert (authorizations(server, mine), len(server.seen(theirs))) == (["Bearer token-1"], 1)

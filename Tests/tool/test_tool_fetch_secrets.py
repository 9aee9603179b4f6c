"""`boxretry fetch`: no failure shows a secret (T1), and an invalid token is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from fault_server import FaultServer
from fetch_program import AT_ONCE, NO_RETRIES, Running, fetch, fetch_with_stdin, on_terminal
from tool_program import Run

SECRET = "s3cr3t-0123456789"
EXPIRED = json.dumps({"code": "token_expired"})
URL = "http://127.0.0.1:1/"


def refused(run: Run) -> str:
    """Why, in one line; nothing was sent, and nothing was shown."""
    assert (run.exit_code, run.output) == (2, ""), run
    assert run.errors.count("\n") == 1 and run.errors.endswith(" (try 'boxretry fetch --help')\n")
    assert "s3cr3t" not in run.errors
    return run.errors


@pytest.fixture
def files(tmp_path: Path) -> dict[str, str]:
    """Names of files that cannot be a token, and of one that could."""
    contents = {
        "good": SECRET.encode(),
        "empty": b"",
        "blank": b" \t\r\nabc\n",
        "words": b"s3cr3t s3cr3t\n",
        "nul": b"s3cr3t\0s3cr3t\n",
        "long": b"s3cr3t" * 3000,
        "endless": b"s3cr3t" * 30_000,
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    return {name: str(tmp_path / name) for name in [*contents, "folder", "missing"]}


ONE_OF_THEM = "only one of --token, --token-file, --token-env and --token-url can be given"
RANGE = "token: must be 1 to 16384 bytes, each in 0x21 to 0x7E"
ENDPOINT = ["--token-url", "http://127.0.0.1:1/token"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--token="], f"--token: {RANGE}"),
        (["--token", "s3cr3t s3cr3t"], f"--token: {RANGE}"),
        (["--token", "s3cr3t\n\n-H: x"], f"--token: {RANGE}"),
        (["--token-file", "{missing}"], "--token-file: the file cannot be read: No such file or directory"),
        (["--token-file", "{folder}"], "--token-file: the file cannot be read: Is a directory"),
        (["--token-file", ""], "--token-file: the file cannot be read: No such file or directory"),
        (["--token-file", "{empty}"], f"--token-file: {RANGE}"),
        (["--token-file", "{blank}"], f"--token-file: {RANGE}"),
        (["--token-file", "{words}"], f"--token-file: {RANGE}"),
        (["--token-file", "{long}"], f"--token-file: {RANGE}"),
        (["--token-file", "{nul}"], "--token-file: the file contains a NUL byte"),
        (["--token-file", "{endless}"], "--token-file: the file is longer than 65536 bytes"),
        (["--token-file=-"], f"--token-file: {RANGE}"),
        (["--token-env", "UNSET"], "--token-env: the environment variable is not set"),
        (["--token-env", ""], "--token-env: the environment variable is not set"),
        (["--token-env", "EMPTY"], f"--token-env: {RANGE}"),
        (["--token-env", "WORDS"], f"--token-env: {RANGE}"),
        (["--token=a", "--token-env=GOOD"], ONE_OF_THEM),
        (["--token-file={good}", "--token=a"], ONE_OF_THEM),
        (["--token=a", "--token-env=GOOD", "--token=a"], ONE_OF_THEM),
        (["--token=a", *ENDPOINT], ONE_OF_THEM),
        ([*ENDPOINT, "--token-file={good}"], ONE_OF_THEM),
        (["--token-form=key=s3cr3t"], "--token-form: needs --token-url"),
        (["--token=a", "--token-form-env=key=GOOD"], "--token-form: needs --token-url"),
        ([*ENDPOINT, "--token-form=s3cr3t"], "--token-form: a field has no name; write 'name=value'"),
        ([*ENDPOINT, "--token-form==s3cr3t"], "--token-form: a field has no name; write 'name=value'"),
        ([*ENDPOINT, "--token-form-env=GOOD"], "--token-form-env: a field has no name; write 'name=value'"),
        ([*ENDPOINT, "--token-form=key=@{missing}"], "--token-form: the file for 'key' cannot be read: No such file"),
        ([*ENDPOINT, "--token-form=key=@{folder}"], "--token-form: the file for 'key' cannot be read: Is a directory"),
        ([*ENDPOINT, "--token-form=key=@{nul}"], "--token-form: the file for 'key' contains a NUL byte"),
        ([*ENDPOINT, "--token-form=key=@{endless}"], "--token-form: the file for 'key' is longer than 65536 bytes"),
        ([*ENDPOINT, "--token-form-env=key=UNSET"], "--token-form-env: the environment variable for"),
        (["--token-url="], "--token-url: options.url: is empty"),
        (["--token-url=ftp://s3cr3t/"], "--token-url: options.url: has a scheme other than http and https"),
        (["--token-url=http://192.0.2.1/?s3cr3t"], "--token-url: options.url: would send the secrets over plain http"),
        ([*ENDPOINT, "-x", ""], "proxy: is empty"),
        (["--token-file=-", "-T", "-"], "only one option can read standard input"),
        (["--token-file=-", "-d", "@-"], "only one option can read standard input"),
        (["-F", "a=@-", "--token-file=-"], "only one option can read standard input"),
        ([*ENDPOINT, "--token-form=a=@-", "--token-form=b=@-"], "only one option can read standard input"),
        # Mistakes that put a secret where something else belongs.
        ([f"--token-env={SECRET}"], "--token-env: the environment variable is not set"),
        ([f"--token-file={SECRET}"], "--token-file: the file cannot be read: No such file or directory"),
        ([*ENDPOINT, f"--token-form-env=key={SECRET}"], "the environment variable for 'key' is not set"),
        ([*ENDPOINT, f"--token-form=key=@{SECRET}"], "the file for 'key' cannot be read"),
        ([f"--tokken={SECRET}"], "unknown option '--tokken'; did you mean '--token'?"),
        ([f"--allow-insecure-token={SECRET}"], "'--allow-insecure-token': this option takes no value"),
        (["--token"], "'--token' needs a value"),
    ],
)
def test_what_is_wrong_is_refused_without_showing_it(files: dict[str, str], arguments: list[str], message: str) -> None:
    environment = {"GOOD": SECRET, "EMPTY": "", "WORDS": "s3cr3t s3cr3t"}
    run = fetch(URL, *[argument.format(**files) for argument in arguments], **environment)
    assert message in refused(run)


def test_a_file_of_the_largest_size_is_a_value(server: FaultServer, tmp_path: Path) -> None:
    theirs = server.new_id()
    (tmp_path / "key").write_bytes(b"x" * 65_536)
    arguments = ["--token-url", server.url("/token", id=theirs), f"--token-form=key=@{tmp_path / 'key'}"]
    assert fetch(*arguments, server.url("/seq/200")).exit_code == 0
    assert server.seen(theirs)[0]["body_length"] == 65_536 + len("key=")


def all_that_is_shown(*arguments: str, **environment: str) -> list[str]:
    """Everywhere: with and without a terminal, for people and for programs."""
    runs = [
        fetch("-v", "-i", *arguments, **environment),
        fetch("--json", "-v", *arguments, **environment),
        on_terminal("-o", "/dev/null", *arguments, **environment),
    ]
    return [text for run in runs for text in (run.output, run.errors)]


@pytest.mark.parametrize("source", ["token", "file", "environment", "form", "form file", "form environment"])
@pytest.mark.parametrize("script", ["200", "503*2,404", "401*9", "expired", "reset*9"])
def test_t1_no_secret_is_shown(server: FaultServer, tmp_path: Path, source: str, script: str) -> None:
    """Neither a token nor what it is got for, however the call ends."""
    (tmp_path / "secret").write_text(SECRET)
    endpoint = ["--token-url", server.url("/token", token="s3cr3t-token")]
    arguments = {
        "token": ["--token", SECRET],
        "file": ["--token-file", str(tmp_path / "secret")],
        "environment": ["--token-env=SECRET"],
        "form": [*endpoint, f"--token-form=key={SECRET}"],
        "form file": [*endpoint, f"--token-form=key=@{tmp_path / 'secret'}"],
        "form environment": [*endpoint, "--token-form-env=key=SECRET"],
    }[source]
    parameters = {"body": EXPIRED} if script == "expired" else {}
    url = server.url("/seq/401*9" if script == "expired" else f"/seq/{script}", {**parameters}, id=server.new_id())
    preset = NO_RETRIES if script == "expired" else AT_ONCE
    shown = all_that_is_shown(preset, *arguments, url, SECRET=SECRET)
    assert any("attempt " in text for text in shown) and not any("s3cr3t" in text for text in shown), shown


def test_t1_what_an_endpoint_says_of_its_failure_is_not_repeated(server: FaultServer) -> None:
    """But for the code."""
    body = json.dumps({"error": "invalid_client", "error_description": f"{SECRET} is wrong"})
    url = server.url("/seq/400", body=body)
    shown = all_that_is_shown("--token-url", url, f"--token-form=key={SECRET}", server.url("/seq/200"))
    assert any("invalid_client" in text for text in shown) and not any("s3cr3t" in text for text in shown)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--token-env", "SECRET"],
        ["--token-file", "{file}"],
        ["--token", SECRET],
        [f"--token={SECRET}"],
        ["--token", SECRET, "--token", SECRET],
        ["--token-url={url}", "--token-form", f"key={SECRET}", f"--token-form=another={SECRET}"],
        ["--token-url={url}", "--token-form", "key=@{file}", "--token-form-env=another=SECRET"],
    ],
)
def test_the_list_of_processes_does_not_show_a_secret(
    server: FaultServer, tmp_path: Path, arguments: list[str]
) -> None:
    """Not even one that was on the command line, once it has been read."""
    (tmp_path / "secret").write_text(SECRET)
    mine, names = server.new_id(), {"file": str(tmp_path / "secret"), "url": server.url("/token")}
    words = [word.format(**names) for word in arguments]
    with Running(*words, server.url("/seq/stall", id=mine), environment={"SECRET": SECRET}) as running:
        server.seen(mine, requests=1)
        command_line = Path(f"/proc/{running.process.pid}/cmdline").read_bytes()
    assert b"fetch" in command_line and b"s3cr3t" not in command_line


def test_a_token_is_read_from_stdin_only_once(server: FaultServer) -> None:
    """And a body that is read there is none of it."""
    mine = server.new_id()
    run = fetch_with_stdin(b"abc\nthe body", "--token-file=-", "-T", "-", server.url("/seq/200", id=mine))
    assert "only one option can read standard input" in refused(run)
    assert server.seen(mine) == []

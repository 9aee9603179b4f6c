"""`boxretry fetch` answers to the habits of curl's users (issue 12, item 9): options, variables and several URLs."""

from __future__ import annotations

import base64
import json
import socket
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fault_server import FaultServer, pattern
from fetch_program import (
    AT_ONCE,
    NO_PROXIES,
    NO_RETRIES,
    Running,
    attempts_of,
    authorizations,
    fetch,
    fetch_json,
    fetch_with_stdin,
    header_of,
)
from tool_program import TOOL, Run


def sent(server: FaultServer, *arguments: str, end: str = "") -> dict[str, Any]:
    """The request that the server saw, with ID in its path. (It answers 400 to parameters that it does not know.)"""
    mine = server.new_id()
    assert fetch("-s", *arguments, server.url("/echo", id=mine) + end).exit_code in (0, 4)
    (request,) = server.seen(mine, requests=1)
    return {**request, "path": request["path"].replace(f"id={mine}", "id=ID")}


def fetch_in(folder: Path, *arguments: str) -> Run:
    """A run whose working directory is this folder."""
    finished = subprocess.run(
        [TOOL, "fetch", *arguments], cwd=folder, env=NO_PROXIES, capture_output=True, text=True, timeout=60, check=False
    )
    return Run(finished.returncode, finished.stdout, finished.stderr)


# --- User and password ---


@pytest.mark.parametrize("option", ["-u", "--user"])
@pytest.mark.parametrize("user", ["me:secret", "a:b:c", "x:", "\u00fc:p\u00e4ss", "abcd:e"])
def test_user_and_password_are_sent_as_basic_authorization(server: FaultServer, option: str, user: str) -> None:
    mine = server.new_id()
    assert fetch(option, user, server.url("/seq/200", id=mine)).exit_code == 0
    assert authorizations(server, mine) == ["Basic " + base64.b64encode(user.encode()).decode()]


def test_a_header_of_ones_own_replaces_user_and_password(server: FaultServer) -> None:
    mine = server.new_id()
    assert fetch("-u", "a:b", "-H", "Authorization: mine", server.url("/seq/200", id=mine)).exit_code == 0
    assert fetch("-u", "a:b", "-H", "Authorization:", server.url("/seq/200", id=mine)).exit_code == 0
    assert authorizations(server, mine) == ["mine", None]


def test_user_and_password_do_not_go_to_another_origin(server: FaultServer) -> None:
    """T13."""
    mine = server.new_id()
    other = f"http://127.0.0.1:{server.open('http')}"
    url = server.url("/seq/302,200", {"to": other}, id=mine)
    assert fetch("-u", "a:b", url).exit_code == 0
    assert authorizations(server, mine) == ["Basic YTpi", None]


def test_a_missing_password_is_asked_for_on_the_terminal(server: FaultServer) -> None:
    """As in curl; the terminal does not show it."""
    mine = server.new_id()
    with Running("-u", "me", server.url("/seq/200", id=mine)) as running:
        running.read_until("Enter host password for user 'me':")
        running.type("secret\n")
        run = running.finish()
    assert run.exit_code == 0 and "secret" not in run.errors
    assert authorizations(server, mine) == ["Basic " + base64.b64encode(b"me:secret").decode()]


def test_without_a_terminal_a_missing_password_is_refused() -> None:
    run = subprocess.run(
        [TOOL, "fetch", "-u", "me", "http://127.0.0.1:1/"],
        stdin=subprocess.DEVNULL,
        start_new_session=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (run.returncode, run.stdout) == (2, "")
    assert "--user: no password given, and no terminal to ask for one" in run.stderr


def test_a_password_is_not_seen_in_the_list_of_processes(server: FaultServer) -> None:
    mine = server.new_id()
    with Running("-u", "me:secret", server.url("/seq/stall", id=mine)) as running:
        server.seen(mine, requests=1)
        command_line = Path(f"/proc/{running.process.pid}/cmdline").read_bytes()
        running.interrupt()
        assert running.finish().exit_code == 130
    assert b"secret" not in command_line and b"/seq/stall" in command_line


# --- The query of the URL ---


def test_get_puts_the_data_into_the_url(server: FaultServer) -> None:
    request = sent(server, "-G", "-d", "a=1", "-d", "b=%20")
    assert (request["method"], request["path"], request["body_length"]) == ("GET", "/echo?id=ID&a=1&b=%20", 0)
    assert header_of(request, "Content-Type") is None


def test_get_with_head_is_a_head(server: FaultServer) -> None:
    assert sent(server, "-G", "-I", "-d", "a")["method"] == "HEAD"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("a=b c&d", "a=b+c%26d"),
        ("a b", "a+b"),
        ("=a=b", "a%3Db"),
        ("a.b-c_d~e=\u00e4", "a.b-c_d~e=%C3%A4"),
        ("+a=%20", "a=%20"),
    ],
)
def test_url_query_is_added_as_curl_encodes_it(server: FaultServer, value: str, expected: str) -> None:
    assert sent(server, "--url-query", value)["path"] == f"/echo?id=ID&{expected}"


def test_url_query_leaves_the_body_alone(server: FaultServer) -> None:
    request = sent(server, "--url-query", "q=1", "-d", "body")
    assert (request["method"], request["path"], request["body_length"]) == ("POST", "/echo?id=ID&q=1", 4)


@pytest.mark.parametrize("end", ["#part", "&#part"])
def test_a_query_comes_before_the_fragment_and_behind_what_is_there(server: FaultServer, end: str) -> None:
    assert sent(server, "--url-query", "a", "--url-query", "b=c", end=end)["path"] == "/echo?id=ID&a&b=c"
    run = fetch("--url-query", "a", "-w", "%{url_effective}", NO_RETRIES, "http://127.0.0.1:1#part")
    assert run.output in ("http://127.0.0.1:1?a#part", "http://127.0.0.1:1/?a#part")


def test_data_and_query_can_be_encoded_files(server: FaultServer, tmp_path: Path) -> None:
    (tmp_path / "f").write_bytes(b"a\x00b \n")
    path = str(tmp_path / "f")
    request = sent(server, "--data-urlencode", f"x@{path}", "--data-urlencode", f"@{path}")
    assert request["body_start"] == "x=a%00b+%0A&a%00b+%0A"
    assert sent(server, "--url-query", f"q@{path}")["path"] == "/echo?id=ID&q=a%00b+%0A"
    mine = server.new_id()
    assert fetch_with_stdin(b"1&2", "--data-urlencode", "v@-", server.url("/echo", id=mine)).exit_code == 0
    assert server.seen(mine)[-1]["body_start"] == "v=1%262"


# --- Times, retries, certificates ---


@pytest.mark.parametrize("option", [["-m", "0.04"], ["--max-time", ".04"], ["--max-time=4e-2"]])
def test_max_time_is_of_the_whole_call(server: FaultServer, option: list[str]) -> None:
    """B11: with its retries."""
    answer = fetch_json(*option, AT_ONCE, server.url("/seq/stall"), exit_code=7)
    assert (answer["error"], attempts_of(answer)[-1:]) == ("deadline", attempts_of(answer))


def test_max_time_0_means_no_limit(server: FaultServer) -> None:
    assert fetch_json("-m", "0.01", "-m", "0", server.url("/seq/200", first=60))["status"] == 200


@pytest.mark.parametrize("option", [["--connect-timeout", "0.05"], ["--connect-timeout=.05"]])
def test_connect_timeout_is_for_the_connection_alone(server: FaultServer, option: list[str]) -> None:
    """W5: a handshake that is never answered ends in time; an answer that is slow is waited for."""
    silent = socket.create_server(("127.0.0.1", 0))
    with silent:
        url = f"https://127.0.0.1:{silent.getsockname()[1]}/"
        answer = fetch_json(*option, NO_RETRIES, url, exit_code=5)
    assert answer["error"] == "connect"
    assert fetch_json(*option, server.url("/seq/200", first=120))["status"] == 200


@pytest.mark.parametrize("script", ["503", "reset", "503,reset"])
@pytest.mark.parametrize("preset", ["box", "january"])
def test_retry_is_the_number_of_retries_of_any_kind(server: FaultServer, script: str, preset: str) -> None:
    """A reconnect is one, too (B13)."""
    mine = server.new_id()
    url = server.url(f"/seq/{script}", id=mine)
    fetch("--retry", "2", f"--preset={preset}", AT_ONCE, url)
    assert len(server.seen(mine)) == 3


def test_retry_0_is_a_single_attempt(server: FaultServer) -> None:
    assert attempts_of(fetch_json("--retry", "0", server.url("/seq/503"), exit_code=4)) == [503]
    assert attempts_of(fetch_json("--retry=0", server.url("/seq/reset"), exit_code=5)) == ["receive"]


def test_a_count_of_retries_may_be_large(server: FaultServer) -> None:
    url = server.url("/seq/503*8,200", id=server.new_id())
    assert len(fetch_json("--retry=8", AT_ONCE, url)["attempts"]) == 9


@pytest.mark.parametrize("option", ["-k", "--insecure"])
@pytest.mark.parametrize("kind", ["https", "https_expired", "https_wrong_name", "https_self_signed"])
def test_insecure_accepts_any_certificate_and_warns(server: FaultServer, option: str, kind: str) -> None:
    url = server.url("/seq/200", kind=kind, body="x")
    assert fetch(NO_RETRIES, url).exit_code == 5
    run = fetch(option, NO_RETRIES, url)
    assert (run.exit_code, run.output) == (0, "x")
    assert run.errors == (
        "boxretry fetch: warning: --insecure: certificates are not verified, so anyone on the network can read and "
        "change all data\n"
    )
    assert fetch(option, "-s", NO_RETRIES, url).errors == ""


def test_capath_is_a_directory_of_authorities(server: FaultServer, tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_bytes(Path(server.ca).read_bytes())
    url = server.url("/seq/200", kind="https")
    assert fetch_json("--capath", str(tmp_path), NO_RETRIES, url, exit_code=5)["error"] == "tls"
    subprocess.run(["openssl", "rehash", str(tmp_path)], check=True)
    assert fetch_json("--capath", str(tmp_path), NO_RETRIES, url)["status"] == 200


@pytest.mark.parametrize("option", ["-k", "--capath"])
def test_the_token_endpoint_has_the_same_certificates(server: FaultServer, tmp_path: Path, option: str) -> None:
    (tmp_path / "ca.pem").write_bytes(Path(server.ca).read_bytes())
    subprocess.run(["openssl", "rehash", str(tmp_path)], check=True)
    arguments = [option] if option == "-k" else [option, str(tmp_path)]
    tokens, mine = server.url("/token", kind="https", id=server.new_id()), server.new_id()
    assert fetch("-s", *arguments, "--token-url", tokens, server.url("/seq/200", id=mine)).exit_code == 0
    assert authorizations(server, mine) == ["Bearer token-1"]


# --- Files named as in the URL ---


@pytest.mark.parametrize("option", ["-O", "--remote-name"])
def test_remote_name_is_the_last_part_of_the_path(server: FaultServer, tmp_path: Path, option: str) -> None:
    run = fetch_in(tmp_path, option, server.url("/seq/200", size=48) + "#part")
    assert (run.exit_code, run.output, run.errors) == (0, "", "")
    assert (tmp_path / "200").read_bytes() == pattern(48)


@pytest.mark.parametrize("path", ["", "/", "/a/", "/..", "/a/.", "/?x=/y", "/#/y"])
def test_a_url_without_a_name_is_refused(tmp_path: Path, path: str) -> None:
    """Nothing is sent, also if it is the last of several URLs."""
    run = fetch_in(tmp_path, "-OO", "http://127.0.0.1:1/x", f"http://127.0.0.1:1{path}")
    assert (run.exit_code, run.output) == (2, "")
    assert "--remote-name: the URL 'http://127.0.0.1:1" in run.errors and "has no file name" in run.errors
    assert list(tmp_path.iterdir()) == []


def test_outputs_belong_to_the_urls_in_their_order(server: FaultServer, tmp_path: Path) -> None:
    urls = [server.url(f"/seq/{status}", body=str(status)) for status in (200, 201, 202, 203)]
    run = fetch_in(tmp_path, "-o", "first", urls[0], "-O", urls[1], "-o", "-", urls[2], urls[3])
    assert (run.exit_code, run.output, run.errors) == (0, "202203", "")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"first": "200", "201": "201"}


# --- Variables ---


def out(server: FaultServer, variables: str, url: str, *arguments: str) -> str:
    return fetch("-o", "/dev/null", "-s", *arguments, "-w", variables, url).output


def test_write_out_has_the_variables_of_curl_and_ours(server: FaultServer) -> None:
    url = server.url("/seq/503,302,200", {"503.h": "Retry-After:0", "200.h": "X-One: 1"}, size=64, id=server.new_id())
    names = (
        "http_code response_code http_version attempts retries num_retries num_redirects size_download urlnum method"
    )
    format = " ".join(f"%{{{name}}}" for name in names.split()) + " %header{x-ONE}%header{none}|"
    assert out(server, format, url) == "200 200 1.1 2 1 1 1 64 0 GET 1|"
    assert out(server, "%{url}", url) == url
    assert out(server, "%{url_effective}", server.url("/redirect/1", id="w")).startswith("http://127.0.0.1:")
    assert out(server, "%{content_type}|", server.url("/seq/200", h="Content-Type: a/b")) == "a/b|"
    assert out(server, "%{content_type}%{filename_effective}", server.url("/seq/200", h="-Content-Type")) == "/dev/null"
    assert out(server, "%{size_upload}", server.url("/echo"), "-d", "12345") == "5"


def test_write_out_understands_escapes_as_curl_does(server: FaultServer) -> None:
    url = server.url("/seq/200")
    assert out(server, r"a\nb\tc\rd\q%%%{http_code}% %{", url) == "a\nb\tc\rd\\q%200% %{"


def test_write_out_times_are_in_order(server: FaultServer) -> None:
    names = ["time_namelookup", "time_connect", "time_appconnect", "time_starttransfer", "time_total"]
    text = out(server, " ".join(f"%{{{name}}}" for name in names), server.url("/seq/200", kind="https"), "-k")
    lookup, connect, tls, first, total = map(float, text.split())
    assert 0 <= lookup <= connect < tls < first <= total
    assert float(out(server, "%{time_appconnect}", server.url("/seq/200"))) == 0
    assert float(out(server, "%{speed_download}", server.url("/seq/200", size=100_000))) > 0


def test_write_out_says_why_a_call_failed(server: FaultServer) -> None:
    format = "%{exitcode}%{onerror} %{http_code} %{errormsg}"
    assert out(server, format, server.url("/seq/200")) == "0"
    message = "the server returned status 404 Not Found (this status is not retried)"
    assert out(server, format, server.url("/seq/404")) == f"4 404 {message}"
    refused = out(server, format, server.url("/", kind="refused"), NO_RETRIES)
    assert refused.startswith("5 000 connect: could not connect")


def test_write_out_may_go_to_stderr(server: FaultServer) -> None:
    run = fetch("-w", "a%{stderr}b%{stdout}c", server.url("/seq/200", body="x"))
    assert (run.output, run.errors) == ("xac", "b")


def test_write_out_comes_from_a_file(server: FaultServer, tmp_path: Path) -> None:
    (tmp_path / "format").write_text("%{http_code}\n")
    assert out(server, f"@{tmp_path / 'format'}", server.url("/seq/200")) == "200\n"


# --- Several URLs ---


def test_several_urls_are_fetched_in_their_order_over_one_connection(server: FaultServer) -> None:
    port = server.open("http")
    urls = [f"http://127.0.0.1:{port}{server.target('/seq/200', body=text)}" for text in ("one", "two", "three")]
    run = fetch(*urls)
    assert (run.exit_code, run.output, run.errors) == (0, "onetwothree", "")
    assert len(server.connections(port)) == 1


def test_json_is_a_line_for_each_url(server: FaultServer) -> None:
    urls = [server.url("/seq/200"), server.url("/seq/404")]
    run = fetch("--json", *urls)
    answers = [json.loads(line) for line in run.output.splitlines()]
    assert [(answer["url"], answer["status"]) for answer in answers] == [(urls[0], 200), (urls[1], 404)]
    assert run.exit_code == 4


def test_the_exit_code_is_that_of_the_first_url_that_failed(server: FaultServer) -> None:
    """And stderr says which failed, without what may be a secret in its URL."""
    good, missing = server.url("/seq/200"), server.url("/seq/404")
    refused = server.url("/", kind="refused")
    run = fetch(NO_RETRIES, "-o/dev/null", good, missing, refused, good, "-f")
    assert run.exit_code == 4
    first, second = run.errors.splitlines()
    message = "the server returned status 404 Not Found (max_attempts is reached)"
    assert first == f"boxretry fetch: {missing.partition('?')[0]}: {message}"
    assert second.startswith(f"boxretry fetch: {refused}: connect: ")
    assert fetch(NO_RETRIES, refused, missing).exit_code == 5


@pytest.mark.parametrize("parallel", [[], ["-Z"]])
def test_one_invalid_url_is_refused_before_anything_is_sent(server: FaultServer, parallel: list[str]) -> None:
    """The error gives its number, since there may be many."""
    mine = server.new_id()
    run = fetch("-v", *parallel, server.url("/seq/200", id=mine), "http://[", server.url("/seq/200", id=mine))
    assert (run.exit_code, run.output) == (2, "")
    assert run.errors.count("\n") == 1
    assert server.seen(mine) == []
    assert "URL 2 ('http://['): request.url: has an invalid host" in run.errors


def test_a_header_that_is_not_valid_is_refused_before_anything_is_sent(server: FaultServer) -> None:
    mine = server.new_id()
    run = fetch("-H", "Content-Length: 5", *[server.url("/seq/200", id=mine)] * 2)
    assert (run.exit_code, run.output, server.seen(mine)) == (2, "", [])


def test_json_explains_itself_to_users_of_curl(server: FaultServer) -> None:
    """There, --json takes a value and sends it."""
    mine = server.new_id()
    for text in ('{"a": 1}', "[1]"):
        run = fetch("--json", text, server.url("/seq/200", id=mine))
        assert (run.exit_code, run.output, server.seen(mine)) == (2, "", [])
        assert "--json takes no value: it prints the result as JSON; to send JSON, use --data and" in run.errors


def test_fail_early_begins_with_no_further_url(server: FaultServer) -> None:
    mine = server.new_id()
    urls = [server.url("/seq/404", id=mine), server.url("/seq/200", id=mine)]
    assert fetch("--fail-early", *urls).exit_code == 4
    assert len(server.seen(mine)) == 1


def test_ctrl_c_ends_all_urls(server: FaultServer) -> None:
    for arguments, under_way in (([], 1), (["-Z"], 2)):
        mine = server.new_id()
        with Running(*arguments, *[server.url("/seq/stall", id=mine)] * 2) as running:
            server.seen(mine, requests=under_way)
            running.press_ctrl_c()
            assert running.finish().exit_code == 130
        assert len(server.seen(mine)) == under_way


@pytest.mark.parametrize("option", ["-Z", "--parallel"])
def test_parallel_fetches_at_the_same_time(server: FaultServer, option: str) -> None:
    """Given a server that answers the first only when it has seen all."""
    mine = server.new_id()
    urls = [server.url("/seq/stall:end", body=f"<{i}>", id=f"{mine}-{i}", until_close="1") for i in range(3)]
    with ThreadPoolExecutor() as pool:
        running = pool.submit(fetch, option, *urls)
        for i in range(3):
            server.seen(f"{mine}-{i}", requests=1)
        for i in (2, 0, 1):
            server.hang_up(f"{mine}-{i}")
            server.seen(f"{mine}-{i}", ended=True)
        run = running.result()
    assert (run.exit_code, run.errors) == (0, "")
    assert sorted(run.output.removesuffix(">").split(">")) == ["<0", "<1", "<2"], "each body is whole"


def test_parallel_max_bounds_how_many_there_are_at_once(server: FaultServer) -> None:
    port = server.open("http")
    urls = [f"http://127.0.0.1:{port}{server.target('/seq/200', first=10, body='.')}"] * 9
    run = fetch("-Z", "--parallel-max", "2", *urls)
    assert (run.exit_code, run.output) == (0, "." * 9)
    assert 1 <= len(server.connections(port)) <= 2


def test_parallel_downloads_go_into_their_files(server: FaultServer, tmp_path: Path) -> None:
    urls = [server.url(f"/seq/{210 + i}", size=100_000 + i) for i in range(20)]
    run = fetch_in(tmp_path, "-Z", "-" + "O" * 20, *urls)
    assert (run.exit_code, run.output, run.errors) == (0, "", "")
    for i in range(20):
        assert (tmp_path / str(210 + i)).read_bytes() == pattern(100_000 + i)


def test_the_table_of_parallel_calls_says_which_url(server: FaultServer) -> None:
    urls = [server.url("/seq/503,200", {"503.h": "Retry-After:0"}, id=server.new_id(), body="") for _ in range(2)]
    run = fetch("-v", "-Z", *urls)
    title, *rows = run.errors.splitlines()
    assert title == "URL att.      took  result        then"
    found = sorted((row.split()[0], row.split()[1], row.split()[4]) for row in rows)
    assert found == [("1", "1", "503"), ("1", "2", "200"), ("2", "1", "503"), ("2", "2", "200")]


def test_an_upload_goes_to_each_url_but_stdin_to_one(server: FaultServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("body")
    mine = server.new_id()
    url = server.url("/echo", id=mine)
    assert fetch("-o/dev/null", "-T", str(tmp_path / "file"), url, url).exit_code == 0
    assert [request["body_start"] for request in server.seen(mine)] == ["body"] * 2
    run = fetch_with_stdin(b"body", "-T", "-", url, url)
    assert run.exit_code == 2 and "standard input can be sent to only one URL" in run.errors


def test_all_urls_share_a_token(server: FaultServer) -> None:
    tokens, mine = server.new_id(), server.new_id()
    url = server.url("/seq/200", id=mine)
    assert fetch("-Z", "--token-url", server.url("/token", id=tokens), *[url] * 5).exit_code == 0
    assert (authorizations(server, mine), len(server.seen(tokens))) == (["Bearer token-1"] * 5, 1)

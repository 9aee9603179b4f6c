"""`boxretry fetch`: each option, with a server for which it matters."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
from fault_server import FaultServer, pattern
from fetch_program import AT_ONCE, NO_RETRIES, attempts_of, fetch, fetch_json
from tool_program import TOOL, run_tool

FORM = "application/x-www-form-urlencoded"


def echo(server: FaultServer, *arguments: str) -> dict[str, Any]:
    """The request as the server saw it."""
    mine = server.new_id()
    run = fetch(*arguments, server.url("/echo", id=mine))
    assert (run.exit_code, run.errors) == (0, ""), run
    (request,) = server.seen(mine, requests=1)
    return dict(request)


def headers_of(request: dict[str, Any], name: str) -> list[str]:
    return [value for header, value in request["headers"] if header.lower() == name.lower()]


# --- The request ---


def test_by_default_it_is_a_get_and_the_body_goes_to_stdout(server: FaultServer) -> None:
    run = fetch(server.url("/echo"))
    assert (run.exit_code, run.errors) == (0, "")
    seen = json.loads(run.output)
    assert (seen["method"], seen["body_length"]) == ("GET", 0)
    assert dict(seen["headers"])["User-Agent"].startswith("boxretry/")


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS", "x-made-up"])
@pytest.mark.parametrize("option", ["-X", "--request"])
def test_request_is_the_method(server: FaultServer, method: str, option: str) -> None:
    assert echo(server, option, method)["method"] == method


def test_head_has_no_body_to_wait_for(server: FaultServer) -> None:
    run = fetch("-i", "-X", "HEAD", server.url("/seq/200"))
    assert (run.exit_code, run.output.endswith("Content-Length: 64\r\n\r\n")) == (0, True)


def test_headers_are_sent_in_their_order(server: FaultServer) -> None:
    request = echo(server, "-H", "X-A: 1", "--header", "x-b:2 ", "-H", "X-A: \tthree words", "-H", "X-Empty;")
    assert [(name, value) for name, value in request["headers"] if name.lower().startswith("x-")] == [
        ("X-A", "1"),
        ("x-b", "2"),
        ("X-A", "three words"),
        ("X-Empty", ""),
    ]


def test_a_header_replaces_the_one_of_the_library(server: FaultServer) -> None:
    request = echo(server, "-H", "User-Agent: mine", "-H", "Accept: text/plain")
    assert (headers_of(request, "User-Agent"), headers_of(request, "Accept")) == (["mine"], ["text/plain"])


def test_a_header_without_a_value_is_left_out(server: FaultServer) -> None:
    """As in curl; also an unusual one."""
    request = echo(server, "-d", "x", "-H", "user-agent:", "-H", "Content-Type: ", "-H", "Expect:", "-H", "X-Mine:")
    names = {name.lower() for name, _ in request["headers"]}
    assert names & {"user-agent", "content-type", "expect", "x-mine"} == set()
    assert request["body_length"] == 1


def test_authorization_and_idempotency_key_can_be_left_out(server: FaultServer) -> None:
    options = ["--token", "secret", "--idempotency-key", "auto"]
    assert {"Authorization", "Idempotency-Key"} <= dict(echo(server, *options)["headers"]).keys()
    names = dict(echo(server, *options, "-H", "authorization:", "-H", "Idempotency-Key:")["headers"]).keys()
    assert {"Authorization", "Idempotency-Key"} & names == set()


def test_of_two_lines_the_one_with_a_value_is_sent(server: FaultServer) -> None:
    request = echo(server, "-H", "Accept:", "-H", "Accept: text/plain", "-H", "User-Agent: me", "-H", "User-Agent:")
    assert (headers_of(request, "Accept"), headers_of(request, "User-Agent")) == (["text/plain"], ["me"])


@pytest.mark.parametrize(
    "arguments",
    [
        ["-H", "Host:"],
        ["-H", "Accept:"],
        ["-HContent-Length:"],
        ["-Fa=b", "-HContent-Type:"],
        ["--compressed", "-HAccept-Encoding:"],
    ],
)
def test_what_has_to_be_sent_cannot_be_left_out(server: FaultServer, arguments: list[str]) -> None:
    mine = server.new_id()
    run = fetch(*arguments, server.url("/echo", id=mine))
    assert (run.exit_code, run.output) == (2, "")
    assert re.search(r"--header: '[\w-]+' cannot be removed", run.errors)
    assert server.seen(mine, requests=0) == []


@pytest.mark.parametrize("option", ["-I", "--head"])
def test_head_shows_status_and_headers(server: FaultServer, option: str) -> None:
    mine = server.new_id()
    run = fetch(option, server.url("/seq/200", id=mine))
    assert (run.exit_code, run.errors) == (0, "")
    assert run.output.startswith("HTTP 200\r\n")
    assert run.output.endswith("Content-Length: 64\r\n\r\n")
    assert [request["method"] for request in server.seen(mine)] == ["HEAD"]


@pytest.mark.parametrize("arguments", [["-X", "GET"], ["-d", "x"], ["-F", "a=b"], ["-T", "-"]])
def test_head_goes_with_no_other_method_and_no_body(arguments: list[str]) -> None:
    run = fetch("-I", *arguments, "http://127.0.0.1:1/")
    assert (run.exit_code, run.output) == (2, "")
    assert "--head: cannot be used with --request or a request body" in run.errors


def test_silent_may_show_why_a_call_failed(server: FaultServer) -> None:
    failing = [NO_RETRIES, server.url("/seq/404", body="x")]
    assert fetch("-s", *failing).errors == ""
    assert fetch("-sS", *failing).errors == fetch("-s", "--show-error", *failing).errors == fetch(*failing).errors != ""


@pytest.mark.parametrize("option", ["-A", "--user-agent"])
def test_user_agent(server: FaultServer, option: str) -> None:
    assert headers_of(echo(server, option, "me/1.0"), "User-Agent") == ["me/1.0"]


def test_data_makes_a_post_with_a_form(server: FaultServer) -> None:
    request = echo(server, "-d", "a=1", "--data", "b=%20")
    assert (request["method"], request["body_start"]) == ("POST", "a=1&b=%20")
    assert headers_of(request, "Content-Type") == [FORM]
    assert headers_of(request, "Content-Length") == ["9"]


def test_empty_data_makes_a_post_too(server: FaultServer) -> None:
    request = echo(server, "-d", "")
    assert (request["method"], headers_of(request, "Content-Type"), request["body_length"]) == ("POST", [FORM], 0)


def test_with_data_the_method_and_the_content_type_can_be_others(server: FaultServer) -> None:
    request = echo(server, "-d", "{}", "-X", "PUT", "-H", "content-type: application/json")
    assert (request["method"], headers_of(request, "Content-Type")) == ("PUT", ["application/json"])


def test_data_can_be_what_is_in_a_file_byte_by_byte(server: FaultServer, tmp_path: Path) -> None:
    file = tmp_path / "@ body"
    file.write_bytes(b"\r\n\x00\xff@\n" + pattern(300_000))
    request = echo(server, "-d", f"@{file}")
    assert request["body_length"] == 300_006
    assert request["body_start"].startswith("\r\n\x00\xff@\n00000")


def test_data_can_come_from_stdin(server: FaultServer) -> None:
    """The tests' stdin is empty."""
    assert echo(server, "-d", "x", "-d", "@-")["body_start"] == "x&"


# --- Retries ---


def test_the_documented_counts_are_the_defaults(server: FaultServer) -> None:
    """B1: five attempts with a response, two retries after exceptions."""
    mine = server.new_id()
    answer = fetch_json(AT_ONCE, server.url("/seq/503", id=mine), exit_code=4)
    assert attempts_of(answer) == [503] * 5
    assert [request["answer"] for request in server.seen(mine)] == ["503"] * 5
    answer = fetch_json(AT_ONCE, server.url("/seq/reset"), exit_code=5)
    assert attempts_of(answer) == ["receive"] * 3


def test_max_attempts(server: FaultServer) -> None:
    """B3."""
    answer = fetch_json(AT_ONCE, "--max-attempts=2", server.url("/seq/503"), exit_code=4)
    assert attempts_of(answer) == [503, 503]
    assert [attempt["reason"] for attempt in answer["attempts"]] == ["server_error", "attempts_exhausted"]


def test_max_retries_on_exception(server: FaultServer) -> None:
    """B3, B4."""
    answer = fetch_json(AT_ONCE, "--max-retries-on-exception=1", server.url("/seq/reset"), exit_code=5)
    assert attempts_of(answer) == ["receive", "receive"]
    assert [attempt["exception_number"] for attempt in answer["attempts"]] == [1, 2]


def test_base_interval_and_factor_make_the_delay(server: FaultServer) -> None:
    """B6."""
    url = server.url("/seq/503,503,200", id=server.new_id())
    answer = fetch_json("--retry-base-interval=0.001", "--retry-randomization-factor=0", url)
    assert [attempt["delay"] for attempt in answer["attempts"]] == [0.002, 0.004, 0]
    assert [attempt["delay_source"] for attempt in answer["attempts"]] == ["backoff", "backoff", "none"]


def test_backoff_cap(server: FaultServer) -> None:
    """B11."""
    answer = fetch_json("--backoff-cap=0.001", server.url("/seq/503,200", id=server.new_id()))
    assert [attempt["delay"] for attempt in answer["attempts"]] == [0.001, 0]


def test_a_retry_after_is_the_delay(server: FaultServer) -> None:
    """B7."""
    url = server.url("/seq/202,429,200", {"202.h": "Retry-After:0.001", "429.h": "Retry-After:0"}, id=server.new_id())
    answer = fetch_json(url)
    assert [(a["status"], a["delay"], a["delay_source"], a["reason"]) for a in answer["attempts"]] == [
        (202, 0.001, "retry_after", "accepted"),
        (429, 0, "retry_after", "rate_limited"),
        (200, 0, "none", "success"),
    ]


def test_retry_after_cap_shortens_the_wait_or_ends_the_call(server: FaultServer) -> None:
    """B11."""
    url = server.url("/seq/503,200", h="Retry-After:3600", id=server.new_id())
    assert [attempt["delay"] for attempt in fetch_json("--retry-after-cap=0.001", url)["attempts"]] == [0.001, 0]
    url = server.url("/seq/503,200", h="Retry-After:3600", id=server.new_id())
    (attempt,) = fetch_json("--retry-after-cap=5", "--retry-after-over-cap=stop", url, exit_code=4)["attempts"]
    assert (attempt["status"], attempt["reason"]) == (503, "retry_after_over_cap")


def test_unsafe_methods_are_retried_unless_they_are_not_to_be(server: FaultServer) -> None:
    """B12."""
    url = server.url("/seq/500,200", id=server.new_id())
    assert attempts_of(fetch_json(AT_ONCE, "-d", "x", url)) == [500, 200]
    url = server.url("/seq/500,200", id=server.new_id())
    (attempt,) = fetch_json(AT_ONCE, "-d", "x", "--no-retry-unsafe-methods", url, exit_code=4)["attempts"]
    assert attempt["reason"] == "unsafe_request"


@pytest.mark.parametrize(("item", "result", "exit_code"), [("503", 503, 4), ("reset", "receive", 5)])
def test_preset_january_has_no_retries_but_those_that_are_asked_for(
    server: FaultServer, item: str, result: int | str, exit_code: int
) -> None:
    url = server.url(f"/seq/{item}")
    assert attempts_of(fetch_json("--preset", "january", url, exit_code=exit_code)) == [result]
    more = ["--max-attempts=2", "--max-retries-on-exception=1", AT_ONCE]
    for arguments in ([*more, "--preset=january"], ["--preset=january", *more], ["--preset=box", *more]):
        assert attempts_of(fetch_json(*arguments, url, exit_code=exit_code)) == [result] * 2


# --- Times and sizes ---


def test_timeout_interval_for_request(server: FaultServer) -> None:
    """M1: nothing moves."""
    url = server.url("/seq/stall:body")
    answer = fetch_json("--timeout-interval-for-request-ms=30", NO_RETRIES, url, exit_code=6)
    assert (answer["error"], attempts_of(answer)) == ("timeout_idle", ["timeout_idle"])


def test_timeout_interval_for_resource(server: FaultServer) -> None:
    """M2: something moves, and there is no end to it."""
    url = server.url("/seq/200", size="endless", every=5)
    answer = fetch_json("--timeout-interval-for-resource-ms=60", NO_RETRIES, url, exit_code=6)
    assert (answer["error"], attempts_of(answer)) == ("timeout_resource", ["timeout_resource"])


@pytest.mark.parametrize("which", ["request", "resource"])
def test_a_timeout_can_be_none(server: FaultServer, which: str) -> None:
    """M3: and each is for one attempt, the other stays as it is."""
    option = f"--timeout-interval-for-{which}-ms"
    url = server.url("/seq/200", first=100)
    fetch_json(f"{option}=20", NO_RETRIES, url, exit_code=6)
    assert fetch_json(f"{option}=20", f"{option}=none", NO_RETRIES, url)["status"] == 200


def test_a_deadline_ends_an_attempt(server: FaultServer) -> None:
    """B11: which is not an exception, and not retried."""
    answer = fetch_json("--deadline-ms=40", AT_ONCE, server.url("/seq/stall"), exit_code=7)
    assert (answer["status"], answer["error"]) == (0, "deadline")


def test_a_wait_that_would_reach_the_deadline_is_not_begun(server: FaultServer) -> None:
    """B11."""
    url = server.url("/seq/503", h="Retry-After:3600")
    answer = fetch_json("--deadline-ms", "3600000", url, exit_code=4)
    assert (answer["status"], answer["error"], answer["attempts"][0]["reason"]) == (503, None, "deadline")


def test_body_limit(server: FaultServer) -> None:
    url = server.url("/seq/200", size=1001)
    assert fetch_json("--body-limit=1001", url)["body_bytes"] == 1001
    answer = fetch_json("--body-limit=1000", url, exit_code=9)
    assert (answer["error"], answer["body_bytes"]) == ("response_too_large", 0)
    assert answer["attempts"][0]["reason"] is None, "nobody was asked"
    assert fetch_json("--body-limit=none", url)["body_bytes"] == 1001


# --- The way to the server ---


def test_a_certificate_is_checked(server: FaultServer) -> None:
    """Given an authority that the system does not know, nothing is sent unless --cacert names it."""
    mine = server.new_id()
    url = server.url("/seq/200", kind="https", id=mine)
    answer = fetch_json(NO_RETRIES, url, exit_code=5)
    assert (answer["error"], server.seen(mine)) == ("tls", [])
    assert fetch_json("--cacert", server.ca, url)["status"] == 200
    assert len(server.seen(mine)) == 1


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("https_expired", "certificate has expired"),
        ("https_not_yet_valid", "certificate is not yet valid"),
        ("https_wrong_name", "hostname mismatch"),
        ("https_self_signed", "self-signed certificate"),
    ],
)
def test_a_bad_certificate_is_refused_even_of_a_known_authority(server: FaultServer, kind: str, reason: str) -> None:
    """F141: the error says what is wrong with it."""
    mine = server.new_id()
    url = server.url("/seq/200", kind=kind, id=mine)
    answer = fetch_json("--cacert", server.ca, NO_RETRIES, url, exit_code=5)
    assert (attempts_of(answer), server.seen(mine)) == (["tls"], [])
    run = fetch("--cacert", server.ca, NO_RETRIES, url)
    assert run.errors.startswith(
        f"boxretry fetch: tls: the TLS handshake or the certificate check failed: {reason} ("
    ), run.errors


def test_a_ca_file_that_cannot_be_used_is_a_failure_on_this_machine(server: FaultServer, tmp_path: Path) -> None:
    mine = server.new_id()
    url = server.url("/seq/200", kind="https", id=mine)
    for file in (tmp_path / "none.pem", Path(__file__)):
        assert fetch_json("--cacert", str(file), AT_ONCE, url, exit_code=9)["error"] == "setting"
    assert server.seen(mine) == []


@pytest.mark.parametrize("option", ["-x", "--proxy"])
def test_a_proxy_gets_the_whole_url(server: FaultServer, option: str) -> None:
    """The fault server is the proxy; the host has no address."""
    mine = server.new_id()
    url = f"http://host.invalid/seq/200?id={mine}"
    assert fetch_json(option, server.url(""), url)["status"] == 200
    assert [request["path"] for request in server.seen(mine)] == [url]


def test_noproxy_overrides_proxy_and_environment(server: FaultServer) -> None:
    """Given proxies that refuse connections, the server itself is asked."""
    refused = server.url("", kind="refused")
    url = server.url("/seq/200")
    assert fetch_json(NO_RETRIES, url, http_proxy=refused, exit_code=5)["error"] == "connect"
    assert fetch_json("--noproxy", "*", NO_RETRIES, url, http_proxy=refused)["status"] == 200
    assert fetch_json("--noproxy", "*", "-x", refused, NO_RETRIES, url)["status"] == 200


# --- What is printed ---


def test_include_prints_status_and_header_lines_before_the_body(server: FaultServer) -> None:
    for option in ("-i", "--include"):
        run = fetch(option, server.url("/seq/203", {"h": ["X-One: 1", "x-one:2", "-Date"], "body": "the body"}))
        assert (run.exit_code, run.errors) == (0, "")
        head, _, body = run.output.partition("\r\n\r\n")
        assert head.split("\r\n") == [
            "HTTP 203",
            "Content-Type: text/plain",
            "Content-Length: 8",
            "X-One: 1",
            "x-one: 2",
        ]
        assert body == "the body"


def test_the_body_of_an_error_is_printed_unless_fail_is_given(server: FaultServer) -> None:
    url = server.url("/seq/404", body="not here")
    run = fetch(url)
    assert (run.exit_code, run.output) == (4, "not here")
    assert run.errors == "boxretry fetch: the server returned status 404 Not Found (this status is not retried)\n"
    for option in ("-f", "--fail"):
        assert fetch(option, url).output == ""
        assert fetch(option, server.url("/seq/200", body="here")).output == "here"


def test_silent_prints_only_what_is_wrong_with_the_options(server: FaultServer) -> None:
    for option in ("-s", "--silent"):
        run = fetch(option, "-v", "-f", server.url("/seq/404"))
        assert (run.exit_code, run.output, run.errors) == (4, "", "")
        assert fetch(option, "http://").errors.count("\n") == 1


def test_verbose_prints_the_table_of_attempts_without_a_terminal_too(server: FaultServer) -> None:
    for option in ("-v", "--verbose"):
        url = server.url("/seq/503,200", {"503.h": "Retry-After:0"}, id=server.new_id())
        run = fetch(option, url)
        lines = [line.split() for line in run.errors.splitlines()]
        assert lines[0] == ["attempt", "took", "result", "then"]
        assert [line[0] for line in lines[1:]] == ["1", "2"]
        assert lines[1][3:] == ["503", "server_error,", "retry", "in", "0", "s", "(retry_after)"]
        assert lines[2][3:] == ["200", "success"]
        assert "\x1b" not in run.errors


def test_table_and_body_in_one_place_do_not_mix(server: FaultServer) -> None:
    """Given a pipe for both, the body comes before the line of its attempt."""
    url = server.url("/seq/503,200", {"503.h": "Retry-After:0", "200.body": "the body"}, id=server.new_id())
    run = subprocess.run([TOOL, "fetch", "-v", url], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True)
    _, first, body, last = run.stdout.decode().splitlines()
    assert (first.split()[0], body, last.split()[0]) == ("1", "the body", "2")


def test_a_body_is_printed_byte_by_byte(server: FaultServer) -> None:
    run = fetch(server.url("/seq/200", body="\x00\r\n\xff%s"))
    assert run.output == "\x00\r\n\\xff%s"


def test_without_a_terminal_only_errors_go_to_stderr(server: FaultServer) -> None:
    assert fetch(AT_ONCE, server.url("/seq/503,reset,200", id=server.new_id())).errors == ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no URL"),
        (["--noproxy", "localhost", "http://a"], "--noproxy: 'localhost' is not supported"),
        (["--preset", "feb", "http://a"], "--preset: 'feb' is not one of: box, january"),
        (["--deadline-ms", "0", "http://a"], "--deadline-ms: '0' is not a positive whole number or 'none'"),
        (["--deadline-ms", "-1", "http://a"], "'-1' is not a positive whole number"),
        (["--deadline-ms", "1.5", "http://a"], "'1.5' is not a positive whole number"),
        (["--deadline-ms", "9223372036854775808", "http://a"], "is out of range"),
        (["--timeout-interval-for-request-ms", "0", "http://a"], "'0' is not a positive whole number"),
        (["--body-limit", "", "http://a"], "'' is not a positive whole number"),
        (["--max-attempts", "1000001", "http://a"], "max_attempts: must be from 0 to 1000000 (got 1000001)"),
        (["--retry-base-interval=-1", "http://a"], "retry_base_interval: must be 0 or more, and finite"),
        (["-d", "@/no/such/file", "http://a"], "'@/no/such/file' cannot be read: No such file or directory"),
        (["-d", "@/", "http://a"], "--data: '@/' cannot be read: Is a directory"),
        (["-x", "", "http://a"], "proxy: is empty"),
    ],
)
def test_a_wrong_command_line_is_refused_in_one_line(arguments: list[str], message: str) -> None:
    run = run_tool("fetch", "--json", *arguments)
    assert (run.exit_code, run.output) == (2, "")
    assert message in run.errors and run.errors.count("\n") == 1
    assert run.errors.endswith("(try 'boxretry fetch --help')\n")

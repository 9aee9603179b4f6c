"""`boxretry fetch`: arguments that mean harm are refused, and nothing is sent."""

from __future__ import annotations

import re

import pytest
from fault_server import FaultServer
from fetch_program import fetch, fetch_json


def nothing_is_sent(server: FaultServer, arguments: list[bytes]) -> str:
    """Runs the tool with a separate port in place of PORT; answers what it says."""
    port = server.open("http")
    run = fetch("--json", *(argument.replace(b"PORT", str(port).encode()) for argument in arguments))
    assert (run.exit_code, run.output) == (2, ""), run
    assert server.connections(port) == []
    assert re.fullmatch(r"[ -~]{20,300}\n", run.errors), "one short line of printable ASCII"
    return run.errors


@pytest.mark.parametrize(
    "url",
    [
        b"",
        b" ",
        b"127.0.0.1:PORT/seq/200",
        b"/seq/200",
        b"http:",
        b"http://",
        b"http://:PORT/seq/200",
        b"http://127.0.0.1:PORT0000/",
        b"http://127.0.0.1:-PORT/",
        b"http://127.0.0.1:PORT/seq/200 HTTP/1.1\r\nX-Smuggled: 1\r\n\r\nGET /seq/200",
        b"http://127.0.0.1:PORT/seq/200\r\nX-Smuggled: 1",
        b"http://127.0.0.1:PORT/seq/200\n",
        b"http://127.0.0.1:PORT/seq/200\r",
        b"http://127.0.0.1:PORT/seq/a b",
        b" http://127.0.0.1:PORT/seq/200",
        b"http://127.0.0.1:PORT/seq/200\x7f",
        b"http://127.0.0.1:PORT/seq/\x1b[2J",
        b"http://127.0.0.1:PORT/seq/200\t",
        b"http://127.0.0.1:PORT/seq/200?" + b"x" * 66_000,
        b"http://127.0.0.1\n:PORT/seq/200",
        b"ftp://127.0.0.1:PORT/seq/200",
        b"file:///etc/passwd",
        b"gopher://127.0.0.1:PORT/_GET",
        b"javascript:alert(1)",
        b"%n%s%n",
    ],
)
def test_an_invalid_url_is_refused(server: FaultServer, url: bytes) -> None:
    assert "request.url: " in nothing_is_sent(server, [b"--", url])


@pytest.mark.parametrize(
    ("url", "message"),
    [
        (b"", "is empty"),
        (b"127.0.0.1:PORT/seq/200", "has no scheme: it must begin with http:// or https://"),
        (b"localhost/seq/200", "has no scheme: it must begin with http:// or https://"),
        (b"ftp://127.0.0.1:PORT/seq/200", "has a scheme other than http and https"),
        (b"http://", "has no host"),
        (b"http://127.0.0.1:PORT0000/", "has an invalid port"),
        (b"http://[::1/", "has an invalid host"),
        (b"http://127.0.0.1:PORT/seq/a b", "has white space or a control character"),
        (b"http://127.0.0.1:PORT/seq/200?" + b"x" * 66_000, "is longer than 65536 bytes"),
    ],
)
def test_the_error_says_why_a_url_is_refused(server: FaultServer, url: bytes, message: str) -> None:
    assert f"request.url: {message}" in nothing_is_sent(server, [b"--", url])


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"X-A: 1\r\nX-Smuggled: 1", "request.headers[1]: has a value with a control character (X-A)"),
        (b"X-A: 1\nX-Smuggled: 1", "request.headers[1]: has a value with a control character (X-A)"),
        (b"X-A: 1\r\n", "request.headers[1]: has a value with a control character (X-A)"),
        (b"X-A: 1\n", "request.headers[1]: has a value with a control character (X-A)"),
        (b"X-A: 1\r", "request.headers[1]: has a value with a control character (X-A)"),
        (b"X-A: \n1", "request.headers[1]: has a value with a control character (X-A)"),
        (b"X-A: \x01", "request.headers[1]: has a value with a control character (X-A)"),
        (b"X-A: \x7f", "request.headers[1]: has a value with a control character (X-A)"),
        (b"X-A\r\n: 1", "request.headers[1]: has an invalid name"),
        (b"\nX-A: 1", "request.headers[1]: has an invalid name"),
        (b"X A: 1", "request.headers[1]: has an invalid name"),
        (b"X-\xc3\xa9: 1", "request.headers[1]: has an invalid name"),
        (b"X" * 257 + b": 1", "request.headers[1]: has an invalid name"),
        (b"", "--header: '' has no colon"),
        (b"X-A", "--header: 'X-A' has no colon"),
        (b"X-A;1", "--header: 'X-A;1' has no colon"),
        (b": 1", "--header: ': 1' has no name"),
        (b" : 1", "--header: ' : 1' has no name"),
        (b"Content-Length: 5", "request.headers[1]: is set by the library itself (Content-Length)"),
        (b"transfer-encoding: chunked", "is set by the library itself (transfer-encoding)"),
        (b"Expect: 100-continue", "is set by the library itself (Expect)"),
    ],
)
def test_an_invalid_header_is_refused(server: FaultServer, line: bytes, message: str) -> None:
    """As a second one: all are checked, and the message says which one it was."""
    url = b"http://127.0.0.1:PORT/seq/200"
    assert message in nothing_is_sent(server, [b"-H", b"X-B: 1", b"-H", line, url])
    assert message in nothing_is_sent(server, [b"-H", b"X-B: 1", b"-H", line, b"-H", b"X-C: 1", url])


def test_too_many_headers_are_refused(server: FaultServer) -> None:
    message = nothing_is_sent(server, [*[b"-Ha;"] * 65_537, b"http://127.0.0.1:PORT/seq/200"])
    assert "header_count: must be at most 65536" in message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([b"-X", b""], "request.method: is not an HTTP method"),
        ([b"-X", b"GET /\r\n"], "request.method: is not an HTTP method"),
        ([b"-X", b"A B"], "request.method: is not an HTTP method"),
        ([b"-X", b"M" * 33], "request.method: is not an HTTP method"),
        ([b"-A", b"x\r\nX-Smuggled: 1"], "user_agent: has a control character"),
        ([b"-x", b"http://127.0.0.1:PORT\n"], "proxy: has white space or a control character"),
        ([b"--cacert"], "'--cacert' needs a value"),
        ([b"-H"], "'-H' needs a value"),
        ([b"--proxy-user=x"], "unknown option '--proxy-user'"),
        ([b"-n"], "unknown option '-n'"),
        ([b"--insecur\xe9"], "unknown option '--insecur?'; did you mean '--insecure'?"),
        ([b"-w", b"%{\x1b[2J}"], "--write-out: unknown variable '?[2J'"),
        ([b"-w", b"@/no/such/file"], "--write-out: '@/no/such/file' cannot be read: No such file or directory"),
        ([b"--url-query", b"a\nb@/no/such/file"], "--url-query: 'a?b@/no/such/file' cannot be read: No such file"),
        ([b"--url-query", b"+a b"], "request.url: has white space or a control character"),
        ([b"-G", b"-d", b"a\nb"], "request.url: has white space or a control character"),
        ([b"-G", b"-T", b"/dev/null"], "--get: cannot be used with --form or --upload-file"),
        ([b"-u", b"a\r\nX: 1:b", b"--token", b"x"], "--user: cannot be used with a token"),
        ([b"-m", b"-1"], "--max-time: '-1' is not a number of seconds (0 or more)"),
        ([b"-m", b"1s"], "--max-time: '1s' is not a number of seconds (0 or more)"),
        ([b"-m", b"nan"], "--max-time: 'nan' is not a number of seconds (0 or more)"),
        ([b"-m", b"1e300"], "--max-time: '1e300' is out of range"),
        ([b"--retry", b"-1"], "--retry: '-1' is not between 0 and 999999"),
        ([b"--retry", b"1000000"], "--retry: '1000000' is not between 0 and 999999"),
        ([b"--parallel-max", b"0"], "--parallel-max: '0' is not between 1 and 100000"),
        ([b"-OO"], "more --output and --remote-name options than URLs"),
        ([b"-d", b"@" + b"x" * 5_000], "File name too long"),
        ([b"-d", b"@\x1b[2J\xff"], "cannot be read: No such file or directory"),
        ([b"--noproxy", b"\x1b[2J\xff"], "is not supported"),
    ],
)
def test_other_arguments_that_mean_harm_are_refused(server: FaultServer, arguments: list[bytes], message: str) -> None:
    before_the_last = [b"http://127.0.0.1:PORT/seq/200", *arguments]
    assert message in nothing_is_sent(server, before_the_last)


def test_strange_but_right_arguments_are_sent_as_they_are(server: FaultServer) -> None:
    """Bytes above ASCII, formats, and as much as a command line holds."""
    mine = server.new_id()
    large = "x" * 100_000
    headers = ["-HX-A: %n%s\t\xe9", f"-HX-Large: {large}", "-H" + "n" * 256 + ";"]
    data = ["-d", large, "-d", "%n"]
    arguments = [argument.encode("latin-1") for argument in (*headers, *data)]
    answer = fetch_json(*arguments, server.url("/seq/200", {"h": "X:" + "y" * 50_000}, id=mine))
    assert answer["status"] == 200
    (request,) = server.seen(mine)
    seen = dict(request["headers"])
    assert (seen["X-A"], seen["X-Large"], seen["n" * 256]) == ("%n%s\t\xe9", large, "")
    assert request["body_length"] == 100_003


@pytest.mark.parametrize("text", ["HTTP/1.1 200 OK\r\n\x00\x01:\r\n\r\n", "HTTP/9.9 \x1b[2J\r\n\r\n", "\x1b[2J" * 100])
def test_what_a_server_sends_harms_no_terminal(server: FaultServer, text: str) -> None:
    """It never shows on stderr, and the call ends."""
    run = fetch("-v", "--preset=january", "--json", server.url("/seq/200", raw=text, close="end"))
    assert run.exit_code in (0, 5)
    assert re.fullmatch(r"[ -~\n]+", run.errors + run.output)

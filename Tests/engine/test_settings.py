"""Every setting of a client and of a request, with a server that makes it matter."""

from __future__ import annotations

import contextlib
import socket

import boxretry
import pytest
from boxretry import (
    BoxRetryError,
    CancelledError,
    Client,
    HTTPStatusError,
    InvalidArgumentError,
    OAuth2Token,
    Preset,
    Reason,
    ResponseTooLargeError,
    RetrySafety,
    SettingError,
    WaitTimeoutError,
)
from calls import Background, in_both_ways, once, quick
from fault_server import FaultServer
from raw_server import RawServer


def sent_headers(server: FaultServer, client: Client) -> dict[str, str]:
    return dict(client.get(server.url("/echo", id=server.new_id())).json()["headers"])


def test_user_agent(server: FaultServer) -> None:
    with Client() as client:
        assert sent_headers(server, client)["User-Agent"] == f"boxretry/{boxretry.version()}"
    with Client(user_agent="example/1 (tests)") as client:
        assert sent_headers(server, client)["User-Agent"] == "example/1 (tests)"
    with pytest.raises(InvalidArgumentError, match="user_agent"):
        Client(user_agent="two\r\nlines: yes")


def test_a_request_s_own_user_agent_wins(server: FaultServer, client: Client) -> None:
    url = server.url("/echo", id=server.new_id())
    headers = client.get(url, headers={"User-Agent": "mine"}).json()["headers"]
    assert [value for name, value in headers if name == "User-Agent"] == ["mine"]


def test_max_transfers(server: FaultServer) -> None:
    """Given 1, then the second call waits for its turn, and comes to it when the first has ended."""
    first, second = server.new_id(), server.new_id()
    with Client(once(), max_transfers=1) as client:
        stalled = client.submit("GET", server.url("/seq/stall", id=first))
        server.seen(first, requests=1)
        waiting = client.submit("GET", server.url("/seq/200", id=second))
        with pytest.raises(WaitTimeoutError):
            waiting.wait(0.1)
        assert server.seen(second) == []
        stalled.cancel()
        assert waiting.response().status == 200
        with pytest.raises(CancelledError):
            stalled.response()


def test_max_total_attempts(server: FaultServer) -> None:
    """B14. It holds for Box's strategy too."""
    id = server.new_id()
    with Client(quick(max_attempts=10), max_total_attempts=3) as client:
        response = client.get(server.url("/seq/503", id=id))
    assert (len(response.attempts), len(server.seen(id))) == (3, 3)
    assert response.attempts[-1].reason is Reason.ATTEMPT_CEILING


@pytest.mark.parametrize("framing", [{}, {"chunked": ""}, {"until_close": ""}])
def test_body_limit(server: FaultServer, framing: dict[str, str]) -> None:
    """Of the client, and of the request; a body of just that size is whole. It is a local failure: not retried."""
    id = server.new_id()
    url = server.url("/seq/200", {"size": 1000, **framing}, id=id)
    with Client(quick(), body_limit=999) as client:
        for error in in_both_ways(client, "GET", url):
            assert type(error) is ResponseTooLargeError
            assert len(error.attempts) == 1
        assert len(server.seen(id)) == 2
        assert len(client.get(url, body_limit=1000).content) == 1000
    with Client(quick(), body_limit=1000) as client:
        assert len(client.get(url).content) == 1000
        with pytest.raises(ResponseTooLargeError):
            client.get(url, body_limit=999)


@pytest.mark.parametrize("framing", [{}, {"chunked": ""}, {"until_close": ""}])
def test_error_body_limit(server: FaultServer, framing: dict[str, str]) -> None:
    """B15. The rest is cut off, and a flag says so."""
    url = server.url("/seq/404", {"size": 1000, **framing}, id=server.new_id())
    for limit, length in ((10, 10), (999, 999), (1000, 1000), (None, 1000)):
        with Client(error_body_limit=limit) as client:
            response = client.get(url)
            assert (response.status, len(response.content)) == (404, length)
            assert response.content_is_cut_off is (length < 1000)


def test_error_bodies_that_never_end(server: FaultServer) -> None:
    """B15. Given one, then the call does not last forever, whether it is retried or not."""
    with Client(quick(), error_body_limit=100_000) as client:
        for item in ("404", "503,200"):
            url = server.url(f"/seq/{item}", {"1.size": "endless", "1.chunked": ""}, id=server.new_id())
            for response in in_both_ways(client, "GET", url, deadline=20)[:1]:
                assert response.status in (404, 200)
                assert response.content_is_cut_off is (response.status == 404)


def test_max_response_headers(server: FaultServer) -> None:
    url = server.url("/seq/200", id=server.new_id(), headers=1000, header_line=100)
    with Client(once(), max_response_headers=5) as client, pytest.raises(ResponseTooLargeError):
        client.get(url)
    with Client(once(), max_response_headers=50) as client:
        assert len(client.get(url).headers.pairs) >= 10


def test_max_response_header_bytes(server: FaultServer) -> None:
    url = server.url("/seq/200", id=server.new_id(), headers=10_000)
    with Client(once(), max_response_header_bytes=9_000) as client, pytest.raises(ResponseTooLargeError):
        client.get(url)
    with Client(once(), max_response_header_bytes=20_000) as client:
        assert client.get(url).status == 200


class LeftBehind(RawServer):
    """A server whose client need not wait for the end of its answer."""

    def take(self, connection: socket.socket) -> None:
        with contextlib.suppress(OSError):
            super().take(connection)


CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"


@pytest.mark.parametrize(
    ("answer", "limit"),
    [
        (b"HTTP/1.1 100 Continue\r\n\r\n" * 20_000, "max_response_header_bytes: "),
        ((b"HTTP/1.1 103 Early Hints\r\nLink: </" + b"x" * 100 + b">\r\n\r\n") * 5_000, "max_response_header_bytes: "),
        (CHUNKED + b"A: b\r\n" * 2_000, "max_response_headers: "),
        (CHUNKED + b"A: " + b"b" * 100_000, "more or longer than libcurl takes"),
    ],
    ids=["100", "103", "trailers", "a trailer"],
)
def test_heads_and_trailers_without_end_are_too_large(answer: bytes, limit: str) -> None:
    """B2: it is a local failure, not an exception, so it is not retried."""
    with LeftBehind(answer) as server, Client(quick()) as client:
        with pytest.raises(ResponseTooLargeError, match=limit) as raised:
            client.get(server.url)
        assert (len(raised.value.attempts), len(server.heads)) == (1, 1)


def test_strategy(server: FaultServer) -> None:
    """Of the client, and of the request. It may be closed as soon as it was handed over."""
    id, strategy = server.new_id(), quick(max_attempts=2)
    url = server.url("/seq/503", id=id)
    with Client(strategy) as client:
        strategy.close()
        assert len(client.get(url).attempts) == 2
        of_the_request = quick(max_attempts=3)
        call = client.submit("GET", url, strategy=of_the_request)
        of_the_request.close()
        assert len(call.response().attempts) == 3
        assert len(client.get(url).attempts) == 2


def test_the_default_strategy_is_box_s(server: FaultServer) -> None:
    """B1. Five attempts, with waits of 2, 4, 8 and 16 s at the middle: the first is looked at."""
    with Client(deadline=3.5) as client:
        response = client.get(server.url("/seq/503", id=server.new_id()))
    assert all(1 <= attempt.delay <= 3 for attempt in response.attempts[:-1])
    assert response.attempts[-1].reason is Reason.DEADLINE


def test_retry_safety(server: FaultServer) -> None:
    """B12."""
    with Client(quick(retry_unsafe_methods=False)) as client:
        for method, safety, attempts in (
            ("POST", RetrySafety.SAFE, 2),
            ("POST", RetrySafety.BY_METHOD, 1),
            ("PUT", RetrySafety.UNSAFE, 1),
            ("PUT", RetrySafety.BY_METHOD, 2),
        ):
            url = server.url("/seq/500,200", id=server.new_id())
            assert len(client.request(method, url, retry_safety=safety).attempts) == attempts


@pytest.mark.parametrize(
    "arguments",
    [
        {"url": "ftp://127.0.0.1/"},
        {"url": "file:///etc/passwd"},
        {"url": ""},
        {"url": "127.0.0.1"},
        {"url": "http://"},
        {"url": "http://a b/"},
        {"url": "http://127.0.0.1/\r\nX: y"},
        {"url": "http://127.0.0.1/\0"},
        {"url": "http://127.0.0.1:99999/"},
        {"method": "GET X"},
        {"method": ""},
        {"method": "G\r\nET"},
        {"headers": {"X": "a\r\nY: b"}},
        {"headers": {"X\r\n": "a"}},
        {"headers": {"X:": "a"}},
        {"headers": {"": "a"}},
        {"headers": {"X": "a\0b"}},
        {"headers": {"Content-Length": "5"}},
        {"headers": {"Transfer-Encoding": "chunked"}},
        {"headers": {"Expect": "100-continue"}},
        {"deadline": 0},
        {"deadline": -1},
        {"deadline": float("nan")},
        {"body_limit": 0},
        {"body_limit": -1},
        {"retry_safety": 7},
    ],
)
def test_what_cannot_be_sent_is_refused(server: FaultServer, client: Client, arguments: dict[str, object]) -> None:
    """Nothing is sent, and no call is begun."""
    sound: dict[str, object] = {"method": "GET", "url": server.url("/seq/200", id=server.new_id())}
    for make in (client.request, client.submit):
        with pytest.raises(InvalidArgumentError):
            make(**{**sound, **arguments})  # type: ignore[arg-type]
    assert client.stats().calls_started == 0


@pytest.mark.parametrize(
    "setting",
    [
        {"max_transfers": 0},
        {"max_transfers": 100_001},
        {"max_total_attempts": -1},
        {"max_total_attempts": 1_000_001},
        {"max_response_headers": 65_537},
        {"max_response_header_bytes": 0},
        {"body_limit": 2**63},
        {"error_body_limit": -1},
        {"deadline": 0},
        {"deadline": -0.5},
    ],
)
def test_settings_out_of_range_are_refused(setting: dict[str, object]) -> None:
    with pytest.raises(InvalidArgumentError, match=next(iter(setting))):
        Client(**setting)  # type: ignore[arg-type]


def test_headers_go_as_they_are(server: FaultServer, client: Client) -> None:
    """In their order, repeated ones too; an empty one; the library adds Host, User-Agent and Accept."""
    pairs = [("X-B", "1"), ("X-A", "é"), ("X-B", "2"), ("X-Empty", "")]
    sent = client.post(server.url("/echo", id=server.new_id()), headers=pairs, data=b"x").json()["headers"]
    mine = [(name, value) for name, value in sent if name.startswith("X-")]
    assert mine == [("X-B", "1"), ("X-A", "é".encode().decode("latin-1")), ("X-B", "2"), ("X-Empty", "")]
    assert {name for name, _ in sent} - {"X-A", "X-B", "X-Empty"} == {"Host", "User-Agent", "Accept", "Content-Length"}


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "REPORT"])
@pytest.mark.parametrize("body", [None, b"", b"\0\xff\r\n", bytes(1_000_000)], ids=["none", "empty", "odd", "long"])
def test_bodies_go_as_they_are(server: FaultServer, client: Client, method: str, body: bytes | None) -> None:
    id = server.new_id()
    assert client.request(method, server.url("/seq/200", id=id), data=body).status == 200
    (seen,) = server.seen(id)
    assert (seen["method"], seen["body_length"], seen["body_complete"]) == (method, len(body or b""), True)
    assert seen["body_start"].encode("latin-1") == (body or b"")[:4096]


def test_a_client_used_from_both_ways_at_once(server: FaultServer, client: Client) -> None:
    """Given a thread that drives the loop for its own call, then the calls of others continue during and after it."""
    slow = Background(lambda: client.get(server.url("/seq/200", id=server.new_id(), first=100)))
    slower = client.submit("GET", server.url("/seq/200", id=server.new_id(), first=200))
    slowest = Background(lambda: client.get(server.url("/seq/200", id=server.new_id(), first=300)))
    assert client.get(server.url("/seq/200", id=server.new_id())).status == 200
    assert [slow.result().status, slower.response().status, slowest.result().status] == [200] * 3


def test_errors_say_what_happened(server: FaultServer, client: Client) -> None:
    with pytest.raises(BoxRetryError) as raised:
        client.get(f"http://me:secret@127.0.0.1:{server.ports['refused']}/path?token=secret")
    assert str(raised.value) == (
        f"could not connect: Connection refused (GET http://127.0.0.1:{server.ports['refused']}/path; "
        f"after 3 attempts; libcurl: {raised.value.attempts[-1].curl_text})"
    )
    assert raised.value.attempts[-1].curl_text


@pytest.mark.parametrize("slashes", ["/", "//", "///"])
def test_t1_who_the_url_is_for_is_shown_nowhere(server: FaultServer, client: Client, slashes: str) -> None:
    """However many slashes libcurl takes."""
    id = server.new_id()
    response = client.get(f"http:{slashes}me:secret@{server.url('/seq/404', id=id).removeprefix('http://')}")
    assert len(server.seen(id)) == 1
    with pytest.raises(HTTPStatusError) as raised:
        response.raise_for_status()
    assert "secret" not in response.url + str(raised.value)


def test_the_error_of_an_unusable_setting_has_libcurls_text(server: FaultServer) -> None:
    with Client(quick(), ca_file="/no/such/file") as client, pytest.raises(SettingError) as raised:
        client.get(server.url("/seq/200", kind="https"))
    assert str(raised.value).startswith(
        f"{SettingError.error.text}: Problem with the SSL CA cert (path? access rights?) (GET https://127.0.0.1:"
    )


@pytest.mark.parametrize(
    ("proxy", "why"),
    [
        ("nonsense::", "is not a proxy URL"),
        ("ftp://127.0.0.1:1", "has a scheme other than http, https, socks4, socks4a, socks5 and socks5h"),
        ("http://", "has no host"),
        ("127.0.0.1 :1", "has white space or a control character"),
        ("", "is empty"),
    ],
)
def test_an_invalid_proxy_is_refused(proxy: str, why: str) -> None:
    with pytest.raises(InvalidArgumentError, match=f"options.proxy: {why}$"):
        Client(proxy=proxy)
    with pytest.raises(InvalidArgumentError, match=f"options.proxy: {why}$"):
        OAuth2Token("https://127.0.0.1:1/", proxy=proxy)


@pytest.mark.parametrize("proxy", ["127.0.0.1:1", "socks5h://127.0.0.1:1", "http://me:secret@127.0.0.1:1/"])
def test_a_proxy_that_libcurl_takes_is_taken(proxy: str) -> None:
    Client(proxy=proxy).close()


@pytest.mark.parametrize(("preset", "attempts"), [(Preset.BOX, 5), (Preset.JANUARY, 1)])
def test_a_preset_without_a_strategy_of_one_s_own(server: FaultServer, preset: Preset, attempts: int) -> None:
    """Box's retries, January has none; a strategy that is given wins."""
    url = server.url("/seq/503", {"h": "Retry-After:0"}, id=server.new_id())
    with Client(preset=preset) as client:
        assert len(client.get(url).attempts) == attempts
    with Client(quick(max_attempts=3), preset=preset) as client:
        assert len(client.get(url).attempts) == 3

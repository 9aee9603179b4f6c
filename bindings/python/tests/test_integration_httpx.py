"""The transports for HTTPX: what its documentation promises, on its own transports and on this engine."""

from __future__ import annotations

import asyncio
import gzip
import inspect
import io
import ssl
import threading
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Callable

import pytest
from late_body import BODY, late_body
from proxies import TLS_REASONS, ca_folder, server_that_wants_a_certificate, tunnel_proxy
from test_fork import in_child

httpx = pytest.importorskip("httpx")

from boxretry import BoxRetryError, CancelledError, RetryStrategy, Timeout  # noqa: E402
from boxretry.integrations.httpx import AsyncRetryTransport, RetryTransport  # noqa: E402
from boxretry.testing import Answer, Fault, ScriptedServer, SeenRequest  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

Server = Any
#: Makes a client. `transport` has the settings of its transport; the others are those of the client itself.
Make = Callable[..., Any]


def ours(settings: dict[str, Any]) -> dict[str, Any]:
    return {"strategy": RetryStrategy(retry_base_interval=0.001), **settings}


class Blocking:
    """An `httpx.AsyncClient` used like a blocking one, so that one test covers both kinds."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._loop = asyncio.new_event_loop()

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._client, name)
        return (lambda *a, **k: self._run(attribute(*a, **k))) if inspect.iscoroutinefunction(attribute) else attribute

    def _run(self, coroutine: Any) -> Any:
        return self._loop.run_until_complete(coroutine)

    def close(self) -> None:
        self._run(self._client.aclose())
        self._run(self._loop.shutdown_asyncgens())
        self._run(self._loop.shutdown_default_executor())
        self._loop.close()


@pytest.fixture(params=["theirs", "ours", "theirs-async", "ours-async"])
def make(request: Any) -> Iterator[Make]:
    """On both kinds of transports and of clients: each test must pass for all."""
    whose, _, is_async = request.param.partition("-")
    made: list[Any] = []

    def make(
        transport: dict[str, Any] | None = None, ca: str | None = None, unverified: bool = False, **settings: Any
    ) -> Any:
        if unverified:
            transport = {"tls_verify": False} if whose == "ours" else {"verify": False}
        if whose == "ours":
            kind: Any = AsyncRetryTransport if is_async else RetryTransport
            carrier = kind(**ours({"ca_file": ca} if ca else transport or {}))
        else:
            kind = httpx.AsyncHTTPTransport if is_async else httpx.HTTPTransport
            carrier = kind(**(transport or {}))
        client = httpx.AsyncClient if is_async else httpx.Client
        made.append(client(transport=carrier, **settings))
        if is_async:
            made[-1] = Blocking(made[-1])
        return made[-1]

    yield make
    for each in made:
        each.close()


@pytest.fixture
def client(make: Make) -> Any:
    return make()


@pytest.fixture(params=[RetryTransport, AsyncRetryTransport], ids=["ours", "ours-async"])
def make_ours(request: Any) -> Iterator[Make]:
    """On both of our transports, with these settings."""
    made: list[Any] = []

    def make_ours(**settings: Any) -> Any:
        transport = request.param(**ours(settings))
        made.append(
            httpx.Client(transport=transport)
            if request.param is RetryTransport
            else Blocking(httpx.AsyncClient(transport=transport))
        )
        return made[-1]

    yield make_ours
    for each in made:
        each.close()


@pytest.fixture
def our_client(make_ours: Make) -> Any:
    return make_ours()


def test_a_response_has_all_its_parts(client: Any) -> None:
    answer = Answer(200, {"Content-Type": "text/plain; charset=latin-1", "X-A": "b"}, "grün".encode("latin-1"))
    with ScriptedServer([answer]) as server:
        response = client.get(server.url + "/a", params={"x": "1 2"}, headers={"X-Mine": "yes"})
        assert (response.status_code, response.reason_phrase, response.is_success) == (200, "OK", True)
        assert (response.text, response.encoding, response.http_version) == ("grün", "latin-1", "HTTP/1.1")
        assert response.headers["x-a"] == "b"
        assert str(response.url) == server.url + "/a?x=1+2"
        assert response.elapsed.total_seconds() >= 0
    (seen,) = server.requests
    assert seen.target == "/a?x=1+2"
    assert seen.header("User-Agent") == f"python-httpx/{httpx.__version__}"
    assert seen.header("X-Mine") == "yes"
    assert [value for name, value in seen.headers if name.lower() == "host"] == [server.url.removeprefix("http://")]


@pytest.mark.parametrize("method", ["GET", "OPTIONS", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
def test_every_method(client: Any, method: str) -> None:
    with ScriptedServer([Answer(body="x")]) as server:
        assert client.request(method, server.url).content == (b"" if method == "HEAD" else b"x")
    assert server.requests[0].method == method


@pytest.mark.parametrize(
    ("arguments", "content_type", "body"),
    [
        ({"data": {"a": "1", "b": ["2", "3"]}}, "application/x-www-form-urlencoded", b"a=1&b=2&b=3"),
        ({"json": {"a": 1}}, "application/json", b'{"a":1}'),
        ({"content": b"\0\xff"}, None, b"\0\xff"),
        ({"content": "grün"}, None, "grün".encode()),
        ({"content": b""}, None, b""),
    ],
)
def test_bodies(client: Any, arguments: dict[str, Any], content_type: str | None, body: bytes) -> None:
    with ScriptedServer([200]) as server:
        client.post(server.url, **arguments)
    (seen,) = server.requests
    assert (seen.header("Content-Type"), seen.body) == (content_type, body)


def test_a_body_that_is_generated(client: Any) -> None:
    async def later() -> AsyncIterator[bytes]:
        for part in (b"of ", b"a generator"):
            yield part

    content = later() if isinstance(client, Blocking) else (part for part in (b"of ", b"a generator"))
    with ScriptedServer([200]) as server:
        client.post(server.url, content=content)
    assert server.requests[0].body == b"of a generator"


def test_files(client: Any) -> None:
    with ScriptedServer([200]) as server:
        client.post(server.url, files={"file": ("a.txt", b"hello")}, data={"field": "value"})
    (seen,) = server.requests
    assert (seen.header("Content-Type") or "").startswith("multipart/form-data; boundary=")
    assert b'name="file"; filename="a.txt"' in seen.body
    assert b'name="field"\r\n\r\nvalue\r\n' in seen.body


def test_gzip_is_decoded(client: Any) -> None:
    with ScriptedServer([Answer(200, {"Content-Encoding": "gzip"}, gzip.compress(b"hello"))]) as server:
        assert client.get(server.url).content == b"hello"


def test_streams(make: Make) -> None:
    client = make()
    request = client.build_request
    with ScriptedServer([Answer(body="one\ntwo\n" * 1000)]) as server:
        response = client.send(request("GET", server.url), stream=True)
        if isinstance(client, Blocking):

            async def read() -> bytes:
                parts = [part async for part in response.aiter_bytes(100)]
                await response.aclose()
                return b"".join(parts)

            assert client._run(read()) == b"one\ntwo\n" * 1000
        else:
            assert b"".join(response.iter_bytes(100)) == b"one\ntwo\n" * 1000
            response.close()


def test_a_stream_is_there_before_its_end(make: Make, server: Server) -> None:
    """Given a body of which half arrives."""
    client, id = make(), server.new_id()
    request = client.build_request("GET", server.url("/seq/stall:body", {"id": id, "size": 320}))
    response = client.send(request, stream=True)
    assert (response.status_code, response.headers["content-length"], response.http_version) == (200, "320", "HTTP/1.1")

    async def read() -> bytes:
        pieces = response.aiter_bytes()
        piece: bytes = await pieces.__anext__()
        await pieces.aclose()
        await response.aclose()
        return piece

    if isinstance(client, Blocking):
        assert client._run(read()) == b"".join(b"%015d\n" % offset for offset in range(0, 160, 16))
    else:
        assert len(next(response.iter_bytes())) == 160
        response.close()
    server.seen(id, ended=True)


def test_a_stream_that_breaks_off(make: Make, server: Server) -> None:
    """Also if it is read immediately."""
    client = make(timeout=1)
    for parameters, kind in (
        ({"close_after": 500}, httpx.RemoteProtocolError),
        ({"stall_after": 500}, httpx.ReadTimeout),
        ({"reset_after": 500}, httpx.ReadError),
    ):
        url = server.url("/seq/200", {"id": server.new_id(), "size": 1000, **parameters})
        with pytest.raises((kind, httpx.ReadError)):
            client.get(url)


def test_a_stream_keeps_its_connection(make: Make, server: Server) -> None:
    client, id = make(), server.new_id()
    for path, parameters in (("/seq/200", {}), ("/seq/200", {"chunked": ""}), ("/seq/204", {}), ("/seq/404", {})):
        for _ in range(3):
            client.get(server.url(path, {"id": id, "size": 100_000, **parameters}))
    assert len({seen["connection"] for seen in server.seen(id)}) == 1


@pytest.mark.parametrize("kind", [RetryTransport, AsyncRetryTransport])
def test_f59_without_streams_it_is_retried(server: Server, kind: Any) -> None:
    """And with streams, a response that has not begun."""
    for streams, item in ((False, "1.close_after"), (True, "1.close")):
        transport = kind(streams=streams, **ours({}))
        client: Any = httpx.Client if kind is RetryTransport else httpx.AsyncClient
        client = client(transport=transport)
        if kind is AsyncRetryTransport:
            client = Blocking(client)
        value: Any = 500 if item == "1.close_after" else "before"
        response = client.get(server.url("/seq/200,200", {"id": server.new_id(), "size": 1000, item: value}))
        assert (len(response.content), response.http_version) == (1000, "HTTP/1.1")
        client.close()


def test_content_is_sent_as_it_comes(client: Any, server: Server) -> None:
    """Larger than any buffer; in the thread or the loop that waits."""
    threads: set[int] = set()

    def pieces() -> Iterator[bytes]:
        for _ in range(100):
            threads.add(threading.get_ident())
            yield b"x" * 100_000

    async def later() -> AsyncIterator[bytes]:
        for piece in pieces():
            await asyncio.sleep(0)
            yield piece

    content = later() if isinstance(client, Blocking) else pieces()
    url = server.url("/echo", id=server.new_id())
    assert client.put(url, content=content).json()["body_length"] == 10_000_000
    assert threads == {threading.get_ident()}
    content = later() if isinstance(client, Blocking) else pieces()
    response = client.put(url, content=content, headers={"Content-Length": "10000000"})
    assert ["Content-Length", "10000000"] in server.seen(str(response.url).partition("id=")[2])[-1]["headers"]


def test_what_content_raises_comes_out(client: Any, server: Server) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"a"
        raise KeyError("mine")

    async def later() -> AsyncIterator[bytes]:
        for piece in pieces():
            yield piece

    content = later() if isinstance(client, Blocking) else pieces()
    with pytest.raises(KeyError, match="mine"):
        client.put(server.url("/echo", id=server.new_id()), content=content)


def test_content_of_the_wrong_kind(client: Any) -> None:
    async def later() -> AsyncIterator[bytes]:
        yield b"a"

    content = iter([b"a"]) if isinstance(client, Blocking) else later()
    with pytest.raises(RuntimeError, match=r"Attempted to send an? (a?sync) request with"):
        client.put("http://127.0.0.1:1/", content=content)


def test_r3_forms_are_sent_again_and_iterators_are_not(our_client: Any, server: Server) -> None:
    async def later() -> AsyncIterator[bytes]:
        yield b"hello"

    is_async = isinstance(our_client, Blocking)
    for arguments, status in (
        ({"files": {"a": io.BytesIO(b"hello")}}, 200),
        ({"files": {"a": b"hello"}}, 200),
        ({"content": later() if is_async else iter([b"hello"])}, 503),
    ):
        id, given = server.new_id(), dict[str, Any](arguments)
        assert our_client.put(server.url("/seq/503,200", id=id), **given).status_code == status
        assert all("hello" in seen["body_start"] for seen in server.seen(id))
        assert len(server.seen(id)) == (2 if status == 200 else 1)


@pytest.mark.parametrize(
    ("status", "method", "then"), [(301, "POST", "GET"), (302, "POST", "GET"), (303, "PUT", "GET"), (307, "PUT", "PUT")]
)
def test_redirects(make: Make, status: int, method: str, then: str) -> None:
    client = make(follow_redirects=True)
    with ScriptedServer([Answer(status, {"Location": "/there"}), Answer(body="x")]) as server:
        response = client.request(method, server.url + "/here", content=b"body")
        assert (str(response.url), response.content) == (server.url + "/there", b"x")
        assert [each.status_code for each in response.history] == [status]
    assert [(each.method, each.target) for each in server.requests] == [(method, "/here"), (then, "/there")]
    assert server.requests[1].body == (b"body" if then == method else b"")


def test_redirects_that_are_not_wanted_and_those_without_end(client: Any) -> None:
    """By default they are not followed."""
    with ScriptedServer([Answer(302, {"Location": "/"})]) as server:
        response = client.get(server.url)
        assert (response.status_code, response.has_redirect_location) == (302, True)
        with pytest.raises(httpx.TooManyRedirects):
            client.get(server.url, follow_redirects=True)


def test_a_redirect_to_another_host_goes_without_authorization(make: Make) -> None:
    client = make(follow_redirects=True)
    with ScriptedServer([200]) as other:
        location = other.url.replace("127.0.0.1", "localhost") + "/there"
        with ScriptedServer([Answer(302, {"Location": location})]) as server:
            client.get(server.url, headers={"Authorization": "secret", "X-A": "b"})
    assert server.requests[0].header("Authorization") == "secret"
    assert other.requests[0].header("Authorization") is None
    assert other.requests[0].header("X-A") == "b"


def test_cookies(make: Make) -> None:
    client = make(follow_redirects=True)
    first = Answer(302, [("Set-Cookie", "a=1; Path=/"), ("Set-Cookie", "b=2; Path=/b"), ("Location", "/")])
    with ScriptedServer([first, 200]) as server:
        assert dict(client.get(server.url).history[0].cookies) == {"a": "1", "b": "2"}
        client.get(server.url + "/b")
    assert [each.header("Cookie") for each in server.requests] == [None, "a=1", "b=2; a=1"]


def test_auth(client: Any) -> None:
    def digest(request: SeenRequest) -> Answer:
        if request.header("Authorization"):
            return Answer(200)
        return Answer(401, {"WWW-Authenticate": 'Digest realm="r", nonce="n", qop="auth"'})

    with ScriptedServer([200, digest]) as server:
        client.get(server.url, auth=("user", "pass"))
        assert client.get(server.url, auth=httpx.DigestAuth("user", "pass")).status_code == 200
    assert server.requests[0].header("Authorization") == "Basic dXNlcjpwYXNz"
    assert (server.requests[2].header("Authorization") or "").startswith('Digest username="user"')


def test_errors_have_the_classes_of_httpx(client: Any, server: Server) -> None:
    def url(item: str) -> str:
        return str(server.url(f"/seq/{item}", id=server.new_id()))

    cases: list[tuple[Any, Callable[[], object]]] = [
        (httpx.ConnectError, lambda: client.get(f"http://127.0.0.1:{server.ports['refused']}/")),
        (httpx.ConnectError, lambda: client.get("http://nowhere.invalid/")),
        (httpx.ReadError, lambda: client.get(url("reset:before"))),
        (httpx.RemoteProtocolError, lambda: client.get(url("garbage"))),
        ((httpx.RemoteProtocolError, httpx.ReadError), lambda: client.get(url("close:before"))),
        ((httpx.RemoteProtocolError, httpx.ReadError), lambda: client.get(url("short"))),
        (httpx.ReadTimeout, lambda: client.get(url("stall"), timeout=0.05)),
        (httpx.ReadTimeout, lambda: client.get(url("stall"), timeout=httpx.Timeout(5, read=0.05))),
        (httpx.ConnectTimeout, lambda: client.get(f"http://127.0.0.1:{server.ports['backlog']}/", timeout=0.05)),
        (httpx.ConnectTimeout, lambda: client.get(f"https://127.0.0.1:{server.ports['silent']}/", timeout=0.05)),
        (httpx.UnsupportedProtocol, lambda: client.get("ftp://127.0.0.1/")),
        (httpx.LocalProtocolError, lambda: client.get(url("200"), headers={"X": "a\r\nb"})),
    ]
    for kind, fails in cases:
        with pytest.raises(kind) as raised:
            fails()
        assert isinstance(raised.value, httpx.TransportError)
        assert raised.value.request.url


def test_tls(make: Make, tls_server: Server) -> None:
    url = tls_server.url("/seq/200", kind="https", id=tls_server.new_id())
    trusting = make({"verify": ssl.create_default_context(cafile=tls_server.ca)}, tls_server.ca)
    assert trusting.get(url).status_code == 200


@pytest.mark.parametrize(("kind", "reason"), TLS_REASONS)
def test_f141_the_error_says_what_is_wrong_with_a_certificate(
    make: Make, tls_server: Server, kind: str, reason: str
) -> None:
    """F141: in the words of the package itself."""
    url = tls_server.url("/seq/200", kind=kind, id=tls_server.new_id()).replace("127.0.0.1", "localhost")
    trusting = {"verify": ssl.create_default_context(cafile=tls_server.ca)}
    client = make() if kind == "https" else make(trusting, tls_server.ca)
    with pytest.raises(httpx.ConnectError, match=f"(?i){reason}"):
        client.get(url)


def test_ssl_cert_file(make: Make, tls_server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", tls_server.ca)
    url = tls_server.url("/seq/200", kind="https", id=tls_server.new_id())
    assert make().get(url).status_code == 200


def test_f135_ssl_cert_dir(make: Make, tls_server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """F135: given a directory of certificates that the environment names."""
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", str(ca_folder(tls_server.ca, tmp_path / "ca")))
    url = tls_server.url("/seq/200", kind="https", id=tls_server.new_id())
    assert make().get(url).status_code == 200


def test_f135_verification_can_be_switched_off(tls_server: Server) -> None:
    """F135: given tls_verify=False, where HTTPX has verify=False."""
    with httpx.Client(transport=RetryTransport(**ours({"tls_verify": False}))) as client:
        url = tls_server.url("/seq/200", kind="https_self_signed", id=tls_server.new_id())
        assert client.get(url).status_code == 200


def test_proxies(make: Make, tls_server: Server) -> None:
    with ScriptedServer([Answer(body="by the proxy")]) as proxy:
        response = make({"proxy": proxy.url.replace("//", "//u:p@")}).get("http://nowhere.invalid/a?b")
        assert response.text == "by the proxy"
    assert [each.target for each in proxy.requests] == ["http://nowhere.invalid/a?b"]
    assert proxy.requests[0].header("Proxy-Authorization") == "Basic dTpw"
    url = tls_server.url("/seq/200", kind="https", id=tls_server.new_id())
    with tunnel_proxy() as tunnel, pytest.raises(httpx.ConnectError):  # From the certificate, so the tunnel exists.
        make({"proxy": tunnel.url}).get(url)
    assert {head.split()[0] for head in tunnel.heads} == {"CONNECT"}


def test_a_transport_does_not_look_at_proxies_of_the_environment(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer([200]) as server, ScriptedServer([204]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        assert make().get(server.url).status_code == 200


def test_b3_there_are_retries(our_client: Any) -> None:
    with ScriptedServer([503, Fault.HANG_UP, Answer(429, {"Retry-After": "0"}), Answer(body="x")]) as server:
        assert our_client.post(server.url, content=b"body").text == "x"
    assert [each.body for each in server.requests] == [b"body"] * 4


def test_b10_the_last_response_is_returned(our_client: Any) -> None:
    with ScriptedServer([503]) as server:
        assert our_client.get(server.url).status_code == 503
    assert len(server.requests) == 5


def test_an_error_has_the_attempts(our_client: Any, server: Server) -> None:
    with pytest.raises(httpx.ConnectError) as raised:
        our_client.get(f"http://127.0.0.1:{server.ports['refused']}/")
    cause = raised.value.__cause__
    assert isinstance(cause, BoxRetryError)
    assert len(cause.attempts) == 3


def test_a_proxy_that_is_not_there(server: Server) -> None:
    transport = RetryTransport(**ours({"proxy": f"http://127.0.0.1:{server.ports['refused']}"}))
    with httpx.Client(transport=transport) as client, pytest.raises(httpx.ProxyError):
        client.get("http://nowhere.invalid/")


def test_timeouts(server: Server) -> None:
    """A deadline counts as one; the transport's own timeout is for clients that have none."""
    url = server.url("/seq/stall", id=server.new_id())
    with httpx.Client(transport=RetryTransport(deadline=0.05)) as client:
        with pytest.raises(httpx.TimeoutException) as raised:
            client.get(url)
        assert not isinstance(raised.value, httpx.ReadTimeout)
    transport = RetryTransport(timeout=Timeout(50), strategy=RetryStrategy(max_retries_on_exception=0))
    with httpx.Client(transport=transport, timeout=None) as client, pytest.raises(httpx.ReadTimeout):
        client.get(url)


def test_cancelling_a_task_cancels_the_call(server: Server) -> None:
    id = server.new_id()

    async def work() -> None:
        async with httpx.AsyncClient(transport=AsyncRetryTransport()) as client:
            with pytest.raises(asyncio.TimeoutError):
                await asyncio.wait_for(client.get(server.url("/seq/stall", id=id)), 0.1)
            await asyncio.to_thread(server.seen, id, ended=True)

    asyncio.run(work())


@pytest.mark.parametrize("item", ["stall", "200"])
def test_k1_closing_an_async_transport_is_a_read_error(server: Server, item: str) -> None:
    """K1. Given a request that waits for its response, and a response that is being read."""
    url = server.url(f"/seq/{item}", id=(id := server.new_id()), size="endless")

    async def work() -> None:
        transport = AsyncRetryTransport()
        client = httpx.AsyncClient(transport=transport)

        async def get() -> None:
            async with client.stream("GET", url) as response:
                async for _ in response.aiter_raw():
                    pass

        getting = asyncio.ensure_future(get())
        await asyncio.to_thread(server.seen, id, requests=1)
        await transport.aclose()
        with pytest.raises(httpx.ReadError) as raised:
            await getting
        assert isinstance(raised.value.__cause__, CancelledError)

    asyncio.run(work())


@pytest.mark.parametrize("item", ["stall", "200"])
def test_k1_closing_a_transport_is_a_read_error(server: Server, item: str) -> None:
    """K1. As above, by another thread."""
    url = server.url(f"/seq/{item}", id=(id := server.new_id()), size="endless")
    transport = RetryTransport()
    client = httpx.Client(transport=transport)

    def get() -> None:
        with client.stream("GET", url) as response:
            for _ in response.iter_raw():
                pass

    with ThreadPoolExecutor(1) as pool:
        getting = pool.submit(get)
        server.seen(id, requests=1)
        transport.close()
        with pytest.raises(httpx.ReadError) as raised:
            getting.result()
    assert isinstance(raised.value.__cause__, CancelledError)


def test_many_at_once(server: Server) -> None:
    url = server.url("/seq/200", id=server.new_id(), quiet="")

    async def work() -> None:
        async with httpx.AsyncClient(transport=AsyncRetryTransport()) as client:
            for response in await asyncio.gather(*(client.get(url) for _ in range(200))):
                assert response.status_code == 200

    asyncio.run(work())


def test_a_client_works_in_a_child_of_fork(server: Server) -> None:
    url = server.url("/seq/200", id=server.new_id())
    with httpx.Client(transport=RetryTransport(**ours({}))) as client:
        assert client.get(url).status_code == 200

        def work() -> None:
            assert client.get(url).status_code == 200
            client.close()

        in_child(work)
        assert client.get(url).status_code == 200


@pytest.mark.parametrize("transport", [RetryTransport, AsyncRetryTransport])
def test_a_setting_that_there_is_not_is_refused_at_once(transport: Any) -> None:
    with pytest.raises(TypeError, match=r"Client\(\) has no argument 'retries': use strategy="):
        transport(retries=3)


def test_the_strategy_may_be_the_first_argument() -> None:
    transport = RetryTransport(RetryStrategy(max_attempts=2, retry_base_interval=0))
    with ScriptedServer([503]) as server, httpx.Client(transport=transport) as client:
        assert client.get(server.url).status_code == 503
    assert len(server.requests) == 2


async def _of_an_async_transport(url: str) -> int:
    transport = AsyncRetryTransport(RetryStrategy(max_attempts=2, retry_base_interval=0))
    async with httpx.AsyncClient(transport=transport) as client:
        response = await client.get(url)
    status: int = response.status_code
    return status


def test_so_may_that_of_an_asynchronous_transport() -> None:
    with ScriptedServer([503]) as server:
        assert asyncio.run(_of_an_async_transport(server.url)) == 503
    assert len(server.requests) == 2


@pytest.mark.parametrize("body", [{"content": b"abc"}, {"json": {"a": 1}}, {"content": b""}], ids=repr)
def test_f134_a_redirect_to_a_get_has_no_body_framing(make: Make, body: dict[str, Any]) -> None:
    """F134: given a POST that a 302 answers; the GET has neither a length nor chunks."""
    with ScriptedServer([Answer(302, {"Location": "/b"}), 200]) as server:
        assert make().post(server.url + "/a", follow_redirects=True, **body).status_code == 200
    followed = server.requests[-1]
    assert (followed.method, followed.body) == ("GET", b"")
    assert (followed.header("Content-Length"), followed.header("Transfer-Encoding")) == (None, None)


@pytest.mark.parametrize("kind", [RetryTransport, AsyncRetryTransport])
def test_f134_a_redirected_body_of_bytes_is_retried(kind: Any) -> None:
    """F134: given a 307 that is followed with bytes, and then a 503."""
    transport = kind(**ours({}))
    client: Any = Blocking(httpx.AsyncClient(transport=transport)) if kind is AsyncRetryTransport else None
    client = client or httpx.Client(transport=transport)
    with ScriptedServer([Answer(307, {"Location": "/b"}), 503, 200]) as server:
        assert client.post(server.url + "/a", content=b"abc", follow_redirects=True).status_code == 200
    client.close()
    assert [(seen.method, seen.body) for seen in server.requests] == [("POST", b"abc")] * 3


def test_f133_header_bytes_above_0x7f_are_as_the_package_has_them(make: Make) -> None:
    """F133: given a header in UTF-8 and one in Latin-1, in both directions."""
    answer = Answer(200, {"X-Utf8": "grün".encode(), "X-Latin": "grün".encode("latin-1")})
    with ScriptedServer([answer]) as server:
        response = make().get(server.url, headers={"X-Mine": "grün".encode()})
    assert dict(response.headers.raw)[b"X-Utf8"] == "grün".encode()
    assert dict(response.headers.raw)[b"X-Latin"] == "grün".encode("latin-1")
    assert (server.requests[0].header("X-Mine") or "").encode("latin-1") == "grün".encode()


def test_f136_the_servers_own_reason_phrase_is_kept(make: Make, server: Server) -> None:
    """F136: given the server's own phrase, and an empty one."""
    for line, reason in (("404 Gone fishing", "Gone fishing"), ("200 ", "")):
        url = server.url("/seq/200", id=server.new_id(), status_line=f"HTTP/1.1 {line}")
        assert make().get(url).reason_phrase == reason


def test_f131_the_connect_timeout_bounds_connecting_alone(make: Make, server: Server) -> None:
    """F131: given a full backlog, ConnectTimeout after that time; reading may take longer."""
    client = make(timeout=httpx.Timeout(None, connect=0.1))
    with pytest.raises(httpx.ConnectTimeout):
        client.get(f"http://127.0.0.1:{server.ports['backlog']}/")
    assert client.get(server.url("/seq/200", id=server.new_id(), first=300)).status_code == 200


@pytest.mark.parametrize(
    "parameters", [{"close_after": 500}, {"close_after": 500, "chunked": ""}], ids=["length", "chunks"]
)
def test_f137_a_body_that_breaks_off(client: Any, server: Server, parameters: dict[str, Any]) -> None:
    """F137: given a body that ends before its Content-Length, and before its last chunk."""
    with pytest.raises(httpx.RemoteProtocolError):
        client.get(server.url("/seq/200", {"id": server.new_id(), "size": 1000, **parameters}))


@pytest.mark.parametrize("setting", ["ca_file", "cert"])
def test_f137_a_file_without_certificates(make_ours: Make, tls_server: Server, tmp_path: Path, setting: str) -> None:
    """F137: given a file that exists, with text in it. HTTPX raises ssl.SSLError before there is a request."""
    path = tmp_path / "file.pem"
    path.write_text("not a certificate\n")
    settings = {"ca_file": tls_server.ca, setting: str(path)}
    with pytest.raises(httpx.ConnectError):
        make_ours(**settings).get(tls_server.url("/seq/200", kind="https_client", id=tls_server.new_id()))


def test_f137_a_missing_client_certificate(make_ours: Make, tls_server: Server) -> None:
    """F137: given a server that refuses after the handshake, as TLS 1.3 does. HTTPX's own asynchronous transport lets
    ssl.SSLError through; its other one raises ReadError."""
    with pytest.raises(httpx.ReadError):
        make_ours(ca_file=tls_server.ca).get(tls_server.url("/seq/200", kind="https_client", id=tls_server.new_id()))


def test_f137_a_handshake_without_a_client_certificate(make: Make, tls_server: Server) -> None:
    """F137: given a server that refuses during the handshake, as TLS 1.2 does."""
    with server_that_wants_a_certificate(tls_server.files) as url, pytest.raises(httpx.ConnectError):
        make(unverified=True).get(url)


def test_f137_a_refused_connect(make: Make, tls_server: Server) -> None:
    """F137: given a proxy that answers CONNECT with 403."""
    url = tls_server.url("/seq/200", kind="https", id=tls_server.new_id())
    with tunnel_proxy(is_refusing=True) as proxy, pytest.raises(httpx.ProxyError, match="403"):
        make({"proxy": proxy.url}).get(url)
    assert {head.split()[0] for head in proxy.heads} == {"CONNECT"}


@pytest.mark.parametrize("trust_env", [True, False])
@pytest.mark.parametrize("no_proxy", ["somewhere.invalid", "*"])
def test_f140_a_given_proxy_wins_over_the_environment(
    make: Make, monkeypatch: pytest.MonkeyPatch, no_proxy: str, trust_env: bool
) -> None:
    """F140: given `proxy=` for the transport, NO_PROXY for the host, and another proxy in the environment."""
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, no_proxy)
    with ScriptedServer([200]) as given, ScriptedServer([204]) as other:
        monkeypatch.setenv("http_proxy", other.url)
        client = make({"proxy": given.url}, trust_env=trust_env)
        assert client.get("http://somewhere.invalid/x").status_code == 200
    assert [request.target for request in given.requests] == ["http://somewhere.invalid/x"]
    assert other.requests == []


def test_f140_without_trust_env_the_environment_has_no_proxies(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """F140: given `trust_env=False` and a proxy in the environment, the server itself gets the request."""
    with ScriptedServer([200]) as server, ScriptedServer([204]) as proxy:
        for name in ("http_proxy", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        assert make(trust_env=False).get(server.url).status_code == 200
    assert (len(server.requests), proxy.requests) == (1, [])


def pieces_of(client: Any, response: Any, size: int) -> Iterator[bytes]:
    """The body of a response that is being received, from either kind of client."""
    if not isinstance(client, Blocking):
        yield from response.iter_bytes(size)
        return
    pieces = response.aiter_bytes(size)

    async def following() -> bytes:
        async for piece in pieces:
            return bytes(piece)
        return b""

    while piece := client._run(following()):
        yield piece


def test_f142_a_reader_may_take_longer_than_the_timeout(make: Make) -> None:
    """F142: given a body larger than the buffer, and a reader that pauses for longer than the timeout."""
    body = b"x" * 8_000_000
    with ScriptedServer([Answer(200, body=body)]) as server:
        client = make(timeout=1)
        response = client.send(client.build_request("GET", server.url), stream=True)
        pieces = pieces_of(client, response, 1000)
        first = next(pieces)
        threading.Event().wait(2)  # The pause is the subject of the test.
        assert first + b"".join(pieces) == body


def test_f143_an_error_is_there_before_its_body(make: Make) -> None:
    """F143: given stream=True and a 404 whose body arrives after the caller has seen the head."""
    with late_body() as (url, head_seen):
        client = make()
        response = client.send(client.build_request("GET", url), stream=True)
        assert response.status_code == 404
        head_seen.set()
        assert b"".join(pieces_of(client, response, 5)) == BODY

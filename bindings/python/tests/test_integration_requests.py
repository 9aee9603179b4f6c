"""The transport adapter for requests: what its documentation promises, on its own adapter and on this engine."""

from __future__ import annotations

import array
import contextlib
import gzip
import io
import mmap
import pickle
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Callable

import pytest
from late_body import BODY, late_body
from proxies import TLS_REASONS, ca_folder, server_that_wants_a_certificate, tunnel_proxy
from test_client_process import end_of, start
from test_fork import in_child

requests = pytest.importorskip("requests")
urllib3 = pytest.importorskip("urllib3")

from requests.adapters import BaseAdapter, HTTPAdapter  # noqa: E402
from requests.auth import HTTPDigestAuth  # noqa: E402

from boxretry import BoxRetryError, CancelledError, Cause, RetryStrategy, Timeout, TokenSource  # noqa: E402
from boxretry.integrations.requests import RetryAdapter  # noqa: E402
from boxretry.testing import Answer, Fault, ScriptedServer, SeenRequest  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

Server = Any
Session = Any


def ours(**settings: Any) -> RetryAdapter:
    return RetryAdapter(**{"strategy": RetryStrategy(retry_base_interval=0.001), **settings})


def session_with(adapter: BaseAdapter) -> Session:
    session = requests.Session()
    for prefix in ("http://", "https://"):
        session.mount(prefix, adapter)
    return session


@pytest.fixture(params=[HTTPAdapter, ours], ids=["theirs", "ours"])
def session(request: Any) -> Iterator[Session]:
    """On both adapters: each test must pass for both."""
    with session_with(request.param()) as session:
        yield session


@pytest.fixture
def our_session() -> Iterator[Session]:
    with session_with(ours()) as session:
        yield session


def test_a_response_has_all_its_parts(session: Session) -> None:
    answer = Answer(200, {"Content-Type": "text/plain; charset=latin-1", "X-A": "b"}, "grün".encode("latin-1"))
    with ScriptedServer([answer]) as server:
        response = session.get(server.url + "/a", params={"x": "1 2"}, headers={"X-Mine": "yes"})
    assert (response.status_code, response.reason, response.ok) == (200, "OK", True)
    assert (response.text, response.encoding) == ("grün", "latin-1")
    assert response.headers["x-a"] == "b"
    assert response.url == server.url + "/a?x=1+2"
    assert response.request.headers["X-Mine"] == "yes"
    assert response.elapsed.total_seconds() >= 0
    (seen,) = server.requests
    assert seen.target == "/a?x=1+2"
    assert seen.header("User-Agent") == requests.utils.default_user_agent()
    assert seen.header("X-Mine") == "yes"
    assert seen.header("Host") == server.url.removeprefix("http://")


@pytest.mark.parametrize("method", ["GET", "OPTIONS", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
def test_every_method(session: Session, method: str) -> None:
    with ScriptedServer([Answer(body="x")]) as server:
        response = session.request(method, server.url)
    assert response.content == (b"" if method == "HEAD" else b"x")
    assert server.requests[0].method == method


@pytest.mark.parametrize(
    ("arguments", "content_type", "body"),
    [
        ({"data": {"a": "1", "b": ["2", "3"]}}, "application/x-www-form-urlencoded", b"a=1&b=2&b=3"),
        ({"json": {"a": None}}, "application/json", b'{"a": null}'),
        ({"data": b"\0\xff"}, None, b"\0\xff"),
        ({"data": "grün"}, None, "grün".encode()),
        ({"data": io.BytesIO(b"of a file")}, None, b"of a file"),
        ({"data": (part for part in [b"of ", b"a generator"])}, None, b"of a generator"),
        ({"data": []}, None, b""),
    ],
)
def test_bodies(session: Session, arguments: dict[str, Any], content_type: str | None, body: bytes) -> None:
    for kind in ("generator", "BytesIO"):
        if kind in type(arguments.get("data")).__name__:
            text = body
            arguments = {"data": io.BytesIO(text) if kind == "BytesIO" else (part for part in [text])}
    with ScriptedServer([200]) as server:
        session.post(server.url, **arguments)
    (seen,) = server.requests
    assert (seen.header("Content-Type"), seen.body) == (content_type, body)


def test_files(session: Session) -> None:
    with ScriptedServer([200]) as server:
        session.post(server.url, files={"file": ("a.txt", io.BytesIO(b"hello"))}, data={"field": "value"})
    (seen,) = server.requests
    assert (seen.header("Content-Type") or "").startswith("multipart/form-data; boundary=")
    assert b'name="file"; filename="a.txt"\r\n\r\nhello\r\n' in seen.body
    assert b'name="field"\r\n\r\nvalue\r\n' in seen.body


def test_gzip_is_decoded(session: Session) -> None:
    packed = Answer(200, {"Content-Encoding": "gzip"}, gzip.compress(b"hello"))
    with ScriptedServer([packed]) as server:
        assert session.get(server.url).content == b"hello"
        with session.get(server.url, stream=True) as response:
            assert gzip.decompress(response.raw.read()) == b"hello"
    assert "gzip" in (server.requests[0].header("Accept-Encoding") or "")


def test_streams(session: Session) -> None:
    with ScriptedServer([Answer(body="one\ntwo\n" * 1000)]) as server:
        with session.get(server.url, stream=True) as response:
            assert next(response.iter_lines()) == b"one"
        with session.get(server.url, stream=True) as response:
            assert b"".join(response.iter_content(100)) == b"one\ntwo\n" * 1000
        with session.get(server.url, stream=True) as response:
            assert response.raw.read(5) == b"one\nt"


@pytest.mark.parametrize(
    ("status", "method", "then"), [(301, "POST", "GET"), (302, "POST", "GET"), (303, "PUT", "GET"), (307, "PUT", "PUT")]
)
def test_redirects(session: Session, status: int, method: str, then: str) -> None:
    with ScriptedServer([Answer(status, {"Location": "/there"}), Answer(body="x")]) as server:
        response = session.request(method, server.url + "/here", data=b"body")
        assert (response.url, response.content) == (server.url + "/there", b"x")
        assert [each.status_code for each in response.history] == [status]
    assert [(each.method, each.target) for each in server.requests] == [(method, "/here"), (then, "/there")]
    assert server.requests[1].body == (b"body" if then == method else b"")


def test_redirects_that_are_not_wanted_and_those_without_end(session: Session) -> None:
    with ScriptedServer([Answer(302, {"Location": "/"})]) as server:
        assert session.get(server.url, allow_redirects=False).status_code == 302
        with pytest.raises(requests.TooManyRedirects):
            session.get(server.url)
    assert len(server.requests) == 1 + session.max_redirects + 1


def test_a_redirect_to_another_host_goes_without_authorization(session: Session) -> None:
    with ScriptedServer([200]) as other:
        location = other.url.replace("127.0.0.1", "localhost") + "/there"
        with ScriptedServer([Answer(302, {"Location": location})]) as server:
            session.get(server.url, headers={"Authorization": "secret", "X-A": "b"})
    assert server.requests[0].header("Authorization") == "secret"
    assert other.requests[0].header("Authorization") is None
    assert other.requests[0].header("X-A") == "b"


def test_cookies(session: Session) -> None:
    first = Answer(302, [("Set-Cookie", "a=1; Path=/"), ("Set-Cookie", "b=2; Path=/b"), ("Location", "/")])
    with ScriptedServer([first, 200]) as server:
        response = session.get(server.url)
        assert response.history[0].cookies.get_dict() == {"a": "1", "b": "2"}
        assert session.cookies.get_dict() == {"a": "1", "b": "2"}
        session.get(server.url + "/b", cookies={"c": "3"})
    assert [each.header("Cookie") for each in server.requests] == [None, "a=1", "b=2; a=1; c=3"]


def test_basic_auth(session: Session) -> None:
    with ScriptedServer([200]) as server:
        session.get(server.url, auth=("user", "pass"))
    assert server.requests[0].header("Authorization") == "Basic dXNlcjpwYXNz"


def test_digest_auth(session: Session) -> None:
    """It answers a 401 with a second request by itself."""

    def answer(request: SeenRequest) -> Answer:
        if request.header("Authorization"):
            return Answer(200)
        return Answer(401, {"WWW-Authenticate": 'Digest realm="r", nonce="n", qop="auth"'})

    with ScriptedServer([answer]) as server:
        response = session.get(server.url, auth=HTTPDigestAuth("user", "pass"))
        assert (response.status_code, len(response.history)) == (200, 1)
    assert (server.requests[1].header("Authorization") or "").startswith('Digest username="user"')


def test_hooks(session: Session) -> None:
    seen: list[int] = []
    with ScriptedServer([204]) as server:
        session.get(server.url, hooks={"response": lambda response, *_, **__: seen.append(response.status_code)})
    assert seen == [204]


def test_errors_have_the_classes_of_requests(session: Session, server: Server) -> None:
    def url(item: str) -> str:
        return str(server.url(f"/seq/{item}", id=server.new_id()))

    cases: list[tuple[type[Exception], Callable[[], object]]] = [
        (requests.ConnectionError, lambda: session.get(f"http://127.0.0.1:{server.ports['refused']}/")),
        (requests.ConnectionError, lambda: session.get("http://nowhere.invalid/")),
        (requests.ConnectionError, lambda: session.get(url("close:before"))),
        (requests.ConnectionError, lambda: session.get(url("reset:before"))),
        (requests.ConnectionError, lambda: session.get(url("garbage"))),
        (requests.ReadTimeout, lambda: session.get(url("stall"), timeout=0.05)),
        (requests.ReadTimeout, lambda: session.get(url("stall"), timeout=(3600, 0.05))),
        (requests.ConnectTimeout, lambda: session.get(f"http://127.0.0.1:{server.ports['backlog']}/", timeout=0.05)),
        (requests.exceptions.InvalidURL, lambda: session.get("http://127.0.0.1:x/")),
        (requests.exceptions.InvalidHeader, lambda: session.get(url("200"), headers={"X": "a\r\nb"})),
    ]
    for kind, fails in cases:
        with pytest.raises(kind) as raised:
            fails()
        assert isinstance(raised.value, requests.RequestException)
        assert raised.value.request is None or raised.value.request.url


def test_tls(session: Session, tls_server: Server) -> None:
    url = tls_server.url("/seq/200", kind="https", id=tls_server.new_id())
    assert session.get(url, verify=tls_server.ca).status_code == 200
    with pytest.raises(OSError, match="invalid path: /nowhere"):
        session.get(url, verify="/nowhere")


@pytest.mark.parametrize(("kind", "reason"), TLS_REASONS)
def test_f141_the_error_says_what_is_wrong_with_a_certificate(
    session: Session, tls_server: Server, kind: str, reason: str
) -> None:
    """F141: in the words of the package itself."""
    url = tls_server.url("/seq/200", kind=kind, id=tls_server.new_id()).replace("127.0.0.1", "localhost")
    with pytest.raises(requests.exceptions.SSLError, match=f"(?i){reason}"):
        session.get(url, verify=True if kind == "https" else tls_server.ca)


def test_proxies(session: Session, tls_server: Server) -> None:
    with ScriptedServer([Answer(body="by the proxy")]) as proxy:
        response = session.get("http://nowhere.invalid/a?b", proxies={"http": proxy.url.replace("//", "//u:p@")})
        assert response.text == "by the proxy"
        session.proxies = {"http": proxy.url.removeprefix("http://")}
        session.get("http://nowhere.invalid/c")
    assert [each.target for each in proxy.requests] == ["http://nowhere.invalid/a?b", "http://nowhere.invalid/c"]
    assert proxy.requests[0].header("Proxy-Authorization") == "Basic dTpw"
    url = tls_server.url("/seq/200", kind="https", id=tls_server.new_id())
    with tunnel_proxy() as tunnel:
        assert session.get(url, verify=tls_server.ca, proxies={"https": tunnel.url}).status_code == 200
        session.close()
    assert [head.split()[0] for head in tunnel.heads] == ["CONNECT"]


def test_proxies_of_the_environment(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer([200]) as server, ScriptedServer([204]) as proxy:
        monkeypatch.setenv("http_proxy", proxy.url)
        monkeypatch.setenv("no_proxy", "127.0.0.1")
        assert session.get("http://nowhere.invalid/").status_code == 204
        assert session.get(server.url).status_code == 200
        session.trust_env = False
        with pytest.raises(requests.ConnectionError):
            session.get("http://nowhere.invalid/")


def test_a_proxy_that_is_not_there(session: Session, server: Server) -> None:
    proxy = f"http://127.0.0.1:{server.ports['refused']}"
    for url in ("http://nowhere.invalid/", "https://nowhere.invalid/"):
        with pytest.raises(requests.exceptions.ProxyError):
            session.get(url, proxies={"http": proxy, "https": proxy})


def test_a_closed_session_can_be_used_again(session: Session) -> None:
    with ScriptedServer([200]) as server:
        session.get(server.url)
        session.close()
        assert session.get(server.url).status_code == 200


def test_a_session_can_be_pickled() -> None:
    with session_with(RetryAdapter(deadline=5)) as session, ScriptedServer([200]) as server:
        session.get(server.url)
        with pickle.loads(pickle.dumps(session)) as copy:
            assert copy.get(server.url).status_code == 200
            assert copy.get_adapter(server.url)._settings == {"deadline": 5}


def test_b3_there_are_retries(our_session: Session) -> None:
    with ScriptedServer([503, Fault.HANG_UP, Answer(429, {"Retry-After": "0"}), Answer(body="x")]) as server:
        assert our_session.post(server.url, data=io.BytesIO(b"body")).text == "x"
    assert [each.body for each in server.requests] == [b"body"] * 4


def test_b10_the_last_response_is_returned(our_session: Session) -> None:
    with ScriptedServer([503]) as server:
        response = our_session.get(server.url)
        with pytest.raises(requests.HTTPError):
            response.raise_for_status()
    assert len(server.requests) == 5


def test_an_error_has_the_attempts(our_session: Session, server: Server) -> None:
    with pytest.raises(requests.ConnectionError) as raised:
        our_session.get(f"http://127.0.0.1:{server.ports['refused']}/")
    cause = raised.value.__cause__
    assert isinstance(cause, BoxRetryError)
    assert len(cause.attempts) == 3


def test_a_deadline_is_a_timeout(server: Server) -> None:
    with session_with(ours(deadline=0.05)) as session, pytest.raises(requests.Timeout) as raised:
        session.get(server.url("/seq/stall", id=server.new_id()))
    assert not isinstance(raised.value, requests.ReadTimeout)


@pytest.mark.parametrize("stream", [False, True])
def test_f113_a_canceled_call_is_a_connection_error(server: Server, stream: bool) -> None:
    """T4. The token provider cancels: programs that use requests only expect its exceptions."""

    def provider() -> tuple[str, float]:
        raise CancelledError

    with (
        TokenSource(provider) as source,
        session_with(ours(token_source=source)) as session,
        pytest.raises(requests.ConnectionError, match="canceled") as raised,
    ):
        session.get(server.url("/seq/200", id=server.new_id()), stream=stream)
    assert isinstance(raised.value.__cause__, CancelledError)


def test_the_adapter_s_own_timeout(server: Server) -> None:
    """It applies to requests without a timeout."""
    url = server.url("/seq/stall", id=server.new_id())
    with session_with(ours(timeout=Timeout(50))) as session, pytest.raises(requests.ReadTimeout):
        session.get(url)


def test_a_long_error_body_is_whole(our_session: Session, server: Server) -> None:
    """By default the engine would truncate it at 1 MiB (B15), and requests would not know."""
    response = our_session.get(server.url("/seq/404", {"size": 2_000_000}, id=server.new_id()))
    assert len(response.content) == 2_000_000


# Streams


def test_a_stream_is_there_before_its_end(session: Session, server: Server) -> None:
    """Given a body of which half arrives; in pieces as they arrive, if they are chunks."""
    for parameters in ({}, {"chunked": ""}):
        url = server.url("/seq/stall:body", {"id": server.new_id(), "size": 320, **parameters})
        with session.get(url, stream=True) as response:
            assert (response.status_code, len(response.headers) > 0) == (200, True)
            pieces = response.iter_content(160)
            assert len(next(pieces)) == 160
        url = server.url("/seq/200", {"id": server.new_id(), "size": 64, "chunked": "", "drip": 16, "every": 20})
        with session.get(url, stream=True) as response:
            assert {len(piece) for piece in response.iter_content(None)} == {16}


def test_what_is_left_early_is_cancelled(session: Session, server: Server) -> None:
    id = server.new_id()
    with session.get(server.url("/seq/200", id=id, size="endless"), stream=True) as response:
        assert len(response.raw.read(100_000)) == 100_000
    server.seen(id, ended=True)


def test_a_stream_keeps_its_connection(session: Session, server: Server) -> None:
    """Given streams that are read to their end: with a length, in chunks, and with neither."""
    id = server.new_id()
    for path, parameters in (("/seq/200", {}), ("/seq/200", {"chunked": ""}), ("/seq/204", {}), ("/seq/404", {})):
        for _ in range(3):
            url = server.url(path, {"id": id, "size": 100_000, **parameters})
            with session.get(url, stream=True) as response:
                assert len(response.content) == (0 if path == "/seq/204" else 100_000)
    assert len({seen["connection"] for seen in server.seen(id)}) == 1


def test_a_stream_that_breaks_off(session: Session, server: Server) -> None:
    cases: list[tuple[dict[str, Any], type[Exception]]] = [
        ({"close_after": 500}, requests.exceptions.ChunkedEncodingError),
        ({"close_after": 500, "chunked": ""}, requests.exceptions.ChunkedEncodingError),
        ({"stall_after": 500}, requests.ConnectionError),
    ]
    for parameters, kind in cases:
        url = server.url("/seq/200", {"id": server.new_id(), "size": 1000, **parameters})
        with session.get(url, stream=True, timeout=1) as response:
            assert response.status_code == 200
            with pytest.raises(kind):
                list(response.iter_content(100))


def test_f59_without_stream_it_is_retried(our_session: Session, server: Server) -> None:
    url = server.url("/seq/200,200", {"id": server.new_id(), "size": 1000, "1.close_after": 500})
    assert len(our_session.get(url).content) == 1000


def test_a_stream_has_had_its_retries(our_session: Session, server: Server) -> None:
    url = server.url("/seq/503,200", {"id": server.new_id(), "size": 1000})
    with our_session.get(url, stream=True) as response:
        assert len(response.content) == 1000


@pytest.mark.parametrize("size", [0, 1, 3_000_000])
def test_a_file_is_sent_from_where_it_is(session: Session, server: Server, tmp_path: Path, size: int) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"before" + b"x" * size)
    kinds: list[Any] = [lambda: path.open("rb"), lambda: io.BytesIO(path.read_bytes())]
    if sys.version_info < (3, 13):  # From 3.13 on, requests takes the packed file's length as the body's.
        kinds.append(lambda: gzipped(path))
    for open_file in kinds:
        id = server.new_id()
        with open_file() as file:
            file.read(6)
            assert session.put(server.url("/seq/200", id=id), data=file).status_code == 200
        (seen,) = server.seen(id)
        assert (seen["body_length"], seen["body_complete"]) == (size, True)


def gzipped(path: Path) -> Any:
    """A file that only Python can read, and that can be rewound."""
    packed = path.with_suffix(".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    return gzip.open(packed)


def test_pieces_are_sent_as_they_come(session: Session, server: Server) -> None:
    """In the thread that waits, as with requests: of a generator that waits for another response."""
    threads: set[int] = set()
    source = session.get(server.url("/seq/200", id=server.new_id(), size=3_000_000), stream=True)

    def pieces() -> Iterator[bytes]:
        for piece in source.iter_content(100_000):
            threads.add(threading.get_ident())
            yield piece

    for stream in (False, True):
        data = pieces() if not stream else iter([b"a", b"", b"b"])
        with session.put(server.url("/echo", id=server.new_id()), data=data, stream=stream) as response:
            assert response.json()["body_length"] == (2 if stream else 3_000_000)
    assert threads == {threading.get_ident()}


def test_r3_what_can_be_rewound_is_sent_again(our_session: Session, server: Server, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"hello")
    bodies: list[tuple[Any, int]] = [
        (["he", b"llo"], 200),
        (io.BytesIO(b"hello"), 200),
        (path.open("rb"), 200),
        (gzipped(path), 200),
        (iter([b"hello"]), 503),
    ]
    for data, status in bodies:
        for stream in (False, True):
            id = server.new_id()
            url = server.url("/seq/503,200", id=id)
            if status == 503:
                data = iter([b"hello"])
            # As a prepared request, because requests takes a list for a form.
            request = our_session.prepare_request(requests.Request("PUT", url))
            request.body = data
            del request.headers["Content-Length"]
            assert our_session.send(request, stream=stream).status_code == status
            assert {seen["body_start"] for seen in server.seen(id)} == {"hello"}
            if hasattr(data, "seek"):
                data.seek(0)
        if hasattr(data, "close"):
            data.close()


@pytest.mark.parametrize("stream", [False, True])
def test_what_a_body_raises_comes_out(session: Session, server: Server, stream: bool) -> None:
    def pieces(error: Exception) -> Iterator[bytes]:
        yield b"a"
        raise error

    url = server.url("/echo", id=server.new_id())
    with pytest.raises(KeyError):
        session.put(url, data=pieces(KeyError()), stream=stream)
    with pytest.raises(requests.ConnectionError):
        session.put(url, data=pieces(OSError()), stream=stream)


def test_b15_bodies_that_go_both_ways_at_once(our_session: Session, server: Server) -> None:
    """Given a server that answers before it has read the body, and more data than the buffer holds."""
    given: list[int] = []

    def pieces() -> Iterator[bytes]:
        for _ in range(200):
            given.append(1)
            yield b"x" * 100_000

    url = server.url("/seq/200", id=server.new_id(), size=20_000_000, early="")
    with our_session.put(url, data=pieces(), stream=True) as response:
        body = b"".join(response.iter_content(100_000))
    assert body == b"".join(b"%015d\n" % (offset % 1_000_000) for offset in range(0, 20_000_000, 16))


@pytest.mark.parametrize("is_sized", [True, False])
def test_a_stream_comes_back_for_a_body_that_is_read(session: Session, server: Server, is_sized: bool) -> None:
    """Given more data than the buffer holds, after a request body of known or unknown length."""
    url = server.url("/seq/200", id=server.new_id(), size=5_000_000)
    headers = {"Content-Length": "10"} if is_sized else {}
    request = session.prepare_request(requests.Request("PUT", url, data=iter([b"hello", b"there"])))
    request.headers.update(headers)
    if is_sized:
        del request.headers["Transfer-Encoding"]
    with session.send(request, stream=True) as response:
        assert sum(map(len, response.iter_content(100_000))) == 5_000_000


def test_certificates(session: Session, tls_server: Server) -> None:
    files = tls_server.files
    certificate, key = files["client_certificate"], files["client_key"]
    url = tls_server.url("/seq/200", kind="https_client", id=tls_server.new_id())
    assert session.get(url, verify=tls_server.ca, cert=(certificate, key)).status_code == 200
    with pytest.raises(requests.RequestException):
        session.get(url, verify=tls_server.ca, cert=(files["stranger_certificate"], files["stranger_key"]))
    with pytest.raises(OSError, match="invalid path: /nowhere"):
        session.get(url, verify=tls_server.ca, cert="/nowhere")


def test_what_the_session_says_is_not_said_to_the_adapter() -> None:
    make_adapter: Any = RetryAdapter
    for setting in ("proxy", "ca_file", "ca_path", "tls_verify"):
        with pytest.raises(TypeError, match=setting):
            make_adapter(**{setting: "x"})


@pytest.mark.filterwarnings("ignore::urllib3.exceptions.InsecureRequestWarning")
def test_f135_verify_is_as_in_requests(session: Session, tls_server: Server, tmp_path: Path) -> None:
    """F135: given a file, a directory and a path object with the right certificates, and verification that is off."""
    folder, empty = ca_folder(tls_server.ca, tmp_path / "ca"), tmp_path / "empty"
    empty.mkdir()
    # requests uses the connections of path objects also for True, which comes before them for that reason.
    for verify in (True, tls_server.ca, str(folder), folder, Path(tls_server.ca), False, str(empty)):
        url = tls_server.url("/seq/200", kind="https", id=tls_server.new_id())
        if verify in (True, str(empty)):
            with pytest.raises(requests.exceptions.SSLError):
                session.get(url, verify=verify)
        else:
            assert session.get(url, verify=verify).status_code == 200


def test_f135_a_request_without_verification_is_warned_about(session: Session, tls_server: Server) -> None:
    """F135: given verify=False, urllib3's warning."""
    url = tls_server.url("/seq/200", kind="https", id=tls_server.new_id())
    with pytest.warns(urllib3.exceptions.InsecureRequestWarning, match=r"host '127\.0\.0\.1'"):
        session.get(url, verify=False)


@pytest.mark.parametrize("name", ["REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
def test_f135_the_environment_says_what_to_trust(
    session: Session, tls_server: Server, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """F135: given the variable of requests, and a session that does not look at the environment."""
    for each in ("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"):
        monkeypatch.delenv(each, raising=False)
    monkeypatch.setenv(name, tls_server.ca)
    url = tls_server.url("/seq/200", kind="https", id=tls_server.new_id())
    assert session.get(url).status_code == 200
    session.trust_env = False
    with pytest.raises(requests.exceptions.SSLError):
        session.get(url)


def test_a_session_works_in_a_child_of_fork(our_session: Session, server: Server) -> None:
    url = server.url("/seq/200", id=server.new_id())
    assert our_session.get(url).status_code == 200

    def work() -> None:
        assert our_session.get(url).status_code == 200
        our_session.close()

    in_child(work)
    assert our_session.get(url).status_code == 200


def test_it_is_imported_only_when_it_is_used() -> None:
    program = """
    import boxretry.aio, boxretry.testing
    print(sorted({"requests", "httpx", "box_sdk_gen", "urllib3"} & sys.modules.keys()))
    """
    assert end_of(start(program)) == (0, "[]\n", "")


def test_the_strategy_may_be_the_first_argument() -> None:
    strategy = RetryStrategy(max_attempts=2, retry_base_interval=0)
    adapter = pickle.loads(pickle.dumps(RetryAdapter(strategy, deadline=60)))
    with ScriptedServer([503]) as server, session_with(adapter) as session:
        assert session.get(server.url).status_code == 503
    assert len(server.requests) == 2


def test_a_setting_that_there_is_not_is_refused_at_once() -> None:
    adapter: Any = RetryAdapter
    with pytest.raises(TypeError, match=r"Client\(\) has no argument 'max_retries': use strategy="):
        adapter(max_retries=3)


def test_f132_a_stream_outlives_its_session(server: Server) -> None:
    """F132: given a session that is closed while a response is being read, and another that shares its adapter."""
    adapter = ours()
    url = server.url("/seq/200", id=server.new_id(), size=300_000, every=1, drip=30_000)
    with session_with(adapter) as session:
        response = session.get(url, stream=True)
    with session_with(adapter) as other:
        assert other.get(server.url("/seq/204", id=server.new_id())).status_code == 204
    assert len(response.content) == 300_000


def test_f132_closing_one_session_leaves_the_requests_of_another(server: Server) -> None:
    """F132: given a request in progress of one session while another, with the same adapter, is closed."""
    adapter = ours()
    id = server.new_id()
    results: list[int] = []
    with session_with(adapter) as session:
        url = server.url("/seq/200", id=id, first=300)
        thread = threading.Thread(target=lambda: results.append(session.get(url).status_code))
        thread.start()
        server.seen(id, requests=1)
        session_with(adapter).close()
        thread.join()
    assert results == [200]


def test_f133_header_bytes_above_0x7f_are_as_the_package_has_them(session: Session) -> None:
    """F133: given a header in UTF-8 and one in Latin-1; and text that is sent, which becomes Latin-1."""
    answer = Answer(200, {"X-Utf8": "grün".encode(), "X-Latin": "grün".encode("latin-1")})
    with ScriptedServer([answer]) as server:
        response = session.get(server.url, headers={"X-Mine": "grün"})
    assert response.headers["X-Utf8"].encode("latin-1") == "grün".encode()
    assert response.headers["X-Latin"] == "grün"
    assert (server.requests[0].header("X-Mine") or "").encode("latin-1") == "grün".encode("latin-1")


def test_f133_a_location_with_bytes_above_0x7f_is_followed(session: Session) -> None:
    """F133: given a Location in UTF-8."""
    with ScriptedServer([Answer(301, {"Location": "/š".encode()}), 200]) as server:
        assert session.get(server.url).url == server.url + "/%C5%A1"
    assert server.requests[1].target == "/%C5%A1"


class Encrypting(io.BufferedReader):
    """A file whose read() returns other data than the file on the disk."""

    def read(self, size: int | None = -1) -> bytes:
        return super().read(size).swapcase()


class Wrapping:
    """The same, as a wrapper with the attributes of the wrapped object."""

    mode = "rb"

    def __init__(self, file: Any) -> None:
        self.file = file

    def fileno(self) -> int:
        return int(self.file.fileno())

    def read(self, size: int = -1) -> bytes:
        return bytes(self.file.read(size).swapcase())

    def close(self) -> None:
        self.file.close()


@pytest.mark.parametrize(
    "wrap", [lambda path: Encrypting(io.FileIO(path)), lambda path: Wrapping(path.open("rb"))], ids=["subclass", "file"]
)
def test_f138_the_read_of_a_wrapper_wins(session: Session, tmp_path: Path, wrap: Callable[[Path], Any]) -> None:
    """F138: given a file-like body whose own read() returns other data than the wrapped file."""
    (tmp_path / "a").write_bytes(b"secret " * 1000)
    with ScriptedServer([200]) as server, contextlib.closing(wrap(tmp_path / "a")) as file:
        session.put(server.url, data=file)
    assert server.requests[0].body == b"SECRET " * 1000


@pytest.mark.parametrize(
    "make",
    [bytearray, memoryview, lambda data: array.array("B", data), lambda data: mapped(data)],
    ids=["bytearray", "memoryview", "array", "mmap"],
)
def test_f139_what_lies_in_memory_is_sent(our_session: Session, make: Callable[[bytes], Any]) -> None:
    """F139: given bytes in an object other than bytes."""
    with ScriptedServer([503, 200]) as server:
        assert our_session.put(server.url, data=make(b"abc" * 1000)).status_code == 200
    assert [seen.body for seen in server.requests] == [b"abc" * 1000] * 2


def mapped(data: bytes) -> mmap.mmap:
    memory = mmap.mmap(-1, len(data))
    memory.write(data)
    memory.seek(0)
    return memory


@pytest.mark.parametrize("timeout", [0, -1, True, (0.1, 0), (1, 2, 3), "foo", (3, "foo")], ids=repr)
def test_a_timeout_that_requests_refuses_is_refused(session: Session, timeout: Any) -> None:
    with pytest.raises(ValueError, match=r"(?i)timeout"):
        session.get("http://127.0.0.1:9/", timeout=timeout)


def test_urllib3s_timeouts_are_understood(session: Session, server: Server) -> None:
    url = server.url("/seq/stall", id=server.new_id())
    with pytest.raises(requests.ReadTimeout, match="Read timed out"):
        session.get(url, timeout=urllib3.Timeout(connect=5, read=0.05))
    assert session.get(server.url("/seq/200", id=server.new_id()), timeout=urllib3.Timeout(None)).status_code == 200


def test_f137_a_body_that_breaks_off(session: Session, server: Server) -> None:
    """F137: given a body that ends before its Content-Length, and invalid chunks."""
    for item in ("short", "reset:body"):
        with pytest.raises((requests.exceptions.ChunkedEncodingError, requests.ConnectionError)) as raised:
            _ = session.get(server.url(f"/seq/{item}", id=server.new_id())).content
        assert type(raised.value) is requests.exceptions.ChunkedEncodingError


def test_f137_a_ca_file_without_certificates(session: Session, tls_server: Server, tmp_path: Path) -> None:
    """F137: given a CA file that exists, with text in it."""
    (tmp_path / "ca.pem").write_text("not a certificate\n")
    with pytest.raises(requests.exceptions.SSLError):
        session.get(tls_server.url("/seq/200", kind="https", id=tls_server.new_id()), verify=str(tmp_path / "ca.pem"))


def test_f137_a_client_certificate_file_without_a_certificate(
    session: Session, tls_server: Server, tmp_path: Path
) -> None:
    """F137: given a file that exists, with text in it."""
    (tmp_path / "client.pem").write_text("not a certificate\n")
    url = tls_server.url("/seq/200", kind="https_client", id=tls_server.new_id())
    with pytest.raises(requests.exceptions.SSLError):
        session.get(url, verify=tls_server.ca, cert=str(tmp_path / "client.pem"))


@pytest.mark.filterwarnings("ignore::urllib3.exceptions.InsecureRequestWarning")
def test_f137_a_missing_client_certificate(session: Session, tls_server: Server) -> None:
    """F137: given a server that refuses during the handshake, and one that refuses after it, as TLS 1.3 does."""
    with (
        server_that_wants_a_certificate(tls_server.files) as url,
        pytest.raises(requests.exceptions.SSLError),
    ):
        session.get(url, verify=False)
    with pytest.raises(requests.ConnectionError) as raised:
        session.get(tls_server.url("/seq/200", kind="https_client", id=tls_server.new_id()), verify=tls_server.ca)
    assert type(raised.value) in (requests.exceptions.SSLError, requests.ConnectionError)


def test_f137_a_refused_connect(session: Session, tls_server: Server) -> None:
    """F137: given a proxy that answers CONNECT with 403."""
    url = tls_server.url("/seq/200", kind="https", id=tls_server.new_id())
    with tunnel_proxy(is_refusing=True) as proxy, pytest.raises(requests.exceptions.ProxyError, match="403"):
        session.get(url, verify=tls_server.ca, proxies={"https": proxy.url})
    assert {head.split()[0] for head in proxy.heads} == {"CONNECT"}


def test_f137_a_proxy_without_a_host_is_refused(session: Session) -> None:
    """F137: given a proxy's URL that requests refuses."""
    for proxy in ("http:/badproxyurl:3128", "http://:3128", "/badproxyurl:3128"):
        with pytest.raises(requests.exceptions.InvalidProxyURL):
            session.get("http://127.0.0.1:9/", proxies={"http": proxy})


def test_the_version_of_a_response_is_told(session: Session) -> None:
    with ScriptedServer([200]) as server:
        assert session.get(server.url).raw.version == 11


@pytest.mark.parametrize("stream", [False, True])
def test_f136_the_servers_own_reason_phrase_is_kept(session: Session, server: Server, stream: bool) -> None:
    """F136: given the server's own phrase, an empty one, and one with a byte above 0x7F."""
    for line, reason in (
        ("404 Gone fishing", "Gone fishing"),
        ("200 ", ""),
        ("200 Fäin", "Fäin"),
    ):
        url = server.url("/seq/200", id=server.new_id(), status_line=f"HTTP/1.1 {line}")
        response = session.get(url, stream=stream)
        assert (response.reason, response.raw.reason) == (reason, reason)
        if response.status_code == 404:
            with pytest.raises(requests.HTTPError, match="404 Client Error: Gone fishing"):
                response.raise_for_status()


@pytest.mark.parametrize("timeout", [(0.1, None), urllib3.Timeout(connect=0.1)], ids=["pair", "urllib3"])
def test_f131_the_connect_timeout_bounds_connecting_alone(our_session: Session, server: Server, timeout: Any) -> None:
    """F131: given a full backlog, ConnectTimeout after that time for each attempt; reading may take longer."""
    with pytest.raises(requests.ConnectTimeout) as raised:
        our_session.get(f"http://127.0.0.1:{server.ports['backlog']}/", timeout=timeout)
    assert [attempt.cause for attempt in raised.value.__cause__.attempts] == [Cause.CONNECT] * 3
    slow = server.url("/seq/200", id=server.new_id(), first=300)
    assert our_session.get(slow, timeout=timeout).status_code == 200


@pytest.mark.parametrize("no_proxy", ["somewhere.invalid", "*"])
def test_f140_a_given_proxy_wins_over_the_environment(
    session: Session, monkeypatch: pytest.MonkeyPatch, no_proxy: str
) -> None:
    """F140: given `proxies=` for the request, NO_PROXY for its host, and another proxy in the environment."""
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, no_proxy)
    with ScriptedServer([200]) as given, ScriptedServer([204]) as other:
        monkeypatch.setenv("http_proxy", other.url)
        assert session.trust_env
        assert session.get("http://somewhere.invalid/x", proxies={"http": given.url}).status_code == 200
    assert [request.target for request in given.requests] == ["http://somewhere.invalid/x"]
    assert other.requests == []


def test_f140_without_trust_env_the_environment_has_no_proxies(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F140: given `trust_env=False` and a proxy in the environment, the server itself gets the request."""
    session.trust_env = False
    with ScriptedServer([200]) as server, ScriptedServer([204]) as proxy:
        for name in ("http_proxy", "all_proxy", "ALL_PROXY"):
            monkeypatch.setenv(name, proxy.url)
        assert session.get(server.url).status_code == 200
    assert (len(server.requests), proxy.requests) == (1, [])


def test_f143_an_error_is_there_before_its_body(our_session: Session) -> None:
    """F143: given stream=True and a 404 whose body arrives after the caller has seen the head."""
    with late_body() as (url, head_seen):
        response = our_session.get(url, stream=True)
        assert response.status_code == 404
        head_seen.set()
        assert b"".join(response.iter_content(5)) == BODY


def test_f142_a_reader_may_take_longer_than_the_timeout(our_session: Session) -> None:
    """F142: given a body larger than the buffer, and a reader that pauses for longer than the timeout."""
    body = b"x" * 8_000_000
    with ScriptedServer([Answer(200, body=body)]) as server:
        response = our_session.get(server.url, stream=True, timeout=1)
        pieces = response.iter_content(1000)
        first = next(pieces)
        threading.Event().wait(2)  # The pause is the subject of the test.
        assert first + b"".join(pieces) == body


def test_a_caller_who_removes_headers_gets_his_way(session: Session) -> None:
    with ScriptedServer([Answer(200)]) as server:
        session.get(server.url, headers={"Accept": None, "User-Agent": urllib3.util.SKIP_HEADER})
        names = {name.lower() for name, _ in server.requests[0].headers}
        assert names.isdisjoint({"accept", "user-agent"})


def test_the_bytes_of_a_prepared_url_are_sent_as_they_are(session: Session) -> None:
    with ScriptedServer([Answer(200)]) as server:
        request = session.prepare_request(requests.Request("GET", server.url))
        request.url = server.url.rstrip("/") + "/a/../b/./c?x=/../y"
        session.send(request)
        assert server.requests[0].target == "/a/../b/./c?x=/../y"

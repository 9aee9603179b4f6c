"""The network client for the Box SDK: the SDK on its own client and on this engine, against a scripted Box."""

from __future__ import annotations

import gc
import gzip
import io
import re
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Callable

import pytest
from box import CONTENT, Box, box
from test_fork import in_child

pytest.importorskip("box_sdk_gen")

import box_sdk_gen
from box_sdk_gen import (
    BoxAPIError,
    BoxCCGAuth,
    BoxClient,
    BoxDeveloperTokenAuth,
    BoxSDKError,
    CCGConfig,
    CreateFolderParent,
    UploadFileAttributes,
    UploadFileAttributesParentField,
)
from box_sdk_gen.networking.base_urls import BaseUrls
from box_sdk_gen.networking.box_network_client import BoxNetworkClient
from box_sdk_gen.networking.fetch_options import FetchOptions, ResponseFormat
from box_sdk_gen.networking.network import NetworkSession
from box_sdk_gen.networking.proxy_config import ProxyConfig
from box_sdk_gen.networking.retries import BoxRetryStrategy, RetryStrategy

from boxretry import CancelledError, ConnectError, IdleTimeoutError, NetworkError
from boxretry.integrations.box_sdk import RetryNetworkClient
from boxretry.testing import Answer, Fault, ScriptedServer

pytestmark = pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")

TimeoutConfig: Any = getattr(box_sdk_gen, "TimeoutConfig", None)
needs_timeout_config = pytest.mark.skipif(TimeoutConfig is None, reason="this version has no TimeoutConfig")

FOLDER = "/2.0/folders/0"
DOWNLOAD = "/2.0/files/2/content"
UPLOAD = "/up/2.0/files/content"


@pytest.fixture
def scripted_box() -> Iterator[Box]:
    with box() as scripted:
        yield scripted


@pytest.fixture(params=["theirs", "ours"])
def network_client(request: Any) -> Any:
    """Both kinds: each test must pass for both."""
    return BoxNetworkClient() if request.param == "theirs" else RetryNetworkClient()


def box_client(scripted: Box, network_client: Any, auth: Any = None, **settings: Any) -> BoxClient:
    session = NetworkSession(
        network_client=network_client,
        base_urls=BaseUrls(base_url=scripted.url, upload_url=scripted.url + "/up", oauth_2_url=scripted.url),
        **{"retry_strategy": BoxRetryStrategy(retry_base_interval=0), **settings},
    )
    config = CCGConfig(client_id="id", client_secret="secret", enterprise_id="1")
    return BoxClient(auth=auth or BoxCCGAuth(config=config), network_session=session)


@pytest.fixture
def client(scripted_box: Box, network_client: Any) -> BoxClient:
    return box_client(scripted_box, network_client)


def upload(client: BoxClient, stream: Any = None) -> Any:
    parent = UploadFileAttributesParentField(id="0")
    attributes = UploadFileAttributes(name="a.bin", parent=parent)
    return client.uploads.upload_file(attributes, stream or io.BytesIO(CONTENT))


def download(client: BoxClient) -> bytes:
    stream = client.downloads.download_file("2")
    assert stream is not None
    return stream.read()


def test_a_folder(scripted_box: Box, client: BoxClient) -> None:
    folder = client.folders.get_folder_by_id("0", fields=["name", "id"])
    assert (folder.id, folder.name) == ("0", "a folder")
    assert client.folders.create_folder("new", CreateFolderParent(id="0")).name == "new"
    (seen,) = scripted_box.seen(FOLDER)
    assert seen.target == FOLDER + "?fields=name%2Cid"
    assert seen.header("Authorization") == "Bearer token-1"
    assert (seen.header("User-Agent") or "").startswith("box-python-generated-sdk-")


def test_an_upload(scripted_box: Box, client: BoxClient) -> None:
    assert upload(client).entries[0].id == "2"
    (seen,) = scripted_box.seen(UPLOAD)
    assert CONTENT in seen.body
    assert b'"name": "a.bin"' in seen.body


def test_a_download_follows_a_redirect_to_another_host(scripted_box: Box, client: BoxClient) -> None:
    """And goes there without the token."""
    assert download(client) == CONTENT
    assert scripted_box.seen(DOWNLOAD)[0].header("Authorization") == "Bearer token-1"
    assert scripted_box.storage.requests[0].header("Authorization") is None
    assert client.downloads.get_download_file_url("2").endswith("/stored")
    assert len(scripted_box.storage.requests) == 1
    sink = io.BytesIO()
    client.downloads.download_file_to_output_stream("2", sink)
    assert sink.getvalue() == CONTENT


def test_b3_a_401_refreshes_the_token(scripted_box: Box, client: BoxClient) -> None:
    client.folders.get_folder_by_id("0")
    scripted_box.valid_token = "another"
    client.folders.get_folder_by_id("0")
    tokens = [seen.header("Authorization") for seen in scripted_box.seen(FOLDER)]
    assert tokens == ["Bearer token-1", "Bearer token-1", "Bearer token-2"]
    assert len(scripted_box.seen("/oauth2/token")) == 2


@pytest.mark.parametrize("fault", [429, 503, 500])
def test_b3_a_fault_is_retried(scripted_box: Box, client: BoxClient, fault: int) -> None:
    scripted_box.faults[FOLDER] = [Answer(fault, {"Retry-After": "0"})] * 3
    assert client.folders.get_folder_by_id("0").id == "0"
    assert len(scripted_box.seen(FOLDER)) == 4


def test_b3_202_is_polled(scripted_box: Box, client: BoxClient) -> None:
    scripted_box.faults[DOWNLOAD] = [Answer(202, {"Retry-After": "0"})] * 2
    assert download(client) == CONTENT
    assert len(scripted_box.seen(DOWNLOAD)) == 3


def test_b5_there_are_five_attempts(scripted_box: Box, client: BoxClient) -> None:
    body = '{"code": "unavailable", "message": "later", "request_id": "abc", "context_info": {"a": 1}}'
    scripted_box.faults[FOLDER] = [Answer(503, {"X-A": "b"}, body)] * 9
    with pytest.raises(BoxAPIError, match=r"503 later; Request ID: abc") as raised:
        client.folders.get_folder_by_id("0")
    assert len(scripted_box.seen(FOLDER)) == 5
    info = raised.value.response_info
    assert (info.status_code, info.code, info.request_id, info.raw_body) == (503, "unavailable", "abc", body)
    assert info.context_info == {"a": 1}
    assert info.headers["X-A"] == "b"
    asked = raised.value.request_info
    assert (asked.method, asked.url) == ("GET", scripted_box.url + FOLDER)
    assert "token-1" not in str(raised.value)


def test_an_error_that_is_not_retried(scripted_box: Box, client: BoxClient) -> None:
    with pytest.raises(BoxAPIError, match="404 Not Found; Request ID: abc") as raised:
        client.files.get_file_by_id("9")
    assert raised.value.response_info.help_url == "help"
    assert len(scripted_box.seen("/2.0/files/9")) == 1


def test_b3_network_exceptions_are_retried_twice(scripted_box: Box, client: BoxClient) -> None:
    scripted_box.faults[FOLDER] = [Fault.HANG_UP] * 2
    assert client.folders.get_folder_by_id("0").id == "0"
    assert len(scripted_box.seen(FOLDER)) >= 3
    scripted_box.faults[FOLDER] = [Fault.HANG_UP] * 99
    with pytest.raises(BoxSDKError) as raised:
        client.folders.get_folder_by_id("0")
    assert not isinstance(raised.value, BoxAPIError)
    assert isinstance(raised.value.error, Exception)


def test_r3_streams_are_sent_again_from_where_they_began(scripted_box: Box, client: BoxClient) -> None:
    scripted_box.faults[UPLOAD] = [Answer(503, {"Retry-After": "0"})]
    stream = io.BytesIO(b"before" + CONTENT)
    stream.seek(6)
    upload(client, stream)
    first, second = scripted_box.seen(UPLOAD)
    for seen in (first, second):
        assert CONTENT in seen.body
        assert b"before" not in seen.body


def test_r3_a_stream_that_cannot_be_sent_again_is_not(scripted_box: Box, client: BoxClient) -> None:
    class OneWay(io.BytesIO):
        def seekable(self) -> bool:
            return False

    scripted_box.faults[UPLOAD] = [Answer(503, {"Retry-After": "0"})]
    with pytest.raises(BoxSDKError, match="non-seekable"):
        upload(client, OneWay(CONTENT))
    assert len(scripted_box.seen(UPLOAD)) == 1


def test_a_download_comes_as_it_is_read(server: Any) -> None:
    """Given an endless body, of which some is read; and one that breaks off."""
    id, network_client = server.new_id(), RetryNetworkClient()

    def get(**parameters: Any) -> Any:
        url = server.url("/seq/200", {"id": id, **parameters})
        return network_client.fetch(FetchOptions(url, "GET", response_format=ResponseFormat.BINARY))

    response = get(size="endless")
    assert (response.status, len(response.headers) > 0) == (200, True)
    assert response.content.read(1_000_000)[:16] == b"000000000000000\n"
    response = get(size=100_000, close_after=50_000)
    with pytest.raises(BoxSDKError) as raised:
        response.content.read(100_000)
    assert isinstance(raised.value.error, NetworkError)
    del response
    gc.collect()
    server.seen(id, ended=True)


def test_an_upload_is_read_while_it_is_sent(scripted_box: Box, client: BoxClient) -> None:
    """Given more data than any buffer takes, read in pieces and by the thread that waits."""
    reads: list[tuple[int, int]] = []

    class Counts(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            piece = super().read(size)
            reads.append((len(piece), threading.get_ident()))
            return piece

    upload(client, Counts(CONTENT * 40))
    (seen,) = scripted_box.seen(UPLOAD)
    assert CONTENT * 40 in seen.body
    assert seen.header("Content-Length") is not None
    assert max(size for size, _ in reads) <= 1_000_000
    assert {thread for _, thread in reads} == {threading.get_ident()}


def test_a_stream_that_cannot_be_read(scripted_box: Box, client: BoxClient) -> None:
    class Fails(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            if size:
                raise OSError("mine")
            return b""

    with pytest.raises(BoxSDKError, match="mine"):
        upload(client, Fails(CONTENT))


@needs_timeout_config
def test_a_time_out_is_a_network_exception(scripted_box: Box, network_client: Any) -> None:
    client = box_client(scripted_box, network_client, timeout_config=TimeoutConfig(read_timeout_ms=100))
    scripted_box.faults[FOLDER] = [Fault.SILENCE, Fault.SILENCE]
    assert client.folders.get_folder_by_id("0").id == "0"
    scripted_box.faults[FOLDER] = [Fault.SILENCE] * 3
    with pytest.raises(BoxSDKError, match=r"(?i)time"):
        client.folders.get_folder_by_id("0")


class ThreeTimes(RetryStrategy):
    """A user's own strategy, which is called for every outcome."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.asked: list[tuple[int, int]] = []

    def should_retry(self, fetch_options: Any, fetch_response: Any, attempt_number: int) -> bool:
        self.asked.append((fetch_response.status, attempt_number))
        if fetch_response.status == 401:
            fetch_options.auth.refresh_token(network_session=fetch_options.network_session)
        return bool(fetch_response.status >= 400 or fetch_response.status == 0)

    def retry_after(self, fetch_options: Any, fetch_response: Any, attempt_number: int) -> float:
        return 0


def test_b9_a_strategy_of_the_sdk_is_asked(scripted_box: Box, network_client: Any) -> None:
    """Also one that sends requests itself, to refresh the token."""
    strategy = ThreeTimes()
    client = box_client(scripted_box, network_client, retry_strategy=strategy)
    scripted_box.faults[FOLDER] = [404, Fault.HANG_UP, Fault.HANG_UP, 401]
    assert client.folders.get_folder_by_id("0").id == "0"
    asked = [each for each in strategy.asked if each != (200, 1)]  # Those are about tokens.
    # The engine may have sent it again immediately, if a kept connection was closed (B13).
    attempts = len(asked)
    assert asked[:2] == [(404, 1), (0, 1)]
    assert asked[-2:] == [(401, attempts - 1), (200, attempts)]


def test_a_proxy(scripted_box: Box, network_client: Any) -> None:
    with ScriptedServer([Answer(200, {}, '{"type": "folder", "id": "7"}')]) as proxy:
        auth = BoxDeveloperTokenAuth(token="token")
        client = box_client(scripted_box, network_client, auth).with_proxy(
            ProxyConfig(url=proxy.url, username="u", password="p")
        )
        assert client.folders.get_folder_by_id("0").id == "7"
    assert [seen.target for seen in proxy.requests] == [scripted_box.url + FOLDER]
    assert proxy.requests[0].header("Proxy-Authorization") == "Basic dTpw"


@pytest.mark.parametrize(("status", "then"), [(302, "GET"), (303, "GET"), (307, "POST"), (308, "POST")])
def test_redirects(scripted_box: Box, client: BoxClient, status: int, then: str) -> None:
    scripted_box.faults["/2.0/folders"] = [Answer(status, {"Location": FOLDER})]
    assert client.folders.create_folder("new", CreateFolderParent(id="0")).id == "0"
    (seen,) = scripted_box.seen(FOLDER)
    assert (seen.method, bool(seen.body)) == (then, then == "POST")


def test_redirects_without_end(scripted_box: Box, client: BoxClient) -> None:
    scripted_box.faults[FOLDER] = [Answer(302, {"Location": FOLDER})] * 999
    with pytest.raises(BoxSDKError, match="Exceeded 30 redirects"):
        client.folders.get_folder_by_id("0")


def test_the_server_sees_the_same_from_both(scripted_box: Box) -> None:
    """Given the flows above on each, in turn, then the requests are equal in the parts that matter."""

    def flows(network_client: Any) -> list[tuple[object, ...]]:
        before = len(scripted_box.server.requests)
        scripted_box.valid_token, scripted_box.tokens = "", 0
        scripted_box.faults = {
            FOLDER: [Answer(429, {"Retry-After": "0"}), Answer(503)],
            DOWNLOAD: [Answer(202, {"Retry-After": "0"})],
            UPLOAD: [401],
        }
        client = box_client(scripted_box, network_client)
        client.folders.get_folder_by_id("0", fields=["name"])
        client.folders.create_folder("new", CreateFolderParent(id="0"))
        upload(client)
        download(client)
        return [_what_matters(seen) for seen in scripted_box.server.requests[before:]]

    theirs, ours = flows(BoxNetworkClient()), flows(RetryNetworkClient())
    assert len(theirs) == 10
    assert ours == theirs


def _what_matters(seen: Any) -> tuple[object, ...]:
    boundary = (re.findall("boundary=(.*)", seen.header("Content-Type") or "") or ["no boundary"])[0]
    headers = {
        name.lower(): value.replace(boundary, "")
        for name, value in seen.headers
        if name.lower() not in ("accept", "accept-encoding", "connection", "content-length")
    }
    return seen.method, seen.target, headers, seen.body.replace(boundary.encode(), b"")


@needs_timeout_config
def test_what_ends_without_a_response_has_its_cause(scripted_box: Box, server: Any) -> None:
    client = box_client(scripted_box, RetryNetworkClient(), timeout_config=TimeoutConfig(read_timeout_ms=50))
    scripted_box.faults[FOLDER] = [Fault.SILENCE] * 3
    with pytest.raises(BoxSDKError) as raised:
        client.folders.get_folder_by_id("0")
    assert isinstance(raised.value.error, IdleTimeoutError)
    refused = client.with_proxy(ProxyConfig(url=f"http://127.0.0.1:{server.ports['refused']}"))
    with pytest.raises(BoxSDKError) as raised:
        refused.folders.get_folder_by_id("0")
    assert isinstance(raised.value.error, ConnectError)


@pytest.mark.parametrize("item", ["stall", "200"])
def test_k1_closing_the_network_client_is_an_error_of_the_sdk(server: Any, item: str) -> None:
    """K1. Given a request that waits for its response, and a download that is being read. Nothing is retried."""
    id, network_client = server.new_id(), RetryNetworkClient()
    url = server.url(f"/seq/{item}", id=id, size="endless")

    def download() -> None:
        response = network_client.fetch(FetchOptions(url, "GET", response_format=ResponseFormat.BINARY))
        assert response.content is not None
        while response.content.read(100_000):
            pass

    with ThreadPoolExecutor(1) as pool:
        downloading = pool.submit(download)
        server.seen(id, requests=1)
        network_client.close()
        with pytest.raises(BoxSDKError) as raised:
            downloading.result()
    assert isinstance(raised.value.error, CancelledError)
    assert len(server.seen(id)) == 1


def test_the_settings_that_the_session_says_are_refused() -> None:
    calls: list[Callable[[], object]] = [lambda: RetryNetworkClient(proxy="x"), lambda: RetryNetworkClient(strategy=1)]
    for call in calls:
        with pytest.raises(TypeError, match="NetworkSession"):
            call()


def test_it_works_in_a_child_of_fork(scripted_box: Box) -> None:
    network_client = RetryNetworkClient()
    client = box_client(scripted_box, network_client)
    client.folders.get_folder_by_id("0")

    def work() -> None:
        assert client.folders.get_folder_by_id("0").id == "0"
        network_client.close()

    in_child(work)
    assert client.folders.get_folder_by_id("0").id == "0"
    network_client.close()
    assert client.folders.get_folder_by_id("0").id == "0"


@needs_timeout_config
def test_f131_f144_the_connection_timeout_alone(server: Any) -> None:
    """F131, F144: given a full backlog, the call ends after that time; other values keep their defaults."""
    session = NetworkSession(
        timeout_config=TimeoutConfig(connection_timeout_ms=100), retry_strategy=BoxRetryStrategy(max_attempts=1)
    )

    def fetch(url: str) -> Any:
        return RetryNetworkClient().fetch(FetchOptions(url=url, method="GET", network_session=session))

    with pytest.raises(BoxSDKError) as raised:
        fetch(f"http://127.0.0.1:{server.ports['backlog']}/")
    assert isinstance(raised.value.error, ConnectError)
    assert "timed out" in raised.value.error.detail
    assert fetch(server.url("/seq/200", id=server.new_id(), first=300)).status == 200


def test_f144_a_session_without_timeouts(server: Any) -> None:
    """F144: given None, or the session of a boxsdk before 10.5, then the timeouts have their defaults."""
    session = NetworkSession()
    if TimeoutConfig:
        session.timeout_config = None  # type: ignore[assignment]
    url = server.url("/seq/200", id=server.new_id(), first=300)
    assert RetryNetworkClient().fetch(FetchOptions(url=url, method="GET", network_session=session)).status == 200


@pytest.mark.skipif(TimeoutConfig is not None, reason="this version has TimeoutConfig")
def test_f144_the_connection_timeout_without_timeout_config(server: Any) -> None:
    """F144: given a version of the SDK with fixed timeouts, then its 5 s limit connecting, unless a setting differs."""
    session = NetworkSession(retry_strategy=BoxRetryStrategy(max_attempts=1))
    options = FetchOptions(f"http://127.0.0.1:{server.ports['backlog']}/", "GET", network_session=session)
    for client in (RetryNetworkClient(), RetryNetworkClient(connect_timeout=0.1)):
        with pytest.raises(BoxSDKError, match="timed out"):
            client.fetch(options)


PACKED = gzip.compress(b'{"a": 1}')


def packed_answer(status: int = 200, body: bytes = PACKED) -> Answer:
    return Answer(status, {"Content-Type": "application/json", "Content-Encoding": "gzip"}, body)


@pytest.mark.parametrize("headers", [{}, {"Accept-Encoding": "identity"}, {"range": "bytes=0-"}], ids=str)
def test_f144_gzip_is_decompressed(network_client: Any, headers: dict[str, str]) -> None:
    """F144: given a request for compressed responses, one that refuses them, and one with a Range."""
    answers = [packed_answer(), packed_answer(), packed_answer(400)]
    session = NetworkSession(additional_headers=headers)
    with ScriptedServer(answers) as server:

        def fetch(**options: Any) -> Any:
            return network_client.fetch(FetchOptions(server.url, "GET", network_session=session, **options))

        response = fetch()
        assert (response.data, response.content.read()) == ({"a": 1}, b'{"a": 1}')
        assert response.headers["Content-Encoding"] == "gzip"
        assert fetch(response_format=ResponseFormat.BINARY).content.read() == b'{"a": 1}'
        with pytest.raises(BoxAPIError) as raised:
            fetch(response_format=ResponseFormat.BINARY)
    info = raised.value.response_info
    assert (info.body, info.raw_body) == ({"a": 1}, '{"a": 1}')
    if not headers:
        for seen in server.requests:
            assert (seen.header("Accept-Encoding") or "").startswith("gzip, deflate")


def test_f144_large_responses_are_decompressed(network_client: Any) -> None:
    """F144: given much more data than a reader takes at once, also with a Range."""
    for headers in ({}, {"Range": "bytes=0-"}):
        with ScriptedServer([packed_answer(body=gzip.compress(CONTENT * 9))]) as server:
            options = FetchOptions(server.url, "GET", headers=headers, response_format=ResponseFormat.BINARY)
            stream = network_client.fetch(options).content
            assert stream.read(1000) + stream.read() == CONTENT * 9


def test_f144_w4_half_of_a_compressed_response_is_retried() -> None:
    """F144, W4: the SDK's own client takes it for the response."""
    with ScriptedServer([packed_answer(body=PACKED[:-9]), packed_answer()]) as server:
        session = NetworkSession(retry_strategy=BoxRetryStrategy(retry_base_interval=0))
        options = FetchOptions(server.url, "GET", network_session=session)
        assert RetryNetworkClient().fetch(options).data == {"a": 1}
        assert len(server.requests) == 2


@pytest.mark.parametrize("response_format", [ResponseFormat.BINARY, ResponseFormat.JSON])
def test_f144_what_is_not_gzip_is_an_error(response_format: ResponseFormat) -> None:
    """F144: given the part of a compressed file that does not begin at its start."""
    with ScriptedServer([packed_answer(206, PACKED[5:])]) as server:
        options = FetchOptions(server.url, "GET", headers={"Range": "bytes=5-"}, response_format=response_format)
        with pytest.raises(BoxSDKError, match="gzip"):
            RetryNetworkClient().fetch(options).content.read()  # type: ignore[union-attr]


@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "all_proxy"])
def test_f144_the_proxy_of_the_environment(network_client: Any, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    """F144: given a proxy in the environment, then requests go there, except to hosts that `no_proxy` names."""
    with ScriptedServer([Answer(200, {}, "{}")]) as proxy:
        direct = ScriptedServer([Answer(200, {}, "{}"), Answer(302, {"Location": "http://box.invalid/b"}), Answer(204)])
        with direct:
            monkeypatch.setenv(variable, proxy.url)
            monkeypatch.setenv("no_proxy", "localhost")
            excepted = direct.url.replace("127.0.0.1", "localhost")
            for url in ("http://box.invalid/a", excepted + "/c", excepted + "/redirect"):
                assert network_client.fetch(FetchOptions(url, "GET")).status == 200
            network_client.requests_session.trust_env = False
            assert network_client.fetch(FetchOptions(direct.url + "/d", "GET")).status == 204
    assert [seen.target for seen in proxy.requests] == ["http://box.invalid/a", "http://box.invalid/b"]
    assert [seen.target for seen in direct.requests] == ["/c", "/redirect", "/d"]


def test_f144_a_redirect_to_a_host_without_a_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """F144: requests keeps the first URL's proxy, although its documentation says that `no_proxy` applies."""
    with ScriptedServer([Answer(200, {}, "{}")]) as direct:
        location = direct.url.replace("127.0.0.1", "localhost") + "/a"
        with ScriptedServer([Answer(302, {"Location": location})]) as proxy:
            monkeypatch.setenv("http_proxy", proxy.url)
            monkeypatch.setenv("no_proxy", "localhost")
            assert RetryNetworkClient().fetch(FetchOptions("http://box.invalid", "GET")).status == 200
    assert len(direct.requests) == 1


def test_f144_the_proxy_of_the_session_goes_before_the_environment(
    scripted_box: Box, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy.invalid:1")
    with ScriptedServer([Answer(200, {}, '{"type": "folder", "id": "7"}')]) as proxy:
        client = box_client(scripted_box, RetryNetworkClient(), BoxDeveloperTokenAuth(token="token"))
        assert client.with_proxy(ProxyConfig(url=proxy.url)).folders.get_folder_by_id("0").id == "7"


def test_f144_an_unusable_proxy_is_an_error_of_the_sdk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://:80")
    with pytest.raises(BoxSDKError, match="proxy"):
        RetryNetworkClient().fetch(FetchOptions("http://box.invalid", "GET"))

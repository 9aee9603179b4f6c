"""Client, Call and Response: how arguments are passed, and how results are returned."""

from __future__ import annotations

import copy
import dataclasses
import gc
import inspect
import io
import json
import math
import pickle
import pydoc
import re
import threading
import weakref
from typing import Any, Callable

import pytest

from boxretry import (
    Action,
    Attempt,
    BoxRetryError,
    CancelledError,
    CancelSwitch,
    Cause,
    Client,
    ClientStats,
    ClosedError,
    ConnectError,
    DeadlineError,
    DelaySource,
    Event,
    HTTPStatusError,
    IdleTimeoutError,
    InvalidArgumentError,
    NetworkError,
    Reason,
    RequestSent,
    ResourceTimeoutError,
    Response,
    ResponseHeaders,
    ResponseTooLargeError,
    RetryStrategy,
    Timeout,
    WaitTimeoutError,
    errors,
)
from boxretry._sending.sending import Sending
from boxretry.aio import AsyncClient
from boxretry.enums import Error
from boxretry.options import ClientSettings, RequestArguments

#: The server's class is in another folder.
Server = Any


@pytest.fixture
def client() -> Any:
    with Client(RetryStrategy(retry_base_interval=0.001)) as client:
        yield client


def echo(server: Server, client: Client, **arguments: Any) -> Any:
    """What the server received of a POST."""
    id = server.new_id()
    client.post(server.url("/seq/200", id=id), **arguments)
    (seen,) = server.seen(id)
    return seen


@pytest.mark.parametrize("method", ["get", "post", "put", "patch", "delete", "head", "options"])
def test_there_is_a_method_for_each(server: Server, client: Client, method: str) -> None:
    id = server.new_id()
    assert getattr(client, method)(server.url("/seq/200", id=id), headers={"X-Mine": "1"}).status == 200
    (seen,) = server.seen(id)
    assert seen["method"] == method.upper()
    assert ["X-Mine", "1"] in seen["headers"]


@pytest.mark.parametrize(
    "headers",
    [
        {"X-A": "1", "X-B": "ü"},
        [("X-A", "1"), ("X-B", "ü")],
        [(b"X-A", b"1"), ("X-B", "ü".encode())],
        (pair for pair in [("X-A", "1"), ("X-B", "ü")]),
    ],
)
def test_headers_are_a_mapping_or_pairs(server: Server, client: Client, headers: Any) -> None:
    seen = echo(server, client, headers=headers)
    assert [each for each in seen["headers"] if each[0].startswith("X-")] == [
        ["X-A", "1"],
        ["X-B", "ü".encode().decode("latin-1")],
    ]


@pytest.mark.parametrize(("data", "body"), [("ü", "ü".encode()), (b"\0\xff", b"\0\xff"), ("", b""), (None, b"")])
def test_data_is_the_body(server: Server, client: Client, data: Any, body: bytes) -> None:
    seen = echo(server, client, data=data)
    assert seen["body_start"].encode("latin-1") == body
    assert "content-type" not in {name.lower() for name, _ in seen["headers"]}


FORM = "application/x-www-form-urlencoded"


@pytest.mark.parametrize(
    ("data", "body"),
    [
        ({"name": "ü &", "count": 5, "part": 0.5}, b"name=%C3%BC+%26&count=5&part=0.5"),
        ([("a", "1"), ("a", b"\xff")], b"a=1&a=%FF"),
        ({"a": ["1", None, 2], "b": None}, b"a=1&a=2"),
    ],
)
def test_a_mapping_or_a_list_of_pairs_is_a_form(server: Server, client: Client, data: Any, body: bytes) -> None:
    seen = echo(server, client, data=data)
    assert seen["body_start"].encode() == body
    assert ["Content-Type", FORM] in seen["headers"]


def test_a_form_with_a_type_of_its_own(server: Server, client: Client) -> None:
    seen = echo(server, client, data={"a": "b"}, headers={"content-type": FORM + "; charset=utf-8"})
    assert [value for name, value in seen["headers"] if name.lower() == "content-type"] == [FORM + "; charset=utf-8"]


def test_a_form_without_fields_is_no_body(server: Server, client: Client) -> None:
    seen = echo(server, client, data={})
    assert seen["body_start"] == ""
    assert "content-type" not in {name.lower() for name, _ in seen["headers"]}


def test_a_list_of_pieces_is_no_form(server: Server, client: Client) -> None:
    assert echo(server, client, data=["ab", b"cd"])["body_start"] == "abcd"


def test_fields_beside_files_are_as_in_a_form(server: Server, client: Client) -> None:
    fields = {"count": 5, "tags": ["x", b"y", None], "none": None}
    body = echo(server, client, data=fields, files={"file": b"content"})["body_start"]
    parts = re.findall(r'name="(\w+)"[^\r]*\r\n(?:[^\r]+\r\n)*\r\n(\w*)\r\n', body)
    assert parts == [("count", "5"), ("tags", "x"), ("tags", "y"), ("file", "content")]


def test_json_is_the_body(server: Server, client: Client) -> None:
    value = {"name": "ü", "list": [1, None, True]}
    seen = echo(server, client, json=value)
    assert json.loads(seen["body_start"].encode("latin-1")) == value
    assert ["Content-Type", "application/json"] in seen["headers"]


def test_json_with_a_type_of_its_own(server: Server, client: Client) -> None:
    seen = echo(server, client, json=[], headers={"content-type": "application/x-mine", "X-A": "1"})
    assert [value for name, value in seen["headers"] if name.lower() == "content-type"] == ["application/x-mine"]
    assert ["X-A", "1"] in seen["headers"]


@pytest.mark.parametrize(
    ("url", "params", "target"),
    [
        ("/a", {"x": "1 &", "y": ["2", "ü"]}, "/a?x=1+%26&y=2&y=%C3%BC"),
        ("/a?b", [("x", 1), ("x", 2)], "/a?b&x=1&x=2"),
        ("/a#part", {"x": 1}, "/a?x=1"),
        ("/a", {"x": None, "y": [1, None]}, "/a?y=1"),
        ("/a", {}, "/a"),
        (b"/a", {"x": 1}, "/a?x=1"),
    ],
)
def test_params_stand_behind_the_question_mark(
    server: Server, client: Client, url: Any, params: Any, target: str
) -> None:
    base: Any = f"http://127.0.0.1:{server.ports['http']}"
    if isinstance(url, bytes):
        base = base.encode()
    response = client.get(base + url, params=params)  # The server does not know the path, which does not matter.
    assert response.status == 400 or response.url
    assert response.url.partition("#")[0].endswith(target)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"data": "x", "json": 1}, "data, json"),
        ({"data": 5}, "data"),
        ({"params": "a=b"}, "params: must be a mapping"),
        ({"data": io.StringIO("x")}, "binary"),
        ({"files": {}, "json": 1}, "json"),
        ({"files": {"a": ("b",)}}, "files"),
        ({"files": {"a": 5}}, "files"),
        ({"to_file": 5}, "to_file"),
        ({"to_file": "x", "sink": print}, "to_file, sink"),
        ({"sink": 5}, "sink"),
        ({"on_progress": 5}, "on_progress"),
        ({"before_attempt": 5}, "before_attempt"),
        ({"idempotency_key": 5}, "idempotency_key"),
        ({"follow_redirects": 5}, "follow_redirects"),
        ({"compression": "gzip"}, "compression"),
        ({"http_version": "2"}, "http_version.*HTTPVersion.HTTP_2"),
        ({"retry_safety": "safe"}, "retry_safety.*RetrySafety.SAFE"),
        ({"resume": True}, "resume: can only be given with to_file"),
        ({"max_redirects": "2"}, "max_redirects"),
        ({"timeout": 5}, r"timeout: .*Timeout\(5000\).*deadline"),
        ({"strategy": 5}, "strategy"),
        ({"strategy": Client}, "strategy"),
        ({"cancel": threading.Event()}, "cancel"),
        ({"deadline": "5"}, "deadline"),
        ({"headers": {"X": 5}}, "headers"),
        ({"headers": "A: b"}, "headers: must be a mapping, or pairs"),
        ({"headers": ["A: b"]}, "headers: must be a mapping, or pairs"),
        ({"headers": 5}, "headers: must be a mapping, or pairs"),
        ({"body_limit": 1.5}, "body_limit"),
        ({"json": {1, 2}}, "set"),
        ({"wrong": 1}, r"Client\.request\(\) has no argument 'wrong': see help\(boxretry\.Client\.request\)"),
        ({"header": {}}, "'header': did you mean headers"),
        ({"auth": ("a", "b")}, "'auth': .*token_source.*Authorization"),
        ({"verify": False}, "'verify': use ca_file"),
        ({"cookies": {}}, "'cookies': .*Cookie"),
        ({"allow_redirects": False}, "'allow_redirects': use follow_redirects"),
        ({"stream": True}, r"'stream': use Client\.stream\(\)"),
        ({"ca_file": "x"}, r"'ca_file': it is an argument of Client\(\)"),
        ({"url": None}, "url"),
        ({"method": 5}, "method"),
    ],
)
def test_arguments_of_the_wrong_type(client: Client, arguments: dict[str, Any], name: str) -> None:
    sound: dict[str, Any] = {"method": "GET", "url": "http://127.0.0.1:1/"}
    for make in (client.request, client.submit):
        with pytest.raises(TypeError, match=name):
            make(**{**sound, **arguments})


@pytest.mark.parametrize(
    ("settings", "name"),
    [
        ({"strategy": 5}, "strategy"),
        ({"timeout": 60}, "timeout"),
        ({"preset": "january"}, "preset: must be one of Preset.BOX, Preset.JANUARY, not str"),
        ({"verify": False}, r"Client\(\) has no argument 'verify': use ca_file"),
        ({"strateg": None}, "'strateg'"),
        ({"user_agents": "x"}, "'user_agents': did you mean user_agent"),
        ({"data": ""}, r"'data': it is an argument of Client\.request\(\)"),
        ({"headers": 5}, "headers"),
        ({"params": 5}, "params"),
        ({"user_agent": 5}, "user_agent"),
        ({"ca_file": 5}, "ca_file"),
        ({"proxy": None}, "proxy"),
        ({"on_event": 5}, "on_event"),
        ({"max_transfers": "5"}, "max_transfers"),
        ({"deadline": None, "body_limit": 0.5}, "body_limit"),
        ({"preset": "box"}, "preset"),
        ({"cert": 5}, "cert"),
        ({"cert": ("a", "b", "c", "d")}, "cert"),
        ({"unix_socket": 5}, "unix_socket"),
        ({"secret_headers": "X-Key"}, "secret_headers"),
        ({"before_attempt": 5}, "before_attempt"),
    ],
)
def test_settings_of_the_wrong_type(settings: dict[str, Any], name: str) -> None:
    with pytest.raises(TypeError, match=name):
        Client(**settings)


def test_a_deadline_is_above_zero() -> None:
    for deadline in (0, -1, math.nan, -math.inf, 1e300):
        with pytest.raises(InvalidArgumentError, match="deadline"):
            Client(deadline=deadline)
    Client(deadline=math.inf).close()
    Client(deadline=1e-9).close()


def test_a_response_has_all_its_parts(server: Server, client: Client) -> None:
    url = server.url("/seq/503,404", {"404.h": ["X-A:1", "x-a:2", "X-B:b"], "404.body": "grün"}, id=server.new_id())
    response = client.get(url)
    assert (response.status, response.ok, response.url) == (404, False, url)
    assert response.content == "grün".encode("latin-1")
    assert not response.content_is_cut_off
    headers = response.headers
    assert headers is response.headers
    assert headers["x-A"] == "1"
    assert headers.get_all("X-A") == ["1", "2"]
    assert headers.get_all("X-C") == []
    assert "X-b" in headers
    assert "X-C" not in headers
    assert headers.get("X-C") is None
    assert [pair for pair in headers.pairs if pair[0].lower() == "x-a"] == [("X-A", "1"), ("x-a", "2")]
    assert len(headers) == len(list(headers)) == len(headers.pairs) - 1
    assert repr(response) == "<Response 404>"
    assert response.attempts is response.attempts
    first, second = response.attempts
    assert first == Attempt(
        number=1,
        exception_number=0,
        status=503,
        cause=Cause.NONE,
        action=Action.RETRY,
        reason=Reason.SERVER_ERROR,
        delay=first.delay,
        delay_source=DelaySource.BACKOFF,
        reconnects=0,
        started_ms=first.started_ms,
        ended_ms=first.ended_ms,
        retry_after=None,
        curl_code=0,
        curl_text="",
        redirects=0,
        http_version=11,
        resumed_from=0,
        bytes_sent=0,
        bytes_received=first.bytes_received,
        lookup_ms=first.lookup_ms,
        connect_ms=first.connect_ms,
        tls_ms=0.0,
        first_byte_ms=first.first_byte_ms,
        request_sent=RequestSent.SOME,
    )
    assert first.bytes_received > 0
    times = [first.lookup_ms, first.connect_ms, first.first_byte_ms, first.ended_ms - first.started_ms]
    known = [time for time in times if time is not None]
    assert len(known) == 4
    assert known == sorted(known)
    assert (second.status, second.action, second.reason) == (404, Action.STOP, Reason.NOT_RETRYABLE)


def test_a_response_outlives_its_client(server: Server) -> None:
    with Client() as client:
        response = client.get(server.url("/seq/200", id=server.new_id(), body="still here"))
    del client
    gc.collect()
    assert response.content == b"still here"


@pytest.mark.parametrize(
    ("content_type", "body", "text"),
    [
        ("text/plain", "grün".encode(), "grün"),
        ("text/plain; charset=latin-1", "grün".encode("latin-1"), "grün"),
        ('text/plain; charset="ISO-8859-15"', "5 €".encode("iso-8859-15"), "5 €"),
        ("text/plain; charset=nonsense", "grün".encode(), "grün"),
        ("text/plain", b"\xff", "\ufffd"),
        (None, "grün".encode(), "grün"),
    ],
)
def test_text_is_in_the_charset_of_its_type(
    server: Server, client: Client, content_type: str | None, body: bytes, text: str
) -> None:
    header = "-Content-Type" if content_type is None else f"Content-Type:{content_type}"
    url = server.url("/seq/200", {"h": header, "body": body.decode("latin-1")}, id=server.new_id())
    assert client.get(url).text == text


def test_json_of_a_response(server: Server, client: Client) -> None:
    good = server.url("/seq/200", id=server.new_id(), body='{"a": [1]}')
    assert client.get(good).json() == {"a": [1]}
    with pytest.raises(ValueError, match="Expecting"):
        client.get(server.url("/seq/200", id=server.new_id(), body="{")).json()


def test_raise_for_status(server: Server, client: Client) -> None:
    response = client.get(server.url("/seq/200", id=server.new_id()))
    assert response.raise_for_status() is response
    response = client.get(server.url("/seq/503,404", id=server.new_id()))
    with pytest.raises(
        HTTPStatusError, match=r"^status 404 \(GET http://[^?;]+/seq/503,404; after 2 attempts\)$"
    ) as raised:
        response.raise_for_status()
    with pytest.raises(HTTPStatusError, match=re.escape(str(raised.value))):
        pickle.loads(pickle.dumps(response)).raise_for_status()
    assert raised.value.response is response
    assert raised.value.attempts is response.attempts


def test_what_a_call_ends_with_has_its_class(server: Server, client: Client) -> None:
    """Each is a BoxRetryError; those of the network are NetworkErrors; those of time are TimeoutErrors."""
    stall = server.url("/seq/stall", id=server.new_id())
    refused = f"http://127.0.0.1:{server.ports['refused']}/"
    once = RetryStrategy(max_retries_on_exception=0)
    cases: list[tuple[type[BoxRetryError], set[type], str, dict[str, Any]]] = [
        (ConnectError, {NetworkError, ConnectionError}, refused, {}),
        (IdleTimeoutError, {NetworkError, TimeoutError}, stall, {"timeout": Timeout(50)}),
        (ResourceTimeoutError, {NetworkError, TimeoutError}, stall, {"timeout": Timeout(None, 50)}),
        (DeadlineError, {TimeoutError}, stall, {"deadline": 0.05}),
    ]
    for kind, kinds, url, arguments in cases:
        with pytest.raises(kind) as raised:
            client.get(url, strategy=once, **arguments)
        assert {
            each for each in (NetworkError, TimeoutError, ConnectionError) if isinstance(raised.value, each)
        } == kinds
        assert raised.value.error.name.lower() == raised.value.name
        assert raised.value.response is None
        assert kind is DeadlineError or len(raised.value.attempts) == 1
    assert not issubclass(CancelledError, NetworkError)


def test_an_error_that_is_new_is_still_an_error() -> None:
    error = errors.exception_of(1000, "what")
    assert type(error) is BoxRetryError
    assert error.error == Error(1000)
    assert (error.attempts, error.response) == ([], None)


def test_a_call_that_was_submitted(server: Server, client: Client) -> None:
    id = server.new_id()
    call = client.submit("GET", server.url("/seq/200", id=id, first=100))
    with pytest.raises(WaitTimeoutError):
        call.wait(0)
    with pytest.raises(WaitTimeoutError):
        call.wait(0.001)
    call.wait()
    call.wait(0)
    call.wait(1e300)
    response = call.response()
    assert response.status == 200
    assert call.response(0) is response
    for wrong in (-1, math.nan):
        with pytest.raises(InvalidArgumentError, match="timeout"):
            call.wait(wrong)


def test_a_response_is_there_for_all_who_ask(server: Server, client: Client) -> None:
    call = client.submit("GET", server.url("/seq/200", id=server.new_id(), first=50))
    responses: list[Response] = []
    threads = [threading.Thread(target=lambda: responses.append(call.response())) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert len(responses) == 8
    assert {id(response) for response in responses} == {id(call.response())}


def test_a_call_that_nobody_has_any_more_is_cancelled(server: Server, client: Client) -> None:
    id = server.new_id()
    call = client.submit("GET", server.url("/seq/stall", id=id))
    server.seen(id, requests=1)
    del call
    server.seen(id, ended=True)
    assert client.stats().calls_ended == 1


def test_a_call_keeps_its_client(server: Server) -> None:
    call = Client().submit("GET", server.url("/seq/200", id=server.new_id(), first=50))
    gc.collect()
    assert call.response().status == 200


def test_nothing_is_kept_without_need(server: Server) -> None:
    """Given calls with all kinds of results, when dropped, they are freed without the garbage collector."""

    def on_event(event: Event) -> None:
        if event.user_data == "fails":
            raise KeyError

    client = Client(RetryStrategy(max_retries_on_exception=0), on_event=on_event)
    calls = [
        client.submit("GET", server.url("/seq/200", id=server.new_id())),
        client.submit("GET", f"http://127.0.0.1:{server.ports['refused']}/"),
        client.submit("GET", server.url("/seq/200", id=server.new_id()), user_data="fails"),
    ]
    calls[0].response()
    with pytest.raises(ConnectError):
        calls[1].response()
    with pytest.raises(KeyError):
        calls[2].response()
    gone = [weakref.ref(each) for each in [client, *calls]]
    gc.collect()
    gc.disable()
    try:
        del client, calls
        assert [each() for each in gone] == [None] * 4
    finally:
        gc.enable()


def test_a_switch_is_an_object_like_others(client: Client) -> None:
    with CancelSwitch() as switch:
        switch.trigger()
        switch.trigger()
        with pytest.raises(CancelledError):
            client.get("http://127.0.0.1:1/", cancel=switch)
    for use in (switch.trigger, lambda: client.get("http://127.0.0.1:1/", cancel=switch)):
        with pytest.raises(ClosedError):
            use()


def test_a_switch_may_be_closed_while_it_is_used(server: Server, client: Client) -> None:
    id, switch = server.new_id(), CancelSwitch()
    call = client.submit("GET", server.url("/seq/200", id=id, first=50), cancel=switch)
    switch.close()
    assert call.response().status == 200


def test_stats(server: Server, client: Client) -> None:
    client.get(server.url("/seq/503,200", id=server.new_id()))
    assert client.stats() == ClientStats(calls_started=1, calls_ended=1, attempts=2, retries=1, reconnects=0)


def test_a_closed_client_refuses(server: Server) -> None:
    client = Client()
    client.close()
    client.close()
    for use in (lambda: client.get("http://127.0.0.1:1/"), lambda: client.submit("GET", "x"), client.stats):
        with pytest.raises(ClosedError):
            use()


def test_two_threads_close_a_client(server: Server) -> None:
    for _ in range(20):
        client, id = Client(), server.new_id()
        calls = [client.submit("GET", server.url("/seq/stall", id=id)) for _ in range(3)]
        threads = [threading.Thread(target=client.close) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive()
        for call in calls:
            with pytest.raises(CancelledError):
                call.response()


def test_a_client_cannot_be_copied(client: Client) -> None:
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        copy.copy(client)
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        pickle.dumps(client)


DUPLICATES: list[Callable[[Any], Any]] = [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))]


@pytest.mark.parametrize("duplicate", DUPLICATES)
def test_a_copy_of_a_response_has_all_its_parts(server: Server, client: Client, duplicate: Any) -> None:
    url = server.url("/seq/302,503,302,404", {"h": "X-A:1", "body": "hello"}, id=server.new_id())
    response = client.get(url)
    assert [redirect.attempt_number for redirect in response.redirects] == [1, 2]
    copied = duplicate(response)
    for name in ("status", "ok", "content", "text", "attempts", "redirects", "url", "content_is_cut_off"):
        assert getattr(copied, name) == getattr(response, name), name
    assert copied.headers.pairs == response.headers.pairs
    assert pickle.loads(pickle.dumps(copied)).content == b"hello"
    to_sink = client.get(server.url("/seq/200", {"body": "hello"}, id=server.new_id()), sink=len)
    assert (to_sink.sink_length, duplicate(to_sink).sink_length) == (5, 5)


def test_errors_of_calls_survive_pickling(server: Server, client: Client) -> None:
    """With their attempts and their response."""
    with pytest.raises(ConnectError) as refused:
        client.get(f"http://127.0.0.1:{server.ports['refused']}/")
    with pytest.raises(HTTPStatusError) as not_found:
        client.get(server.url("/seq/503,404", id=server.new_id())).raise_for_status()
    with pytest.raises(ResponseTooLargeError) as too_large:
        client.get(server.url("/seq/200", {"size": 100}, id=server.new_id()), body_limit=10)
    for raised in (refused, not_found, too_large):
        error = pickle.loads(pickle.dumps(raised.value))
        assert type(error) is type(raised.value)
        assert (str(error), error.error, error.attempts) == (
            str(raised.value),
            raised.value.error,
            raised.value.attempts,
        )
        assert error.attempts
    assert pickle.loads(pickle.dumps(not_found.value)).response.status == 404


def test_an_attempt_of_a_newer_library_survives_pickling(server: Server, client: Client) -> None:
    (attempt,) = client.get(server.url("/seq/200", id=server.new_id())).attempts
    newer = dataclasses.replace(attempt, reason=Reason(1000))
    assert pickle.loads(pickle.dumps(newer)) == newer


def test_response_headers_by_themselves() -> None:
    headers = ResponseHeaders([("Set-Cookie", "a"), ("Set-Cookie", "b")])
    assert dict(headers) == {"Set-Cookie": "a"}
    assert repr(headers) == "ResponseHeaders([('Set-Cookie', 'a'), ('Set-Cookie', 'b')])"


def test_response_headers_of_bytes_keep_them() -> None:
    lines = [(b"Name", b"caf\xc3\xa9"), (b"name", b"\xe9")]
    headers = ResponseHeaders.of_bytes(lines)
    assert headers.raw == lines
    assert headers.get_all("NAME") == ["caf\u00e9", "\udce9"]
    assert ResponseHeaders(headers.pairs).raw == lines


def test_a_response_has_its_header_lines_as_bytes_and_its_http_version(server: Server, client: Client) -> None:
    response = client.get(server.url("/seq/200", {"h": "Name:\u00e9"}, id=server.new_id()))
    for each in (response, pickle.loads(pickle.dumps(response))):
        assert each.http_version == response.attempts[-1].http_version == 11
        assert (b"Name", b"\xe9") in each.headers.raw
        assert each.headers["name"] == "\udce9"


def test_what_type_checkers_are_told_is_what_can_be_said() -> None:
    def keywords(function: Callable[..., Any]) -> set[str]:
        return {each.name for each in inspect.signature(function).parameters.values() if each.kind is each.KEYWORD_ONLY}

    assert set(RequestArguments.__annotations__) == keywords(Sending._take)
    assert set(ClientSettings.__annotations__) == keywords(Client.__init__)


@pytest.mark.parametrize(
    "name", ["request", "submit", "stream", "get", "post", "put", "patch", "delete", "head", "options"]
)
def test_help_shows_the_arguments_of_a_request(name: str) -> None:
    shown = set(inspect.signature(getattr(Client, name)).parameters)
    own = {"stream_errors"} if name == "stream" else set()
    assert shown - {"self", "method", "url"} == own | set(RequestArguments.__annotations__)
    if name != "submit":
        assert (
            inspect.signature(getattr(AsyncClient, name)).parameters
            == inspect.signature(getattr(Client, name)).parameters
        )
    assert "deadline" in pydoc.render_doc(getattr(Client, name))


@pytest.mark.parametrize("milliseconds", [-1, 0])
def test_a_timeout_is_at_least_a_millisecond(milliseconds: int) -> None:
    with pytest.raises(InvalidArgumentError, match=r"timeout_interval_for_request_ms: .*1 millisecond or more"):
        Timeout(milliseconds)
    with pytest.raises(InvalidArgumentError, match=r"timeout_interval_for_resource_ms: .*1 millisecond or more"):
        Timeout(None, milliseconds)


def test_a_timeout_is_in_whole_milliseconds() -> None:
    with pytest.raises(TypeError, match=r"timeout_interval_for_request_ms: .*milliseconds, not float"):
        Timeout(0.5)  # type: ignore[arg-type]

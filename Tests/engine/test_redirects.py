"""Redirects: what is sent where, and what the record says: F12, F58, T13."""

from __future__ import annotations

from typing import Any

import pytest
from boxretry import (
    Cause,
    Client,
    ConnectError,
    Event,
    EventKind,
    HTTPVersion,
    ReceiveError,
    Redirect,
    TooManyRedirectsError,
)
from calls import in_both_ways, once, quick, recorded, sent_header, statuses, takes, waits
from fault_server import FaultServer

STATUSES = [301, 302, 303, 307, 308]
METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]
SECRETS = {"Authorization": "Bearer secret", "Cookie": "a=secret", "X-Api-Key": "secret"}


def method_after(status: int, method: str) -> str:
    """As browsers have it: RFC 9110, 15.4."""
    if status in (301, 302):
        return "GET" if method == "POST" else method
    if status == 303:
        return method if method == "HEAD" else "GET"
    return method


@pytest.mark.parametrize("kind", ["http", "h2"])
@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("method", METHODS)
def test_a_redirect_keeps_the_method_or_makes_it_a_get(
    server: FaultServer, client: Client, kind: str, status: int, method: str
) -> None:
    """Where the method stays the body does; where it does not, body and its headers are gone."""
    id = server.new_id()
    url = server.url(f"/seq/{status},200", id=id, to=kind, kind=kind)
    body = b"" if method in ("GET", "HEAD") else b"body"
    headers = {"X-Mine": "1", "Content-Type": "text/x-mine", "Content-Language": "de"}
    response = client.request(method, url, data=body or None, headers=headers)
    assert response.status == 200
    first, second = server.seen(id)
    assert second["method"] == method_after(status, method)
    assert first["body_start"].encode() == body
    keeps_body = second["method"] == method
    assert second["body_start"].encode() == (body if keeps_body else b"")
    assert sent_header(second, "X-Mine") == ["1"]
    if body:
        assert sent_header(second, "Content-Type") == (["text/x-mine"] if keeps_body else [])
        assert sent_header(second, "Content-Language") == (["de"] if keeps_body else [])
    assert sent_header(second, "Content-Length") == ([str(len(body))] if body and keeps_body else [])


@pytest.mark.parametrize("status", STATUSES)
def test_each_hop_is_in_the_record(server: FaultServer, client: Client, status: int) -> None:
    id = server.new_id()
    url = server.url(f"/seq/{status}*3,200", id=id)
    for response in in_both_ways(client, "GET", server.url(f"/seq/{status}*3,200", id=server.new_id(), to="https")):
        assert response.status == 200
    response = client.get(url)
    assert statuses(response.attempts) == [200]
    assert response.attempts[0].redirects == 3
    assert response.redirects == [Redirect(1, status, response.url)] * 3
    assert len(server.seen(id)) == recorded(response.attempts) == 4


def test_the_url_is_the_last_one(server: FaultServer, client: Client) -> None:
    url = server.url("/seq/302,200", id=server.new_id(), to="https")
    response = client.get(url)
    assert response.url.startswith(f"https://127.0.0.1:{server.ports['https']}/seq/302,200?")
    assert [redirect.url for redirect in response.redirects] == [response.url]


@pytest.mark.parametrize(
    ("location", "target"),
    [
        ("/echo?a=b", "/echo?a=b"),
        ("//127.0.0.1:{port}/echo", "/echo"),
        ("echo", "/seq/echo"),
        ("../echo", "/echo"),
        ("./echo?x=/../y", "/seq/echo?x=/../y"),
        ("/a/b/../../echo", "/echo"),
        ("/echo#part", "/echo"),
        ("HTTP://127.0.0.1:{port}/echo", "/echo"),
        ("/echo?q=ü", "/echo?q=%c3%bc"),
        ("/echo?q=a b", "/echo?q=a+b"),
    ],
)
def test_locations_that_are_relative(server: FaultServer, client: Client, location: str, target: str) -> None:
    """RFC 3986, 5.2; and how libcurl reads what is not strictly a URL. (Or %C3, by version.)"""
    line = "Location:" + location.format(port=server.ports["http"])
    url = server.url("/seq/302", {"h": line.encode().decode("latin-1")}, id=server.new_id())
    response = client.get(url)
    assert response.url.partition("#")[0].lower() == f"http://127.0.0.1:{server.ports['http']}{target}"
    if "?" not in target:
        assert response.json()["path"] == target


@pytest.mark.parametrize(
    "location",
    [
        "file:///etc/passwd",
        "ftp://127.0.0.1/",
        "gopher://127.0.0.1/",
        "javascript:1",
        "mailto:a@example.com",
        "",
        "http://",
        "http://127.0.0.1:99999/",
    ],
)
def test_a_location_that_leads_nowhere_is_not_followed(server: FaultServer, client: Client, location: str) -> None:
    """Then the response that has it is the call's."""
    id = server.new_id()
    for response in in_both_ways(client, "GET", server.url("/seq/302", {"h": f"Location:{location}"}, id=id)):
        assert response.status == 302
        assert (response.redirects, response.attempts[0].redirects) == ([], 0)
    assert len(server.seen(id)) == 2


@pytest.mark.parametrize("status", [300, 304, 305, 306, 399])
def test_other_statuses_are_not_followed(server: FaultServer, client: Client, status: int) -> None:
    id = server.new_id()
    response = client.get(server.url(f"/seq/{status},200", {"h": "Location:/echo"}, id=id))
    assert (response.status, len(server.seen(id))) == (status, 1)


@pytest.mark.parametrize("status", STATUSES)
def test_without_a_location_it_is_the_response(server: FaultServer, client: Client, status: int) -> None:
    response = client.get(server.url(f"/seq/{status}", {"h": "-Location"}, id=server.new_id()))
    assert (response.status, response.ok, response.redirects) == (status, True, [])


def test_f12_the_headers_of_a_redirect_are_not_the_answer_s(server: FaultServer, client: Client) -> None:
    """B7. Given 302 with Retry-After to 503 without, then it is the backoff, and the next attempt starts afresh."""
    id = server.new_id()
    url = server.url("/seq/302,503,302,200", {"302.h": ["Retry-After:9", "X-Of:redirect"]}, id=id)
    response = client.get(url)
    assert waits(response.attempts) == [0.002]
    assert [attempt.retry_after for attempt in response.attempts] == [None, None]
    assert "X-Of" not in response.headers
    assert [redirect.attempt_number for redirect in response.redirects] == [1, 2]
    assert [request["answer"] for request in server.seen(id)] == ["302", "503", "302", "200"]


def test_an_exception_behind_a_redirect_is_one_of_the_attempt(server: FaultServer, client: Client) -> None:
    """B2. Then the next attempt begins with the request as it was."""
    id = server.new_id()
    response = client.post(server.url("/seq/302,reset,307,200", id=id), data="body")
    assert statuses(response.attempts) == ["RECEIVE", 200]
    assert [attempt.redirects for attempt in response.attempts] == [1, 1]
    assert [request["method"] for request in server.seen(id)] == ["POST", "GET", "POST", "POST"]


def test_a_redirect_to_a_port_without_a_listener(server: FaultServer) -> None:
    id, refused = server.new_id(), f"http://127.0.0.1:{server.ports['refused']}"
    with Client(quick(max_retries_on_exception=1)) as client:
        for error in in_both_ways(client, "GET", server.url("/seq/302", id=id, to=refused)):
            assert type(error) is ConnectError
            assert [(each.cause, each.redirects) for each in error.attempts] == [(Cause.CONNECT, 1)] * 2
            assert [each.attempt_number for each in error.redirects] == [1, 2]
    assert len(server.seen(id)) == 4


# --- T13: where secrets go ---


def origins(server: FaultServer) -> dict[str, tuple[str, str]]:
    """For each way to another place: the kind of port where it begins, and the origin where it leads."""
    return {
        "host": ("http", f"http://localhost:{server.ports['http']}"),
        "port": ("http", f"http://127.0.0.1:{server.open('http')}"),
        "https to http": ("https", f"http://127.0.0.1:{server.ports['http']}"),
        "http to https": ("http", f"https://127.0.0.1:{server.ports['https']}"),
        "http/2 to host": ("h2", f"https://localhost:{server.ports['h2']}"),
        "http/2 to http/1": ("h2", f"https://127.0.0.1:{server.ports['https']}"),
    }


@pytest.mark.parametrize(
    "way", ["host", "port", "https to http", "http to https", "http/2 to host", "http/2 to http/1"]
)
@pytest.mark.parametrize("status", [302, 307])
def test_f58_secrets_do_not_go_to_another_place(server: FaultServer, way: str, status: int) -> None:
    """T13. Neither Authorization and Cookie, in any case, nor what the caller has listed; all else does."""
    kind, origin = origins(server)[way]
    id = server.new_id()
    headers = [*SECRETS.items(), ("aUTHORIZATION", "secret"), ("X-Mine", "1")]
    with Client(quick(), ca_file=server.ca, secret_headers=["x-api-KEY"]) as client:
        url = server.url(f"/seq/{status},200", id=id, to=origin, kind=kind)
        assert client.post(url, headers=headers, data="body").status == 200
    first, second = server.seen(id)
    assert all(sent_header(first, name) for name in SECRETS)
    assert "secret" not in str(second["headers"])
    assert sent_header(second, "X-Mine") == ["1"]


def test_f58_secrets_go_to_the_same_place(server: FaultServer) -> None:
    """T13. Also when the port is the scheme's own, or host and scheme are written in another case."""
    id = server.new_id()
    origin = f"HTTP://LOCALHOST:{server.ports['http']}"
    url = server.target("/seq/302,200", id=id, to=origin)
    with Client(quick(), secret_headers=["X-Api-Key"]) as client:
        client.get(f"http://localhost:{server.ports['http']}{url}", headers=SECRETS)
    assert all(sent_header(server.seen(id)[1], name) == [value] for name, value in SECRETS.items())


def test_f58_the_next_attempt_has_its_secrets_again(server: FaultServer) -> None:
    """T13. Given a redirect elsewhere, and a retry that begins at the first place."""
    id = server.new_id()
    url = server.url("/seq/302,503,200", id=id, to=f"http://localhost:{server.ports['http']}")
    with Client(quick()) as client:
        assert client.get(url, headers={"Authorization": "secret"}).status == 200
    assert [sent_header(each, "Authorization") for each in server.seen(id)] == [["secret"], [], ["secret"]]


def test_f58_user_and_password_of_a_url_do_not_go_to_another_place(server: FaultServer) -> None:
    """T13. libcurl makes Authorization of them."""
    id = server.new_id()
    target = server.target(
        "/seq/302,302,200", {"1.to": "http", "2.to": f"http://localhost:{server.ports['http']}"}, id=id
    )
    with Client(quick()) as client:
        assert client.get(f"http://me:secret@127.0.0.1:{server.ports['http']}{target}").status == 200
    seen = server.seen(id)
    assert len(sent_header(seen[0], "Authorization")) == 1
    assert sent_header(seen[2], "Authorization") == []


def test_a_host_of_the_caller_s_does_not_go_to_another_place(server: FaultServer) -> None:
    """There it would ask the wrong one."""
    id, port = server.new_id(), server.open("http")
    url = server.url("/seq/302,200", id=id, to=f"http://127.0.0.1:{port}")
    with Client(quick()) as client:
        client.get(url, headers={"Host": "virtual.example"})
    first, second = server.seen(id)
    assert sent_header(first, "Host") == ["virtual.example"]
    assert sent_header(second, "Host") == [f"127.0.0.1:{port}"]


# --- How many ---


@pytest.mark.parametrize(("maximum", "hops"), [(None, 20), (1, 1), (5, 5), (30, 30)])
def test_as_many_redirects_as_are_allowed_are_followed(server: FaultServer, maximum: int | None, hops: int) -> None:
    id, too_many = server.new_id(), server.new_id()
    with Client(quick(), max_redirects=maximum) as client:
        assert client.get(server.url(f"/redirect/{hops}", id=id)).status == 200
        assert len(server.seen(id)) == hops + 1
        with pytest.raises(TooManyRedirectsError) as raised:
            client.get(server.url("/seq/302", id=too_many))
    assert len(server.seen(too_many)) == hops + 1
    assert len(raised.value.redirects) == hops


def test_too_many_redirects_are_not_retried(server: FaultServer) -> None:
    """B2. It is a local failure, with the record of its one attempt."""
    with Client(quick()) as client:
        url = server.url("/seq/302", id=server.new_id(), body="there")
        for error in in_both_ways(client, "GET", url, max_redirects=2):
            assert type(error) is TooManyRedirectsError
            (attempt,) = error.attempts
            assert (attempt.redirects, attempt.status, attempt.cause) == (2, 302, Cause.NONE)
        assert client.get(server.url("/seq/200", id=server.new_id())).status == 200


@pytest.mark.parametrize("status", STATUSES)
def test_redirects_may_be_off(server: FaultServer, status: int) -> None:
    """Then the response that redirects is the call's; a request may have it otherwise than its client."""
    url = server.url(f"/seq/{status},200", id=server.new_id(), cycle="", body="there")
    with Client(quick(), follow_redirects=False) as client:
        response = client.post(url, data="x")
        assert (response.status, response.content, response.redirects) == (status, b"there", [])
        assert response.headers["Location"]
        assert client.get(server.url("/redirect/2", id=server.new_id()), follow_redirects=True).status == 200
    with Client(quick()) as client:
        assert client.get(url, follow_redirects=False).status == 200
        assert client.get(url, follow_redirects=False).status == status


def test_a_redirect_without_end_in_its_body(server: FaultServer, client: Client) -> None:
    """Its body is dropped: it does not hold the call."""
    url = server.url("/seq/302,200", {"302.size": "endless"}, id=server.new_id())
    with takes(0):
        assert client.get(url).status == 200


def test_a_redirect_whose_body_breaks_off_is_an_exception(server: FaultServer) -> None:
    """B2, with any status."""
    with Client(once()) as client, pytest.raises(ReceiveError):
        client.get(server.url("/seq/302,200", {"302.close": "body"}, id=server.new_id()))


def test_events_tell_of_redirects_in_which_attempt_they_are(server: FaultServer) -> None:
    events: list[Event] = []
    with Client(quick(), on_event=events.append) as client:
        client.get(server.url("/seq/302,503,302,200", id=server.new_id()))
    assert [event.attempt_number for event in events if event.kind is EventKind.REDIRECTED] == [1, 2]


def test_events_tell_of_redirects(server: FaultServer) -> None:
    events: list[Event] = []
    url = server.url("/seq/302,200", id=server.new_id(), to="https")
    with Client(quick(), ca_file=server.ca, on_event=events.append) as client:
        response = client.post(url, data="x")
    kinds = [event.kind for event in events]
    assert kinds.count(EventKind.REDIRECTED) == 1
    assert [kinds[0], *kinds[-2:]] == [EventKind.ATTEMPT_BEGAN, EventKind.ATTEMPT_ENDED, EventKind.CALL_ENDED]
    after: list[Any] = events[kinds.index(EventKind.REDIRECTED) :]
    assert {event.url for event in after} == {response.url}
    assert {event.method for event in after} == {"GET"}
    assert after[0].status == 302


def test_a_redirect_from_http_1_to_http_2(server: FaultServer, client: Client) -> None:
    response = client.get(server.url("/seq/302,200", id=server.new_id(), to="h2"))
    assert response.attempts[0].http_version == 20
    url = server.url("/seq/302,200", id=server.new_id(), to="h2")
    assert client.get(url, http_version=HTTPVersion.HTTP_1_1).attempts[0].http_version == 11

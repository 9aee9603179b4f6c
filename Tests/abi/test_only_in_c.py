"""What a program in C asks of a client that Python has in another form, or does not have."""

from __future__ import annotations

import ctypes
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from calls import FOR_EVER, Calls, server
from isolated import isolated
from library import address

CURLOPT_REFERER = 10016
CURLOPT_INTERFACE = 10062
PROXY_GIVEN = 2


@contextmanager
def listening(*statuses: bytes) -> Iterator[tuple[bytes, list[tuple[str, bytes]]]]:
    """The URL of a server that answers one connection with each of these; who connected, and the head that was sent."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        seen: list[tuple[str, bytes]] = []

        def serve() -> None:
            for status in statuses:
                connection, (host, _) = listener.accept()
                with connection:
                    seen.append((host, connection.recv(65_536)))
                    connection.sendall(b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")

        served = threading.Thread(target=serve, daemon=True)
        served.start()
        yield b"http://127.0.0.1:%d/" % listener.getsockname()[1], seen
        served.join(60)


@contextmanager
def full_listener() -> Iterator[int]:
    """A port at which connections are never made."""
    with socket.socket() as listener, socket.socket() as first:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        first.connect(listener.getsockname())
        yield listener.getsockname()[1]


@pytest.mark.parametrize(("is_borrowed", "sent"), [(0, b"before"), (1, b"after!")])
@isolated
def test_body_is_copied_unless_it_is_borrowed(is_borrowed: int, sent: bytes) -> None:
    """Given a buffer that is written to after boxretry_client_submit(), before anything is sent."""
    calls, body, is_changed = Calls(), ctypes.create_string_buffer(b"before", 6), threading.Event()

    def before_attempt(context: int, sending: int) -> None:
        assert is_changed.wait(60)

    with server() as url:
        request = calls.request(url, method=calls.text(b"PUT"), body=address(body), body_length=6)
        request.body_is_borrowed = is_borrowed
        request.before_attempt = calls.callback("boxretry_request", "before_attempt", before_attempt)
        call = calls.submit(request)
        body.raw = b"after!"
        is_changed.set()
        assert calls.ask("call_wait", call, FOR_EVER) == "BOXRETRY_OK"
        response = calls.ask("call_take_response", call)
    assert (calls.error(response), calls.body(response)) == ("BOXRETRY_OK", sent)


@isolated
def test_on_transfer_sets_what_the_library_has_no_option_for() -> None:
    """The interface that the connection is made from, and a header that libcurl writes; again for each sending."""
    curl = ctypes.CDLL("libcurl.so.4")
    curl.curl_easy_setopt.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_char_p]
    results: list[int] = []

    def on_transfer(context: int, easy: int) -> None:
        results.append(curl.curl_easy_setopt(easy, CURLOPT_REFERER, b"http://from.example/%d" % len(results)))
        results.append(curl.curl_easy_setopt(easy, CURLOPT_INTERFACE, b"127.0.0.2"))

    calls = Calls()
    calls.options.max_total_attempts = 2
    calls.options.on_transfer = calls.callback("boxretry_client_options", "on_transfer", on_transfer)
    client = calls.library.new("boxretry_client_new", address(calls.options))
    with listening(b"503 Later\r\nRetry-After: 0", b"200 OK") as (url, seen):
        response = calls.library.new("boxretry_client_perform", client, address(calls.request(url)))
    assert (calls.error(response), calls.ask("response_status", response), results) == ("BOXRETRY_OK", 200, [0] * 4)
    assert [host for host, _ in seen] == ["127.0.0.2"] * 2
    for number, (_, head) in zip((0, 2), seen):
        assert b"Referer: http://from.example/%d\r\n" % number in head


@pytest.mark.parametrize(("switch", "has_token"), [(0, True), (1, True), (-1, False)])
@isolated
def test_authorization_is_a_switch(switch: int, has_token: bool) -> None:
    """ON is as the default is, if there is a token source; OFF sends none (T13)."""
    calls = Calls()
    calls.options.token_source = calls.library.new("boxretry_token_source_new_fixed", calls.text(b"token"))
    client = calls.library.new("boxretry_client_new", address(calls.options))
    with listening(b"200 OK") as (url, seen):
        request = calls.request(url, authorization=switch)
        response = calls.library.new("boxretry_client_perform", client, address(request))
    assert calls.error(response) == "BOXRETRY_OK"
    assert [b"\r\nAuthorization: Bearer token\r\n" in head for _, head in seen] == [has_token]


@pytest.mark.parametrize(("of_client", "of_request"), [(200, 0), (0, 200), (60_000, 200), (FOR_EVER, 200)])
@isolated
def test_w5_connect_timeout_ms(of_client: int, of_request: int) -> None:
    """Given a server that accepts no connections, then the request's own time holds, else the client's."""
    calls = Calls(connect_timeout_ms=of_client)
    with full_listener() as port:
        response = calls.perform(calls.request(b"https://127.0.0.1:%d/" % port, connect_timeout_ms=of_request))
    assert calls.error(response) == "BOXRETRY_ERROR_CONNECT"
    assert calls.library.detail == "connect_timeout_ms: connecting timed out"
    attempt = calls.library.struct("boxretry_attempt")
    assert calls.ask("response_attempt", response, 0, address(attempt)) == "BOXRETRY_OK"
    assert 200 <= attempt.ended_ms - attempt.started_ms < 5_000
    assert (attempt.proxy_status, attempt.request_sent) == (0, calls.library.header.constants["BOXRETRY_SENT_NOTHING"])


@isolated
def test_w6_a_proxy_that_refuses_is_in_the_detail_and_in_the_record() -> None:
    """F89. Given a 407, there is one attempt, and the decision says why."""
    with listening(b"407 Who are you?") as (url, seen):
        calls = Calls(max_total_attempts=5)
        calls.options.proxy_mode, calls.options.proxy = PROXY_GIVEN, calls.text(url)
        client = calls.library.new("boxretry_client_new", address(calls.options))
        request = calls.request(b"https://example.test/")
        response = calls.library.new("boxretry_client_perform", client, address(request))
    assert calls.error(response) == "BOXRETRY_ERROR_CONNECT"
    name = url.split(b"/")[2].decode()
    assert calls.library.detail == f"proxy {name}: answered CONNECT with status 407"
    attempt = calls.library.struct("boxretry_attempt")
    assert calls.ask("response_attempt", response, 0, address(attempt)) == "BOXRETRY_OK"
    assert attempt.proxy_status == 407
    assert attempt.reason == calls.library.header.constants["BOXRETRY_REASON_PROXY_UNAUTHORIZED"]
    assert len(seen) == 1

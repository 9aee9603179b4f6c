"""Texts that would smuggle something in, and servers whose answers are not HTTP: SECURITY.md."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from boxretry import Client, InvalidArgumentError, NetworkError, OAuth2Token, ProtocolError
from calls import once
from raw_server import ANSWER, RawServer

#: What ends a header line or a request line, whole or in part, or a text.
ENDINGS = ["a\r\nInjected: 1", "a\nInjected: 1", "a\rInjected: 1", "\r\n\r\nGET /other HTTP/1.1"]
PLACES: dict[str, Callable[[str, str], Any]] = {
    "method": lambda url, text: Client(once()).request(text, url),
    "path": lambda url, text: Client(once()).get(url + text),
    "host": lambda url, text: Client(once()).get(f"http://{text}/"),
    "header name": lambda url, text: Client(once()).get(url, headers=[(text, "value")]),
    "header value": lambda url, text: Client(once()).get(url, headers=[("name", text)]),
    "user agent": lambda url, text: Client(once(), user_agent=text).get(url),
    "idempotency key": lambda url, text: Client(once()).get(url, idempotency_key=text),
    "idempotency header": lambda url, text: Client(once(), idempotency_key_header=text).get(url, idempotency_key="1"),
    "proxy": lambda url, text: Client(once(), proxy=f"http://127.0.0.1/{text}").get(url),
    "secret header": lambda url, text: Client(once(), secret_headers=[text]).get(url),
    "endpoint": lambda url, text: OAuth2Token(url + text, fields={"a": "b"}),
    "endpoint header": lambda url, text: OAuth2Token(url, fields={"a": "b"}, headers=[("name", text)]),
    "endpoint user agent": lambda url, text: OAuth2Token(url, fields={"a": "b"}, user_agent=text),
}


@pytest.mark.parametrize("text", ENDINGS)
@pytest.mark.parametrize("place", PLACES)
def test_no_text_can_end_a_line(place: str, text: str) -> None:
    """Given such a text anywhere that a caller may put one, then it is refused, and nothing is sent."""
    with RawServer() as server:
        with pytest.raises((InvalidArgumentError, ValueError)):
            PLACES[place](f"http://127.0.0.1:{server.port}/", text)
        assert server.heads == []


def test_fields_of_a_token_endpoint_are_encoded() -> None:
    """T12. They may be any text: what would end them is percent-encoded."""
    with RawServer() as server:
        source = OAuth2Token(f"http://127.0.0.1:{server.port}/", fields={"a&b": "c=d\r\n\r\nGET /"}, headers=[])
        with pytest.raises(Exception):  # noqa: B017  # The answer is not a token: it is the request that counts.
            source.get()
        source.close()
        assert len(server.heads) == 1
        assert server.heads[0].startswith("POST / HTTP/1.1\r\n")
        assert "\r\n\r\n" in server.heads[0] and "GET /" not in server.heads[0].split("\r\n\r\n")[0]


def said(answer: bytes, monkeypatch: pytest.MonkeyPatch) -> Any:
    """How a call ends if the server says that."""
    monkeypatch.setattr("raw_server.ANSWER", answer)
    with RawServer() as server, Client(once()) as client:
        return client.get(f"http://127.0.0.1:{server.port}/")


def test_a_header_is_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """W10. Given a carriage return in the middle of a header, then that is not HTTP, even if libcurl accepts it."""
    with pytest.raises(ProtocolError):
        said(ANSWER.replace(b"Connection", b"X-One: a\rX-Two: b\r\nConnection"), monkeypatch)


@pytest.mark.parametrize("rest", [b"", b"hello", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"])
def test_b2_another_protocol_that_was_not_requested(rest: bytes) -> None:
    """B2. Given a 101, then it is a protocol exception, and not a response without a status."""
    answer = b"HTTP/1.1 101 Switching Protocols\r\n\r\n" + rest
    with RawServer(answer) as server, Client(once()) as client, pytest.raises(ProtocolError):
        client.get(server.url)


@pytest.mark.parametrize("line", [b"HTTP/1.1 1 OK", b"HTTP/1.1 99 OK", b"HTTP/2 1 503 Busy", b"HTTP/1.1  200 OK"])
def test_a_status_has_three_digits(line: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NetworkError):
        said(ANSWER.replace(b"HTTP/1.1 200 OK", line), monkeypatch)

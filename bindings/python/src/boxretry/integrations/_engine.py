"""What all adapters share: their clients, and what of a host package's request is the library's to write."""

from __future__ import annotations

import copy
import os
import sys
import threading
from collections.abc import Iterable, Mapping
from typing import Any, Callable, Generic, TypeVar

from .._sending.names import unknown_argument
from ..aio import AsyncClient
from ..calls.response import ResponseHeaders
from ..client import Client
from ..decisions.strategy import RetryStrategy
from ..errors import AnyError, ConnectError, ResolveError
from ..options import ClientSettings, Strategy
from ..timeout import Timeout

_AnyClient = TypeVar("_AnyClient", Client, AsyncClient)

#: What every request of an adapter says to the engine. The host packages follow redirects and decode bodies themselves:
#: whatever the engine does of that is switched off here.
REQUEST_ARGUMENTS: dict[str, Any] = {"follow_redirects": False, "compression": False, "default_headers": False}

#: Settings of an adapter's clients that are not this package's usual ones: the host packages know no such limits.
_SETTINGS: dict[str, Any] = {"body_limit": sys.maxsize, "error_body_limit": sys.maxsize}

_CURLE_RECV_ERROR = 56

# Header lines that the library writes itself.
_RESERVED = frozenset({b"content-length", b"transfer-encoding", b"expect"})


class Clients(Generic[_AnyClient]):
    """The clients of an adapter: one for each combination of the settings in which its requests differ.

    They are made when they are first needed, and anew in a child of os.fork(), where those of the parent are of no use.
    """

    def __init__(self, make: Callable[..., _AnyClient], settings: dict[str, Any]) -> None:
        """`make` is the class. `settings` are those that all of them have. Raises TypeError: there is no such."""
        for name in settings:
            if name != "strategy" and name not in ClientSettings.__annotations__:
                raise unknown_argument("Client()", name)
        self._make: Callable[..., _AnyClient] = make
        self._settings = {**_SETTINGS, **settings}
        self._begin()

    def _begin(self) -> None:
        self._process = os.getpid()
        self._making = threading.Lock()
        self._clients: dict[tuple[Any, ...], _AnyClient] = {}

    def _begin_in_child(self) -> None:
        strategy = self._settings.get("strategy")
        if isinstance(strategy, RetryStrategy):
            self._settings["strategy"] = copy.copy(strategy)
        self._begin()

    def get(self, **settings: Any) -> _AnyClient:
        """The client with these settings, which win over those that all have."""
        if self._process != os.getpid():
            self._begin_in_child()
        key = tuple(settings.items())
        client = self._clients.get(key)
        if client is None:
            with self._making:
                client = self._clients.get(key)
                if client is None:
                    client = self._clients[key] = self._make(**{**self._settings, **settings})
        return client

    def take_all(self) -> list[_AnyClient]:
        """The clients, to be closed. If there are requests after that, there are new ones for them."""
        if self._process != os.getpid():
            return []
        with self._making:
            clients, self._clients = list(self._clients.values()), {}
        return clients


def with_strategy(strategy: Strategy | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of an adapter, with the one that it takes as its first argument."""
    return dict(settings) if strategy is None else {"strategy": strategy, **settings}


def sendable(headers: Iterable[tuple[str | bytes, str | bytes]]) -> list[tuple[bytes, bytes]]:
    """The header lines of a host's request, without those that the library writes itself.

    Text becomes Latin-1, as in http.client. Raises UnicodeEncodeError where it does not fit.
    """
    lines = [(_latin_1(name), _latin_1(value)) for name, value in headers]
    return [line for line in lines if line[0].lower() not in _RESERVED]


def _latin_1(text: str | bytes) -> bytes:
    return text.encode("latin-1") if isinstance(text, str) else text


def length_said_by(headers: Mapping[str, Any]) -> int | None:
    """The length of a request's body, as its header says."""
    length = headers.get("Content-Length")
    return None if length is None else int(length)


def raw_lines(headers: ResponseHeaders) -> list[tuple[bytes, bytes]]:
    """The header lines of a response, byte for byte as the server sent them."""
    return [(as_sent(name), as_sent(value)) for name, value in headers.pairs]


def as_sent(text: str) -> bytes:
    """A text of a response's head, byte for byte."""
    return text.encode("utf-8", "surrogateescape")


def latin_1_lines(headers: ResponseHeaders) -> list[tuple[str, str]]:
    """The header lines of a response as http.client gives them: each byte is one character."""
    return [(as_latin_1(name), as_latin_1(value)) for name, value in headers.pairs]


def as_latin_1(text: str) -> str:
    """A text of a response's head as http.client gives it."""
    return as_sent(text).decode("latin-1")


def idle_timeout(seconds: float | None) -> Timeout:
    """The host packages' timeout: how long nothing may move. They have none for a whole attempt."""
    return Timeout(None if seconds is None else max(1, round(seconds * 1000)), None)


def is_of_proxy(error: AnyError) -> bool:
    """Whether it is the proxy that could not be reached, given that there is one for this request."""
    return isinstance(error, (ConnectError, ResolveError))


def connect_timed_out(error: AnyError) -> bool:
    """Whether the last attempt passed its `connect_timeout`."""
    return isinstance(error, ConnectError) and "timed out" in error.detail


def was_connecting(error: AnyError) -> bool:
    """Whether the last attempt ended before it had a connection, with TLS if that was to be."""
    return bool(error.attempts) and error.attempts[-1].connect_ms is None


def was_reset(error: AnyError) -> bool:
    """Whether reading from the last attempt's connection failed, rather than that the connection ended too early."""
    return bool(error.attempts) and error.attempts[-1].curl_code == _CURLE_RECV_ERROR


def was_sending(error: AnyError, length: int) -> bool:
    """Whether the last attempt ended before this many bytes of the request's body were on their way."""
    return bool(error.attempts) and error.attempts[-1].bytes_sent < length


def has_begun_response(error: AnyError) -> bool:
    """Whether the last attempt received a status line."""
    return bool(error.attempts) and error.attempts[-1].http_version != 0

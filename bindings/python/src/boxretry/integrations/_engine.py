"""Common parts of all adapters: their clients, and which parts of a host package's request the library writes."""

from __future__ import annotations

import copy
import functools
import os
import sys
import threading
from collections.abc import Iterable, Mapping
from typing import Any, Callable, Generic, TypeVar

from .._c.texts import encoded
from .._sending.client_settings import SETTINGS
from .._sending.names import unknown_argument
from ..aio import AsyncClient
from ..client import Client
from ..decisions.strategy import RetryStrategy
from ..errors import AnyError, ConnectError, ResolveError, SettingError
from ..options import Strategy
from ..response_headers import ResponseHeaders
from ..timeout import Timeout

_AnyClient = TypeVar("_AnyClient", Client, AsyncClient)

#: Arguments of every request of an adapter. The host packages follow redirects and decode bodies themselves, so the
#: engine does not do it.
REQUEST_ARGUMENTS: dict[str, Any] = {"follow_redirects": False, "compression": False, "default_headers": False}

#: Settings of an adapter's clients that differ from this package's defaults: the host packages do not limit bodies.
_SETTINGS: dict[str, Any] = {"body_limit": sys.maxsize, "error_body_limit": sys.maxsize}

_CURLE_RECV_ERROR = 56
_CURLE_SSL_CERTPROBLEM = 58
_CURLE_SSL_CACERT_BADFILE = 77

# Header lines that the library writes itself.
_RESERVED = frozenset({b"content-length", b"transfer-encoding", b"expect"})


class Clients(Generic[_AnyClient]):
    """The clients of an adapter: one for each combination of settings that its requests need.

    They are made when they are first needed, and again in a child of os.fork(), which cannot use those of its parent.
    """

    def __init__(self, make: Callable[..., _AnyClient], settings: dict[str, Any]) -> None:
        """`make` is the class. `settings` are those of all its clients. Raises TypeError for an unknown setting."""
        for name in settings:
            if name != "strategy" and name not in SETTINGS:
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
        """The client with these settings, which take precedence over the common ones."""
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
        """Removes and returns the clients, to close them. Later requests get new ones."""
        if self._process != os.getpid():
            return []
        with self._making:
            clients, self._clients = list(self._clients.values()), {}
        return clients


def with_strategy(strategy: Strategy | None, settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings of an adapter, with the strategy, which is its first argument."""
    return dict(settings) if strategy is None else {"strategy": strategy, **settings}


def sendable(headers: Iterable[tuple[str | bytes, str | bytes]]) -> list[tuple[bytes, bytes]]:
    """The header lines of a host's request, without those that the library writes itself.

    Text is encoded as Latin-1, as in http.client. Raises UnicodeEncodeError if that is not possible.
    """
    lines = [
        (
            name if isinstance(name, bytes) else name.encode("latin-1"),
            value if isinstance(value, bytes) else value.encode("latin-1"),
        )
        for name, value in headers
    ]
    return without_reserved(lines)


def without_reserved(lines: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """The header lines without those that the library writes itself."""
    return [line for line in lines if line[0].lower() not in _RESERVED]


def length_said_by(headers: Mapping[str, Any]) -> int | None:
    """The length of a request's body that its header states."""
    length = headers.get("Content-Length")
    return None if length is None else int(length)


def latin_1_lines(headers: ResponseHeaders) -> list[tuple[str, str]]:
    """The header lines of a response in the form of http.client: each byte is one character."""
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in headers.raw]


def as_latin_1(text: str) -> str:
    """A text of a response's head in the form of http.client."""
    return encoded(text).decode("latin-1")


@functools.lru_cache(maxsize=64)
def idle_timeout(seconds: float | None) -> Timeout:
    """The host packages' timeout: the longest time without any data. They do not limit a whole attempt."""
    return Timeout(None if seconds is None else max(1, round(seconds * 1000)), None)


def is_of_proxy(error: AnyError) -> bool:
    """Whether the proxy could not be reached, given that this request uses one."""
    return isinstance(error, (ConnectError, ResolveError))


def is_of_certificates(error: AnyError) -> bool:
    """Whether a file of trusted certificates, or the client's own certificate or key, could not be used."""
    files = (_CURLE_SSL_CERTPROBLEM, _CURLE_SSL_CACERT_BADFILE)
    return isinstance(error, SettingError) and bool(error.attempts) and error.attempts[-1].curl_code in files


def connect_timed_out(error: AnyError) -> bool:
    """Whether the last attempt exceeded its `connect_timeout`."""
    return isinstance(error, ConnectError) and "timed out" in error.detail


def was_connecting(error: AnyError) -> bool:
    """Whether the last attempt ended before its connection was ready, including TLS if it is used."""
    return bool(error.attempts) and error.attempts[-1].connect_ms is None


def was_reset(error: AnyError) -> bool:
    """Whether reading from the last attempt's connection failed; False if the connection was closed too early."""
    return bool(error.attempts) and error.attempts[-1].curl_code == _CURLE_RECV_ERROR


def was_sending(error: AnyError, length: int) -> bool:
    """Whether the last attempt ended before this number of bytes of the request's body were sent."""
    return bool(error.attempts) and error.attempts[-1].bytes_sent < length


def has_begun_response(error: AnyError) -> bool:
    """Whether the last attempt received a status line."""
    return bool(error.attempts) and error.attempts[-1].http_version != 0

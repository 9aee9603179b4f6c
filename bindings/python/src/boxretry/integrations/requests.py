"""A transport adapter for requests: its sessions, on this engine.

    session = requests.Session()
    session.mount("https://", RetryAdapter())
    session.mount("http://", RetryAdapter())

Redirects, cookies, auth and hooks are those of requests; each request that they lead to has retries of its own.
"""

from __future__ import annotations

import http.client
import io
import os
import sys
from collections.abc import Generator
from email.message import Message
from typing import TYPE_CHECKING, Any, Union

import requests
from requests.adapters import BaseAdapter
from requests.cookies import extract_cookies_to_jar
from requests.structures import CaseInsensitiveDict
from requests.utils import (
    DEFAULT_CA_BUNDLE_PATH,
    get_encoding_from_headers,
    prepend_scheme_if_needed,
    select_proxy,
)
from urllib3 import HTTPHeaderDict, HTTPResponse

from ..client import Client
from ..enums import Proxy
from ..errors import (
    BoxRetryError,
    DeadlineError,
    IdleTimeoutError,
    InvalidArgumentError,
    NetworkError,
    ResourceTimeoutError,
    TLSError,
)
from ..options import ClientSettings, Strategy
from ..response import Response, ResponseHeaders
from ..stream import Stream
from ..timeout import Timeout
from ._engine import REQUEST_ARGUMENTS, Clients, idle_timeout, is_of_proxy, sendable, was_connecting, with_strategy
from ._sending import body_of_host, send, send_for_stream

if TYPE_CHECKING:
    from typing_extensions import Unpack

_Timeout = Union[float, tuple[Union[float, None], Union[float, None]], None]


class RetryAdapter(BaseAdapter):
    """Sends the requests of a session, with retries.

    `timeout`, `verify`, `cert` and `proxies` are those of the session and its requests. A timeout is the longest time
    in which nothing moves, connecting included, of each attempt: the engine has no other for connecting, so that of a
    (connect, read) pair the second counts. A request without one waits as long as the adapter's own `timeout` says, by
    default for ever. `verify=False` and a folder of certificates are not supported, and refused with RequestException.

    With `stream=True` the body of a 2xx response comes as it is read; should it break off, that is raised, since the
    status has been told. Without, a response that breaks off is retried as any other exception. A body that is a file
    or can be iterated over is read while it is sent, in the thread that waits, and is sent again if it is a file that
    can be rewound, or no iterator.

    When retries are exhausted, the last response is returned, whatever its status. What ends without one raises:
    SSLError, ProxyError, ConnectTimeout (the TLS handshake included), ReadTimeout, Timeout (a deadline),
    ConnectionError, InvalidURL, InvalidHeader, else RequestException. The BoxRetryError with all attempts is its
    `__cause__`; of what is raised while a stream is read, it is further down among the causes.

    An adapter can be pickled if its settings can, and is usable in a child of os.fork().
    """

    def __init__(self, strategy: Strategy | None = None, **settings: Unpack[ClientSettings]) -> None:
        """As `boxretry.Client`, but without `proxy` and `ca_file`: a strategy, a deadline, … ."""
        super().__init__()
        unsupported = {"proxy", "ca_file"} & settings.keys()
        if unsupported:
            raise TypeError(f"{', '.join(sorted(unsupported))}: is said by the session (proxies, verify)")
        self._settings = with_strategy(strategy, settings)
        self._clients = Clients(Client, self._settings)

    def send(
        self,
        request: requests.PreparedRequest,
        stream: bool = False,
        timeout: _Timeout = None,
        verify: bool | str = True,
        cert: Any = None,
        proxies: Any = None,
    ) -> requests.Response:
        """Sends a request, for a session. See the class."""
        assert request.method is not None
        assert request.url is not None
        proxy = select_proxy(request.url, proxies)
        settings = {
            "proxy": _with_scheme(proxy) if proxy else Proxy.NONE,
            "ca_file": _ca_file(request, verify),
            "cert": _certificate(request, cert),
        }
        try:
            client = self._clients.get(**settings)
            arguments = {
                "headers": sendable(request.headers.items()),
                "timeout": self._timeout(timeout),
                **_body(request),
                **REQUEST_ARGUMENTS,
            }
            if stream:
                came = send_for_stream(client, request.method, request.url, arguments)
                return self._response(request, came, came.headers, _Streamed(came))
            response = send(client, request.method, request.url, arguments)
        except BoxRetryError as error:
            raise _exception(error, request, proxy) from error
        except OSError as error:  # Of the body, when it was read.
            raise requests.ConnectionError(error, request=request) from error
        return self._response(request, response, response.headers, io.BytesIO(response.content))

    def close(self) -> None:
        """Closes all connections. The adapter can be used again, and then makes new ones."""
        for client in self._clients.take_all():
            client.close()

    def __reduce__(self) -> Any:
        """Without its connections."""
        return _make, (type(self), self._settings)

    def _timeout(self, timeout: _Timeout) -> Timeout | None:
        if isinstance(timeout, tuple):
            if len(timeout) != 2:
                raise ValueError(f"timeout: must be a number or a (connect, read) pair, not {timeout!r}")
            timeout = timeout[1]
        if timeout is None and "timeout" in self._settings:
            return None
        return idle_timeout(timeout)

    def _response(
        self, request: requests.PreparedRequest, came: Response | Stream, headers: ResponseHeaders, body: Any
    ) -> requests.Response:
        assert request.url is not None
        reason = http.client.responses.get(came.status, "")
        response = requests.Response()
        response.status_code = came.status
        response.headers = CaseInsensitiveDict(HTTPHeaderDict(headers.pairs))
        response.encoding = get_encoding_from_headers(response.headers)
        response.raw = _RawResponse(
            body,
            HTTPHeaderDict(headers.pairs),
            came.status,
            reason=reason,
            preload_content=False,
            decode_content=False,
            original_response=_Original(headers.pairs, body),  # type: ignore[arg-type]
            request_method=request.method,
        )
        response.reason = reason
        response.url = request.url
        extract_cookies_to_jar(response.cookies, request, response.raw)  # type: ignore[no-untyped-call]
        response.request = request
        response.connection = self  # type: ignore[assignment]  # requests itself only closes it.
        return response


def _make(adapter: type[RetryAdapter], settings: dict[str, Any]) -> RetryAdapter:
    return adapter(**settings)


class _Original:
    """What requests takes cookies from, in place of an http.client.HTTPResponse."""

    def __init__(self, pairs: list[tuple[str, str]], body: Any) -> None:
        self._body = body
        self.msg = Message()
        for name, value in pairs:
            if name.lower() in ("set-cookie", "set-cookie2"):
                self.msg[name] = value

    def isclosed(self) -> bool:
        """It was read to its end."""
        return bool(self._body.closed)

    def close(self) -> None:
        """Nobody reads it on."""
        self._body.close()


class _RawResponse(HTTPResponse):
    """urllib3's, whose pieces are as they come also where they are no chunks of HTTP/1.1."""

    def stream(self, amt: int | None = 65536, decode_content: bool | None = None) -> Generator[bytes]:
        """Pieces of at most `amt` bytes; None: of any size."""
        while data := self.read1(amt, decode_content):
            yield data


class _Streamed(io.RawIOBase):
    """The body of a response that is read while it comes, as a file."""

    def __init__(self, stream: Stream) -> None:
        super().__init__()
        self._stream = stream
        self._pieces = stream.iter_bytes()
        self._rest = b""
        length = stream.headers.get("Content-Length", "")
        self._left = int(length) if length.isdecimal() else None

    def readable(self) -> bool:
        return True

    def read1(self, size: int = -1) -> bytes:
        """What is there, at most so many bytes; waits for some."""
        if not self._rest:
            try:
                self._rest = next(self._pieces, b"")
                if self._left is not None:
                    self._left -= len(self._rest)
                    if self._left == 0:
                        next(self._pieces, b"")  # The end, which is near: the connection can be used again.
            except IdleTimeoutError as error:
                raise TimeoutError(str(error)) from error
            except BoxRetryError as error:
                raise OSError(str(error)) from error
        size = len(self._rest) if size < 0 else size
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece

    def read(self, size: int | None = -1) -> bytes:
        """So many bytes, fewer only at the end; all, if it is not said."""
        pieces, left = [], sys.maxsize if size is None or size < 0 else size
        while left and (piece := self.read1(left)):
            pieces.append(piece)
            left -= len(piece)
        return b"".join(pieces)

    def readinto(self, buffer: Any) -> int:
        piece = self.read1(len(buffer))
        buffer[: len(piece)] = piece
        return len(piece)

    def close(self) -> None:
        """Cancels the call, unless it has ended."""
        super().close()
        self._stream.close()


def _with_scheme(proxy: str) -> str:
    url: str = prepend_scheme_if_needed(proxy, "http")  # type: ignore[no-untyped-call]
    return url


def _ca_file(request: requests.PreparedRequest, verify: bool | str | None) -> str | None:
    assert request.url is not None
    if not request.url.lower().startswith("https"):
        return None
    if not verify:
        raise requests.RequestException("verify: switching it off is not supported by RetryAdapter", request=request)
    path: str = DEFAULT_CA_BUNDLE_PATH if verify is True else verify
    if not os.path.exists(path):
        raise OSError(f"Could not find a suitable TLS CA certificate bundle, invalid path: {path}")
    if os.path.isdir(path):
        raise requests.RequestException("verify: a folder is not supported by RetryAdapter", request=request)
    return path


def _certificate(request: requests.PreparedRequest, cert: Any) -> Any:
    assert request.url is not None
    if not cert or not request.url.lower().startswith("https"):
        return None
    for path, what in zip([cert] if isinstance(cert, str) else cert, ("certificate", "key")):
        if not os.path.exists(path):
            raise OSError(f"Could not find the TLS {what} file, invalid path: {path}")
    return cert if isinstance(cert, str) else tuple(cert)


def _body(request: requests.PreparedRequest) -> dict[str, Any]:
    length = request.headers.get("Content-Length")
    return body_of_host(request.body, None if length is None else int(length))


def _exception(error: BoxRetryError, request: requests.PreparedRequest, proxy: str | None) -> requests.RequestException:
    return _exception_class(error, proxy)(error, request=request)


def _exception_class(error: BoxRetryError, proxy: str | None) -> type[requests.RequestException]:
    if proxy and is_of_proxy(error):
        return requests.exceptions.ProxyError
    if isinstance(error, (IdleTimeoutError, ResourceTimeoutError)):
        return requests.ConnectTimeout if was_connecting(error) else requests.ReadTimeout
    if isinstance(error, DeadlineError):
        return requests.Timeout
    if isinstance(error, TLSError):
        return requests.exceptions.SSLError
    if isinstance(error, NetworkError):
        return requests.ConnectionError
    if isinstance(error, InvalidArgumentError):
        if ".url" in error.detail:
            return requests.exceptions.InvalidURL
        if ".headers" in error.detail:
            return requests.exceptions.InvalidHeader
    return requests.RequestException

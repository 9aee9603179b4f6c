"""A transport adapter for requests: its sessions, on this engine.

If an API client on top of the session has its own retries, retries multiply. Turn its retries off first, for example
with `stripe.max_network_retries = 0`; the project's docs/api-clients.md has the line for other clients.

    session = requests.Session()
    session.mount("https://", RetryAdapter())
    session.mount("http://", RetryAdapter())

requests itself handles redirects, cookies, auth and hooks; each request that they lead to is retried separately.
"""

from __future__ import annotations

import io
import os
import socket
import sys
import warnings
from collections.abc import Generator
from email.message import Message
from typing import TYPE_CHECKING, Any, Union
from urllib.parse import urlsplit

import requests
import urllib3
from requests.adapters import BaseAdapter
from requests.cookies import extract_cookies_to_jar
from requests.structures import CaseInsensitiveDict
from requests.utils import (
    DEFAULT_CA_BUNDLE_PATH,
    get_encoding_from_headers,
    prepend_scheme_if_needed,
    select_proxy,
)
from urllib3.exceptions import InsecureRequestWarning
from urllib3.exceptions import InvalidHeader as UnusableHeader
from urllib3.response import HTTPResponse
from urllib3.util import SKIP_HEADER
from urllib3.util import Timeout as HostTimeout
from urllib3.util.response import is_fp_closed
from urllib3.util.url import _encode_target

from ..client import Client
from ..enums import Proxy
from ..errors import (
    AnyError,
    BoxRetryError,
    CancelledError,
    DeadlineError,
    IdleTimeoutError,
    InvalidArgumentError,
    NetworkError,
    ProtocolError,
    ReceiveError,
    ResourceTimeoutError,
    Response,
    TLSError,
)
from ..options import ClientSettings, Strategy
from ..response_headers import ResponseHeaders
from ..stream import Stream
from ._engine import (
    REQUEST_ARGUMENTS,
    Clients,
    as_latin_1,
    connect_timed_out,
    has_begun_response,
    idle_timeout,
    is_of_certificates,
    is_of_proxy,
    latin_1_lines,
    length_said_by,
    sendable,
    was_connecting,
    with_strategy,
)
from ._sending import body_of_host, send, send_for_stream

try:
    from urllib3 import HTTPHeaderDict  # 2.0 or newer.
except ImportError:
    from urllib3._collections import HTTPHeaderDict

if TYPE_CHECKING:
    from typing_extensions import Unpack

_URLLIB3_VERSION: str = vars(urllib3)["__version__"]

# The value of a header that urllib3 does not send.
_LEFT_OUT = (SKIP_HEADER, SKIP_HEADER.encode())

_Timeout = Union[float, tuple[Union[float, None], Union[float, None]], HostTimeout, None]


class RetryAdapter(BaseAdapter):
    """Sends the requests of a session, with retries.

    `timeout`, `verify`, `cert` and `proxies` are those of the session and its requests. A timeout is the longest time
    without any data in each attempt, including the time to connect. In a (connect, read) pair, or a `urllib3.Timeout`,
    the first limits the time to connect (resolving the name, TCP, TLS and a proxy's CONNECT together) in each attempt,
    the second is the longest time without any data. A request without a timeout has the limits of the adapter's own
    `timeout`, by default none.

    With `stream=True` the body of a 2xx response arrives while it is read. If it breaks off, that raises, because the
    status has been reported already. Without it, a response that breaks off is retried like any other exception. If the
    request's body is a file or can be iterated over, the waiting thread reads it while it is sent. It is sent again if
    it is a file that can be rewound, or not an iterator.

    When retries are exhausted, the last response is returned, with any status. A call without a response raises
    SSLError, ProxyError, InvalidProxyURL, ConnectTimeout (the TLS handshake included), ReadTimeout, Timeout (a
    deadline), ChunkedEncodingError (the body breaks off), ConnectionError (also if the call was canceled), InvalidURL,
    InvalidHeader, otherwise RequestException. The BoxRetryError or CancelledError with all attempts is its `__cause__`;
    for an exception from reading a stream, it is further down among the causes.

    An adapter can be pickled if its settings can, and can be used in a child of os.fork().
    """

    def __init__(self, strategy: Strategy | None = None, **settings: Unpack[ClientSettings]) -> None:
        """The settings are those of `boxretry.Client`, except `proxy` and the certificates, which the session sets."""
        super().__init__()
        unsupported = {"proxy", "ca_file", "ca_path", "tls_verify"} & settings.keys()
        if unsupported:
            raise TypeError(f"{', '.join(sorted(unsupported))}: the session sets this (proxies, verify)")
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
        """Sends a request for a session. See the class."""
        assert request.method is not None
        assert request.url is not None
        url = _sent_url(request.url, request.path_url)
        proxy = select_proxy(request.url, proxies) if proxies else None
        settings = {
            "proxy": _proxy_url(proxy, request),
            **_trust(request.url, verify),
            "cert": _certificate(request, cert),
        }
        try:
            client = self._clients.get(**settings)
            arguments = {
                "headers": _headers(request),
                **self._timeouts(timeout),
                **_body(request),
                **REQUEST_ARGUMENTS,
            }
            if stream:
                came = send_for_stream(client, request.method, url, arguments)
                return self._response(request, came, came.headers, _Streamed(came))
            response = send(client, request.method, url, arguments)
        except (BoxRetryError, CancelledError) as error:
            raise _exception(error, request, proxy) from error
        except OSError as error:  # From reading the body.
            raise requests.ConnectionError(error, request=request) from error
        return self._response(request, response, response.headers, _Whole(response.content))

    def close(self) -> None:
        """Closes idle connections. Responses that are still read, and requests of other threads, keep theirs.

        If the adapter is used again, it makes new connections.
        """
        self._clients.take_all()  # A client ends with the last call that uses it.

    def __reduce__(self) -> Any:
        """Pickles the adapter without its connections."""
        return _make, (type(self), self._settings)

    def _timeouts(self, timeout: _Timeout) -> dict[str, Any]:
        if timeout is None:
            return {"timeout": None if "timeout" in self._settings else idle_timeout(None)}
        wanted = _host_timeout(timeout)
        connect, read = _shorter(wanted.connect_timeout, None), _shorter(wanted._read, wanted.total)
        is_ours = read is None and "timeout" in self._settings
        return {"timeout": None if is_ours else idle_timeout(read), "connect_timeout": connect}

    def _response(
        self, request: requests.PreparedRequest, came: Response | Stream, headers: ResponseHeaders, body: Any
    ) -> requests.Response:
        assert request.url is not None
        reason = as_latin_1(came.reason_phrase)
        lines = latin_1_lines(headers)
        raw_headers = HTTPHeaderDict(lines)
        response = requests.Response()
        response.status_code = came.status
        response.headers = CaseInsensitiveDict(raw_headers)
        response.encoding = get_encoding_from_headers(response.headers)
        try:
            response.raw = _RawResponse(
                body,
                raw_headers,
                came.status,
                version=came.http_version,
                reason=reason,
                preload_content=False,
                decode_content=False,
                original_response=_Original(lines, body),  # type: ignore[arg-type]
                request_method=request.method,
            )
        except UnusableHeader as error:  # A Content-Length on a response that has no body.
            body.close()
            raise requests.exceptions.InvalidHeader(error, request=request) from error
        response.reason = reason
        response.url = request.url
        extract_cookies_to_jar(response.cookies, request, response.raw)  # type: ignore[no-untyped-call]
        response.request = request
        response.connection = self  # type: ignore[assignment]  # requests itself only closes it.
        return response


def _make(adapter: type[RetryAdapter], settings: dict[str, Any]) -> RetryAdapter:
    return adapter(**settings)


class _Original:
    """The object that requests reads cookies from, instead of an http.client.HTTPResponse."""

    def __init__(self, pairs: list[tuple[str, str]], body: Any) -> None:
        self._body = body
        self.msg = Message()
        for name, value in pairs:
            if name.lower() in ("set-cookie", "set-cookie2"):
                self.msg[name] = value

    def isclosed(self) -> bool:
        """The body was read to its end."""
        return bool(self._body.closed)

    def close(self) -> None:
        """The body is not read further."""
        self._body.close()


class _RawResponse(HTTPResponse):
    """urllib3's class, but `stream()` yields pieces as they arrive, with any framing."""

    def stream(self, amt: int | None = 65536, decode_content: bool | None = None) -> Generator[bytes]:
        """Yields pieces of at most `amt` bytes; None: of any size."""
        if hasattr(HTTPResponse, "read1"):
            while data := self.read1(amt, decode_content):
                yield data
            return
        # An older urllib3. The end of a compressed body may give an empty piece.
        body: Any = self._fp
        while not is_fp_closed(body):
            with self._error_catcher():
                there = body.available()
            data = self.read(amt=max(1, min(there, amt or there)), decode_content=decode_content)
            if data:
                yield data


class _Whole(io.BytesIO):
    """The body of a response that has been received, as a file."""

    def available(self) -> int:
        """Number of bytes that can be read immediately."""
        return self.getbuffer().nbytes - self.tell()


class _Streamed(io.RawIOBase):
    """The body of a response that is being received, as a file."""

    def __init__(self, stream: Stream) -> None:
        super().__init__()
        self._stream = stream
        self._pieces = stream.iter_bytes()
        self._rest = b""
        length = stream.headers.get("Content-Length", "")
        self._left = int(length) if length.isdecimal() else None

    def readable(self) -> bool:
        return True

    def available(self) -> int:
        """Number of bytes that can be read immediately. Waits for at least one; 0 is the end."""
        if not self._rest:
            try:
                self._rest = next(self._pieces, b"")
                if self._left is not None:
                    self._left -= len(self._rest)
                    if self._left == 0:
                        next(self._pieces, b"")  # Read to the end, which is near, so that the connection can be reused.
            except IdleTimeoutError as error:
                # What urllib3 catches. Before Python 3.10, that is not TimeoutError.
                raise socket.timeout(str(error)) from error
            except (BoxRetryError, CancelledError) as error:
                raise OSError(str(error)) from error
        return len(self._rest)

    def read1(self, size: int = -1) -> bytes:
        """Returns available data, at most `size` bytes. Waits for at least one."""
        size = self.available() if size < 0 else min(self.available(), size)
        piece, self._rest = self._rest[:size], self._rest[size:]
        return piece

    def read(self, size: int | None = -1) -> bytes:
        """Returns `size` bytes, fewer only at the end; without a size, all of them."""
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


def _host_timeout(timeout: _Timeout) -> HostTimeout:
    """A timeout in the forms that requests accepts. Raises ValueError for those that requests refuses."""
    if isinstance(timeout, HostTimeout):
        return timeout
    if isinstance(timeout, tuple):
        if len(timeout) != 2:
            raise ValueError(
                f"Invalid timeout {timeout}. Pass a (connect, read) timeout tuple, or a single float to set both"
                " timeouts to the same value."
            )
        return HostTimeout(connect=timeout[0], read=timeout[1])
    return HostTimeout(connect=timeout, read=timeout)


def _shorter(*timeouts: Any) -> float | None:
    """The shortest of these; None: no limit. urllib3 has an object that means "not given"."""
    return min((timeout for timeout in timeouts if isinstance(timeout, (int, float))), default=None)


def _proxy_url(proxy: str | None, request: requests.PreparedRequest) -> str | Proxy:
    """The proxy's URL. Raises InvalidProxyURL if it has no host."""
    if not proxy:
        return Proxy.NONE
    url: str = prepend_scheme_if_needed(proxy, "http")  # type: ignore[no-untyped-call]
    if not urlsplit(url).hostname:
        raise requests.exceptions.InvalidProxyURL(
            "Please check proxy URL. It is malformed and could be missing the host.", request=request
        )
    return url


def _trust(url: str, verify: Any) -> dict[str, Any]:
    """The client's settings for `verify`: True, False, or the path of a file or a directory of certificates."""
    trust: dict[str, Any] = {"ca_file": None, "ca_path": None, "tls_verify": None}
    if not url.lower().startswith("https:"):
        return trust
    if not verify:
        warnings.warn(
            f"Unverified HTTPS request is being made to host {urlsplit(url).hostname!r}."
            " Adding certificate verification is strongly advised.",
            InsecureRequestWarning,
            stacklevel=2,
        )
        return {**trust, "tls_verify": False}
    path = os.fspath(DEFAULT_CA_BUNDLE_PATH if verify is True else verify)
    if not os.path.exists(path):
        raise OSError(f"Could not find a suitable TLS CA certificate bundle, invalid path: {path}")
    return {**trust, "ca_path" if os.path.isdir(path) else "ca_file": path}


def _certificate(request: requests.PreparedRequest, cert: Any) -> Any:
    assert request.url is not None
    if not cert or not request.url.lower().startswith("https"):
        return None
    paths = tuple(os.fspath(path) for path in ((cert,) if isinstance(cert, (str, os.PathLike)) else cert))
    for path, what in zip(paths, ("certificate", "key")):
        if not os.path.exists(path):
            raise OSError(f"Could not find the TLS {what} file, invalid path: {path}")
    return paths[0] if len(paths) == 1 else paths


def _sent_url(url: str, target: str) -> str:
    """The URL as urllib3 would send it, without user and password, which are in a header. Dots in its path stay."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{_encode_target(target)}"


def _headers(request: requests.PreparedRequest) -> list[tuple[bytes, bytes]]:
    """The header lines, with those that urllib3 adds if the caller has removed the defaults of requests."""
    headers = request.headers
    lines = [(name, value) for name, value in headers.items() if value not in _LEFT_OUT]
    if "Accept-Encoding" not in headers:
        lines.append(("Accept-Encoding", "identity"))
    if "User-Agent" not in headers:
        lines.append(("User-Agent", f"python-urllib3/{_URLLIB3_VERSION}"))
    return sendable(lines)


def _body(request: requests.PreparedRequest) -> dict[str, Any]:
    body = request.body
    if isinstance(body, str) and _URLLIB3_VERSION.startswith("1."):
        body = body.encode("latin-1")  # As http.client does; newer urllib3 sends UTF-8.
    return body_of_host(body, length_said_by(request.headers))


def _exception(error: AnyError, request: requests.PreparedRequest, proxy: str | None) -> requests.RequestException:
    kind = _exception_class(error, proxy)
    if kind is requests.ReadTimeout:  # Programs look for urllib3's text.
        return kind(TimeoutError(f"Read timed out. ({error})"), request=request)
    return kind(error, request=request)


def _exception_class(error: AnyError, proxy: str | None) -> type[requests.RequestException]:
    if connect_timed_out(error):
        return requests.ConnectTimeout
    if proxy and is_of_proxy(error):
        return requests.exceptions.ProxyError
    if isinstance(error, (IdleTimeoutError, ResourceTimeoutError)):
        return requests.ConnectTimeout if was_connecting(error) else requests.ReadTimeout
    if isinstance(error, DeadlineError):
        return requests.Timeout
    if isinstance(error, TLSError) or is_of_certificates(error):
        return requests.exceptions.SSLError
    if isinstance(error, ProtocolError) and "Content-Length" in error.detail:
        return requests.exceptions.InvalidHeader
    if isinstance(error, (ReceiveError, ProtocolError)) and has_begun_response(error):
        return requests.exceptions.ChunkedEncodingError
    if isinstance(error, (NetworkError, CancelledError)):
        return requests.ConnectionError
    if isinstance(error, InvalidArgumentError):
        if ".url" in error.detail:
            return requests.exceptions.InvalidURL
        if ".headers" in error.detail:
            return requests.exceptions.InvalidHeader
    return requests.RequestException

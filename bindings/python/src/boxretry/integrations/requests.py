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
from email.message import Message
from typing import Any, Union

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
from ..response import Response
from ..timeout import Timeout
from ._engine import REQUEST_ARGUMENTS, Clients, idle_timeout, is_of_proxy, sendable

_Timeout = Union[float, tuple[Union[float, None], Union[float, None]], None]


class RetryAdapter(BaseAdapter):
    """Sends the requests of a session, with retries.

    `timeout`, `verify` and `proxies` are those of the session and its requests. A timeout is the longest time in which
    nothing moves, of each attempt; of a (connect, read) pair the second counts. A request without one waits as long as
    the adapter's own `timeout` says, by default for ever. `verify=False`, a folder of certificates, and client
    certificates (`cert`) are not supported, and refused with RequestException.

    A response is read to its end before it is given, also with `stream=True`.

    When retries are exhausted, the last response is returned, whatever its status. What ends without one raises:
    SSLError, ProxyError, ReadTimeout (connecting included), Timeout (a deadline), ConnectionError, InvalidURL,
    InvalidHeader, else RequestException. The BoxRetryError with all attempts is its `__cause__`.

    An adapter can be pickled if its settings can, and is usable in a child of os.fork().
    """

    def __init__(self, **settings: Any) -> None:
        """The settings are those of `boxretry.Client`, without `proxy` and `ca_file`: a strategy, a deadline, … ."""
        super().__init__()
        unsupported = {"proxy", "ca_file"} & settings.keys()
        if unsupported:
            raise TypeError(f"{', '.join(sorted(unsupported))}: is said by the session (proxies, verify)")
        self._settings = settings
        self._clients = Clients(Client, settings)

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
        try:
            client = self._clients.get(
                proxy=_with_scheme(proxy) if proxy else Proxy.NONE,
                ca_file=_ca_file(request, verify, cert),
            )
            response = client.request(
                request.method,
                request.url,
                headers=sendable(request.headers.items()),
                data=_whole_body(request.body),
                timeout=self._timeout(timeout),
                **REQUEST_ARGUMENTS,
            )
        except BoxRetryError as error:
            raise _exception(error, request, proxy) from error
        return self._response(request, response)

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

    def _response(self, request: requests.PreparedRequest, came: Response) -> requests.Response:
        assert request.url is not None
        reason = http.client.responses.get(came.status, "")
        response = requests.Response()
        response.status_code = came.status
        response.headers = CaseInsensitiveDict(HTTPHeaderDict(came.headers.pairs))
        response.encoding = get_encoding_from_headers(response.headers)
        response.raw = HTTPResponse(
            io.BytesIO(came.content),
            HTTPHeaderDict(came.headers.pairs),
            came.status,
            reason=reason,
            preload_content=False,
            decode_content=False,
            original_response=_Original(came.headers.pairs),  # type: ignore[arg-type]
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

    def __init__(self, pairs: list[tuple[str, str]]) -> None:
        self.msg = Message()
        for name, value in pairs:
            if name.lower() in ("set-cookie", "set-cookie2"):
                self.msg[name] = value

    def isclosed(self) -> bool:
        """It was read to its end."""
        return True

    def close(self) -> None:
        """There is nothing to close."""


def _with_scheme(proxy: str) -> str:
    url: str = prepend_scheme_if_needed(proxy, "http")  # type: ignore[no-untyped-call]
    return url


def _ca_file(request: requests.PreparedRequest, verify: bool | str | None, cert: Any) -> str | None:
    assert request.url is not None
    if not request.url.lower().startswith("https"):
        return None
    if cert:
        raise requests.RequestException("cert: client certificates are not supported by RetryAdapter", request=request)
    if not verify:
        raise requests.RequestException("verify: switching it off is not supported by RetryAdapter", request=request)
    path: str = DEFAULT_CA_BUNDLE_PATH if verify is True else verify
    if not os.path.exists(path):
        raise OSError(f"Could not find a suitable TLS CA certificate bundle, invalid path: {path}")
    if os.path.isdir(path):
        raise requests.RequestException("verify: a folder is not supported by RetryAdapter", request=request)
    return path


def _whole_body(body: Any) -> bytes | None:
    """A body of any of the kinds that requests has: text, bytes, a file, or an iterable of parts."""
    if body is None or isinstance(body, bytes):
        return body
    if isinstance(body, str):
        return body.encode("utf-8")
    parts = body.read() if hasattr(body, "read") else body
    if isinstance(parts, (str, bytes)):
        parts = [parts]
    return b"".join(part.encode("utf-8") if isinstance(part, str) else part for part in parts)


def _exception(error: BoxRetryError, request: requests.PreparedRequest, proxy: str | None) -> requests.RequestException:
    return _exception_class(error, proxy)(error, request=request)


def _exception_class(error: BoxRetryError, proxy: str | None) -> type[requests.RequestException]:
    if proxy and is_of_proxy(error):
        return requests.exceptions.ProxyError
    if isinstance(error, (IdleTimeoutError, ResourceTimeoutError)):
        return requests.ReadTimeout
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

"""The exceptions that the transports for HTTPX raise."""

from __future__ import annotations

from typing import Any, NoReturn

from ..errors import (
    AnyError,
    CancelledError,
    DeadlineError,
    IdleTimeoutError,
    InvalidArgumentError,
    NetworkError,
    ProtocolError,
    ReceiveError,
    ResourceTimeoutError,
    SendError,
    SourceError,
)
from ._engine import connect_timed_out, is_of_certificates, is_of_proxy, was_connecting, was_reset, was_sending


def raise_as_of_host(error: AnyError, host: Any, request: Any, has_proxy: bool) -> NoReturn:
    """Raises the package's exception for an error. An exception from reading a request's content stays as it is."""
    if isinstance(error, SourceError):
        if error.__cause__ is not None:
            raise error.__cause__ from None
        raise host.TransportError(str(error)) from error
    if isinstance(error, InvalidArgumentError):
        raise _of_argument(host, request, error) from error
    raise _exception_class(host, request, error, has_proxy)(str(error)) from error


def _of_argument(host: Any, request: Any, error: InvalidArgumentError) -> Any:
    scheme = request.url.scheme
    if scheme not in ("http", "https"):
        what = (
            f"has an unsupported protocol '{scheme}://'" if scheme else "is missing an 'http://' or 'https://' protocol"
        )
        return host.UnsupportedProtocol(f"Request URL {what}.")
    if ".url" in error.detail:
        return host.ConnectError(str(error))
    return host.LocalProtocolError(str(error))


def _exception_class(host: Any, request: Any, error: AnyError, has_proxy: bool) -> Any:
    if connect_timed_out(error):
        return host.ConnectTimeout
    if has_proxy and is_of_proxy(error):
        return host.ProxyError
    if isinstance(error, (IdleTimeoutError, ResourceTimeoutError)):
        if was_connecting(error):
            return host.ConnectTimeout
        length = request.headers.get("Content-Length", "")
        return host.WriteTimeout if was_sending(error, int(length) if length.isdecimal() else 0) else host.ReadTimeout
    if isinstance(error, DeadlineError):
        return host.TimeoutException
    if isinstance(error, ReceiveError):
        return host.ReadError if was_reset(error) else host.RemoteProtocolError
    if isinstance(error, CancelledError):
        return host.ReadError
    if isinstance(error, SendError):
        return host.WriteError
    if isinstance(error, ProtocolError):
        return host.RemoteProtocolError
    if isinstance(error, NetworkError) or is_of_certificates(error):
        return host.ConnectError
    return host.TransportError

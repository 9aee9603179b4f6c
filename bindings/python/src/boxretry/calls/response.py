"""The result of a call: its response, or the error that it ended with."""

from __future__ import annotations

import contextlib
import logging
from ctypes import c_size_t
from typing import TYPE_CHECKING, Any

from .._c import _abi
from .._c.arguments import Text
from .._c.handle import Handle
from .._c.texts import bytes_at, decoded
from .._hints import missing_from_response
from ..attempt import Attempt, Reconnect, Redirect
from ..enums import Error, Reason
from ..errors import (
    CLASSES,
    AnyError,
    BoxRetryError,
    ForkedError,
    HTTPStatusError,
    NetworkError,
    Response,
    check,
    exception_of,
)
from ..response_headers import ResponseHeaders
from ._attempts import attempts_of_call, http_version_of_call, reconnects_of_call, redirects_of_call
from ._token_calls import Provider
from .log import is_given_up, log_giving_up, logger, without_secrets
from .watched import Watched, find_watched, new_token

#: The names that `Response.error_detail()` accepts.
_DETAILS = ("code", "message", "request_id", "help_url", "retry_after")


class _CallResponse(Response):
    """A `Response`, fetched from a boxretry_response part by part; or a copy, which has all parts."""

    # What is not known yet is here, once for all responses.
    _content: bytes | None = None
    _headers: ResponseHeaders | None = None
    _attempts: list[Attempt] | None = None
    _url: str | None = None
    _reason_phrase: str | None = None
    _content_is_cut_off: bool | None = None
    _sink_length: int | None = None
    _redirects: list[Redirect] | None = None
    _reconnects: list[Reconnect] | None = None
    _token_cause: BaseException | None = None
    _details: dict[str, str | None] | None = None

    def __init__(self, handle: Handle, method: str, token_cause: BaseException | None = None) -> None:
        self._handle: Handle | None = handle
        self._method = method
        self.status = _abi.boxretry_response_status(handle.cell)
        if token_cause is not None:
            self._token_cause = token_cause

    @property
    def ok(self) -> bool:
        if not 200 <= self.status < 400:
            return False
        return self.status < 300 or self.attempts[-1].reason is not Reason.NOT_REPLAYABLE

    @property
    def content(self) -> bytes:
        if self._content is None:
            assert self._handle is not None  # A copy has all its parts; the same below.
            length = c_size_t()
            pointer = _abi.boxretry_response_body(self._handle.cell, length)
            if not length.value:
                self._pointer()
            content: bytes = bytes_at(pointer, length.value)
            self._content = content
        return self._content

    @property
    def text(self) -> str:
        from email.message import Message  # Slow to import, and not needed for bytes.

        message = Message()
        message["Content-Type"] = self.headers.get("Content-Type", "")
        try:
            return self.content.decode(message.get_content_charset() or "utf-8", "replace")
        except LookupError:  # An unknown charset.
            return self.content.decode("utf-8", "replace")

    def json(self) -> Any:
        import json

        return json.loads(self.content)

    @property
    def content_is_cut_off(self) -> bool:
        if self._content_is_cut_off is None:
            self._content_is_cut_off = bool(_abi.boxretry_response_body_is_cut_off(self._pointer()))
        return self._content_is_cut_off

    @property
    def headers(self) -> ResponseHeaders:
        if self._headers is None:
            pointer, lines, line = self._pointer(), [], _abi.Header()
            for index in range(_abi.boxretry_response_header_count(pointer)):
                check(_abi.boxretry_response_header_at(pointer, index, line))
                lines.append((line.name, line.value))
            self._headers = ResponseHeaders.of_bytes(lines)
        return self._headers

    @property
    def http_version(self) -> int:
        return self.attempts[-1].http_version if self._handle is None else http_version_of_call(self._pointer())

    @property
    def reason_phrase(self) -> str:
        if self._reason_phrase is None:
            self._reason_phrase = decoded(_abi.boxretry_response_reason_phrase(self._pointer()))
        return self._reason_phrase

    @property
    def url(self) -> str:
        if self._url is None:
            self._url = decoded(_abi.boxretry_response_url(self._pointer()))
        return self._url

    @property
    def sink_length(self) -> int:
        if self._sink_length is None:
            length: int = _abi.boxretry_response_sink_length(self._pointer())
            self._sink_length = length
        return self._sink_length

    @property
    def redirects(self) -> list[Redirect]:
        if self._redirects is None:
            self._redirects = redirects_of_call(self._pointer())
        return self._redirects

    @property
    def reconnects(self) -> list[Reconnect]:
        if self._reconnects is None:
            self._reconnects = reconnects_of_call(self._pointer())
        return self._reconnects

    @property
    def attempts(self) -> list[Attempt]:
        if self._attempts is None:
            self._attempts = attempts_of_call(self._pointer())
        return self._attempts

    @property
    def token_error(self) -> AnyError | None:
        if self._handle is None:  # A copy.
            return None
        error: int = _abi.boxretry_response_token_error(self._pointer())
        if not error:
            return None
        exception = exception_of(Error(error), decoded(_abi.boxretry_last_error_detail()))
        exception.__cause__ = self._token_cause
        return exception

    def error_detail(self, name: str) -> str | None:
        if self._details is None:
            pointer = self._pointer()
            found = {each: _abi.boxretry_response_error_detail(pointer, each.encode()) for each in _DETAILS}
            self._details = {each: None if value is None else decoded(value) for each, value in found.items()}
        return self._details.get(name)

    def raise_for_status(self) -> Response:
        if self.ok:
            return self
        about = f"{self._method} {without_secrets(self.url)}"
        error = HTTPStatusError(f"status {self.status} ({about}; after {_counted(len(self.attempts))})")
        error.attempts, error.response = self.attempts, self
        raise error

    def _pointer(self) -> int:
        assert self._handle is not None  # A copy has all its parts.
        # A function that does not return an error returns an empty value when it is not allowed to read.
        if _abi.boxretry_response_error(self._handle.pointer) == Error.INVALID_ARGUMENT:
            raise ForkedError("Response: was made before os.fork(), in the parent process")
        return self._handle.pointer

    if not TYPE_CHECKING:  # Type checkers would otherwise accept every name.

        def __getattr__(self, name: str) -> object:
            raise missing_from_response(name)

    def __repr__(self) -> str:
        return f"<Response {self.status}>"

    def __reduce__(self) -> Any:
        """All parts, without the handle. Raises ForkedError."""
        return _response_of_parts, (
            self.status,
            self.content,
            self.headers.pairs,
            self.attempts,
            self.url,
            self.content_is_cut_off,
            self.sink_length,
            self.redirects,
            self._method,
            self.reason_phrase,
            self.reconnects,
            {name: self.error_detail(name) for name in _DETAILS},
        )


def replace_content(response: Response, content: bytes) -> None:
    """Sets the body, for an adapter that has decompressed it."""
    assert isinstance(response, _CallResponse)
    response._content = content


def _response_of_parts(
    status: int,
    content: bytes,
    pairs: list[tuple[str, str]],
    attempts: list[Attempt],
    url: str,
    is_cut_off: bool,
    sink_length: int,
    redirects: list[Redirect],
    method: str,
    reason_phrase: str,
    reconnects: list[Reconnect],
    details: dict[str, str | None],
) -> Response:
    response = _CallResponse.__new__(_CallResponse)
    response._handle = None
    response.status, response._content = status, content
    response._headers, response._attempts = ResponseHeaders(pairs), attempts
    response._url, response._content_is_cut_off = url, is_cut_off
    response._sink_length, response._redirects, response._method = sink_length, redirects, method
    response._reason_phrase, response._details = reason_phrase, details
    response._reconnects = reconnects
    return response


def raise_from_callbacks(watched: Watched | None, handle: Handle, method: Text) -> None:
    """Raises an exception of the call's callbacks, once, with the call's `attempts` and its last `response` (B9)."""
    exception = None if watched is None else watched.take_exception()
    if exception is None:
        return
    try:
        with contextlib.suppress(AttributeError, TypeError):  # Some exceptions do not accept attributes.
            exception.attempts = attempts_of_call(handle.pointer)  # type: ignore[attr-defined]
            has_response = bool(_abi.boxretry_response_status(handle.pointer))
            name = method if isinstance(method, str) else decoded(method)
            exception.response = _CallResponse(handle, name) if has_response else None  # type: ignore[attr-defined]
        raise exception
    finally:
        del exception  # Its traceback refers to this frame.


def response_of_call(handle: Handle, method: Text, provider: Provider | None, *, is_first: bool = True) -> Response:
    """The response in a boxretry_response. Raises the error that the call ended with, if it has no response.

    `provider`: of the call's access tokens; its exception may be the reason why there was no token. `is_first`: this
    is the first caller that asks.
    """
    name = method if isinstance(method, str) else decoded(method)
    error: int = _abi.boxretry_response_error(handle.cell)
    if error:
        detail = decoded(_abi.boxretry_last_error_detail())
        if is_first and is_given_up(0, error):
            _log_end(handle, name, Error(error).name.lower())
        watched = find_watched(_abi.boxretry_response_user_pointer(handle.pointer))
        cause = None if watched is None else watched.take_cause()
        if cause is None and provider is not None and _is_of_provider(handle):
            cause = provider.exception
        try:
            exception = _exception_of_call(handle, name, Error(error), detail)
            raise exception from cause
        finally:
            del cause, exception  # Their tracebacks refer to this frame.
    if provider is not None and _abi.boxretry_response_token_error(handle.cell):
        return _CallResponse(handle, name, provider.exception)
    response = _CallResponse(handle, name)
    if is_first and response.status >= 429 and is_given_up(response.status, 0):
        _log_end(handle, name, f"status {response.status}")
    return response


def _log_end(handle: Handle, method: str, result: str) -> None:
    if logger.isEnabledFor(logging.WARNING):
        call_id = _abi.boxretry_response_user_pointer(handle.pointer) or new_token()
        url = decoded(_abi.boxretry_response_url(handle.pointer))
        log_giving_up(call_id, method, url, _abi.boxretry_response_attempt_count(handle.pointer), result)


def _is_of_provider(handle: Handle) -> bool:
    """The exception of a token provider is the reason why the call has no token."""
    error: int = _abi.boxretry_response_token_error(handle.cell)
    return error in (Error.CLIENT_TOKEN_PROVIDER_FAILED, Error.CANCELLED)


def _exception_of_call(handle: Handle, method: str, error: Error, detail: str) -> AnyError:
    """`detail`: the library's detail of the error; "" if there is none."""
    attempts = attempts_of_call(handle.pointer)
    url = without_secrets(decoded(_abi.boxretry_response_url(handle.pointer)))
    about = f"{method} {url}; after {_counted(len(attempts))}"
    # For other errors than network exceptions, libcurl only knows that its callback stopped the transfer.
    if issubclass(CLASSES.get(error, BoxRetryError), NetworkError) and attempts and attempts[-1].curl_text:
        about += f"; libcurl: {attempts[-1].curl_text}"
    text = error.text
    if _abi.boxretry_response_token_error(handle.pointer):
        text = detail or text  # The detail includes the error.
    elif detail:
        text += f": {detail}"
    exception = exception_of(error, f"{text} ({about})")
    exception.attempts = attempts
    if _abi.boxretry_response_status(handle.pointer):
        exception.response = _CallResponse(handle, method)
    exception.redirects = redirects_of_call(handle.pointer)
    exception.reconnects = reconnects_of_call(handle.pointer)
    return exception


def _counted(attempts: int) -> str:
    return f"{attempts} attempt{'' if attempts == 1 else 's'}"

"""From the arguments of `Client.request()` to a boxretry_request."""

from __future__ import annotations

import json
import math
from ctypes import pointer
from inspect import signature
from typing import Any, Callable, SupportsIndex, TypeVar

from . import _abi
from ._arguments import INT32, UINT64, Real, Text, deadline_ms, integer, member, new, text
from ._bodies import Body, MemoryBody, Path, body_of, set_length
from ._callbacks import before_attempt_of_request, complete_callback, progress_callback
from ._forms import Fields, MultipartBody, is_form, urlencoded
from ._handle import Handle
from ._names import unknown_argument
from ._sinks import Sink, file_sink_struct, sink_of, sink_struct
from .attempt_request import AttemptRequest
from .call import CancelSwitch
from .custom import AsyncCustomRetryStrategy, CustomRetryStrategy, custom_handle
from .enums import HTTPVersion, RetrySafety, Switch
from .errors import InvalidArgumentError
from .options import Strategy
from .outcome import HeaderArray, Headers, Request, header_pairs
from .progress import Progress
from .strategy import RetryStrategy
from .timeout import Timeout, timeouts_struct
from .token import AnyTokenSource
from .watched import Watched

#: What the header says of a client's `max_redirects`.
_MAX_REDIRECTS = 20

_NO_BODY = Body()

# A request with all defaults, to be copied: faster than to fill in another one.
_DEFAULTS = bytes(new(_abi.Request, _abi.boxretry_request_init))
_copy = _abi.Request.from_buffer_copy

_METHODS: dict[Text, bytes] = {
    method: method.encode() for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
}


_Function = TypeVar("_Function", bound=Callable[..., Any])


class Sending:
    """A boxretry_request, and all that it points to."""

    def __init__(
        self,
        method: Text,
        url: Text,
        is_watched: bool,
        make_watched: Callable[[Request], Watched] = Watched,
        /,
        *,
        headers: Headers | None = None,
        params: Fields | None = None,
        data: Any = None,
        json: Any = None,
        files: Any = None,
        data_length: SupportsIndex | None = None,
        to_file: Path | None = None,
        resume: bool = False,
        sink: Any = None,
        timeout: Timeout | None = None,
        deadline: Real | None = None,
        strategy: Strategy | None = None,
        cancel: CancelSwitch | None = None,
        body_limit: SupportsIndex | None = None,
        retry_safety: RetrySafety = RetrySafety.BY_METHOD,
        idempotency_key: Text | bool | None = None,
        follow_redirects: bool | None = None,
        max_redirects: SupportsIndex | None = None,
        compression: bool | None = None,
        http_version: HTTPVersion = HTTPVersion.HTTP_DEFAULT,
        on_progress: Callable[[Progress], object] | None = None,
        before_attempt: Callable[[AttemptRequest], object] | None = None,
        token_source: AnyTokenSource | None = None,
        authorization: bool = True,
        user_data: object = None,
        **unknown: object,
    ) -> None:
        """See `Client.request()`. `is_watched`: the client has a custom strategy, an `on_event` or a hook."""
        # Not a line here is without need: it is paid for with each request.
        if unknown:
            raise unknown_argument("Client.request()", next(iter(unknown)))
        self.struct = struct = _copy(_DEFAULTS)
        if params is not None:
            url = _with_params(url, params)
        if json is not None:
            if data is not None or files is not None:
                raise TypeError("data, json, files: json goes with none of the others")
            data, headers = _json_body(json), _with_type(headers, "application/json")
        elif data is not None and files is None and is_form(data):
            data, headers = _form_body(data, headers)
        struct.method = _METHODS.get(method) or text(method, "method")
        struct.url = text(url, "url")
        if headers is not None:
            array = HeaderArray()
            struct.header_count = array.fill(headers, "headers")
            struct.headers = array.pointer
        body = _NO_BODY
        if not (data is files is data_length is None):
            body = _body_of(data, files, data_length)
        self.body = body
        own_sink = None if sink is None else sink_of(sink)
        if to_file is not None and own_sink is not None:
            raise TypeError("to_file, sink: only one of them may be given")
        if resume and to_file is None:
            raise TypeError("resume: is only for to_file")
        if timeout is not None:
            struct.timeouts = pointer(timeouts_struct(timeout))
        if deadline is not None:
            struct.deadline_ms = deadline_or_none_ms(deadline)
        if strategy is not None:
            self._strategy = strategy_handle(strategy)
            struct.strategy = self._strategy.pointer
            is_watched = is_watched or is_custom(strategy)
        if cancel is not None:
            if not isinstance(cancel, CancelSwitch):
                raise TypeError(f"cancel: must be a CancelSwitch, not {type(cancel).__name__}")
            self._cancel = cancel._open_handle()
            struct.cancel = self._cancel.pointer
        if body_limit is not None:
            struct.body_limit = positive(body_limit, "body_limit", UINT64)
        if retry_safety:
            struct.retry_safety = member(retry_safety, RetrySafety, "retry_safety")
        if idempotency_key is not None and idempotency_key is not False:
            struct.idempotency_key = _idempotency_key(idempotency_key)
        if not (follow_redirects is max_redirects is None):
            struct.max_redirects = redirects(follow_redirects, max_redirects)
        if compression is not None:
            struct.compression = switch(compression, "compression")
        if http_version:
            struct.http_version = member(http_version, HTTPVersion, "http_version")
        self.token_source = token_source
        if token_source is not None:
            struct.token_source = token_source_handle(token_source).pointer
        self.has_authorization = authorization
        if not authorization:
            struct.authorization = Switch.OFF
        self.watched: Watched | None = None
        has_callback = not (body.source is None and own_sink is None and on_progress is None and before_attempt is None)
        if is_watched or has_callback:
            told = () if headers is None else headers
            self.watched = make_watched(Request(method, url, told, body.content, retry_safety, user_data))
            struct.user_pointer = self.watched.token
            self._tell(self.watched, on_progress, before_attempt, own_sink)
        if body is not _NO_BODY:
            body.fill(struct, struct.user_pointer or 0)
        if to_file is not None:
            struct.sink = pointer(file_sink_struct(to_file, resume))

    def _tell(self, watched: Watched, on_progress: Any, before_attempt: Any, sink: Sink | None) -> None:
        """Enters the callbacks."""
        struct = self.struct
        watched.source = self.body.source
        if sink is not None:
            watched.sink = sink
            struct.sink = pointer(sink_struct(sink, watched.token))
        if on_progress is not None:
            watched.on_progress = called(on_progress, "on_progress")
            struct.on_progress, struct.on_progress_context = progress_callback, watched.token
        if before_attempt is not None:
            watched.before_attempt = called(before_attempt, "before_attempt")
            struct.before_attempt, struct.before_attempt_context = before_attempt_of_request, watched.token

    def tell_end(self, on_complete: Callable[[], object]) -> None:
        """Has the function called when the call has ended, on whatever thread drives it. For `Client.submit()`."""
        assert self.watched is not None
        self.watched.on_complete = on_complete
        self.struct.on_complete, self.struct.on_complete_context = complete_callback, self.watched.token

    def lend(self) -> bool:
        """Whether the body is lent to the library, and so must be kept until the call has ended."""
        is_lent = isinstance(self.body, MemoryBody) and self.body.is_worth_lending
        if is_lent:
            self.struct.body_is_borrowed = True
        return is_lent


def shows_arguments(function: _Function) -> _Function:
    """Has `help()` show the arguments of a request one by one, where the function takes them as `**arguments`."""
    own = [each for each in signature(function).parameters.values() if each.kind is not each.VAR_KEYWORD]
    of_request = [each for each in signature(Sending).parameters.values() if each.kind is each.KEYWORD_ONLY]
    function.__signature__ = signature(function).replace(parameters=own + of_request)  # type: ignore[attr-defined]
    return function


def token_source_handle(token_source: AnyTokenSource) -> Handle:
    """The handle by which a client knows a token source."""
    if not isinstance(token_source, AnyTokenSource):
        raise TypeError(f"token_source: must be a token source, not {type(token_source).__name__}")
    return token_source._open_handle()


def is_custom(strategy: object) -> bool:
    """Whether the strategy is Python code that is called back."""
    return isinstance(strategy, (CustomRetryStrategy, AsyncCustomRetryStrategy))


def strategy_handle(strategy: Strategy) -> Handle:
    """The handle by which a client knows a strategy."""
    if isinstance(strategy, (CustomRetryStrategy, AsyncCustomRetryStrategy)):
        return custom_handle(strategy, for_client=True)
    if isinstance(strategy, RetryStrategy):
        return strategy._open_handle()
    raise TypeError(f"strategy: must be a strategy, not {type(strategy).__name__}")


def deadline_or_none_ms(deadline: Real) -> int:
    """A deadline in seconds, in milliseconds. math.inf: none."""
    if deadline == math.inf:
        return _abi.NO_TIMEOUT
    milliseconds = deadline_ms(deadline)
    if milliseconds <= 0:
        raise InvalidArgumentError(f"deadline: must be above 0, but is {deadline}")
    return milliseconds


def positive(value: SupportsIndex, name: str, fits: range) -> int:
    """A number for which the library takes 0 as "not said"."""
    number = integer(value, name, fits)
    if number == 0:
        raise InvalidArgumentError(f"{name}: must be 1 or more, but is 0")
    return number


def called(callback: Any, name: str) -> Any:
    """The callback. Raises TypeError if it cannot be one."""
    if not callable(callback):
        raise TypeError(f"{name}: must be callable, not {type(callback).__name__}")
    return callback


def switch(value: bool | None, name: str) -> Switch:
    """Yes, no, or what the client does."""
    if value is None:
        return Switch.DEFAULT
    if not isinstance(value, bool):
        raise TypeError(f"{name}: must be a bool, not {type(value).__name__}")
    return Switch.ON if value else Switch.OFF


def redirects(follow: bool | None, maximum: SupportsIndex | None) -> int:
    """How many redirects are followed; 0: as by default."""
    if switch(follow, "follow_redirects") == Switch.OFF:
        if maximum is not None:
            raise InvalidArgumentError("max_redirects: is given, although none are followed")
        return _abi.NO_REDIRECTS
    if maximum is not None:
        if maximum == 0:
            raise InvalidArgumentError(
                "max_redirects: must be 1 or more, but is 0; follow_redirects=False follows none"
            )
        return positive(maximum, "max_redirects", INT32)
    return 0 if follow is None else _MAX_REDIRECTS


def _idempotency_key(key: Text | bool) -> bytes:
    if isinstance(key, bool):
        return _abi.IDEMPOTENCY_KEY_RANDOM
    encoded = text(key, "idempotency_key")
    if not encoded:
        raise InvalidArgumentError("idempotency_key: is empty; True makes one")
    return encoded


def _json_body(value: Any) -> bytes:
    return json.dumps(value).encode()


def _form_body(fields: Any, headers: Headers | None) -> tuple[str | None, Headers | None]:
    if not fields:
        return None, headers
    return urlencoded(fields, "data"), _with_type(headers, "application/x-www-form-urlencoded")


def _body_of(data: Any, files: Any, length: SupportsIndex | None) -> Body:
    body = body_of(data) if files is None else MultipartBody(data, files)
    if length is not None:
        set_length(body, length)
    return body


def _with_type(headers: Headers | None, content_type: str) -> Headers:
    pairs = [] if headers is None else list(header_pairs(headers, "headers"))
    if any(text(name, "headers").lower() == b"content-type" for name, _ in pairs):
        return pairs
    return [*pairs, ("Content-Type", content_type)]


def _with_params(url: Text, params: Fields) -> str:
    address = url if isinstance(url, str) else url.decode("utf-8", "surrogateescape")
    address, hash_sign, fragment = address.partition("#")
    query = urlencoded(params, "params")
    if query:
        address += ("&" if "?" in address else "?") + query
    return address + hash_sign + fragment

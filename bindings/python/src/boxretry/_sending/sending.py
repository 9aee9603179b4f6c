"""Converts the arguments of `Client.request()` to a boxretry_request."""

from __future__ import annotations

from collections.abc import Mapping
from ctypes import pointer
from typing import Any, Callable, SupportsIndex, TypedDict

from .._bodies.contents import NO_BODY, content_of
from .._bodies.forms import Fields, with_params
from .._bodies.sinks import file_sink_struct, sink_of, sink_struct
from .._bodies.sources import Body, MemoryBody
from .._c import _abi
from .._c.arguments import UINT64, Path, Real, Text, member, new, text
from .._c.handle import Handle
from .._connection import switch
from ..calls._callbacks import before_attempt_of_request, progress_callback
from ..calls._protocols import Sink
from ..calls.attempt_request import AttemptRequest
from ..calls.call import CancelSwitch
from ..calls.progress import Progress
from ..calls.watched import Watched
from ..decisions.custom import Strategy
from ..enums import HTTPVersion, RetrySafety, Switch
from ..errors import InvalidArgumentError
from ..outcome import HeaderArray, Headers, Request
from ..timeout import Timeout, timeouts_pointer
from ..tokens.token import AnyTokenSource
from .common_arguments import (
    called,
    is_custom,
    positive,
    redirects,
    seconds_or_none_ms,
    strategy_handle,
    token_source_handle,
)
from .names import NAMES, shows_arguments_of, unknown_argument

_METHODS = {method: method.encode() for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")}


def _bytes_of_plain_request(method: bytes) -> bytes:
    """A boxretry_request with all defaults, except the method, which must be kept."""
    struct = new(_abi.Request, _abi.boxretry_request_init)
    struct.method = method
    return bytes(struct)


# Copied for each request: faster than filling in a new one.
_PLAIN: dict[Text, bytes] = {name: _bytes_of_plain_request(method) for name, method in _METHODS.items()}
_copy = _abi.Request.from_buffer_copy


class RequestArguments(TypedDict, total=False):
    """The arguments of a request, except its method and URL; see `Client.request()`."""

    headers: Headers | None
    params: Fields | None
    data: Any
    json: Any
    files: Any
    data_length: SupportsIndex | None
    to_file: Path | None
    resume: bool
    sink: Any
    timeout: Timeout | None
    connect_timeout: Real | None
    deadline: Real | None
    strategy: Strategy | None
    cancel: CancelSwitch | None
    body_limit: SupportsIndex | None
    retry_safety: RetrySafety
    idempotency_key: Text | bool | None
    follow_redirects: bool | None
    max_redirects: SupportsIndex | None
    compression: bool | None
    default_headers: bool | None
    http_version: HTTPVersion
    on_progress: Callable[[Progress], object] | None
    before_attempt: Callable[[AttemptRequest], object] | None
    token_source: AnyTokenSource | None
    authorization: bool
    reconnect: bool | None
    user_data: object


NAMES["Client.request()"] = RequestArguments.__annotations__


class Sending:
    """A boxretry_request, and all objects that it points to."""

    body: Body = NO_BODY
    token_source: AnyTokenSource | None = None
    has_authorization = True
    watched: Watched | None = None
    _strategy: Handle | None = None
    _cancel: Handle | None = None

    def __init__(
        self,
        method: Text,
        url: Text,
        is_watched: bool,
        arguments: Mapping[str, Any],
        make_watched: Callable[[Request], Watched] = Watched,
    ) -> None:
        """See `Client.request()`. `is_watched`: the client has a custom strategy, an `on_event` or a hook."""
        # Keep this code minimal: each request runs it.
        plain = _PLAIN.get(method)
        self.struct = struct = _copy(_PLAIN["GET"] if plain is None else plain)
        if plain is None:
            struct.method = text(method, "method")
        if arguments or is_watched:
            self._take(method, url, is_watched, make_watched, **arguments)
        else:
            struct.url = text(url, "url")

    def _take(
        self,
        method: Text,
        url: Text,
        is_watched: bool,
        make_watched: Callable[[Request], Watched],
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
        connect_timeout: Real | None = None,
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
        reconnect: bool | None = None,
        default_headers: bool | None = None,
        user_data: object = None,
        **unknown: object,
    ) -> None:
        """Takes the arguments one by one."""
        if unknown:
            raise unknown_argument("Client.request()", next(iter(unknown)))
        struct = self.struct
        if params is not None:
            url = with_params(url, params)
        struct.url = text(url, "url")
        if not (data is json is files is data_length is None):
            self.body, headers = content_of(data, json, files, data_length, headers)
        body = self.body
        if headers is not None:
            array = HeaderArray()
            struct.header_count = array.fill(headers, "headers")
            struct.headers = array.pointer
        own_sink = None if sink is None else sink_of(sink)
        if to_file is not None and own_sink is not None:
            raise TypeError("to_file, sink: only one of them can be given")
        if resume and to_file is None:
            raise TypeError("resume: can only be given with to_file")
        if timeout is not None:
            struct.timeouts = timeouts_pointer(timeout)
        if deadline is not None:
            struct.deadline_ms = seconds_or_none_ms(deadline, "deadline")
        if connect_timeout is not None:
            struct.connect_timeout_ms = seconds_or_none_ms(connect_timeout, "connect_timeout")
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
        if reconnect is not None:
            struct.reconnect = switch(reconnect, "reconnect")
        if default_headers is not None:
            struct.default_headers = switch(default_headers, "default_headers")
        has_callback = not (body.source is None and own_sink is None and on_progress is None and before_attempt is None)
        if is_watched or has_callback:
            told = () if headers is None else headers
            self.watched = make_watched(Request(method, url, told, body.content, retry_safety, user_data))
            struct.user_pointer = self.watched.token
            self._tell(self.watched, on_progress, before_attempt, own_sink)
        if body is not NO_BODY:
            body.fill(struct, struct.user_pointer or 0)
        if to_file is not None:
            struct.sink = pointer(file_sink_struct(to_file, resume))

    def _tell(self, watched: Watched, on_progress: Any, before_attempt: Any, sink: Sink | None) -> None:
        """Sets the callbacks."""
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

    def wake_waiting(self) -> None:
        """Callbacks for bodies wake the thread that waits for the call: see `Call._wait_for_news()`."""
        assert self.watched is not None
        self.watched.wakes = True

    def lend(self) -> bool:
        """Whether the library borrows the body, so that it must be kept until the call has ended."""
        is_lent = isinstance(self.body, MemoryBody) and self.body.is_worth_lending
        if is_lent:
            self.struct.body_is_borrowed = True
        return is_lent


#: Makes `help()` show the arguments of a request one by one.
shows_arguments = shows_arguments_of(Sending._take)


def _idempotency_key(key: Text | bool) -> bytes:
    if isinstance(key, bool):
        return _abi.IDEMPOTENCY_KEY_RANDOM
    encoded = text(key, "idempotency_key")
    if not encoded:
        raise InvalidArgumentError("idempotency_key: must not be empty; use True to generate one")
    return encoded

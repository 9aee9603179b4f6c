"""From the arguments of `Client.request()` to a boxretry_request."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from ctypes import c_char_p, c_void_p, cast, pointer
from typing import Any, Callable, SupportsIndex
from urllib.parse import urlencode

from . import _abi
from ._arguments import UINT64, Real, Text, deadline_ms, integer, new, text
from ._handle import Handle
from .call import CancelSwitch
from .custom import AsyncCustomRetryStrategy, CustomRetryStrategy, custom_handle
from .enums import RetrySafety
from .errors import InvalidArgumentError
from .options import Params, Strategy
from .outcome import HeaderArray, Headers, Request, header_pairs
from .strategy import RetryStrategy
from .timeout import Timeout, timeouts_struct
from .watched import Watched

# A request with all defaults, to be copied: faster than to fill in another one.
_DEFAULTS = bytes(new(_abi.Request, _abi.boxretry_request_init))
_copy = _abi.Request.from_buffer_copy

_METHODS: dict[Text, bytes] = {
    method: method.encode() for method in ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")
}


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
        params: Params | None = None,
        data: Text | None = None,
        json: Any = None,
        timeout: Timeout | None = None,
        deadline: Real | None = None,
        strategy: Strategy | None = None,
        cancel: CancelSwitch | None = None,
        body_limit: SupportsIndex | None = None,
        retry_safety: RetrySafety = RetrySafety.BY_METHOD,
        user_data: object = None,
    ) -> None:
        """See `Client.request()`. `is_watched`: the client has a custom strategy or an `on_event`."""
        # Not a line here is without need: it is paid for with each request.
        self.struct = struct = _copy(_DEFAULTS)
        if params is not None:
            url = _with_params(url, params)
        if json is not None:
            if data is not None:
                raise TypeError("data, json: only one of them may be given")
            data, headers = _json_body(json), _with_json_type(headers)
        struct.method = _METHODS.get(method) or text(method, "method")
        struct.url = text(url, "url")
        if headers is not None:
            array = HeaderArray()
            struct.header_count = array.fill(headers, "headers")
            struct.headers = array.pointer
        body = None if data is None else _body(data)
        if body is not None:
            self._body = body
            struct.body = cast(c_char_p(body), c_void_p)
            struct.body_length = len(body)
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
            struct.retry_safety = integer(retry_safety, "retry_safety")
        self.watched: Watched | None = None
        if is_watched:
            told = () if headers is None else headers
            self.watched = make_watched(Request(method, url, told, body, retry_safety, user_data))
            struct.user_pointer = self.watched.token


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


def _body(data: Text) -> bytes:
    if isinstance(data, str):
        return data.encode("utf-8")
    if isinstance(data, bytes):
        return data
    raise TypeError(f"data: must be str or bytes, not {type(data).__name__}")


def _json_body(value: Any) -> bytes:
    return json.dumps(value).encode()


def _with_json_type(headers: Headers | None) -> Headers:
    pairs = [] if headers is None else list(header_pairs(headers))
    if any(text(name, "headers").lower() == b"content-type" for name, _ in pairs):
        return pairs
    return [*pairs, ("Content-Type", "application/json")]


def _with_params(url: Text, params: Params) -> str:
    address = url if isinstance(url, str) else url.decode("utf-8", "surrogateescape")
    address, hash_sign, fragment = address.partition("#")
    pairs: Any = params if isinstance(params, Mapping) else list(params)
    query = urlencode(pairs, doseq=True)
    if query:
        address += ("&" if "?" in address else "?") + query
    return address + hash_sign + fragment

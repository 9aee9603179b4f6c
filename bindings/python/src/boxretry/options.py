"""What requests and clients can be told, for type checkers: `**arguments: Unpack[RequestArguments]`.

What each means, with its unit and default, is said where it is used: `Client.request()` and `Client()`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Callable, SupportsIndex, TypedDict, Union

from ._arguments import Real, Text
from .custom import AsyncCustomRetryStrategy, CustomRetryStrategy
from .enums import Proxy, RetrySafety
from .outcome import Headers
from .strategy import RetryStrategy
from .timeout import Timeout

if TYPE_CHECKING:
    from .call import CancelSwitch
    from .event import Event

#: An `AsyncCustomRetryStrategy` is for an `AsyncClient`.
Strategy = Union[RetryStrategy, CustomRetryStrategy, AsyncCustomRetryStrategy]
#: What stands behind the question mark: names with a value or several ones each, or pairs.
Params = Union[Mapping[str, Any], Iterable[tuple[str, Any]]]


class RequestArguments(TypedDict, total=False):
    """The arguments of a request beside its method and URL; see `Client.request()`."""

    headers: Headers | None
    params: Params | None
    data: Text | None
    json: Any
    timeout: Timeout | None
    deadline: Real | None
    strategy: Strategy | None
    cancel: CancelSwitch | None
    body_limit: SupportsIndex | None
    retry_safety: RetrySafety
    user_data: object


class ClientSettings(TypedDict, total=False):
    """The settings of a client beside its strategy; see `Client()`."""

    timeout: Timeout | None
    deadline: Real | None
    user_agent: Text | None
    ca_file: Text | None
    proxy: Text | Proxy
    max_total_attempts: SupportsIndex | None
    max_transfers: SupportsIndex | None
    max_response_headers: SupportsIndex | None
    max_response_header_bytes: SupportsIndex | None
    body_limit: SupportsIndex | None
    error_body_limit: SupportsIndex | None
    on_event: Callable[[Event], object] | None

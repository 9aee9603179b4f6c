"""The arguments of requests and clients, for type checkers: `**arguments: Unpack[RequestArguments]`.

`Client.request()` and `Client()` state the meaning, unit and default of each.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Callable, SupportsIndex, TypedDict, Union

from ._bodies.forms import Fields
from ._c.arguments import Path, Real, Text
from .decisions.custom import AsyncCustomRetryStrategy, CustomRetryStrategy
from .decisions.strategy import RetryStrategy
from .enums import HTTPVersion, Preset, Proxy, RetrySafety
from .outcome import Headers
from .timeout import Timeout

if TYPE_CHECKING:
    from .calls.attempt_request import AttemptRequest
    from .calls.call import CancelSwitch
    from .calls.event import Event
    from .calls.progress import Progress
    from .calls.telemetry import Telemetry
    from .clock import ManualClock
    from .decisions.budget import RetryBudget
    from .tokens.token import AnyTokenSource

#: `AsyncCustomRetryStrategy` is for `AsyncClient`.
Strategy = Union[RetryStrategy, CustomRetryStrategy, AsyncCustomRetryStrategy]


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


class ClientSettings(TypedDict, total=False):
    """The settings of a client, except its strategy; see `Client()`."""

    timeout: Timeout | None
    deadline: Real | None
    user_agent: Text | None
    ca_file: Text | None
    ca_path: Path | None
    tls_verify: bool | None
    proxy: Text | Proxy
    max_total_attempts: SupportsIndex | None
    max_transfers: SupportsIndex | None
    max_response_headers: SupportsIndex | None
    max_response_header_bytes: SupportsIndex | None
    body_limit: SupportsIndex | None
    error_body_limit: SupportsIndex | None
    on_event: Callable[[Event], object] | None
    preset: Preset
    http_version: HTTPVersion
    follow_redirects: bool | None
    max_redirects: SupportsIndex | None
    compression: bool | None
    max_transfers_per_host: SupportsIndex | None
    max_lookups: SupportsIndex | None
    cert: Path | tuple[Path, Path] | tuple[Path, Path, Text] | None
    unix_socket: Path | None
    secret_headers: Iterable[Text]
    idempotency_key_header: Text | None
    before_attempt: Callable[[AttemptRequest], object] | None
    token_source: AnyTokenSource | None
    replay_codes: Iterable[Text]
    allow_insecure_token: bool
    headers: Headers | None
    params: Fields | None
    budget_capacity: SupportsIndex | None
    budget_ratio: Real | None
    budget: RetryBudget | None
    share_retry_after: bool
    connect_timeout: Real | None
    reconnect: bool | None
    telemetry: Telemetry | None
    clock: ManualClock | None

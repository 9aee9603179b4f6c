"""Converts the arguments of `Client()` to a boxretry_client_options."""

from __future__ import annotations

from collections.abc import Iterable
from ctypes import c_char_p
from typing import Any, Callable, SupportsIndex

from .._bodies.forms import Fields, field_pairs
from .._c import _abi
from .._c.arguments import INT32, UINT64, Path, Real, Text, member, new, path_bytes, real, text
from .._connection import set_connection, switch
from ..calls._callbacks import before_attempt_of_client
from ..calls.attempt_request import AttemptRequest
from ..calls.event import Event, Listener, on_event_callback
from ..calls.event_log import with_log
from ..calls.telemetry import Telemetry
from ..clock import ManualClock, clock_handle
from ..decisions.budget import RetryBudget, budget_handle
from ..enums import HTTPVersion, Preset, Proxy
from ..options import ClientSettings, Strategy
from ..outcome import HeaderArray, Headers
from ..timeout import Timeout
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
from .names import unknown_argument

#: The settings of a client that shares the connections of another.
_OF_DERIVED = {
    *(
        "timeout",
        "connect_timeout",
        "deadline",
        "reconnect",
        "max_total_attempts",
        "max_response_headers",
        "max_response_header_bytes",
        "body_limit",
    ),
    *("error_body_limit", "http_version", "follow_redirects", "max_redirects", "compression", "idempotency_key_header"),
    *("before_attempt", "token_source", "allow_insecure_token", "headers", "params"),
}


def derived_options(strategy: Strategy | None, settings: ClientSettings) -> ClientOptions:
    """The options of a derived client: those that are not given stay NULL or 0."""
    for name in settings:
        if name not in _OF_DERIVED and name in ClientSettings.__annotations__:
            raise TypeError(f"Client.derived() has no argument {name!r}: derived clients share this setting")
    options = ClientOptions(strategy, **settings)
    options.struct.ca_file = None  # A wheel sets it for each client.
    return options


class ClientOptions:
    """A boxretry_client_options, and all objects that it points to."""

    def __init__(
        self,
        strategy: Strategy | None,
        /,
        *,
        timeout: Timeout | None = None,
        deadline: Real | None = None,
        user_agent: Text | None = None,
        ca_file: Text | None = None,
        ca_path: Path | None = None,
        tls_verify: bool | None = None,
        proxy: Text | Proxy = Proxy.ENVIRONMENT,
        max_total_attempts: SupportsIndex | None = None,
        max_transfers: SupportsIndex | None = None,
        max_response_headers: SupportsIndex | None = None,
        max_response_header_bytes: SupportsIndex | None = None,
        body_limit: SupportsIndex | None = None,
        error_body_limit: SupportsIndex | None = None,
        on_event: Callable[[Event], object] | None = None,
        preset: Preset = Preset.BOX,
        http_version: HTTPVersion = HTTPVersion.HTTP_DEFAULT,
        follow_redirects: bool | None = None,
        max_redirects: SupportsIndex | None = None,
        compression: bool | None = None,
        max_transfers_per_host: SupportsIndex | None = None,
        max_lookups: SupportsIndex | None = None,
        cert: Path | tuple[Path, Path] | tuple[Path, Path, Text] | None = None,
        unix_socket: Path | None = None,
        secret_headers: Iterable[Text] = (),
        idempotency_key_header: Text | None = None,
        before_attempt: Callable[[AttemptRequest], object] | None = None,
        token_source: AnyTokenSource | None = None,
        replay_codes: Iterable[Text] = (),
        allow_insecure_token: bool = False,
        headers: Headers | None = None,
        params: Fields | None = None,
        budget_capacity: SupportsIndex | None = None,
        budget_ratio: Real | None = None,
        budget: RetryBudget | None = None,
        share_retry_after: bool = False,
        connect_timeout: Real | None = None,
        reconnect: bool | None = None,
        telemetry: Telemetry | None = None,
        clock: ManualClock | None = None,
        **unknown: object,
    ) -> None:
        """See `Client()`."""
        if unknown:
            raise unknown_argument("Client()", next(iter(unknown)))
        self.struct = struct = new(_abi.ClientOptions, _abi.boxretry_client_options_init)
        strategy_kept = None if strategy is None else strategy_handle(strategy)
        if strategy_kept is not None:
            struct.strategy = strategy_kept.pointer
        if deadline is not None:
            struct.deadline_ms = seconds_or_none_ms(deadline, "deadline")
        if connect_timeout is not None:
            struct.connect_timeout_ms = seconds_or_none_ms(connect_timeout, "connect_timeout")
        set_connection(struct, timeout, user_agent, ca_file, ca_path, tls_verify, proxy)
        for name, number, fits in (
            ("max_total_attempts", max_total_attempts, INT32),
            ("max_transfers", max_transfers, INT32),
            ("max_response_headers", max_response_headers, INT32),
            ("max_response_header_bytes", max_response_header_bytes, UINT64),
            ("body_limit", body_limit, UINT64),
            ("error_body_limit", error_body_limit, UINT64),
            ("max_transfers_per_host", max_transfers_per_host, INT32),
            ("max_lookups", max_lookups, INT32),
            ("budget_capacity", budget_capacity, INT32),
        ):
            if number is not None:
                setattr(struct, name, positive(number, name, fits))
        struct.preset = member(preset, Preset, "preset")
        struct.http_version = member(http_version, HTTPVersion, "http_version")
        struct.max_redirects = redirects(follow_redirects, max_redirects)
        struct.compression = switch(compression, "compression")
        if cert is not None:
            _set_certificate(struct, cert)
        if unix_socket is not None:
            struct.unix_socket = path_bytes(unix_socket, "unix_socket")
        struct.secret_headers, struct.secret_header_count = _texts(secret_headers, "secret_headers", "names")
        if idempotency_key_header is not None:
            struct.idempotency_key_header = text(idempotency_key_header, "idempotency_key_header")
        if token_source is not None:
            struct.token_source = token_source_handle(token_source).pointer
        struct.replay_codes, struct.replay_code_count = _texts(replay_codes, "replay_codes", "codes")
        struct.allow_insecure_token = bool(allow_insecure_token)
        if reconnect is not None:
            struct.reconnect = switch(reconnect, "reconnect")
        struct.budget_ratio = 0 if budget_ratio is None else real(budget_ratio, "budget_ratio")
        kept_budget = None if budget is None else budget_handle(budget)
        if kept_budget is not None:
            struct.budget = kept_budget.pointer
        kept_clock = None if clock is None else clock_handle(clock)
        if kept_clock is not None:
            struct.clock = kept_clock.pointer
        struct.share_retry_after = bool(share_retry_after)
        lines = HeaderArray()
        if headers is not None:
            struct.header_count = lines.fill(headers, "headers")
            struct.headers = lines.pointer
        #: Names and values that are added to the query of each URL.
        self.params = [] if params is None else field_pairs(params, "params")
        listener = hook = None
        on_event = with_log(None if on_event is None else called(on_event, "on_event"))
        if telemetry is not None:  # These two callbacks report to it.
            if not callable(getattr(telemetry, "begin", None)):
                raise TypeError(f"telemetry: must be an object with begin(), not {type(telemetry).__name__}")
            on_event, before_attempt = on_event or _nothing, before_attempt or _nothing
        if on_event is not None:
            listener = Listener(on_event)
            struct.on_event, struct.on_event_context = on_event_callback, listener.token
        if before_attempt is not None:
            hook = Listener(called(before_attempt, "before_attempt"))
            struct.before_attempt, struct.before_attempt_context = before_attempt_of_client, hook.token
        #: Python code takes part in each call.
        self.is_watched = not (listener is hook is None) or is_custom(strategy)
        #: The objects that the client needs as long as it lives.
        self.keeps = (strategy_kept, listener, hook, token_source, kept_budget, kept_clock)


def _nothing(told: object) -> None:
    """The `on_event` or hook of a client that only has a telemetry."""


def _texts(values: Iterable[Text], name: str, what: str) -> tuple[Any, int]:
    """Several texts, and how many there are."""
    if isinstance(values, (str, bytes)):
        raise TypeError(f"{name}: must be several {what}, not one")
    texts = [text(value, name) for value in values]
    return (c_char_p * len(texts))(*texts), len(texts)


def _set_certificate(options: Any, cert: Any) -> None:
    parts: tuple[Any, ...] = cert if isinstance(cert, tuple) else (cert,)
    if not 1 <= len(parts) <= 3:
        raise TypeError(f"cert: must be a path, or a certificate, a key and optional password (got {len(parts)} items)")
    parts += (None, None)
    certificate, key, password = parts[:3]
    options.client_certificate = path_bytes(certificate, "cert")
    options.client_key = None if key is None else path_bytes(key, "cert")
    options.client_key_password = None if password is None else text(password, "cert")

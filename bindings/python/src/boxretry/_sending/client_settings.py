"""The settings of a client: the one table from which clients, their documentation and the checks of names are made.

A new setting is a line in `ClientSettings`, for type checkers, and an entry in `SETTINGS`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, SupportsIndex, TypedDict

from .._bodies.forms import Fields
from .._c.arguments import INT32, UINT64, Path, Real, Text
from ..clock import ManualClock, clock_handle
from ..decisions.budget import RetryBudget, budget_handle
from ..enums import HTTPVersion, Preset, Proxy
from ..outcome import Headers
from ..timeout import Timeout
from .names import NAMES
from .setters import (
    Setter,
    a_certificate,
    a_flag,
    a_hook,
    a_listener,
    a_path,
    a_proxy,
    a_real,
    a_switch,
    a_telemetry,
    a_text,
    a_token_source,
    handle,
    header_lines,
    number,
    one_of,
    query,
    redirect_limit,
    seconds,
    texts,
    timeouts,
)

if TYPE_CHECKING:
    from ..calls.attempt_request import AttemptRequest
    from ..calls.event import Event
    from ..calls.telemetry import Telemetry
    from ..tokens.token import AnyTokenSource


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


@dataclass(frozen=True)
class Setting:
    """How a setting gets into a boxretry_client_options, and what `help()` says about it."""

    #: Checks the value and sets the field.
    set: Setter
    #: Meaning, unit, range and default.
    doc: str
    #: The field in C; "": the setting's name.
    field: str = ""
    #: What `help()` shows. None: the library's default; that value is not set.
    default: Any = None
    #: A derived client may have its own value. The others are those of the client that it shares connections with.
    derived: bool = False


SETTINGS: dict[str, Setting] = {
    "timeout": Setting(
        timeouts,
        field="timeouts",
        derived=True,
        doc="time limits of each attempt. None: the defaults of `Timeout`.",
    ),
    "deadline": Setting(
        seconds,
        field="deadline_ms",
        derived=True,
        doc="time limit of a call, with all attempts and waits, in seconds; above 0. None: none.",
    ),
    "user_agent": Setting(
        a_text,
        doc='None: "boxretry/" and the version.',
    ),
    "ca_file": Setting(
        a_text,
        doc="a file with CA certificates in PEM form, to trust instead of the system's. None: the system's.",
    ),
    "ca_path": Setting(
        a_path,
        doc=(
            "a directory of CA certificates in PEM form, prepared by `openssl rehash`, to trust instead of the "
            "system's; with `ca_file`, both are trusted."
        ),
    ),
    "tls_verify": Setting(
        a_switch,
        doc=(
            "False: accept any certificate for any host name. Anyone on the network can then read and change all data, "
            "including tokens."
        ),
    ),
    "proxy": Setting(
        a_proxy,
        default=Proxy.ENVIRONMENT,
        doc="the proxy's URL; Proxy.ENVIRONMENT: from the environment; Proxy.NONE: no proxy.",
    ),
    "max_total_attempts": Setting(
        number(INT32),
        derived=True,
        doc=(
            "maximum number of attempts in a call, reconnects included, 1 to 1000000 (B14). None: 1000 for a custom "
            "strategy, no limit for `RetryStrategy`, which has `max_attempts`."
        ),
    ),
    "max_transfers": Setting(
        number(INT32),
        doc="maximum number of attempts in progress, 1 to 100000; further ones wait. None: 512.",
    ),
    "max_response_headers": Setting(
        number(INT32),
        derived=True,
        doc="maximum number of header lines in a response, 1 to 65536. None: 1000.",
    ),
    "max_response_header_bytes": Setting(
        number(UINT64),
        derived=True,
        doc="maximum size of all header lines of a response, 1 to 262144. None: 262144.",
    ),
    "body_limit": Setting(
        number(UINT64),
        derived=True,
        doc=(
            "maximum size of a 2xx response's body in memory, in bytes; a larger one ends the call with "
            "ResponseTooLargeError. None: 256 MiB."
        ),
    ),
    "error_body_limit": Setting(
        number(UINT64),
        derived=True,
        doc="maximum size of any other response's body, in bytes; the rest is truncated (B15). None: 1 MiB.",
    ),
    "on_event": Setting(
        a_listener,
        doc=(
            "called with each event of each call, on the thread that drives the client's transfers at that moment. It "
            "must not block or wait (InCallbackError). An exception that it raises is raised again where the call was "
            "made, after the call has ended."
        ),
    ),
    "preset": Setting(
        one_of(Preset),
        default=Preset.BOX,
        doc="Preset.BOX: Box's strategy with its defaults; Preset.JANUARY: no retries.",
    ),
    "http_version": Setting(
        one_of(HTTPVersion),
        default=HTTPVersion.HTTP_DEFAULT,
        derived=True,
        doc="which versions of HTTP are used. Default: HTTP/2 over TLS if the server offers it, else HTTP/1.1.",
    ),
    "follow_redirects": Setting(
        redirect_limit,
        field="max_redirects",
        derived=True,
        doc="False: the redirect itself is the call's response. Default: redirects are followed.",
    ),
    "max_redirects": Setting(
        redirect_limit,
        derived=True,
        doc=(
            "maximum number of redirects that an attempt follows, 1 to 1000; one more ends the call with "
            "TooManyRedirectsError. None: 20."
        ),
    ),
    "compression": Setting(
        a_switch,
        derived=True,
        doc="request compressed responses, and decompress them. None: no.",
    ),
    "max_transfers_per_host": Setting(
        number(INT32),
        doc="maximum number of attempts in progress to one host and port, 1 to 100000. None: no limit.",
    ),
    "max_lookups": Setting(
        number(INT32),
        doc="maximum number of host names resolved at the same time, 1 to 1000. None: 64.",
    ),
    "cert": Setting(
        a_certificate,
        field="client_certificate",
        doc=(
            "a file in PEM form with the client's certificate and its private key; or a tuple of the certificate's "
            "file, the key's file and optionally the key's password."
        ),
    ),
    "unix_socket": Setting(
        a_path,
        doc="the path of a Unix socket that all connections use.",
    ),
    "secret_headers": Setting(
        texts("names"),
        default=(),
        doc=(
            "names of headers that, like Authorization and Cookie, are not sent to another origin (scheme, host and "
            "port) after a redirect (T13). At most 64."
        ),
    ),
    "idempotency_key_header": Setting(
        a_text,
        derived=True,
        doc='the header that idempotency keys are sent in. None: "Idempotency-Key".',
    ),
    "before_attempt": Setting(
        a_hook,
        derived=True,
        doc=(
            "called with an `AttemptRequest` each time before a request is sent; it can change the headers (B12). It "
            "must not block. If it raises an exception, the call ends with CallbackFailedError, with that exception as "
            "its cause."
        ),
    ),
    "token_source": Setting(
        a_token_source,
        derived=True,
        doc=(
            "supplies the access token of each request, sent in its Authorization header unless the request has one. "
            "Keep it open. A token is sent only to the request's own origin (scheme, host and port), and over http "
            "only to this machine; any other http URL raises InvalidArgumentError."
        ),
    ),
    "replay_codes": Setting(
        texts("codes"),
        default=(),
        doc=(
            "a 401 whose JSON body has one of these as its `code` is replayed immediately with a new token, once in a "
            "call (R1). At most 16. Default: none; with Preset.JANUARY, token_expired."
        ),
    ),
    "allow_insecure_token": Setting(
        a_flag,
        default=False,
        derived=True,
        doc="send access tokens over http to other machines and through proxies too.",
    ),
    "headers": Setting(
        header_lines,
        derived=True,
        doc=(
            "headers of all requests: a mapping, or pairs of a name and a value. A request's header replaces one of "
            "the same name."
        ),
    ),
    "params": Setting(
        query,
        derived=True,
        doc=(
            "parameters added to the URL of all requests, in the form of a request's `params`. A request's parameter "
            "replaces one of the same name."
        ),
    ),
    "budget_capacity": Setting(
        number(INT32),
        doc=(
            "a retry budget for all calls of the client. At half of the capacity or below, calls are not retried until "
            "successes have given some back. None: no budget."
        ),
    ),
    "budget_ratio": Setting(
        a_real,
        doc="what each success gives back to the budget, in retries. None: 0.1.",
    ),
    "budget": Setting(
        handle(budget_handle),
        doc=(
            "a budget shared with other clients and retry loops, instead of these two. You can close it before the "
            "client."
        ),
    ),
    "share_retry_after": Setting(
        a_flag,
        default=False,
        doc=(
            "if an origin answers 429 or 503 with a usable Retry-After, no attempt of this client goes there before "
            "that time, first attempts included. Then one attempt goes; while the origin answers well, each round "
            "allows twice as many, until there is no limit any more (C3). A call that is held has no attempt yet; its "
            "`deadline` limits the wait."
        ),
    ),
    "connect_timeout": Setting(
        seconds,
        field="connect_timeout_ms",
        derived=True,
        doc=(
            "time limit for each connection of an attempt to become ready: resolving the name, TCP, the proxy's "
            "CONNECT and TLS; in seconds, above 0. When it passes, that is a network exception with the cause CONNECT "
            "(W5). None: only `timeout` applies."
        ),
    ),
    "reconnect": Setting(
        a_switch,
        derived=True,
        doc=(
            "whether an idempotent request whose kept-alive connection was dead is sent again immediately on a new "
            "connection. That counts as one of the call's retries, and happens at most once in a call (B13). None: "
            "yes; with Preset.JANUARY, no."
        ),
    ),
    "telemetry": Setting(
        a_telemetry,
        doc=(
            "reports each call and attempt: an `OpenTelemetry` of boxretry.integrations.opentelemetry, or any object "
            "with its `begin()`; see `boxretry.calls.telemetry`. None: no reports, at no cost."
        ),
    ),
    "clock": Setting(
        handle(clock_handle),
        doc=(
            "a ManualClock for tests: all waits, timeouts and deadlines of this client run on it, while connections "
            "and servers run in real time. None: the system's."
        ),
    ),
}

NAMES["Client()"] = SETTINGS

"""Sends requests, with the documented retries and timeouts."""

from __future__ import annotations

import atexit
import contextlib
import threading
import weakref
from collections.abc import Mapping
from ctypes import byref
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Callable

from ._bodies.forms import Fields, field_pairs, with_params
from ._c import _abi
from ._c.arguments import Real, Text, new
from ._c.handle import HandleOwner, new_handle
from ._sending.client_options import ClientOptions, derived_options
from ._sending.names import shows_arguments_of
from ._sending.performing import perform, perform_in_slices, submit
from ._sending.sending import Sending, shows_arguments
from .calls._interrupts import on_main_thread
from .calls._telling import begin
from .calls._token_calls import Provider
from .calls.call import Call, wait_in_slices
from .calls.response import raise_from_callbacks, response_of_call
from .calls.watched import Watched
from .enums import Error
from .errors import BoxRetryError, ClosedError, Response, check
from .options import ClientSettings, RequestArguments, Strategy
from .outcome import Request
from .stream import Stream

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True)
class ClientStats:
    """A client's counters."""

    calls_started: int
    calls_ended: int
    attempts: int
    retries: int
    reconnects: int
    #: Times that a response closed the gate of its origin (C3).
    gates_closed: int = 0
    #: Times that a response opened such a gate, so that nothing is held any longer. A gate that is dropped after a
    #: minute in which it held nothing is not counted.
    gates_opened: int = 0
    #: Attempts that waited for a gate.
    held: int = 0


class Client(HandleOwner):
    """Sends requests, retries them as its strategy decides, and keeps connections open.

    Any number of threads may use a client at once. One client for the whole program is usual. Clients that are still
    open when the interpreter exits are closed first.

    >>> with Client(timeout=Timeout(timeout_interval_for_request_ms=5000), user_agent="example/1") as client:
    ...     client.stats().calls_started
    0
    """

    @shows_arguments_of(ClientOptions.__init__)
    def __init__(self, strategy: Strategy | None = None, **settings: Unpack[ClientSettings]) -> None:
        """Sets the defaults of all requests. A request's own argument of the same name takes precedence.

        strategy: decides on retries. None: the one of `preset`. You can close it before the client.
        timeout: time limits of each attempt. None: the defaults of `Timeout`.
        deadline: time limit of a call, with all attempts and waits, in seconds; above 0. None: none.
        user_agent: None: "boxretry/" and the version.
        ca_file: a file with CA certificates in PEM form, to trust instead of the system's. None: the system's.
        ca_path: a directory of CA certificates in PEM form, prepared by `openssl rehash`, to trust instead of the
            system's; with `ca_file`, both are trusted.
        tls_verify: False: accept any certificate for any host name. Anyone on the network can then read and change all
            data, including tokens.
        proxy: the proxy's URL; Proxy.ENVIRONMENT: from the environment; Proxy.NONE: no proxy.
        max_total_attempts: maximum number of attempts in a call, reconnects included, 1 to 1000000 (B14). None: 1000
            for a custom strategy, no limit for `RetryStrategy`, which has `max_attempts`.
        max_transfers: maximum number of attempts in progress, 1 to 100000; further ones wait. None: 512.
        max_response_headers: maximum number of header lines in a response, 1 to 65536. None: 1000.
        max_response_header_bytes: maximum size of all header lines of a response, 1 to 262144. None: 262144.
        body_limit: maximum size of a 2xx response's body in memory, in bytes; a larger one ends the call with
            ResponseTooLargeError. None: 256 MiB.
        error_body_limit: maximum size of any other response's body, in bytes; the rest is truncated (B15). None: 1 MiB.
        on_event: called with each event of each call, on the thread that drives the client's transfers at that moment.
            It must not block or wait (InCallbackError). An exception that it raises is raised again where the call was
            made, after the call has ended.
        preset: Preset.BOX: Box's strategy with its defaults; Preset.JANUARY: no retries.
        http_version: which versions of HTTP are used. Default: HTTP/2 over TLS if the server offers it, else HTTP/1.1.
        follow_redirects: False: the redirect itself is the call's response. Default: redirects are followed.
        max_redirects: maximum number of redirects that an attempt follows, 1 to 1000; one more ends the call with
            TooManyRedirectsError. None: 20.
        compression: request compressed responses, and decompress them. None: no.
        max_transfers_per_host: maximum number of attempts in progress to one host and port, 1 to 100000. None: no
            limit.
        max_lookups: maximum number of host names resolved at the same time, 1 to 1000. None: 64.
        cert: a file in PEM form with the client's certificate and its private key; or a tuple of the certificate's
            file, the key's file and optionally the key's password.
        unix_socket: the path of a Unix socket that all connections use.
        secret_headers: names of headers that, like Authorization and Cookie, are not sent to another origin (scheme,
            host and port) after a redirect (T13). At most 64.
        idempotency_key_header: the header that idempotency keys are sent in. None: "Idempotency-Key".
        before_attempt: called with an `AttemptRequest` each time before a request is sent; it can change the headers
            (B12). It must not block. If it raises an exception, the call ends with CallbackFailedError, with that
            exception as its cause.
        token_source: supplies the access token of each request, sent in its Authorization header unless the request has
            one. Keep it open. A token is sent only to the request's own origin (scheme, host and port), and over http
            only to this machine; any other http URL raises InvalidArgumentError.
        replay_codes: a 401 whose JSON body has one of these as its `code` is replayed immediately with a new token,
            once in a call (R1). At most 16. Default: none; with Preset.JANUARY, token_expired.
        allow_insecure_token: send access tokens over http to other machines and through proxies too.
        headers: headers of all requests: a mapping, or pairs of a name and a value. A request's header replaces one of
            the same name.
        params: parameters added to the URL of all requests, in the form of a request's `params`. A request's parameter
            replaces one of the same name.
        budget_capacity: a retry budget for all calls of the client. At half of the capacity or below, calls are not
            retried until successes have given some back. None: no budget.
        budget_ratio: what each success gives back to the budget, in retries. None: 0.1.
        budget: a budget shared with other clients and retry loops, instead of these two. You can close it before the
            client.
        share_retry_after: if an origin answers 429 or 503 with a usable Retry-After, no attempt of this client goes
            there before that time, first attempts included. Then one attempt goes; while the origin answers well, each
            round allows twice as many, until there is no limit any more (C3). A call that is held has no attempt yet;
            its `deadline` limits the wait.
        connect_timeout: time limit for each connection of an attempt to become ready: resolving the name, TCP, the
            proxy's CONNECT and TLS; in seconds, above 0. When it passes, that is a network exception with the cause
            CONNECT (W5). None: only `timeout` applies.
        reconnect: whether an idempotent request whose kept-alive connection was dead is sent again immediately on a new
            connection. That counts as one of the call's retries, and happens at most once in a call (B13). None: yes;
            with Preset.JANUARY, no.
        telemetry: reports each call and attempt: an `OpenTelemetry` of boxretry.integrations.opentelemetry, or any
            object with its `begin()`; see `boxretry.calls.telemetry`. None: no reports, at no cost.
        clock: a ManualClock for tests: all waits, timeouts and deadlines of this client run on it, while connections
            and servers run in real time. None: the system's.

        Raises InvalidArgumentError, ExhaustedError, OutOfMemoryError; ForkedError, ClosedError.
        """
        options = ClientOptions(strategy, **settings)
        self._token_source = settings.get("token_source")
        self._is_watched = options.is_watched
        self._params = options.params
        self._telemetry = settings.get("telemetry")
        self._handle = new_handle(
            _abi.boxretry_client_new, byref(options.struct), free=_abi.boxretry_client_free, keeps=options.keeps
        )
        _open_clients.add(self)

    @shows_arguments_of(ClientOptions.__init__)
    def derived(self, strategy: Strategy | None = None, **settings: Unpack[ClientSettings]) -> Client:
        """Makes a client that shares this one's connections, limits, budget, counters and `on_event`.

        Settings that are not given are as in this client. `headers` and `params` are added to those of this client, and
        replace those of the same name. You can give strategy, timeout, connect_timeout, deadline, reconnect,
        max_total_attempts, max_response_headers, max_response_header_bytes, body_limit, error_body_limit, http_version,
        follow_redirects, max_redirects, compression, idempotency_key_header, before_attempt, token_source,
        allow_insecure_token, headers and params.

        Close the two in any order. Closing one ends its own calls only.

        >>> with Client(headers={"Accept": "application/json"}) as client:
        ...     as_user = client.derived(headers={"As-User": "12345"})
        ...     as_user.close()

        Raises TypeError for another setting; InvalidArgumentError, OutOfMemoryError, ForkedError, ClosedError.
        """
        options, handle = derived_options(strategy, settings), self._open_handle()
        made = Client.__new__(Client)
        made._token_source = settings.get("token_source") or self._token_source
        made._is_watched = options.is_watched or self._is_watched
        made._telemetry = self._telemetry
        names = {name for name, _ in options.params}
        made._params = [pair for pair in self._params if pair[0] not in names] + options.params
        made._handle = new_handle(
            _abi.boxretry_client_new_derived,
            handle.pointer,
            byref(options.struct),
            free=_abi.boxretry_client_free,
            keeps=(options.keeps, handle),
        )
        _open_clients.add(made)
        return made

    @shows_arguments
    def request(self, method: Text, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """Sends a request, retries it as the strategy decides, and waits for the response, with any status.

        headers: a mapping, or pairs of a name and a value.
        params: parameters added to the URL's query: a mapping, or pairs, of a name and one value or several. None is
            left out; it is not sent as the text "None".
        data: the body: bytes, str (sent as UTF-8) or another object with a buffer; a file, from its current position;
            an iterator, which can be sent only once (R3); an object that can be iterated over repeatedly, or a function
            that makes an iterator for each attempt. Bytes of 64 KiB or more must not change until the call has ended.
            The library reads a file itself if it can, and does not move its position. Reads and iterators in Python run
            on the thread that drives the calls: they must not block, but may return `PAUSE`. If they raise an
            exception, the call ends with SourceError, with that exception as its cause.
            Or a form (application/x-www-form-urlencoded; this sets Content-Type unless a header does): a mapping, or a
            list of pairs, with values as for `params`.
        data_length: number of bytes of a file or an iterator. None: to its end; if the length is not known, the body is
            sent in chunks.
        json: a value to send as JSON, instead of `data`; this sets Content-Type unless a header does.
        files: a form (multipart/form-data) with these files: a mapping, or pairs, of a field's name and a path, a file
            or bytes; or a tuple of a file name, its content as one of these, and optionally its type and headers.
            `data` then has the other fields, as in a form without files. The library reads paths while it sends them;
            files are read immediately.
        to_file: the path of a file for the body of a 2xx response. It is written next to that path, and renamed when it
            is complete.
        resume: continue a download to a file where it broke off, if the server sent a strong ETag.
        sink: receives the body of a 2xx response in pieces: a function, or an object with `write()` and optionally
            `begin()` and `restart()`; see `Sink`. It must not block, but may return `PAUSE`. If it raises an exception,
            the call ends with SinkError, with that exception as its cause.
        timeout, connect_timeout, deadline, strategy, body_limit, follow_redirects, max_redirects, compression,
            http_version: as for the client, instead of its setting. `math.inf` for `deadline` or `connect_timeout`: no
            limit.
        cancel: a CancelSwitch that cancels the call.
        retry_safety: whether the request may be sent again although the server may have processed it (B12).
        idempotency_key: sent as a header, the same in all attempts; it makes the request safe to send again. 1 to 255
            visible characters. True: generate one for the call.
        on_progress: called with a `Progress` a few times a second while bodies are transferred, under the same rules as
            `on_event`.
        before_attempt, token_source: as for the client, instead of its setting.
        authorization: False: send no access token.
        reconnect: as for `Client()`. None: the client's setting.
        default_headers: False: do not send Accept and User-Agent unless `headers` has them.
        user_data: any object, for custom strategies, hooks and `on_event`; they get this same object.

        Ctrl-C ends the wait within 0.1 s and cancels the call.

        If there is no response, this raises the error that the call ended with, with all `attempts`: a NetworkError,
        DeadlineError, CancelledError, ResponseTooLargeError, SettingError, SourceError, SinkError,
        TooManyRedirectsError, CallbackFailedError, ExhaustedError, OutOfMemoryError; or an exception raised by a custom
        strategy, `on_event` or `on_progress`. After InvalidArgumentError, InCallbackError, ClosedError and ForkedError
        nothing was sent.
        """
        client = self._open_handle()
        sending = self._sending(method, url, arguments)
        # boxretry_client_perform() does not check for signals, but the main thread has to.
        result = perform_in_slices(client, sending) if on_main_thread() else perform(client, sending)
        if sending.watched is not None:
            raise_from_callbacks(sending.watched, result, method)
        return response_of_call(result, method, self._provider_of(sending))

    @shows_arguments
    def submit(self, method: Text, url: Text, **arguments: Unpack[RequestArguments]) -> Call:
        """Starts a call and returns immediately. The arguments are those of `request()`.

        Raises InvalidArgumentError, ExhaustedError, OutOfMemoryError; ForkedError, ClosedError. Then nothing was sent.
        """
        return self._submit(method, self._sending(method, url, arguments))

    @shows_arguments
    def stream(
        self, method: Text, url: Text, *, stream_errors: bool = False, **arguments: Unpack[RequestArguments]
    ) -> Stream:
        """Sends a request whose response is read while it arrives: `with client.stream("GET", url) as stream:`.

        The arguments are those of `request()` except `to_file` and `sink`.

        stream_errors: True: a response other than 2xx is read while it arrives too, if it is not retried. False: such a
            response is received completely first.
        """
        return Stream(partial(self._submit, method), partial(self._sending, method, url), arguments, stream_errors)

    def _sending(
        self,
        method: Text,
        url: Text,
        arguments: Mapping[str, Any],
        make_watched: Callable[[Request], Watched] = Watched,
    ) -> Sending:
        """What to send for these arguments of a request."""
        if self._params:
            url = self._with_params(url, arguments.get("params"))
        sending = Sending(method, url, self._is_watched, arguments, make_watched)
        if self._telemetry is not None:
            assert sending.watched is not None
            begin(self._telemetry, sending.watched)
        return sending

    def _with_params(self, url: Text, own: Fields | None) -> str:
        """The URL with the client's parameters, except those that the request sets itself."""
        names = () if own is None else {name for name, _ in field_pairs(own, "params")}
        return with_params(url, [pair for pair in self._params if pair[0] not in names])

    def _submit(self, method: Text, sending: Sending, wait_ms: int = 0) -> Call:
        call = submit(self._open_handle(), sending, wait_ms)
        return Call(call, sending.watched, method, self._provider_of(sending))

    def _provider_of(self, sending: Sending) -> Provider | None:
        """The provider whose exceptions explain why a request could not get a token."""
        source = self._token_source if sending.token_source is None else sending.token_source
        return None if source is None or not sending.has_authorization else source._provider

    @shows_arguments
    def get(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """Sends a GET; the arguments are those of `request()`, here and in the next six methods."""
        return self.request("GET", url, **arguments)

    @shows_arguments
    def post(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """Sends a POST."""
        return self.request("POST", url, **arguments)

    @shows_arguments
    def put(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """Sends a PUT."""
        return self.request("PUT", url, **arguments)

    @shows_arguments
    def patch(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """Sends a PATCH."""
        return self.request("PATCH", url, **arguments)

    @shows_arguments
    def delete(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """Sends a DELETE."""
        return self.request("DELETE", url, **arguments)

    @shows_arguments
    def head(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """Sends a HEAD."""
        return self.request("HEAD", url, **arguments)

    @shows_arguments
    def options(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """Sends an OPTIONS."""
        return self.request("OPTIONS", url, **arguments)

    def stats(self) -> ClientStats:
        """Reads the client's counters. Raises ForkedError, ClosedError."""
        struct = new(_abi.ClientStats, _abi.boxretry_client_stats_init)
        check(_abi.boxretry_client_get_stats(self._open_handle().pointer, byref(struct)))
        return ClientStats(
            struct.calls_started,
            struct.calls_ended,
            struct.attempts,
            struct.retries,
            struct.reconnects,
            struct.gates_closed,
            struct.gates_opened,
            struct.held,
        )

    def close(self, timeout: Real | None = None) -> None:
        """Cancels all calls, refuses new ones (ClosedError), and waits until every call has ended.

        timeout: seconds, 0 or more; None: no limit. Inside `on_event` or a custom strategy, it does not wait. You can
            call it again.

        Raises WaitTimeoutError; the client is closed even then.
        """
        handle, self._handle = self._handle, None
        if handle is None:
            return
        try:
            status = _abi.boxretry_client_close(handle.pointer, 0)
        except ClosedError:  # In a `__del__`.
            return
        if status == Error.IN_CALLBACK:
            # The library refuses because it would wait. A thread keeps the handle until the calls have ended.
            threading.Thread(target=lambda: _abi.boxretry_client_close(handle.pointer, _abi.NO_TIMEOUT)).start()
        elif status == Error.WAIT_TIMEOUT:
            wait_in_slices(lambda slice_ms: _abi.boxretry_client_close(handle.pointer, slice_ms), timeout)


#: Seconds that a client's calls get to end when the interpreter exits.
_TIME_AT_EXIT = 10

_open_clients: weakref.WeakSet[Client] = weakref.WeakSet()


def _close_all() -> None:
    """Ends all calls while Python callbacks can still run."""
    for client in list(_open_clients):
        with contextlib.suppress(BoxRetryError):
            client.close(_TIME_AT_EXIT)


atexit.register(_close_all)

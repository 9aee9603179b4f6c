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
from .calls._telling import begin
from .calls._token_calls import Provider
from .calls.call import Call, wait_in_slices
from .calls.response import Response, raise_from_callbacks, response_of_call
from .calls.watched import Watched
from .enums import Error
from .errors import BoxRetryError, ClosedError, check
from .options import ClientSettings, RequestArguments, Strategy
from .outcome import Request
from .stream import Stream

if TYPE_CHECKING:
    from typing_extensions import Unpack


@dataclass(frozen=True)
class ClientStats:
    """What a client has done so far."""

    calls_started: int
    calls_ended: int
    attempts: int
    retries: int
    reconnects: int
    #: Times that an answer closed the gate of its origin (C3).
    gates_closed: int = 0
    #: Times that such a gate opened: nothing is held any longer.
    gates_opened: int = 0
    #: Attempts that waited for a gate.
    held: int = 0


class Client(HandleOwner):
    """Sends requests, retries them as its strategy says, and keeps connections.

    Any number of threads may use a client at once; one for a program is usual. Clients that are still open when the
    interpreter ends are closed before.

    >>> with Client(timeout=Timeout(timeout_interval_for_request_ms=5000), user_agent="example/1") as client:
    ...     client.stats().calls_started
    0
    """

    @shows_arguments_of(ClientOptions.__init__)
    def __init__(self, strategy: Strategy | None = None, **settings: Unpack[ClientSettings]) -> None:
        """The settings of all requests; where a request has the same argument, its own wins.

        strategy: None: as `preset` says. It may be closed before the client.
        timeout: of each attempt. None: the defaults of `Timeout`.
        deadline: seconds over all attempts and waits of a call; above 0. None: no deadline.
        user_agent: None: "boxretry/" and the version.
        ca_file: path of the certificates in PEM form that are trusted instead of the system's. None: these.
        ca_path: a directory of such certificates, named by hash as `openssl rehash` does. Adds to `ca_file`.
        tls_verify: False: accept any certificate, for any host name. Anyone on the way can then read and change
            everything, tokens included.
        proxy: the URL of a proxy; or as the environment says; or Proxy.NONE.
        max_total_attempts: ceiling of attempts of a call for any strategy, reconnects included, 1 to 1000000 (B14).
            None: 1000 for a custom strategy, no ceiling for `RetryStrategy`, which has `max_attempts`.
        max_transfers: attempts under way at once, 1 to 100000; the others wait. None: 512.
        max_response_headers: lines, 1 to 65536. None: 1000.
        max_response_header_bytes: of all lines together, 1 to 262144. None: 262144.
        body_limit: bytes of a 2xx response's body; a longer one ends the call with ResponseTooLargeError. None: 256
            MiB.
        error_body_limit: bytes of any other response's body; the rest is cut off (B15). None: 1 MiB.
        on_event: is called with each event of each call, on whatever thread drives them: it must not block, and not
            wait (InCallbackError). What it raises comes out where the call was made, when that has ended.
        preset: Preset.BOX: Box's strategy with its defaults; Preset.JANUARY: no retries.
        http_version: what versions of HTTP are spoken. Without one: HTTP/2 over TLS where the server offers it.
        follow_redirects: False: the response that redirects is the call's response. Else redirects are followed.
        max_redirects: of each attempt, 1 to 1000; one more ends the call with TooManyRedirectsError. None: 20.
        compression: ask for compressed responses, and unpack them. None: no.
        max_transfers_per_host: attempts under way at once to one host and port, 1 to 100000. None: no limit.
        max_lookups: names looked up at once, 1 to 1000. None: 64.
        cert: a file in PEM form with the certificate by which the client shows who it is, and its key; or the files of
            certificate and key, and perhaps the key's password.
        unix_socket: path of a socket that all connections are made to.
        secret_headers: names of headers that, as Authorization and Cookie, never go to another scheme, host or port
            than the request was for (T13). At most 64.
        idempotency_key_header: None: "Idempotency-Key".
        before_attempt: is called each time before a request is sent, with an `AttemptRequest`, and may change its
            headers (B12). It must not block. What it raises ends the call: CallbackFailedError, with it as its cause.
        token_source: where access tokens come from; each request has one in its Authorization, unless it has a header
            of that name. It must stay open. A token goes only to the scheme, host and port of the request, and over
            http only to this very machine (else InvalidArgumentError).
        replay_codes: a 401 whose JSON has one of these as its `code` is replayed at once with a new token, once in a
            call (R1). At most 16. Without any: none; with Preset.JANUARY, token_expired.
        allow_insecure_token: tokens may go over http to other machines and through proxies, too.
        headers: of all requests; a mapping, or pairs of a name and a value. A request's own replace those of its name.
        params: added to the URL of all requests, as `params` of a request, which replace those of the same name.
        budget_capacity: a budget for the retries of all calls together: when half of it is taken there are none, until
            successes have given some back. None: no budget.
        budget_ratio: the part of a retry that each success gives back. None: 0.1.
        budget: instead of these two, a budget that is shared with other clients and retry loops. It may be closed
            before the client.
        share_retry_after: a 429 or 503 with a usable Retry-After holds all attempts of this client to its origin until
            that time, first attempts too; then one goes, and as long as the origin answers well, twice as many in each
            round, until there is no limit any more (C3). A call that is held has no attempt yet; `deadline` bounds it.
        connect_timeout: seconds within which each connection of an attempt must be ready for its request: name look-up,
            TCP, a proxy's CONNECT and TLS together; above 0. Passing it is a network exception with the cause CONNECT
            (W5). None: only the times of `timeout` hold.
        reconnect: whether an idempotent request whose kept-alive connection was dead is sent again at once on a new
            one, as one of the call's retries and at most once in a call (B13). None: yes; with Preset.JANUARY no.
        telemetry: is told of each call and attempt: an `OpenTelemetry` of boxretry.integrations.opentelemetry, or what
            else has its `begin()`; see `boxretry.calls.telemetry`. None: nothing is told, at no cost.
        clock: a ManualClock for tests: all waits, timeouts and deadlines of this client run on it; connections and
            servers run in real time. None: the system's.

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
        """A client that shares this one's connections, limits, budget, counters and `on_event`, and sends its own way.

        What is not given is as here. `headers` and `params` are added to those of this client, and replace those of the
        same name. May be given: strategy, timeout, deadline, max_total_attempts, max_response_headers,
        max_response_header_bytes, body_limit, error_body_limit, http_version, follow_redirects, max_redirects,
        compression, idempotency_key_header, before_attempt, token_source, allow_insecure_token, headers, params.

        The two can be closed in any order; closing one ends its own calls only.

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
        """Sends a request, retries it as the strategy says, and waits for the response, whatever its status.

        headers: a mapping, or pairs of a name and a value.
        params: what is added to the URL behind the question mark; a mapping, or pairs, of names and a value or several
            ones each. None is left out, and not the text "None".
        data: the body: bytes, str (in UTF-8) or what else has a buffer; a file, from its present position on; an
            iterator, which can be sent only once (R3); what can be iterated over again and again, or a function that
            makes an iterator for each attempt. Bytes of 64 KiB or more must stay as they are until the call has ended.
            A file is read by the library itself if it can, and its position is not moved. What else is read or iterated
            over runs on the thread that drives the calls: it must not block, but may give `PAUSE`. What it raises ends
            the call: SourceError, with it as its cause.
            Or a form (application/x-www-form-urlencoded; Content-Type says so, if no header does): a mapping, or a list
            of pairs, with values as for `params`.
        data_length: bytes of a file or an iterator. None: to its end; where that is not known, it is sent in chunks.
        json: what the body is made of as JSON, in place of `data`; Content-Type says so, if no header does.
        files: a form (multipart/form-data) with these files; a mapping, or pairs, of a field's name and a path, a file
            or bytes; or a tuple of a file's name, its content as one of these, and perhaps its type, and headers.
            `data` is then the other fields, as in a form without files. The library reads paths while they are sent;
            files are read at once.
        to_file: the path of a file for the body of a response, if that is a 2xx; it is written beside it, and renamed
            when it is whole.
        resume: a download to a file that broke off goes on where it was, if the server gave a strong ETag.
        sink: a function that gets such a body in pieces, or an object with `write()` and perhaps `begin()` and
            `restart()`; see `Sink`. It must not block, but may answer with `PAUSE`. What it raises ends the call:
            SinkError, with it as its cause.
        timeout, connect_timeout, deadline, strategy, body_limit, follow_redirects, max_redirects, compression,
            http_version: as for the client, which this overrides. `deadline=math.inf`: none; so for `connect_timeout`.
        cancel: a CancelSwitch that ends the call.
        retry_safety: whether it may be sent again although the server may have acted on it (B12).
        idempotency_key: sent as a header, the same in all attempts; it makes the request safe to be sent again. 1 to
            255 visible characters. True: one is made.
        on_progress: is called with a `Progress` some times a second while bodies move. As `on_event`.
        before_attempt, token_source: as for the client, in place of that.
        authorization: False: without an access token.
        reconnect: as for `Client()`. None: as the client does.
        default_headers: False: without Accept and User-Agent, unless `headers` has them.
        user_data: whatever custom strategies, hooks and `on_event` are to know; they get this very object.

        Ctrl-C ends the wait within 0.1 s, and cancels the call.

        Raises what the call ended with if there is no response, with all `attempts`: a NetworkError, DeadlineError,
        CancelledError, ResponseTooLargeError, SettingError, SourceError, SinkError, TooManyRedirectsError,
        CallbackFailedError, ExhaustedError, OutOfMemoryError; what a custom strategy, `on_event` or `on_progress`
        raised. Nothing was sent after InvalidArgumentError, InCallbackError, ClosedError, ForkedError.
        """
        client = self._open_handle()
        sending = self._sending(method, url, arguments)
        # In boxretry_client_perform() nobody can look out for signals, for which the main thread has to.
        if threading.current_thread() is threading.main_thread():
            result = perform_in_slices(client, sending)
        else:
            result = perform(client, sending)
        raise_from_callbacks(sending.watched, result, method)
        return response_of_call(result, method, self._provider_of(sending))

    @shows_arguments
    def submit(self, method: Text, url: Text, **arguments: Unpack[RequestArguments]) -> Call:
        """Starts to send a request, and returns at once; the arguments are those of `request()`.

        Raises InvalidArgumentError, ExhaustedError, OutOfMemoryError; ForkedError, ClosedError: nothing was sent.
        """
        return self._submit(method, self._sending(method, url, arguments))

    @shows_arguments
    def stream(
        self, method: Text, url: Text, *, stream_errors: bool = False, **arguments: Unpack[RequestArguments]
    ) -> Stream:
        """Sends a request whose response is read while it comes: `with client.stream("GET", url) as stream:`.

        The arguments are those of `request()`, but for `to_file` and `sink`.

        stream_errors: True: the body of another response than a 2xx comes while it is read, too, if the response is not
            retried. False: such a response is waited for.
        """
        return Stream(partial(self._submit, method), partial(self._sending, method, url), arguments, stream_errors)

    def _sending(
        self,
        method: Text,
        url: Text,
        arguments: Mapping[str, Any],
        make_watched: Callable[[Request], Watched] = Watched,
    ) -> Sending:
        """What is sent for these arguments of a request."""
        if self._params:
            url = self._with_params(url, arguments.get("params"))
        sending = Sending(method, url, self._is_watched, arguments, make_watched)
        if self._telemetry is not None:
            assert sending.watched is not None
            begin(self._telemetry, sending.watched)
        return sending

    def _with_params(self, url: Text, own: Fields | None) -> str:
        """The URL with the client's query, but for what the request says itself."""
        names = () if own is None else {name for name, _ in field_pairs(own, "params")}
        return with_params(url, [pair for pair in self._params if pair[0] not in names])

    def _submit(self, method: Text, sending: Sending) -> Call:
        call = submit(self._open_handle(), sending)
        return Call(call, sending.watched, method, self._provider_of(sending))

    def _provider_of(self, sending: Sending) -> Provider | None:
        """Whose exceptions are why a request could not get a token."""
        source = self._token_source if sending.token_source is None else sending.token_source
        return None if source is None or not sending.has_authorization else source._provider

    @shows_arguments
    def get(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """A GET; the arguments are those of `request()`, here and in the next six."""
        return self.request("GET", url, **arguments)

    @shows_arguments
    def post(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """A POST."""
        return self.request("POST", url, **arguments)

    @shows_arguments
    def put(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """A PUT."""
        return self.request("PUT", url, **arguments)

    @shows_arguments
    def patch(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """A PATCH."""
        return self.request("PATCH", url, **arguments)

    @shows_arguments
    def delete(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """A DELETE."""
        return self.request("DELETE", url, **arguments)

    @shows_arguments
    def head(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """A HEAD."""
        return self.request("HEAD", url, **arguments)

    @shows_arguments
    def options(self, url: Text, **arguments: Unpack[RequestArguments]) -> Response:
        """An OPTIONS."""
        return self.request("OPTIONS", url, **arguments)

    def stats(self) -> ClientStats:
        """What the client has done so far. Raises ForkedError, ClosedError."""
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
        """Cancels all calls, refuses new ones (ClosedError), and waits until every call has had its end.

        timeout: seconds, 0 or more; None: for ever. Inside `on_event` or a custom strategy it does not wait. May be
        called again.

        Raises WaitTimeoutError; the client is closed all the same.
        """
        handle, self._handle = self._handle, None
        if handle is None:
            return
        try:
            status = _abi.boxretry_client_close(handle.pointer, 0)
        except ClosedError:  # In a `__del__`.
            return
        if status == Error.IN_CALLBACK:
            # The library refuses, since it would wait. A thread keeps the handle until the calls have ended.
            threading.Thread(target=lambda: _abi.boxretry_client_close(handle.pointer, _abi.NO_TIMEOUT)).start()
        elif status == Error.WAIT_TIMEOUT:
            wait_in_slices(lambda slice_ms: _abi.boxretry_client_close(handle.pointer, slice_ms), timeout)


#: How many seconds the calls of a client have to end when the interpreter does.
_TIME_AT_EXIT = 10

_open_clients: weakref.WeakSet[Client] = weakref.WeakSet()


def _close_all() -> None:
    """Ends all calls while Python can still be called back."""
    for client in list(_open_clients):
        with contextlib.suppress(BoxRetryError):
            client.close(_TIME_AT_EXIT)


atexit.register(_close_all)

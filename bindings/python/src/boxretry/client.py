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
from ._sending.client_options import ClientOptions, derived_options, describes_settings
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

    @describes_settings
    def __init__(self, strategy: Strategy | None = None, **settings: Unpack[ClientSettings]) -> None:
        """Sets the defaults of all requests. A request's own argument of the same name takes precedence.

        strategy: decides on retries. None: the one of `preset`. You can close it before the client.
        {settings}

        Raises InvalidArgumentError, ExhaustedError, OutOfMemoryError; ForkedError, ClosedError.
        """
        options = ClientOptions(strategy, settings)
        self._token_source = settings.get("token_source")
        self._is_watched = options.is_watched
        self._params = options.params
        self._telemetry = settings.get("telemetry")
        self._handle = new_handle(
            _abi.boxretry_client_new, byref(options.struct), free=_abi.boxretry_client_free, keeps=options.keeps
        )
        _open_clients.add(self)

    @describes_settings
    def derived(self, strategy: Strategy | None = None, **settings: Unpack[ClientSettings]) -> Client:
        """Makes a client that shares this one's connections, limits, budget, counters and `on_event`.

        Settings that are not given are as in this client. `headers` and `params` are added to those of this client, and
        replace those of the same name.

        You can give strategy, {settings of derived clients}.

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
        has_source = not (self._token_source is None and sending.token_source is None)
        return response_of_call(result, method, self._provider_of(sending) if has_source else None)

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

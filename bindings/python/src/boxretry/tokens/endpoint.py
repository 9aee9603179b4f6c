"""Tokens from an HTTP token endpoint (T12)."""

from __future__ import annotations

import itertools
import weakref
from ctypes import byref
from typing import Any, Callable

from .._c import _abi
from .._c.arguments import Path, Real, Text, new, real, text
from .._connection import set_connection
from ..calls.log import log_failure
from ..clock import ManualClock
from ..decisions.delays import TokenRetryPolicy
from ..enums import Proxy
from ..errors import InvalidArgumentError
from ..outcome import HeaderArray, Headers
from ..timeout import Timeout
from .token import BlockingTokenSource, fill_in_common


class OAuth2Token(BlockingTokenSource):
    """Tokens requested by a POST with a form, as in OAuth 2.0, or from your own relay.

    The answer is a JSON object with `access_token` (or `token`) and `expires_in` (or `expiresIn`). Network exceptions
    and the statuses 408, 429 and 500 or above are retried as the policy says; redirects are not followed.

    >>> fields = {"grant_type": "client_credentials", "client_id": "me", "client_secret": "secret"}
    >>> with OAuth2Token("https://auth.example/token", fields) as source:
    ...     source
    <OAuth2Token>
    """

    def __init__(
        self,
        url: Text,
        fields: Headers = (),
        *,
        refresh_token: Text | None = None,
        on_refresh_token: Callable[[str], object] | None = None,
        headers: Headers | None = None,
        policy: TokenRetryPolicy | None = None,
        refresh_leeway: Real = 60,
        provider_timeout: Real | None = 10,
        fetch_timeout: Real | None = None,
        refresh_ahead_window: Real = 0,
        serve_stale: bool = False,
        clock: ManualClock | None = None,
        default_expires_in: Real | None = None,
        initial_token: Text | None = None,
        initial_expires_in: Real | None = None,
        timeout: Timeout | None = None,
        user_agent: Text | None = None,
        ca_file: Text | None = None,
        ca_path: Path | None = None,
        tls_verify: bool | None = None,
        proxy: Text | Proxy = Proxy.ENVIRONMENT,
        allow_insecure: bool = False,
    ) -> None:
        """Makes a source. It sends nothing until a token is needed.

        url: https, or http to this machine and not through a proxy; any http with `allow_insecure`.
        fields: fields of the form: a mapping, or pairs of a name and a value.
        refresh_token: sent as the field refresh_token. A refresh token in an answer replaces it.
        on_refresh_token: called with each refresh token that replaces another, so that you can store it: on a thread of
            the library, before callers get the token of the same answer. The logger `boxretry` logs an exception that
            it raises, as an error.
        headers: further headers.
        default_expires_in: the token's lifetime in seconds if an answer does not state one. None: such an answer is an
            error.
        policy to clock, initial_token, initial_expires_in: as for `TokenSource`. timeout to proxy: as for `Client`.
            With a ManualClock, the timeouts of its requests also run on that clock.

        Raises InvalidArgumentError, OutOfMemoryError, ExhaustedError, ForkedError, ClosedError.
        """
        options = new(_abi.TokenEndpointOptions, _abi.boxretry_token_endpoint_options_init)
        options.url = text(url, "url")
        form, lines = HeaderArray(), HeaderArray()
        options.field_count = form.fill(fields, "fields")
        options.fields = form.pointer
        if headers is not None:
            options.header_count = lines.fill(headers, "headers")
            options.headers = lines.pointer
        if refresh_token is not None:
            options.refresh_token = text(refresh_token, "refresh_token")
        listener = None
        if on_refresh_token is not None:
            if not callable(on_refresh_token):
                raise TypeError(f"on_refresh_token: must be callable, not {type(on_refresh_token).__name__}")
            listener = _Listener(on_refresh_token)
            options.context, options.on_refresh_token = listener.number, _refresh_token_callback
        kept = fill_in_common(
            options,
            policy,
            refresh_leeway,
            provider_timeout,
            fetch_timeout,
            refresh_ahead_window,
            serve_stale,
            clock,
            initial_token,
            initial_expires_in,
        )
        if default_expires_in is not None:
            options.default_expires_in = real(default_expires_in, "default_expires_in")
        options.allow_insecure = bool(allow_insecure)
        set_connection(options, timeout, user_agent, ca_file, ca_path, tls_verify, proxy)
        self._open(_abi.boxretry_token_source_new_endpoint, byref(options), keeps=(listener, kept))


class BoxClientCredentials(OAuth2Token):
    """Tokens from Box's client credentials grant.

    >>> with BoxClientCredentials("id", "secret", box_subject_id="12345") as source:
    ...     source
    <BoxClientCredentials>
    """

    def __init__(
        self,
        client_id: Text,
        client_secret: Text,
        *,
        box_subject_id: Text,
        box_subject_type: str = "enterprise",
        url: Text = "https://api.box.com/oauth2/token",
        **options: Any,
    ) -> None:
        """box_subject_type: "enterprise" or "user"; box_subject_id: its id. The others are as for `OAuth2Token`."""
        if box_subject_type not in ("enterprise", "user"):
            raise InvalidArgumentError(f'box_subject_type: must be "enterprise" or "user" (got {box_subject_type!r})')
        fields: list[tuple[Text, Text]] = [
            ("grant_type", "client_credentials"),
            ("client_id", client_id),
            ("client_secret", client_secret),
            ("box_subject_type", box_subject_type),
            ("box_subject_id", box_subject_id),
        ]
        super().__init__(url, fields, **options)


class _Listener:
    """Receives new refresh tokens. The source's handle keeps it."""

    def __init__(self, callback: Callable[[str], object]) -> None:
        self.callback = callback
        self.number = next(_numbers)
        _listeners[self.number] = self


_numbers = itertools.count(1)
_listeners: weakref.WeakValueDictionary[int, _Listener] = weakref.WeakValueDictionary()


def _on_refresh_token(context: int, refresh_token: bytes) -> None:
    listener = _listeners.get(context)
    if listener is None:
        return
    try:
        listener.callback(refresh_token.decode("utf-8", "replace"))
    except BaseException:
        log_failure("on_refresh_token")


_refresh_token_callback = _abi.RefreshTokenCallback(_on_refresh_token)

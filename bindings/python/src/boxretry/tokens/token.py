"""Access tokens: fetched once for all callers, and renewed before they expire (T)."""

from __future__ import annotations

import threading
from ctypes import byref, c_void_p, pointer
from typing import Any, Callable, SupportsIndex

from .._c import _abi
from .._c.arguments import INT64, UINT64, Real, Text, integer, new, real, text
from .._c.handle import Handle, HandleOwner, new_handle
from ..calls._token_calls import Provider, TokenWait, open_sources, provider_callback
from ..calls.call import CancelSwitch
from ..clock import ManualClock, clock_handle
from ..decisions.delays import TokenRetryPolicy, policy_struct
from ..errors import BoxRetryError, CancelledError, InvalidArgumentError, WaitTimeoutError, check, refuse_in_callback

#: Provides tokens: returns a token and its lifetime in seconds, or raises an exception, such as TokenProviderError.
TokenProvider = Callable[[], "tuple[str | bytes, float]"]


class Token:
    """An access token. It never changes."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle

    @property
    def value(self) -> str:
        """The token's text. The library overwrites its own memory of it; Python does not overwrite a str (T1)."""
        value: bytes = _abi.boxretry_token_bytes(self._handle.pointer)
        return value.decode("ascii")

    @property
    def generation(self) -> int:
        """The source's number for this token, from 1: it tells tokens apart without showing them."""
        generation: int = _abi.boxretry_token_generation(self._handle.pointer)
        return generation

    @property
    def expires_in(self) -> float:
        """The seconds that remain of its lifetime; 0 if it has expired."""
        seconds: float = _abi.boxretry_token_expires_in(self._handle.pointer)
        return seconds

    def __repr__(self) -> str:
        return f"<Token of generation {self.generation}>"

    def __reduce__(self) -> Any:
        """Refuses copies and pickles: a token stays in memory (T1)."""
        raise TypeError("Token objects cannot be copied or pickled")


class AnyTokenSource(HandleOwner):
    """The common base of all token sources. Any number of threads may use one at once."""

    _provider: Provider | None = None

    def _open(self, make: Callable[..., int], *arguments: Any, keeps: object = None) -> None:
        self._handle = new_handle(make, *arguments, free=_abi.boxretry_token_source_free, keeps=keeps)
        open_sources.add(self)

    def _open_with(self, provider: Provider, *settings: Any) -> None:
        """`settings`: as in `fill_in_common()`."""
        options = new(_abi.TokenOptions, _abi.boxretry_token_options_init)
        options.context, options.provider = provider.number, provider_callback
        kept = fill_in_common(options, *settings)
        self._provider = provider
        self._open(_abi.boxretry_token_source_new, byref(options), keeps=(provider, kept))

    def _ask(self, cancel: CancelSwitch | None, tell: Callable[[], object] = bool) -> TokenWait:
        handle = self._open_handle()
        if cancel is not None and not isinstance(cancel, CancelSwitch):
            raise TypeError(f"cancel: must be a CancelSwitch, not {type(cancel).__name__}")
        return TokenWait(handle, None if cancel is None else cancel._open_handle(), tell)

    def _token_of(self, wait: TokenWait) -> Token:
        """The token that was waited for. Raises the error if there is none."""
        if self._provider is None or not wait.was_failed_by_provider:
            return Token(wait.result())
        try:
            return Token(wait.result())
        except (BoxRetryError, CancelledError) as error:
            raise error from self._provider.exception

    def invalidate(self, token: Token | Text) -> None:
        """Drops a rejected token, if the source still has it (T8).

        Raises InvalidArgumentError, ForkedError, ClosedError.
        """
        handle = self._open_handle()
        if isinstance(token, Token):
            generation = integer(token.generation, "token", UINT64)
            check(_abi.boxretry_token_source_invalidate_generation(handle.pointer, generation))
        else:
            check(_abi.boxretry_token_source_invalidate(handle.pointer, text(token, "token")))

    def clear(self) -> None:
        """Drops the token, and the result of a fetch in progress (T8).

        Raises ForkedError, ClosedError.
        """
        check(_abi.boxretry_token_source_clear(self._open_handle().pointer))

    def __repr__(self) -> str:
        return f"<{type(self).__name__}{'' if self._handle else ', closed'}>"


class BlockingTokenSource(AnyTokenSource):
    """A token source whose callers block while they wait for a token."""

    def get(self, timeout: Real | None = None, *, cancel: CancelSwitch | None = None) -> Token:
        """Returns the token, and waits for it if necessary.

        timeout: seconds, 0 or more; None: no limit.
        cancel: a CancelSwitch that ends the wait. Neither these nor Ctrl-C end the fetch: it continues for other and
            later callers (T9).

        Raises InvalidClientTokenError, InvalidClientTokenExpirationError, ClientTokenProviderFailedError (T6);
        WaitTimeoutError, CancelledError, ExhaustedError, OutOfMemoryError; ClosedError, also if the source is closed
        during the wait; InCallbackError, InvalidArgumentError, ForkedError.
        """
        # Not boxretry_token_source_get(): Ctrl-C cannot interrupt a thread that waits there, and a thread that returns
        # from time to time to check loses its place in the queue, and may miss how the fetch ended.
        limit = wait_limit(timeout)
        if limit != 0:  # With 0 it only checks, and does not block.
            refuse_in_callback()
        # No reference to the handle may exist during this wait, because close() must end the wait.
        wait = self._ask(cancel)
        try:
            if not wait.done.wait(limit):
                raise WaitTimeoutError("the wait timed out")
        finally:
            wait.forget()
        return self._token_of(wait)


class TokenSource(BlockingTokenSource):
    """Tokens from your provider.

    >>> def provider():
    ...     return "secret", 3600
    >>> with TokenSource(provider) as source:
    ...     token = source.get()
    ...     token, token.value, source
    (<Token of generation 1>, 'secret', <TokenSource>)
    """

    def __init__(
        self,
        provider: TokenProvider,
        *,
        policy: TokenRetryPolicy | None = None,
        refresh_leeway: Real = 60,
        provider_timeout: Real | None = None,
        fetch_timeout: Real | None = None,
        refresh_ahead_window: Real = 0,
        serve_stale: bool = False,
        clock: ManualClock | None = None,
        initial_token: Text | None = None,
        initial_expires_in: Real | None = None,
    ) -> None:
        """Makes a source. It fetches nothing until a token is needed.

        provider: called without arguments, on its own thread; it may block. It is called again only after it has
            returned or has exceeded provider_timeout; then also while it still runs. It returns a token and its
            lifetime in seconds, from that moment, or raises. TokenProviderError says whether to try again. A
            CancelledError of this package, of concurrent.futures or of asyncio cancels: callers that wait get
            CancelledError (T4). Any other exception is not retried. Inside the provider, this source and all functions
            that wait raise InCallbackError.
        policy: the retries (T5). None: up to nine calls, with waits of 1 2 4 8 8 8 8 8 seconds, -/+ 20 %.
        refresh_leeway: seconds; a token is used while more than this remains of its lifetime (T2).
        provider_timeout: seconds for one call. None: no limit.
        fetch_timeout: seconds for all calls and waits. None: no limit.
        refresh_ahead_window: seconds before the leeway in which a token is renewed while callers get the old one (T11).
        serve_stale: whether a token within the leeway that has not expired is returned immediately while a refresh
            runs, and after one has failed (T11).
        clock: a ManualClock, so that tests do not have to wait. None: the system's.
        initial_token, initial_expires_in: a token that you have already, and the seconds that remain of its lifetime.
            It is used before the first call of the provider (T12).

        Raises InvalidArgumentError, OutOfMemoryError, ForkedError, ClosedError.
        """
        self._open_with(
            Provider(provider),
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


class FixedToken(BlockingTokenSource):
    """One token that never expires and is never dropped: a 401 for it is an ordinary response (B8, T12).

    >>> with FixedToken("secret") as source:
    ...     source.get().value
    'secret'
    """

    def __init__(self, token: Text) -> None:
        """Raises InvalidArgumentError if it is not a valid token: 1 to 16384 visible ASCII characters."""
        self._open(_abi.boxretry_token_source_new_fixed, text(token, "token"))


def fill_in_common(
    options: Any,
    policy: TokenRetryPolicy | None,
    refresh_leeway: Real,
    provider_timeout: Real | None,
    fetch_timeout: Real | None,
    refresh_ahead_window: Real,
    serve_stale: bool,
    clock: ManualClock | None,
    initial_token: Text | None,
    initial_expires_in: Real | None,
) -> object:
    """Fills in the options that all sources share. Keep what it returns until the source has been made."""
    if policy is not None:
        options.policy = pointer(policy_struct(policy))
    options.refresh_leeway = real(refresh_leeway, "refresh_leeway")
    options.provider_timeout_ms = _milliseconds(provider_timeout, "provider_timeout")
    options.fetch_timeout_ms = _milliseconds(fetch_timeout, "fetch_timeout")
    options.refresh_ahead_window = real(refresh_ahead_window, "refresh_ahead_window")
    options.serve_stale = bool(serve_stale)
    if (initial_token is None) != (initial_expires_in is None):
        raise InvalidArgumentError("initial_token, initial_expires_in: must be given together")
    if initial_token is not None and initial_expires_in is not None:
        options.initial_token = text(initial_token, "initial_token")
        options.initial_expires_in = real(initial_expires_in, "initial_expires_in")
    if clock is None:
        return None
    handle = clock_handle(clock)
    options.clock = c_void_p(handle.pointer)
    return handle


def wait_limit(timeout: Real | None) -> float | None:
    """The seconds to wait; None: no limit. Raises InvalidArgumentError."""
    limit = None if timeout is None else real(timeout, "timeout")
    if limit is not None and not limit >= 0:
        raise InvalidArgumentError(f"timeout: must be 0 or more (got {limit:g})")
    return None if limit is not None and limit > threading.TIMEOUT_MAX else limit


def _milliseconds(seconds: Real | None, name: str) -> SupportsIndex:
    if seconds is None:
        return _abi.NO_TIMEOUT
    number = real(seconds, name)
    if not 0 < number < 2**53:
        raise InvalidArgumentError(f"{name}: must be above 0 and finite (got {number:g}); None is no limit")
    return integer(max(round(number * 1000), 1), name, INT64)

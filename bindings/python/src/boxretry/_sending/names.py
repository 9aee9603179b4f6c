"""The names of arguments: those that `help()` shows, and what to use instead of other packages' names."""

from __future__ import annotations

from collections.abc import Collection
from inspect import Parameter, signature
from typing import Any, Callable, TypeVar

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])

#: The names of all arguments, by their function. The modules that convert the arguments add them.
NAMES: dict[str, Collection[str]] = {}

_INSTEAD = {
    "allow_redirects": "use follow_redirects",
    "auth": "use Client(token_source=…) for access tokens; put anything else into headers, as Authorization",
    "base_url": "give each request its whole URL",
    "body": "use data",
    "content": "use data",
    "cookies": "put them into headers, as Cookie; none are kept between requests",
    "follow": "use follow_redirects",
    "hooks": "use on_event or before_attempt",
    "http2": "use http_version; HTTP/2 is the default",
    "limits": "use max_transfers and max_transfers_per_host of Client()",
    "max_retries": "use strategy=RetryStrategy(max_attempts=…)",
    "mounts": "use proxy of Client(), which applies to all URLs",
    "proxies": "use proxy of Client(), which applies to all URLs; its default is the environment's",
    "retries": "use strategy=RetryStrategy(max_attempts=…)",
    "stream": "use Client.stream() to read a response while it arrives",
    "threads": "Python clients have no such option, because callbacks may block; asyncio: boxretry.aio.AsyncClient",
    "transport": "use unix_socket or proxy of Client()",
    "trust_env": "use proxy=Proxy.NONE of Client() to ignore the environment's proxy",
    "uds": "use unix_socket of Client()",
    "verify": "use ca_file or ca_path of Client() to set the trusted certificates; tls_verify=False accepts any",
}

#: The arguments of RetryStrategy().
_OF_STRATEGY = frozenset(
    (
        *("backoff_cap", "delay_headers", "max_attempts", "max_retries_on_exception", "retry_after_cap"),
        *("retry_after_jitter", "retry_after_over_cap", "retry_base_interval", "retry_randomization_factor"),
        *("retry_unsafe_methods", "should_retry_header"),
    )
)


def unknown_argument(function: str, name: str) -> TypeError:
    """The exception for an argument that the function does not have."""
    of_client, of_request = NAMES["Client()"], NAMES["Client.request()"]
    if name in _INSTEAD:
        instead = _INSTEAD[name]
    elif name in of_client or name in of_request:
        instead = f"it is an argument of {'Client()' if name in of_client else 'Client.request()'}"
    elif name in _OF_STRATEGY:
        instead = f"use strategy=RetryStrategy({name}=…)"
    else:
        known = of_client if function == "Client()" else of_request
        from difflib import get_close_matches  # Only needed after a mistake.

        close = " or ".join(get_close_matches(name, known))
        instead = f"did you mean {close}?" if close else f"see help(boxretry.{function.rstrip('()')})"
    return TypeError(f"{function} has no argument {name!r}: {instead}")


def shows_arguments_of(source: Callable[..., Any]) -> Callable[[AnyFunction], AnyFunction]:
    """Makes `help()` show the arguments that `source` takes by name, for a function that has `**arguments` instead."""
    return shows_parameters([each for each in signature(source).parameters.values() if each.kind is each.KEYWORD_ONLY])


def shows_parameters(parameters: list[Parameter]) -> Callable[[AnyFunction], AnyFunction]:
    """Makes `help()` show these arguments for a function that has `**arguments` instead."""

    def shows(function: AnyFunction) -> AnyFunction:
        shown = signature(function)
        own = [each for each in shown.parameters.values() if each.kind is not each.VAR_KEYWORD]
        function.__signature__ = shown.replace(parameters=own + parameters)  # type: ignore[attr-defined]
        return function

    return shows

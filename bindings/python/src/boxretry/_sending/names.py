"""The names of arguments: what `help()` shows, and what one from another package is called here."""

from __future__ import annotations

from typing import Any, Callable, TypeVar

from ..options import ClientSettings, RequestArguments

_Function = TypeVar("_Function", bound=Callable[..., Any])

_INSTEAD = {
    "allow_redirects": "follow_redirects says whether they are followed",
    "auth": "Client(token_source=…) sends access tokens; what else there is goes into headers, as Authorization",
    "base_url": "each request has its whole URL",
    "body": "data is the body",
    "content": "data is the body",
    "cookies": "they go into headers, as Cookie; none are kept between requests",
    "follow": "follow_redirects says whether they are followed",
    "hooks": "on_event and before_attempt are called",
    "http2": "http_version says which versions are spoken; HTTP/2 is by default",
    "limits": "max_transfers and max_transfers_per_host of Client() are the limits",
    "max_retries": "strategy=RetryStrategy(max_attempts=…) says how often is retried",
    "mounts": "proxy of Client() is for all URLs",
    "proxies": "proxy of Client() is for all URLs; without it the environment says",
    "retries": "strategy=RetryStrategy(max_attempts=…) says how often is retried",
    "stream": "Client.stream() reads a response while it comes",
    "transport": "unix_socket and proxy of Client() say what is connected to",
    "trust_env": "proxy=Proxy.NONE of Client() is for no proxy, whatever the environment says",
    "uds": "unix_socket of Client() is the path of a socket",
    "verify": "ca_file and ca_path of Client() say which certificates are trusted; tls_verify=False accepts any",
}


def unknown_argument(function: str, name: str) -> TypeError:
    """What is raised if a function is given an argument that it has not."""
    of_client, of_request = ClientSettings.__annotations__, RequestArguments.__annotations__
    if name in _INSTEAD:
        instead = _INSTEAD[name]
    elif name in of_client or name in of_request:
        instead = f"it is an argument of {'Client()' if name in of_client else 'Client.request()'}"
    else:
        known = of_client if function == "Client()" else of_request
        from difflib import get_close_matches  # Whoever makes no mistakes does without.

        close = " or ".join(get_close_matches(name, known))
        instead = f"did you mean {close}?" if close else f"see help(boxretry.{function.rstrip('()')})"
    return TypeError(f"{function} has no argument {name!r}: {instead}")


def shows_arguments_of(source: Callable[..., Any]) -> Callable[[_Function], _Function]:
    """Has `help()` show what arguments `source` takes by name, where a function takes them as `**arguments`."""
    from inspect import signature

    of_source = [each for each in signature(source).parameters.values() if each.kind is each.KEYWORD_ONLY]

    def shows_arguments(function: _Function) -> _Function:
        shown = signature(function)
        own = [each for each in shown.parameters.values() if each.kind is not each.VAR_KEYWORD]
        function.__signature__ = shown.replace(parameters=own + of_source)  # type: ignore[attr-defined]
        return function

    return shows_arguments

"""What an argument that there is not, but perhaps in another package, is called here."""

from __future__ import annotations

from difflib import get_close_matches

from .options import ClientSettings, RequestArguments

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
    "verify": "ca_file of Client() says which certificates are trusted; checking cannot be switched off",
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
        close = " or ".join(get_close_matches(name, known))
        instead = f"did you mean {close}?" if close else f"see help(boxretry.{function.rstrip('()')})"
    return TypeError(f"{function} has no argument {name!r}: {instead}")

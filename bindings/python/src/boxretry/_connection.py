"""How connections are made: the arguments that clients and token endpoints share."""

from __future__ import annotations

from typing import Any

from ._c.arguments import Path, Text, path_bytes, text
from .enums import Proxy, Switch
from .timeout import Timeout, timeouts_pointer

_ON, _OFF = Switch.ON, Switch.OFF  # Python 3.11 takes long to find a member of an enum.


def switch(value: bool | None, name: str) -> Switch:
    """On, off, or the client's setting."""
    if value is None:
        return Switch.DEFAULT
    if not isinstance(value, bool):
        raise TypeError(f"{name}: must be a bool, not {type(value).__name__}")
    return _ON if value else _OFF


def set_connection(
    options: Any,
    timeout: Timeout | None,
    user_agent: Text | None,
    ca_file: Text | None,
    ca_path: Path | None,
    tls_verify: bool | None,
    proxy: Text | Proxy,
) -> None:
    """Sets how connections are made, in a boxretry_token_endpoint_options."""
    if timeout is not None:
        options.timeouts = timeouts_pointer(timeout)
    if user_agent is not None:
        options.user_agent = text(user_agent, "user_agent")
    if ca_file is not None:
        options.ca_file = text(ca_file, "ca_file")
    if ca_path is not None:
        options.ca_path = path_bytes(ca_path, "ca_path")
    options.tls_verify = switch(tls_verify, "tls_verify")
    set_proxy(options, proxy)


def set_proxy(options: Any, proxy: Text | Proxy) -> None:
    """Sets the proxy, in a boxretry_client_options or a boxretry_token_endpoint_options."""
    if isinstance(proxy, Proxy):
        options.proxy_mode = proxy
    else:
        options.proxy_mode, options.proxy = Proxy.GIVEN, text(proxy, "proxy")

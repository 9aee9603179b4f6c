"""The rules of OpenTelemetry's semantic conventions for HTTP clients: names, methods and URLs."""

from __future__ import annotations

import os
import re
from collections.abc import Collection
from typing import Any
from urllib.parse import unquote_plus

#: The version of the conventions that this module follows.
SCHEMA_URL = "https://opentelemetry.io/schemas/1.38.0"

#: Seconds.
DURATION_BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

#: Query parameters whose values are not recorded: those of the conventions, and common names for secrets.
SENSITIVE_QUERY_PARAMETERS = frozenset(
    {
        *("AWSAccessKeyId", "Signature", "sig", "X-Goog-Signature"),
        *("X-Amz-Signature", "X-Amz-Credential", "X-Amz-Security-Token"),
        *("access_token", "refresh_token", "token", "api_key", "apikey", "key", "password", "secret", "client_secret"),
        *("code", "assertion", "shared_link_password", "signature"),
    }
)

_KNOWN_METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY")
_OTHER = "_OTHER"
_PORTS = {"http": 80, "https": 443}

# Not urlsplit(), which raises ValueError for some hosts that a redirect may have. libcurl accepts one to three slashes.
_URL = re.compile(r"(?:([^:/?#]+):/{0,3})?([^/?#]*)([^?#]*)([^#]*)(.*)", re.S)
_HOST = re.compile(r"\[?(?P<name>.*?)\]?(?::(?P<port>[0-9]{0,5}))?", re.S)


def known_methods() -> frozenset[str]:
    """The methods that spans are named after."""
    instead = os.environ.get("OTEL_INSTRUMENTATION_HTTP_KNOWN_METHODS")
    return frozenset(_KNOWN_METHODS if not instead else map(str.strip, instead.split(",")))


def name_of_method(attributes: dict[str, Any]) -> str:
    """The method in the form that the name of a span has."""
    method: str = attributes["http.request.method"]
    return "HTTP" if method == _OTHER else method


def attributes_of_request(
    method: str, url: str, methods: Collection[str], sensitive: Collection[str]
) -> dict[str, Any]:
    """The attributes that are known before a request is sent."""
    scheme, authority, *_ = _parts(url)
    host = _HOST.fullmatch(authority.rpartition("@")[2])
    assert host is not None  # It matches any text.
    is_known = method in methods
    attributes: dict[str, Any] = {
        "http.request.method": method if is_known else _OTHER,
        "server.address": host["name"].lower(),
        "server.port": int(host["port"] or 0) or _PORTS.get(scheme.lower(), 0),
        "url.full": redacted(url, sensitive),
    }
    if not is_known:
        attributes["http.request.method_original"] = method
    return attributes


def redacted(url: str, sensitive: Collection[str]) -> str:
    """A URL without its user, password and fragment, and without the values of these query parameters.

    >>> redacted("https://me:pass@www.example.com/path?color=blue&sig=12f#top", {"sig"})
    'https://REDACTED:REDACTED@www.example.com/path?color=blue&sig=REDACTED#REDACTED'
    """
    scheme, authority, path, query, fragment = _parts(url)
    user, at, host = authority.rpartition("@")
    if at:
        user = "REDACTED:REDACTED" if ":" in user else "REDACTED"
    if query:
        query = "?" + "&".join(_redacted_parameter(each, sensitive) for each in query[1:].split("&"))
    return f"{scheme}://{user}{at}{host}{path}{query}{fragment and '#REDACTED'}"


def _parts(url: str) -> tuple[str, str, str, str, str]:
    """Scheme, authority, path, query with its "?", and fragment with its "#". Accepts any text."""
    # Bytes that are not UTF-8 are lone surrogates, which exporters cannot encode.
    printable = url.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    parts = _URL.fullmatch(printable)
    assert parts is not None  # It matches any text.
    return parts.groups("")  # type: ignore[return-value]  # It has five groups.


def _redacted_parameter(parameter: str, sensitive: Collection[str]) -> str:
    name, equals, _ = parameter.partition("=")
    return f"{name}=REDACTED" if equals and unquote_plus(name) in sensitive else parameter

"""Converts `data`, `json` and `files` of a request to its body and Content-Type."""

from __future__ import annotations

from typing import Any, SupportsIndex

from .._c.arguments import text
from ..outcome import Headers, header_pairs
from .forms import MultipartBody, is_form, urlencoded
from .sources import Body, body_of, set_length

NO_BODY = Body()


def content_of(
    data: Any, json: Any, files: Any, length: SupportsIndex | None, headers: Headers | None
) -> tuple[Body, Headers | None]:
    """The body, and the headers with its type unless they have one. See `Client.request()`."""
    if json is not None:
        if data is not None or files is not None:
            raise TypeError("data, json, files: json cannot be given with the others")
        data, headers = _json_bytes(json), _with_type(headers, "application/json")
    elif data is not None and files is None and is_form(data):
        headers = _with_type(headers, "application/x-www-form-urlencoded") if data else headers
        data = urlencoded(data, "data") if data else None
    if data is files is length is None:
        return NO_BODY, headers
    body = body_of(data) if files is None else MultipartBody(data, files)
    if length is not None:
        set_length(body, length)
    return body, headers


def _json_bytes(value: Any) -> bytes:
    import json  # Most programs have imported it anyway; the others start faster without it.

    return json.dumps(value).encode()


def _with_type(headers: Headers | None, content_type: str) -> Headers:
    pairs = [] if headers is None else list(header_pairs(headers, "headers"))
    if any(text(name, "headers").lower() == b"content-type" for name, _ in pairs):
        return pairs
    return [*pairs, ("Content-Type", content_type)]

"""Sends the requests of blocking adapters. The waiting thread may read the body while it is sent."""

from __future__ import annotations

import io
from typing import Any

from .._bodies.fed import FedSource, can_rewind, fed_file, fed_iterable
from .._bodies.sources import descriptor_of, has_buffer
from ..calls.call import slice_ms
from ..client import Client
from ..errors import Response
from ..stream import Stream

__all__ = ["body_of_host", "can_rewind", "send", "send_for_stream"]


def body_of_host(body: Any, length: int | None) -> dict[str, Any]:
    """The arguments of `Client.request()` for a body of any type that host packages accept.

    length: bytes, as the host package determined; None: not known.
    """
    if not body and length == 0:
        return {"data": io.BytesIO(), "data_length": 0}  # The length is sent with any method.
    if body is None or isinstance(body, (str, bytes)):
        return {"data": body}
    if hasattr(body, "read"):
        # The library reads these itself, without waiting for a thread.
        if type(body) is io.BytesIO or descriptor_of(body) is not None:
            return {"data": body, "data_length": length}
        return {"data": fed_file(body, length)}
    if has_buffer(body):
        return {"data": body}
    return {"data": fed_iterable(body, length)}


def send(client: Client, method: str, url: str, arguments: dict[str, Any]) -> Response:
    """Sends a request, and waits for the whole response. An exception of the body's iterator is raised unchanged."""
    source = arguments.get("data")
    if not isinstance(source, FedSource):
        return client.request(method, url, **arguments)
    sending = client._sending(method, url, arguments)
    sending.wake_waiting()
    call = client._submit(method, sending, slice_ms())
    source.feed(call, lambda: call._has_ended)
    return call.response()


def send_for_stream(
    client: Client, method: str, url: str, arguments: dict[str, Any], *, stream_errors: bool = True
) -> Stream:
    """Sends a request, and waits for the head of the response. Raises the same as `send()`."""
    return client.stream(method, url, stream_errors=stream_errors, **arguments).__enter__()

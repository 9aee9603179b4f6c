"""Responses in the forms of the Box SDK."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import Any

from box_sdk_gen.box.errors import BoxSDKError, ResponseInfo
from box_sdk_gen.internal.utils import ResponseByteStream
from box_sdk_gen.networking.fetch_response import FetchResponse
from box_sdk_gen.serialization.json import json_to_serialized_data
from requests.structures import CaseInsensitiveDict
from urllib3.exceptions import HTTPError
from urllib3.response import HTTPResponse

from ..calls.response import replace_content
from ..errors import BoxRetryError, CancelledError, Response
from ..stream import Stream
from ._engine import latin_1_lines

try:
    from urllib3 import HTTPHeaderDict  # 2.0 or newer.
except ImportError:
    from urllib3._collections import HTTPHeaderDict


class Received:
    """The response of an attempt: complete, or to be read."""

    def __init__(self, response: Response | Stream, sent: Mapping[str, str]) -> None:
        """`sent`: the headers of the request."""
        self._response = response
        self.status = response.status
        self.url = response.url
        self.headers = response.headers
        # The engine does not decompress the responses to these requests.
        asks_for_part = any(name.lower() in ("range", "if-range") for name in sent)
        self._coding = ", ".join(self.headers.get_all("Content-Encoding")) if asks_for_part else ""

    def close(self) -> None:
        """Cancels the call, unless it has ended."""
        if isinstance(self._response, Stream):
            self._response.close()

    def fetch_response(self) -> FetchResponse:
        """For the SDK and its strategies."""
        known: dict[str, Any] = {"url": self.url, "status": self.status, "headers": self._sdk_headers()}
        if isinstance(self._response, Stream):
            content = ResponseByteStream(self._pieces(self._response))  # type: ignore[no-untyped-call]
            return FetchResponse(content=content, **known)
        complete = self._decompressed(self._response)
        return FetchResponse(data=_json_body(complete), content=io.BytesIO(complete.content), **known)

    def response_info(self) -> ResponseInfo:
        """For an exception."""
        complete = self._response.response if isinstance(self._response, Stream) else self._response
        complete = self._decompressed(complete)
        body = _json_body(complete)
        body = body if isinstance(body, dict) else {}
        return ResponseInfo(
            status_code=self.status,
            headers=dict(self._sdk_headers()),
            body=body,
            raw_body=complete.text,
            code=body.get("code"),
            context_info=body.get("context_info", {}),
            request_id=body.get("request_id"),
            help_url=body.get("help_url"),
        )

    def _sdk_headers(self) -> Any:
        return CaseInsensitiveDict(HTTPHeaderDict(latin_1_lines(self.headers)))

    def _pieces(self, stream: Stream) -> Iterator[bytes]:
        try:
            pieces = stream.iter_bytes()
            yield from _decompressed(pieces, self._coding) if self._coding else pieces
        except (BoxRetryError, CancelledError, HTTPError) as error:
            raise BoxSDKError(message=str(error), error=error) from error
        finally:
            stream.close()

    def _decompressed(self, response: Response) -> Response:
        if self._coding:
            try:
                replace_content(response, b"".join(_decompressed(iter([response.content]), self._coding)))
            except HTTPError as error:
                raise BoxSDKError(message=str(error), error=error) from error
            self._coding = ""
        return response


def _json_body(response: Response) -> Any:
    """The body, as the SDK reads it: an empty object if it is not valid JSON."""
    try:
        return json_to_serialized_data(response.text) if response.content else {}
    except ValueError:
        return {}


def _decompressed(pieces: Iterator[bytes], coding: str) -> Iterator[bytes]:
    """Decompresses as requests does: with the codings that urllib3 supports. Raises urllib3's HTTPError."""
    file: Any = _File(pieces)
    body = HTTPResponse(file, {"Content-Encoding": coding}, preload_content=False)
    yield from body.stream(decode_content=True)


class _File(io.RawIOBase):
    """Pieces, as a file that urllib3 reads."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        super().__init__()
        self._pieces = pieces
        self._rest = memoryview(b"")

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if not self._rest:
            self._rest = memoryview(next(self._pieces, b""))
        size = min(len(buffer), len(self._rest))
        buffer[:size], self._rest = self._rest[:size], self._rest[size:]
        return size

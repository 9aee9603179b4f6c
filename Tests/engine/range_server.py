"""A server of one file, which answers to Range and If-Range as each request's script says."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass
class Answer:
    """What one request gets. With a Range and a status of 206, the rest that was asked for."""

    content: bytes
    status: int = 0  #: 0: 206 if a range is asked for and `If-Range` is the ETag, else 200.
    etag: str | None = '"one"'
    breaks_at: int | None = None  #: The connection ends after this number of bytes of the body.
    headers: dict[str, str] = field(default_factory=dict)
    content_range: str | None = None  #: In place of the right one; "": none.
    most: int | None = None  #: Bytes of a 206, which says so: a part of the rest.


class RangeServer:
    """`with RangeServer([Answer(…), …]) as server`: then `server.url`, and what was asked in `server.asked`."""

    def __init__(self, answers: Sequence[Answer]) -> None:
        self._answers = iter(answers)
        #: Range and If-Range of each request.
        self.asked: list[tuple[str | None, str | None]] = []

    def __enter__(self) -> RangeServer:
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer._answer(self)

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/"
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def _answer(self, request: http.server.BaseHTTPRequestHandler) -> None:
        wanted, condition = request.headers["Range"], request.headers["If-Range"]
        self.asked.append((wanted, condition))
        answer = next(self._answers)
        status = answer.status or (206 if wanted and condition == answer.etag else 200)
        start = int(wanted.split("=")[1].rstrip("-")) if wanted and status == 206 else 0
        body = answer.content[start:][: answer.most if status == 206 else None]
        request.send_response_only(status)
        if answer.etag is not None:
            request.send_header("ETag", answer.etag)
        whole = f"bytes {start}-{start + len(body) - 1}/{len(answer.content)}"
        content_range = whole if answer.content_range is None else answer.content_range
        if status == 206 and content_range:
            request.send_header("Content-Range", content_range)
        for name, value in {"Content-Length": str(len(body)), "Connection": "close", **answer.headers}.items():
            request.send_header(name, value)
        request.end_headers()
        request.wfile.write(body if answer.breaks_at is None else body[: answer.breaks_at])

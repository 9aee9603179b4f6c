"""A server with what the API clients of test_clients.py need. It keeps what it receives."""

from __future__ import annotations

import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

CONTENT = bytes(range(256)) * 800
#: Those that say nothing about what a client has sent.
_IGNORED = {"date", "host"}


class ApiServer(ThreadingHTTPServer):
    """Answers as the services would. For `with`."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.reset()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def reset(self) -> None:
        """Forgets all requests, and what it had to keep."""
        self.received: list[dict[str, Any]] = []
        self.uploads: dict[str, bytearray] = {}
        self.breaks = {"/org/model/resolve/main/file.bin": 1}
        self.tokens = 0

    def __exit__(self, *unused: Any) -> None:
        self.shutdown()
        super().__exit__(*unused)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: ApiServer

    def log_message(self, format: str, *arguments: Any) -> None:
        pass

    def _body(self) -> bytes:
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            pieces = []
            while size := int(self.rfile.readline(), 16):
                pieces.append(self.rfile.read(size))
                self.rfile.readline()
            self.rfile.readline()
            return b"".join(pieces)
        return self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def _answer_any(self) -> None:
        body = self._body()
        boundary = re.search("boundary=([^;]+)", self.headers.get("Content-Type", ""))
        shown = body.replace(boundary[1].strip('"').encode(), b"BOUNDARY") if boundary else body
        headers = sorted((name.lower(), value) for name, value in self.headers.items() if name.lower() not in _IGNORED)
        if boundary:
            headers = [(name, value.replace(boundary[1], "BOUNDARY")) for name, value in headers]
        self.server.received.append({"line": self.requestline, "headers": headers, "body": shown.decode("latin-1")})
        path = self.path.split("?")[0]
        for pattern, answer in _ANSWERS:
            if re.fullmatch(pattern, path):
                answer(self, path, body)
                return
        self.answer(404, b'{"error": "not found"}')

    do_GET = do_POST = do_PUT = do_PATCH = do_HEAD = do_DELETE = do_OPTIONS = _answer_any

    def answer(self, status: int, body: bytes, kind: str = "application/json", **headers: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        if status != 204:
            self.send_header("Content-Length", headers.pop("length", str(len(body))))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def json(self, value: Any, status: int = 200, **headers: str) -> None:
        self.answer(status, json.dumps(value).encode(), **headers)

    def events(self, events: list[tuple[str, Any]]) -> None:
        """Server-sent events, each in a chunk."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for name, value in events:
            data = value if isinstance(value, str) else json.dumps(value)
            text = (f"event: {name}\n" if name else "") + f"data: {data}\n\n"
            self.wfile.write(b"%x\r\n%b\r\n" % (len(text.encode()), text.encode()))
        self.wfile.write(b"0\r\n\r\n")


def _chat(request: _Handler, path: str, body: bytes) -> None:
    common = {"id": "c1", "created": 1, "model": "m"}
    if json.loads(body).get("stream"):
        chunks = [
            {**common, "object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"content": piece}}]}
            for piece in ("Grü", "ße", " ☃")
        ]
        return request.events([*(("", chunk) for chunk in chunks), ("", "[DONE]")])
    message = {"role": "assistant", "content": "Hello"}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return request.json({**common, "object": "chat.completion", "choices": [choice]}, x_request_id="r1")


def _messages(request: _Handler, path: str, body: bytes) -> None:
    usage = {"input_tokens": 1, "output_tokens": 2}
    message = {"id": "m1", "type": "message", "role": "assistant", "model": "m", "usage": usage, "stop_reason": None}
    if json.loads(body).get("stream"):
        block = {"type": "text", "text": ""}
        deltas = [
            (
                "content_block_delta",
                {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": t}},
            )
            for t in ("one ", "two")
        ]
        return request.events(
            [
                ("message_start", {"type": "message_start", "message": {**message, "content": []}}),
                ("content_block_start", {"type": "content_block_start", "index": 0, "content_block": block}),
                *deltas,
                ("content_block_stop", {"type": "content_block_stop", "index": 0}),
                ("message_delta", {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": usage}),
                ("message_stop", {"type": "message_stop"}),
            ]
        )
    return request.json({**message, "content": [{"type": "text", "text": "Hi"}]})


def _file(request: _Handler, path: str, body: bytes) -> None:
    known = {"X-Repo-Commit": "c" * 40, "ETag": '"e1"', "Accept-Ranges": "bytes"}
    start = re.match(r"bytes=(\d+)-", request.headers.get("Range", ""))
    first = int(start[1]) if start else 0
    rest = CONTENT[first:]
    if start:
        known["Content-Range"] = f"bytes {first}-{len(CONTENT) - 1}/{len(CONTENT)}"
    is_broken = request.command == "GET" and request.server.breaks.get(path, 0) > 0
    if is_broken:
        request.server.breaks[path] -= 1
    request.send_response(206 if start else 200)
    for name, value in {**known, "Content-Length": str(len(rest))}.items():
        request.send_header(name, value)
    request.end_headers()
    if request.command != "HEAD":
        request.wfile.write(rest[: len(rest) // 2] if is_broken else rest)
    request.close_connection = is_broken


def _token(request: _Handler, path: str, body: bytes) -> None:
    request.server.tokens += 1
    token = f"token-{request.server.tokens}"
    request.json({"access_token": token, "token_type": "Bearer", "expires_in": 3600, "refresh_token": "r"})


def _protected(request: _Handler, path: str, body: bytes) -> None:
    """The first token is rejected where the path says so."""
    sent = request.headers.get("Authorization", "")
    if not sent or ("second" in path and sent == "Bearer token-1"):
        return request.json({"error": "unauthorized"}, 401, WWW_Authenticate='Bearer error="invalid_token"')
    return request.json({"cookie": request.headers.get("Cookie")}, Set_Cookie="session=abc; Path=/")


def _redirect(request: _Handler, path: str, body: bytes) -> None:
    request.answer(302, b"", Location="/protected", Set_Cookie="hop=1; Path=/")


def _create_upload(request: _Handler, path: str, body: bytes) -> None:
    request.server.uploads["/uploads/1"] = bytearray()
    request.answer(201, b"", Location=f"{request.server.url}/uploads/1", Tus_Resumable="1.0.0")


def _upload(request: _Handler, path: str, body: bytes) -> None:
    kept = request.server.uploads[path]
    if request.command == "PATCH":
        assert int(request.headers["Upload-Offset"]) == len(kept)
        kept += body
    request.answer(204 if request.command == "PATCH" else 200, b"", Upload_Offset=str(len(kept)), Tus_Resumable="1.0.0")


_ANSWERS = [
    (r"/v1/chat/completions", _chat),
    (r"/v1/messages", _messages),
    (
        r"/v1/files",
        lambda request, path, body: request.json(
            {
                "id": "f1",
                "object": "file",
                "bytes": len(body),
                "created_at": 1,
                "filename": "a",
                "purpose": "batch",
                "status": "processed",
            }
        ),
    ),
    (r"/v1/models/.*", lambda request, path, body: request.json({"error": {"message": "no such model"}}, 404)),
    (r"/api/whoami-v2", lambda request, path, body: request.json({"name": "me", "type": "user"})),
    (r"/org/model/resolve/main/file.bin", _file),
    (r"/legacy/", lambda request, path, body: request.answer(200, b"", "text/plain")),
    (r"/token", _token),
    (r"/protected.*", _protected),
    (r"/redirect", _redirect),
    (r"/uploads/", _create_upload),
    (r"/uploads/1", _upload),
]

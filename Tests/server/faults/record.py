"""What the server has seen: each request, each connection, and how both ended."""

from __future__ import annotations

import asyncio
import hashlib
import re
import time
from collections import Counter
from typing import Any, Callable

_ABSOLUTE = re.compile(r"^https?://[^/?]*")
BODY_START = 4096  # bytes of a request's body that are kept


def now_ms() -> float:
    """CLOCK_MONOTONIC, which all processes of a machine share: a client may compare it with its own readings."""
    return round(time.monotonic() * 1000, 3)


class SeenRequest:
    """A request whose head has arrived whole. What comes after is added while it arrives."""

    def __init__(
        self,
        connection: SeenConnection,
        method: str,
        target: str,
        headers: list[tuple[str, str]],
        stream: int | None = None,
    ) -> None:
        self.connection = connection
        self.stream = stream  # number of HTTP/2's stream
        self.stream_ended: str | None = None  # how
        self.stream_code: str | None = None  # of the reset that ended it
        self.time_ms = now_ms()
        self.method = method
        self.target = target
        self.path = _ABSOLUTE.sub("", target)  # a proxy is sent whole URLs
        self.headers = headers
        self.id = ""
        self.quiet = False
        self.answer = ""  # the item that answered it
        self.answered = False  # whether all of the answer went out
        self.body_length = 0
        self.body_complete = False
        self.body_start = b""
        self._digest: Any | None = None

    @property
    def is_over(self) -> bool:
        """Whether it has ended. After a request over HTTP/1.1, the connection may stay open."""
        if self.connection.ended is not None:
            return True
        if self.stream is not None:
            return self.stream_ended is not None
        return self.answered and self.body_complete  # the answer may be early

    def was_read(self) -> None:
        self.body_complete = True
        self.connection.changed()

    def was_answered(self) -> None:
        self.answered = True
        self.connection.changed()

    def end_stream(self, how: str, code: str | None = None) -> None:
        """Notes how the stream ended, unless that is known."""
        if self.stream_ended is None:
            self.stream_ended, self.stream_code = how, code
            self.connection.changed()

    def header(self, name: str) -> str:
        """The first line of this name (in lower case), or nothing."""
        return next((value for other, value in self.headers if other.lower() == name), "")

    def add_body(self, data: bytes) -> None:
        if self._digest is None:
            self._digest = hashlib.sha256()
        self._digest.update(data)
        self.body_length += len(data)
        if len(self.body_start) < BODY_START:
            self.body_start = (self.body_start + data)[:BODY_START]

    def to_json(self) -> dict[str, Any]:
        digest = self._digest or hashlib.sha256()
        return {
            "connection": self.connection.number,
            "protocol": self.connection.protocol,
            "stream": self.stream,
            "time_ms": self.time_ms,
            "method": self.method,
            "path": self.target,
            "headers": self.headers,
            "body_length": self.body_length,
            "body_sha256": digest.hexdigest(),
            "body_start": self.body_start.decode("latin-1"),
            "body_complete": self.body_complete,
            "answer": self.answer,
            "answered": self.answered,
            "stream_ended": self.stream_ended,
            "stream_code": self.stream_code,
            "connection_ended": self.connection.ended,
            "connection_ended_ms": self.connection.ended_ms,
        }


class SeenConnection:
    """A connection that was accepted. Its end is what happened first: the client's doing, or the server's."""

    def __init__(self, record: Record, number: int, port: int, kind: str) -> None:
        self._record = record
        self.number = number
        self.port = port
        self.kind = kind
        self.opened_ms = now_ms()
        self.tls = ""  # "done" or what went wrong; stays empty without TLS
        self.client_certificate = ""  # whose it is
        self.protocol = ""  # the one that was spoken
        self.goaway: str | None = None  # code of the client's GOAWAY
        self.ping_acks = 0
        self.requests: list[SeenRequest] = []
        self.quiet_requests = 0
        self.control = False  # it asked for a path under /_
        self.last_id: str | None = None
        self.error = ""  # what was wrong with what the client sent
        self.unread = b""  # bytes that never became a whole head
        self.ended: str | None = None
        self.ended_ms: float | None = None
        self._end: tuple[str, float] | None = None

    def changed(self) -> None:
        self._record.changed()

    def end(self, how: str) -> None:
        """Notes how it ended, and when, unless that is known. It has not ended as long as there are bytes to read."""
        if self._end is None:
            self._end = how, now_ms()

    def finish(self) -> None:
        """Nothing more will be seen of it."""
        assert self._end is not None
        self.ended, self.ended_ms = self._end
        self._record.finish(self)

    def to_json(self) -> dict[str, Any]:
        return {
            "connection": self.number,
            "port": self.port,
            "kind": self.kind,
            "opened_ms": self.opened_ms,
            "tls": self.tls,
            "client_certificate": self.client_certificate,
            "protocol": self.protocol,
            "goaway": self.goaway,
            "ping_acks": self.ping_acks,
            "requests": [
                {"id": request.id, "method": request.method, "path": request.target, "answer": request.answer}
                for request in self.requests
            ],
            "quiet_requests": self.quiet_requests,
            "error": self.error,
            "unread": self.unread.decode("latin-1"),
            "ended": self.ended,
            "ended_ms": self.ended_ms,
        }


class Record:
    def __init__(self) -> None:
        self._requests: dict[str, list[SeenRequest]] = {}
        self._connections: dict[int, SeenConnection] = {}
        self._last_number = 0
        self._waiters: set[asyncio.Future[None]] = set()
        self._answers: Counter[str] = Counter()  # of all requests, by the item that answered

    def changed(self) -> None:
        for waiter in self._waiters:
            if not waiter.done():
                waiter.set_result(None)

    def open(self, port: int, kind: str) -> SeenConnection:
        self._last_number += 1
        connection = SeenConnection(self, self._last_number, port, kind)
        self._connections[connection.number] = connection
        self.changed()
        return connection

    def add(self, request: SeenRequest) -> None:
        request.connection.last_id = request.id
        self._answers[request.answer] += 1
        if request.quiet:
            request.connection.quiet_requests += 1
            return
        request.connection.requests.append(request)
        self._requests.setdefault(request.id, []).append(request)
        self.changed()

    def finish(self, connection: SeenConnection) -> None:
        """Drops a connection that has nothing to tell, so that a long run does not fill the memory."""
        if connection.control or (connection.quiet_requests and not connection.requests):
            self._connections.pop(connection.number, None)
        self.changed()

    def requests(self, identity: str) -> list[SeenRequest]:
        return self._requests.get(identity, [])

    def connections(self, port: int | None) -> list[SeenConnection]:
        """Those to one port, or all."""
        return [one for one in self._connections.values() if not one.control and port in (None, one.port)]

    def totals(self) -> dict[str, Any]:
        return {
            "connections": self._last_number,
            "requests": sum(self._answers.values()),
            "answers": dict(self._answers),
        }

    async def wait_until(self, reached: Callable[[], bool], seconds: float) -> None:
        """Waits until `reached()`, which is asked again at each change, or the time is over."""
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        while not reached():
            if (left := deadline - loop.time()) <= 0:
                return
            waiter = loop.create_future()
            self._waiters.add(waiter)
            try:
                await asyncio.wait({waiter}, timeout=left)
            finally:
                self._waiters.discard(waiter)

    def clear(self, identity: str | None) -> None:
        """Forgets the requests with this id, or everything but the connections that are open."""
        if identity is not None:
            self._requests.pop(identity, None)
            for connection in self._connections.values():
                connection.requests = [request for request in connection.requests if request.id != identity]
            return
        self._requests.clear()
        self._answers.clear()
        self._connections = {n: c for n, c in self._connections.items() if c.ended is None}
        for connection in self._connections.values():
            connection.requests, connection.quiet_requests = [], 0

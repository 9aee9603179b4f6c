"""A call whose body and whose response's body go through callbacks that do what a test wants."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from calls import Calls
from library import address
from ways import SINK_CALLBACK, SOURCE_CALLBACK

TAKEN, PAUSE_WRITING = 1, 2
PAUSE_READING = -2

BODY = b"a body of the request"

CALLBACKS = {
    "read": "boxretry_body_source",
    "begin": "boxretry_sink",
    "write": "boxretry_sink",
    "on_progress": "boxretry_request",
    "before_attempt": "boxretry_request",
    "on_complete": "boxretry_request",
    "on_transfer": "boxretry_client_options",
    "on_event": "boxretry_client_options",
    "context_free of the source": "boxretry_body_source",
    "context_free of the sink": "boxretry_sink",
}
"""The callbacks of a call that goes well, and the structs that contain them. (The source's `rewind` and the sink's
`restart` are called in a retry alone.)"""


def do_nothing() -> None:
    pass


class Streams:
    """A client and a request with all callbacks of a call, which put BODY and take what comes back.

    `answers`: what a callback answers instead of what is right, one after the other; None: it writes nothing.
    `inside`: what it does besides. Both by the callback's name.
    """

    def __init__(self, url: bytes, **options: Any) -> None:
        self.calls: Calls
        self.answers: dict[str, list[int | None]] = {}
        self.inside: dict[str, Callable[[], object]] = {}
        self.called: list[str] = []
        self.taken = b""
        self.heads: list[tuple[int, int, bytes, int]] = []
        """What `begin` got: the status, the version, the URL, and the number of header lines."""
        self.call: int | None = None  # as a callback sees it
        self.sending: int | None = None
        self._position = 0
        # The options stand when a client is made, and so do the callbacks in them.
        self.calls = Calls(**options)
        library, calls = self.calls.library, self.calls
        calls.options.on_transfer = calls.callback("boxretry_client_options", "on_transfer", self._on_transfer)
        calls.options.on_event = calls.callback("boxretry_client_options", "on_event", self._on_event)
        calls.ask("client_free", calls.client)
        calls.client = library.new("boxretry_client_new", address(calls.options))
        self.source = library.struct("boxretry_body_source", kind=SOURCE_CALLBACK, length=len(BODY))
        self.sink = library.struct("boxretry_sink", kind=SINK_CALLBACK)
        self.request = calls.request(url, method=calls.text(b"PUT"))
        self.request.body_source, self.request.sink = address(self.source), address(self.sink)
        for struct, value in {"boxretry_body_source": self.source, "boxretry_sink": self.sink}.items():
            of = "source" if value is self.source else "sink"
            value.context_free = calls.callback(struct, "context_free", self._context_free(of))
        self.source.read = calls.callback("boxretry_body_source", "read", self._read)
        self.source.rewind = calls.callback("boxretry_body_source", "rewind", self._rewind)
        self.sink.begin = calls.callback("boxretry_sink", "begin", self._begin)
        self.sink.write = calls.callback("boxretry_sink", "write", self._write)
        self.sink.restart = calls.callback("boxretry_sink", "restart", self._restart)
        self.request.on_progress = calls.callback("boxretry_request", "on_progress", self._on_progress)
        self.request.before_attempt = calls.callback("boxretry_request", "before_attempt", self._before_attempt)
        self.request.on_complete = calls.callback("boxretry_request", "on_complete", self._on_complete)

    def perform(self) -> int:
        return self.calls.perform(self.request)

    def ended(self) -> str:
        """How it ends: the name of the error."""
        response = self.perform()
        error = self.calls.error(response)
        self.calls.ask("response_free", response)
        return error.removeprefix("BOXRETRY_").removeprefix("ERROR_")

    @property
    def contexts_freed(self) -> dict[str, int]:
        return {of: self.called.count(f"context_free of the {of}") for of in ("source", "sink")}

    # The callbacks

    def _answer(self, name: str, right: int) -> int | None:
        self.called.append(name)
        self.inside.get(name, do_nothing)()
        wrong = self.answers.get(name)
        return wrong.pop(0) if wrong else right

    def _read(self, context: int, call: int, buffer: int, capacity: int, count: int) -> None:
        self.call = call
        preset = ctypes.c_int64.from_address(count).value
        assert preset == -1
        piece = BODY[self._position : self._position + min(capacity, 8)]
        answer = self._answer("read", len(piece))
        if answer == len(piece):
            ctypes.memmove(buffer, piece, len(piece))
            self._position += len(piece)
        if answer is not None:
            ctypes.c_int64.from_address(count).value = answer

    def _rewind(self, context: int, done: int) -> None:
        self._position = 0
        self._write_to(done, self._answer("rewind", 1))

    def _write(self, context: int, call: int, data: int, length: int, answer: int) -> None:
        self.call = call
        assert length > 0
        own = self._answer("write", TAKEN)
        if own == TAKEN:
            self.taken += ctypes.string_at(data, length)
        self._write_to(answer, own)

    def _begin(self, context: int, call: int, head: int, done: int) -> None:
        self.call = call
        struct = self.calls.library.structs["boxretry_response_head"]
        seen = struct.from_address(head)
        assert seen.struct_size == ctypes.sizeof(struct)
        self.heads.append((seen.status, seen.http_version, ctypes.string_at(seen.url), seen.header_count))
        self._write_to(done, self._answer("begin", 1))

    def _restart(self, context: int, done: int) -> None:
        self.taken = b""
        self._write_to(done, self._answer("restart", 1))

    def _context_free(self, of: str) -> Callable[..., None]:
        return lambda context: (self._answer(f"context_free of the {of}", 0), None)[1]

    def _on_progress(self, context: int, progress: int) -> None:
        self._answer("on_progress", 0)

    def _before_attempt(self, context: int, sending: int) -> None:
        self.sending = sending
        self._answer("before_attempt", 0)
        self.sending = None

    def _on_complete(self, context: int, call: int) -> None:
        self.call = call
        self._answer("on_complete", 0)

    def _on_transfer(self, context: int, curl: int) -> None:
        assert curl
        self._answer("on_transfer", 0)

    def _on_event(self, context: int, event: int) -> None:
        self._answer("on_event", 0)

    @staticmethod
    def _write_to(answer: int, value: int | None) -> None:
        assert ctypes.c_int32.from_address(answer).value == 0, "it is preset to: failed"
        if value is not None:
            ctypes.c_int32.from_address(answer).value = value

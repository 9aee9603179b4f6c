"""A server with the parts of Box that the tests of the adapter need: tokens, a folder, an upload, a download."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from boxretry.testing import Answer, Fault, ScriptedServer, SeenRequest

CONTENT = bytes(range(256)) * 1000


class Box:
    """It answers with the `faults` of a path while there are any, and then correctly."""

    def __init__(self) -> None:
        self.faults: dict[str, list[Answer | Fault | int]] = {}
        self.valid_token = ""
        self.tokens = 0
        #: Where a download redirects to: another host than the API's, as with Box.
        self.storage = ScriptedServer([self.stored])
        self.server = ScriptedServer([self.answer])
        self.url = self.server.url

    def answer(self, request: SeenRequest) -> Answer | Fault | int:
        path = request.target.partition("?")[0]
        if faults := self.faults.get(path):
            return faults.pop(0)
        if path == "/oauth2/token":
            self.tokens += 1
            self.valid_token = f"token-{self.tokens}"
            return _json({"access_token": self.valid_token, "expires_in": 3600, "token_type": "bearer"})
        if request.header("Authorization") != f"Bearer {self.valid_token}":
            return Answer(401, {"WWW-Authenticate": 'Bearer error="invalid_token"'})
        if path == "/2.0/folders" and request.method == "POST":
            return _json({"type": "folder", "id": "1", "name": json.loads(request.body)["name"]}, 201)
        if path.startswith("/2.0/folders/"):
            return _json({"type": "folder", "id": path.rpartition("/")[2], "name": "a folder"})
        if path == "/up/2.0/files/content":
            return _json({"total_count": 1, "entries": [{"type": "file", "id": "2", "name": "a.bin"}]}, 201)
        if path == "/2.0/files/2/content":
            return Answer(302, {"Location": self.storage.url.replace("127.0.0.1", "localhost") + "/stored"})
        return _json({"code": "not_found", "message": "Not Found", "request_id": "abc", "help_url": "help"}, 404)

    def stored(self, request: SeenRequest) -> Answer:
        return Answer(200, {"Content-Type": "application/octet-stream"}, CONTENT)

    def seen(self, path: str) -> list[SeenRequest]:
        """The requests with this path."""
        return [each for each in self.server.requests if each.target.partition("?")[0] == path]


def _json(value: Any, status: int = 200) -> Answer:
    return Answer(status, {"Content-Type": "application/json"}, json.dumps(value))


@contextmanager
def box() -> Iterator[Box]:
    """A server for the duration of a test."""
    box = Box()
    with box.storage, box.server:
        yield box

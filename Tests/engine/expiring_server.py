"""A server whose access token expires after some answers: then only the next one is right, t1, t2, t3 and so on."""

from __future__ import annotations

import asyncio
import re
import threading
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Self

_TOKEN = re.compile(rb"^authorization: bearer (\S+)\r$", re.IGNORECASE | re.MULTILINE)


class ExpiringServer:
    """`with ExpiringServer(answers=9, expiries=1) as server`: then `server.url`, and how many requests were `answered`.

    `rejected` are the tokens of the others."""

    def __init__(self, *, answers: int, expiries: int) -> None:
        self._answers = answers
        self._expiries = expiries
        self.expired = 0
        self.answered = 0
        self.rejected: list[str] = []
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)

    def __enter__(self) -> Self:
        self._server = self._loop.run_until_complete(asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=1024))
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}/"
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result(60)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    async def _end(self) -> None:
        self._server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection; the requests have no body."""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                writer.write(self._answer(head))
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    def _answer(self, head: bytes) -> bytes:
        found = _TOKEN.search(head)
        token = found[1].decode() if found else ""
        if token != f"t{self.expired + 1}":
            self.rejected.append(token)
            return b'HTTP/1.1 401 Unauthorized\r\nContent-Length: 24\r\n\r\n{"code":"token_expired"}'
        self.answered += 1
        if self.expired < self._expiries and self.answered == self._answers * (self.expired + 1):
            self.expired += 1
        return b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

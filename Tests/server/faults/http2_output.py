"""What is to be sent on a connection of HTTP/2, in the order in which it was made."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import NamedTuple

from .connection import Connection, ConnectionOver


class _Piece(NamedTuple):
    data: bytes
    step: int  # bytes at a time
    pause: float  # between steps
    sent: asyncio.Future[None]


class Output:
    """Many streams fill it and one task sends, so that a stream which ends meanwhile leaves no half of a frame."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._pieces: deque[_Piece] = deque()
        self._filled = asyncio.Event()
        self._over = False

    def put(self, data: bytes, step: int = 0, pause: float = 0.0) -> asyncio.Future[None]:
        """Done when this and all before it has been handed to the kernel; canceled if that is no longer possible."""
        sent: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._over:
            sent.cancel()
        else:
            self._pieces.append(_Piece(data, step or len(data), pause, sent))
            self._filled.set()
        return sent

    async def send(self) -> None:
        """Sends what is put in, until it is canceled or the connection is over."""
        try:
            while True:
                await self._filled.wait()
                self._filled.clear()
                while self._pieces:
                    await self._send(self._pieces[0])
                    sent = self._pieces.popleft().sent
                    if not sent.done():
                        sent.set_result(None)
        except ConnectionOver:
            pass  # who reads sees it too
        finally:
            self._over = True
            for piece in self._pieces:
                piece.sent.cancel()

    async def _send(self, piece: _Piece) -> None:
        for start in range(0, len(piece.data), piece.step or 1):
            if start:
                await self._connection.pause_or_end(piece.pause)
            await self._connection.send(piece.data[start : start + piece.step])

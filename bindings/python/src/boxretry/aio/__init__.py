"""The client for asyncio.

    async with AsyncClient() as client:
        response = await client.get("https://api.example.com/2.0/folders/0")

Calls run in the library. The event loop learns about their ends through one descriptor, many at a time.
"""

from ..decisions.custom import AsyncCustomRetryStrategy
from .client import AsyncClient
from .stream import AsyncStream
from .token import AsyncTokenProvider, TokenSource

__all__ = ["AsyncClient", "AsyncCustomRetryStrategy", "AsyncStream", "AsyncTokenProvider", "TokenSource"]

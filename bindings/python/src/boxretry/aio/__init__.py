"""The client for asyncio.

    async with AsyncClient() as client:
        response = await client.get("https://api.example.com/2.0/folders/0")

Its calls run in the library. Their ends reach the event loop through one descriptor, many at a time.
"""

from ..decisions.custom import AsyncCustomRetryStrategy
from .client import AsyncClient
from .stream import AsyncStream
from .token import AsyncTokenProvider, TokenSource

__all__ = ["AsyncClient", "AsyncCustomRetryStrategy", "AsyncStream", "AsyncTokenProvider", "TokenSource"]

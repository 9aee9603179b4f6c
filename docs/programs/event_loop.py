import asyncio
import sys

from boxretry.aio import AsyncClient


async def main(urls: list[str]) -> None:
    async with AsyncClient() as client:
        responses = await asyncio.gather(*(client.get(url) for url in urls))
        print([response.status for response in responses])


asyncio.run(main(sys.argv[1:]))

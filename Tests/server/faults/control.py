"""The paths under /_ : what was seen, and what is to happen now.

The parameters of each function are those of its path.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any, Callable

from .script import split_query
from .vocabulary import BadScript, parse_count, parse_settings

if TYPE_CHECKING:
    from .server import Server


async def seen(
    server: Server, id: str, requests: str = "0", over: str = "0", ended: str = "0", within: str = "30000"
) -> Any:
    """The requests with this id in order; first waits until there are `count`, and they or their connections end."""
    record = server.record
    least = parse_count(requests)

    def is_there() -> bool:
        found = record.requests(id)
        if len(found) < least or (over == "1" and not all(one.is_over for one in found)):
            return False
        return ended != "1" or all(one.connection.ended for one in found)

    await record.wait_until(is_there, parse_count(within) / 1000)
    return [request.to_json() for request in record.requests(id)]


async def connections(
    server: Server, port: str | None = None, opened: str = "0", ended: str = "0", within: str = "30000"
) -> Any:
    """All connections, or those to one port; first waits until there are `count`, and have ended."""
    record = server.record
    least = parse_count(opened)
    wanted = None if port is None else parse_count(port)

    def is_there() -> bool:
        found = record.connections(wanted)
        return len(found) >= least and (ended != "1" or all(one.ended for one in found))

    await record.wait_until(is_there, parse_count(within) / 1000)
    return [connection.to_json() for connection in record.connections(wanted)]


async def totals(server: Server) -> Any:
    """How many of what, the quiet requests included."""
    return server.totals()


async def reset(server: Server, id: str | None = None) -> Any:
    """Forgets what was seen with this id, or all; scripts begin again."""
    server.clear(id)
    return {}


async def hangup(server: Server, id: str, how: str = "close") -> Any:
    """Ends the connections whose last request has this id, now."""
    if how not in ("close", "cut", "reset"):
        raise BadScript("how is close, cut or reset")
    return {"connections": server.hang_up(id, how)}


async def say(server: Server, id: str, text: str) -> Any:
    """Writes this text to the connections whose last request has this id, now, as it is."""
    return {"connections": await server.say(id, text.encode("latin-1"))}


async def open(server: Server, kind: str, port: str = "0", rcvbuf: str | None = None, settings: str = "") -> Any:
    """Opens another port: of this kind, or, with a list of kinds, of each kind for one connection."""
    receive_buffer = None if rcvbuf is None else parse_count(rcvbuf)
    number = server.open_port(
        kind.split(","), parse_count(port), receive_buffer, parse_settings(settings) if settings else None
    )
    return {"port": number}


async def shut(server: Server, port: str) -> Any:
    """Closes a port."""
    if not server.shut_port(parse_count(port)):
        raise BadScript(f"port {port} is not open")
    return {}


async def ports(server: Server) -> Any:
    """The line that the server has printed at its start."""
    return server.description()


COMMANDS: dict[str, Callable[..., Awaitable[Any]]] = {
    command.__name__: command for command in (seen, connections, totals, reset, hangup, say, open, shut, ports)
}


async def run(server: Server, target: str) -> Any:
    """What a path under /_ answers. Raises BadScript."""
    path, _, query = target.partition("?")
    command = COMMANDS.get(path[len("/_") :])
    if command is None:
        raise BadScript(f"there is no {path}; there are " + ", ".join("/_" + name for name in COMMANDS))
    parameters = dict(split_query(query))
    try:
        inspect.signature(command).bind(server, **parameters)
    except TypeError as why:
        raise BadScript(f"{path}: {why}") from None
    return await command(server, **parameters)

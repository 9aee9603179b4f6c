"""The fault server itself: its ports, its record, and where each script stands."""

from __future__ import annotations

import asyncio
import errno
import json
import socket
import ssl
from collections import Counter
from typing import Any

from . import content, control, ports
from .connection import Connection, ConnectionOver, HangupWatch
from .ports import Port
from .record import Record, SeenRequest
from .script import parse, split_query
from .vocabulary import Answer, BadScript, PortInUse


class Server:
    """Answers the requests of all ports (it is their `Site`). Made inside a running event loop."""

    def __init__(self, contexts: dict[str, ssl.SSLContext], files: dict[str, str]) -> None:
        self.record = Record()
        self._watch = HangupWatch(asyncio.get_running_loop())
        self._files = files
        self._behaviors = ports.behaviors(self, contexts)
        self._ports: dict[int, Port] = {}
        self._named_ports: dict[str, int] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._turns: Counter[tuple[str, str]] = Counter()  # requests so far, by id and path
        self._tokens: Counter[str] = Counter()  # tokens given out so far, by id

    def start(self, http_port: int) -> None:
        """Opens a separate port of each kind."""
        for kind in (*self._behaviors, *ports.DEAD_KINDS):
            self._named_ports[kind] = self.open_port([kind], http_port if kind == "http" else 0)

    def description(self) -> dict[str, int | str]:
        """What a client has to know: the port of each kind, whose certificates it is to trust, and its own."""
        return {**self._named_ports, **self._files}

    # The site

    async def begin(self, request: SeenRequest) -> Answer:
        if request.path.startswith("/_"):
            return await self._control(request)
        try:
            script = parse(request.path)
        except BadScript as why:
            request.id = dict(split_query(request.path.partition("?")[2])).get("id", "")
            return self._refuse(request, str(why))
        request.id, request.quiet = script.id, script.quiet
        if script.checks_token and not script.accepts(request.header("authorization")):
            answer = script.unauthorized()
        elif len(script.items) == 1:
            answer = script.turn(0)
        else:
            turn = (script.id, script.path)
            answer = script.turn(self._turns[turn])
            self._turns[turn] += 1
        if answer.needs_http2 and request.stream is None:
            return self._refuse(request, f"{answer.item}: this takes HTTP/2")
        request.answer = answer.item
        self.record.add(request)
        return answer

    def _refuse(self, request: SeenRequest, why: str) -> Answer:
        request.answer = "refused"
        self.record.add(request)
        return Answer("refused", status=400, content="body", body=f"{why}\n")

    def body(self, request: SeenRequest, answer: Answer) -> bytes:
        if answer.content == "echo":
            return content.echo_json(request.to_json())
        if answer.content == "token":
            self._tokens[request.id] += 1
            token = f"token-{self._tokens[request.id]}" if answer.token is None else answer.token
            return content.token_json(token, answer.expires_in)
        return (answer.raw if answer.content == "raw" else answer.body).encode("latin-1")

    def location(self, request: SeenRequest, answer: Answer) -> str:
        """The same URL again, so that the script continues; at another origin if `to` says so."""
        if answer.to is None:
            return request.path
        if answer.to in self._named_ports:
            scheme = "http" if answer.to in ("http", "h2c") else "https"
            return f"{scheme}://127.0.0.1:{self._named_ports[answer.to]}{request.path}"
        return answer.to + request.path

    async def _control(self, request: SeenRequest) -> Answer:
        request.connection.control = True
        answer = Answer("control", content="body", h=[("Content-Type", "application/json")])
        try:
            result = await control.run(self, request.path)
        except BadScript as why:
            answer.status, result = 400, {"error": str(why)}
        answer.body = json.dumps(result) + "\n"
        return answer

    # What the control paths ask for

    def hang_up(self, identity: str, how: str) -> int:
        """Ends the open connections whose last request has this id, at once."""
        ended = 0
        for connection in self._watch.connections():
            if connection.seen.last_id == identity and not connection.seen.control:
                connection.end(how)
                ended += 1
        return ended

    async def say(self, identity: str, data: bytes) -> int:
        """Writes to the open connections whose last request has this id."""
        connections = [
            connection
            for connection in self._watch.connections()
            if connection.seen.last_id == identity and not connection.seen.control
        ]
        for connection in connections:
            await connection.send(data)
        return len(connections)

    def open_port(
        self,
        kinds: list[str],
        number: int,
        receive_buffer: int | None = None,
        settings: dict[int, int] | None = None,
    ) -> int:
        dead = [kind for kind in kinds if kind in ports.DEAD_KINDS]
        unknown = [kind for kind in kinds if kind not in self._behaviors and kind not in dead]
        if unknown or (dead and len(kinds) > 1):
            raise BadScript(f"{', '.join(unknown)}: no such kind" if unknown else f"{dead[0]} can only be alone")
        if settings and not all(kind.startswith("h2") for kind in kinds):
            raise BadScript("settings are HTTP/2's")
        self.shut_port(number)
        try:
            port = Port(kinds, number, receive_buffer, settings or {})
        except OSError as why:
            if why.errno == errno.EADDRINUSE:
                raise PortInUse(number) from None
            raise BadScript(f"port {number}: {why}") from None
        self._ports[port.number] = port
        port.start(self._treat)
        return port.number

    def shut_port(self, number: int) -> bool:
        """Closes a port, not its connections. Whether there was one."""
        port = self._ports.pop(number, None)
        if port is not None:
            port.close()
        return port is not None

    def clear(self, identity: str | None) -> None:
        self.record.clear(identity)
        if identity is None:
            self._turns.clear()
            self._tokens.clear()
        else:
            del self._tokens[identity]
            for turn in [turn for turn in self._turns if turn[0] == identity]:
                del self._turns[turn]

    def totals(self) -> dict[str, Any]:
        return {**self.record.totals(), "open_connections": len(self._watch.connections())}

    def _treat(self, sock: socket.socket, port: Port, kind: str) -> None:
        connection = Connection(sock, self.record.open(port.number, kind), self._watch)
        connection.settings = port.settings
        task = asyncio.get_running_loop().create_task(self._run(kind, connection))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, kind: str, connection: Connection) -> None:
        try:
            await self._behaviors[kind](connection)
        except ConnectionOver:
            pass
        finally:
            connection.end("close")
            connection.seen.finish()

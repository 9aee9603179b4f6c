"""Runs the cells of a row, side by side, and checks that the server saw exactly what their records have (B13)."""

from __future__ import annotations

import hashlib
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

from fault import Fault
from fault_server import FaultServer, pattern
from kinds import Kind, Times, Version
from sending import End, Plan, Sender, send_all

SECRET = "Bearer secret"
PATIENCE = 30  # seconds by which something may be late on a machine that is busy with other things


@dataclass
class Cell:
    """One request that meets a fault."""

    version: Version
    fault: Fault
    kind: Kind
    times: Times
    id: str
    port: int | None  # that only this cell uses; None: the usual one

    def plan(self, server: FaultServer) -> Plan:
        fault = self.fault
        return Plan(
            self.kind,
            self.version,
            self._url(server),
            self.body,
            server.ca,
            fault.idle_ms,
            fault.resource_ms,
            fault.tokens,
            {"Authorization": SECRET} if fault.has_secret else {},
            fault.is_compressed,
        )

    @property
    def body(self) -> bytes:
        return pattern(self.fault.body_size) if self.kind.has_body else b""

    @property
    def items(self) -> list[str]:
        """The script: of what each request gets."""
        first = ["200"] if self.fault.is_reused else []
        last = ["200"] if self.times is Times.ONCE and self.fault.item else []
        return [*first, *(self.fault.item or "200").split(","), *last]

    def _url(self, server: FaultServer) -> str:
        parameters = {
            name: value.format_map(server.ports) if name.endswith(".to") and isinstance(value, str) else value
            for name, value in self.fault.parameters.items()
        }
        target = server.target(f"/seq/{','.join(self.items)}", parameters, id=self.id)
        is_plain = self.version is Version.HTTP_1_1 and self.fault.port in ("", "refused", "backlog")
        port = self.port or server.ports[self.fault.port or self.version.port]
        return f"{'http' if is_plain else 'https'}://{self.fault.host or '127.0.0.1'}:{port}{target}"


@dataclass
class Result:
    """The result of a cell."""

    end: End
    #: What is wrong with it, besides its text.
    failure: AssertionError | None


def run(version: Version, fault: Fault, server: FaultServer) -> dict[tuple[Kind, Times], Result]:
    """Runs the cells of a row."""
    cells = [
        Cell(version, fault, kind, times, server.new_id(), _own_port(version, fault, times, server))
        for kind in Kind
        for times in Times
        if fault.cell(times) is not None
    ]
    plans = [cell.plan(server) for cell in cells]
    ends = _in_another_process(plans) if fault.host else _here(cells, plans, server)
    return {(cell.kind, cell.times): Result(end, _failure(cell, end, server)) for cell, end in zip(cells, ends)}


def _own_port(version: Version, fault: Fault, times: Times, server: FaultServer) -> int | None:
    if fault.seen_as != "connection":
        return None
    return server.open(fault.port if times is Times.EACH else f"{fault.port},{version.tls_port}")


def _in_another_process(plans: list[Plan]) -> list[End]:
    """One in which some names cannot be looked up."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(send_all, plans).result()


def _here(cells: list[Cell], plans: list[Plan], server: FaultServer) -> list[End]:
    senders = [Sender(plan) for plan in plans]
    for cell, sender in zip(cells, senders):
        if cell.fault.is_reused:
            assert sender.get(cell.plan(server).url).status == 200
        if cell.fault.hang_up:
            assert server.hang_up(cell.id, cell.fault.hang_up) == 1
        if cell.fault.says:
            assert server.say(cell.id, cell.fault.says) == 1
    for sender in senders:
        sender.start()
    ends = [sender.end() for sender in senders]
    for cell, sender in zip(cells, senders):
        response = sender.get(server.url("/seq/200", id=server.new_id(), kind=cell.version.port))
        assert (response.status, response.content) == (200, pattern(64)), "the client is not well afterwards"
        sender.close()
    return ends


def _failure(cell: Cell, end: End, server: FaultServer) -> AssertionError | None:
    try:
        _check_counts(end)
        _check_times(cell, end)
        _check_content(cell, end)
        _check_server(cell, end, server)
    except AssertionError as error:
        return error
    return None


def _check_counts(end: End) -> None:
    """B4. Attempts and exceptions are counted from 1."""
    exceptions = 0
    for number, attempt in enumerate(end.attempts, 1):
        exceptions += 1 if attempt.cause else 0
        assert (attempt.number, attempt.exception_number) == (number, exceptions if attempt.cause else 0)
        assert attempt.retry == (number < len(end.attempts)) or end.error == "client_token_provider_failed"


def _check_server(cell: Cell, end: End, server: FaultServer) -> None:
    sent = sum(1 + attempt.reconnects + attempt.redirects for attempt in end.attempts)
    earlier = 1 if cell.fault.is_reused else 0
    if cell.fault.seen_as == "request" and not cell.fault.hang_up:
        requests = sent
    else:  # Nothing was sent; or on a connection that had ended, so that no server has seen it.
        requests = sum(1 for attempt in end.attempts if attempt.status)
    seen = server.seen(cell.id, requests=requests + earlier, ended=True)[earlier:]
    assert len(seen) == requests, f"the server saw {len(seen)} requests, but the record has {requests}: {end}"
    if cell.port is not None:
        connections = server.connections(cell.port, opened=sent, ended=True)
        assert len(connections) == sent, f"the server saw {len(connections)} connections, but the record has {sent}"
    _check_requests(cell, seen, earlier)


def _check_times(cell: Cell, end: End) -> None:
    """Nothing is early, and nothing is much too late (M5)."""
    for attempt in end.attempts:
        least = {"TIMEOUT_IDLE": cell.fault.idle_ms, "TIMEOUT_RESOURCE": cell.fault.resource_ms}.get(
            attempt.cause.name, 0
        )
        if cell.fault.is_slow and attempt.status:
            least = cell.fault.idle_ms
        assert least <= attempt.ended_ms - attempt.started_ms <= least + PATIENCE * 1000, attempt
    for before, after in zip(end.attempts, end.attempts[1:]):
        waited = after.started_ms - before.ended_ms
        assert before.delay * 1000 - 0.001 <= waited <= (before.delay + PATIENCE) * 1000, (before, after)


def _check_content(cell: Cell, end: End) -> None:
    """The whole body of the last response, and nothing of another's; by the version that the table is about."""
    parameters = cell.fault.parameters
    if end.status:
        is_fault_s = str(end.status) == cell.fault.item
        size = parameters.get("size", 64)
        text = parameters.get(f"{end.status}.body")
        assert isinstance(size, int) and (text is None or isinstance(text, str))
        assert end.content == (text.encode() if text is not None and is_fault_s else pattern(size))
    for attempt in end.attempts:
        is_elsewhere = cell.fault.has_secret and attempt.redirects > 0
        version = cell.fault.http_version or cell.version.number
        assert not attempt.status or is_elsewhere or attempt.http_version == version


def _check_requests(cell: Cell, seen: list[dict[str, Any]], earlier: int) -> None:
    """Each is the n-th of the script, and has the whole body (R5), and the right Authorization."""
    items = cell.items[earlier:]
    whole = hashlib.sha256(cell.body).hexdigest()
    empty = hashlib.sha256(b"").hexdigest()
    answered = [items[min(index, len(items) - 1)] for index in range(len(seen))]
    assert [request["answer"] for request in seen] == answered
    for index, request in enumerate(seen):
        fields = {name.lower(): value for name, value in request["headers"]}
        is_redirected_to_get = "302" in answered[:index] and request["method"] == "GET"
        assert request["method"] == cell.kind.method or is_redirected_to_get
        assert request["body_complete"]
        assert request["body_sha256"] == (empty if is_redirected_to_get else whole)
        assert "expect" not in fields, "nobody waits for a 100"
        if cell.fault.has_secret:
            assert fields.get("authorization") == (SECRET if index == 0 else None), "a secret went elsewhere (T13)"
        if cell.fault.tokens in ("fresh", "january"):
            assert fields["authorization"] == f"Bearer token-{index + 1}", "each has a new token (B8)"

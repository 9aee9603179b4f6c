"""A row of the matrix: a fault, how the fault server makes it, and what is right."""

from __future__ import annotations

from dataclasses import dataclass, field

from expectations import Cell
from fault_server import Value
from kinds import Times

#: Milliseconds without anything moving that are an idle timeout, in the rows that are about it. Others have a minute.
IDLE_MS = 4_000
#: Milliseconds between the bytes of the server that sends "one byte per second": as much shorter than a second as
#: IDLE_MS is than a minute, or nearly. In all, its bodies take longer than IDLE_MS, and so do its headers, though HPACK
#: compresses them.
BYTE_EVERY_MS = 60
SLOW_SIZE = 80
#: Milliseconds that an attempt may take, in the row that is about it.
RESOURCE_MS = 4_000
#: Seconds for which a Retry-After is honored, so that no test waits for an hour: a longer one is clamped (B11).
RETRY_AFTER_CAP = 0.05

Parameters = dict[str, Value]


@dataclass(frozen=True)
class Fault:
    """A row. `each` and `once` are the right cells if the fault comes each time, and if the second sending is well."""

    name: str
    each: Cell | None = None
    once: Cell | None = None
    #: The script's item that makes it (see Tests/server/README.md). Empty: the server answers 200.
    item: str = ""
    parameters: Parameters = field(default_factory=dict)
    #: The kind of a port that makes it, or at which it is; "": the usual one.
    port: str = ""
    #: In place of 127.0.0.1. Such a fault is tried in a process with its own host names; see
    #: Tests/engine/slow_lookups.c.
    host: str = ""
    #: What the server sees of an attempt that fails: a "request", a "connection", or "nothing".
    seen_as: str = "request"
    idle_ms: int = 60_000
    resource_ms: int = 600_000
    #: Bytes of the request's body.
    body_size: int = 3_000
    #: The client has a connection from an earlier request.
    is_reused: bool = False
    #: How that connection ends meanwhile.
    hang_up: str = ""
    #: What the server writes on that connection meanwhile.
    says: str = ""
    #: Where access tokens come from: "": nowhere; "fresh": a provider that gives a new one each time; "same": one that
    #: gives the same one each time; "fixed": a fixed token, which cannot be refreshed; "january": as "fresh", with that
    #: preset.
    tokens: str = ""
    #: Compressed responses are asked for.
    is_compressed: bool = False
    #: What the responses speak (10, 11, 20); 0: the version that the table is about.
    http_version: int = 0
    #: The request has a secret, which must not get further than to the first server.
    has_secret: bool = False

    #: Why the library does not do what is right; "": it does.
    deviation: str = ""
    #: The record deviates too: it has a request that the server has not seen.
    deviates_in_record: bool = False

    @property
    def is_about_time(self) -> bool:
        return min(self.idle_ms, self.resource_ms) < 60_000

    @property
    def is_slow(self) -> bool:
        """All of the answer takes longer than the idle time, though no gap in it does."""
        return any(name.startswith("every") for name in self.parameters)

    def cell(self, times: Times) -> Cell | None:
        return self.each if times is Times.EACH else self.once

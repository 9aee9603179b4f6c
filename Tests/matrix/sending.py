"""Sends the requests of cells, and tells how they ended. Plans and ends can be handed to and by another process."""

from __future__ import annotations

import contextlib
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from boxretry import (
    Attempt,
    BoxRetryError,
    Client,
    DelaySource,
    FixedToken,
    HTTPVersion,
    Preset,
    Response,
    RetryStrategy,
    Timeout,
    TokenSource,
)
from fault import RETRY_AFTER_CAP
from kinds import Kind, Version

BASE = 0.001  # seconds: B6's waits are 2, 4, 8, … ms
PATIENCE = 120  # seconds after which a call that has not ended never will


@dataclass(frozen=True)
class Plan:
    """A request, and the client that sends it."""

    kind: Kind
    version: Version
    url: str
    body: bytes
    ca: str
    idle_ms: int
    resource_ms: int
    tokens: str
    headers: dict[str, str]
    is_compressed: bool


@dataclass(frozen=True)
class End:
    """How a call ended."""

    attempts: list[Attempt]
    #: The stable name of the error; "" if it ended with a response.
    error: str
    #: Of the response, also of one that an error has attached; 0: there is none.
    status: int = 0
    content: bytes = b""


@dataclass
class Sender:
    """A separate client for one cell: no connection is shared with another cell."""

    plan: Plan
    _open: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def __post_init__(self) -> None:
        plan, self._tokens = self.plan, 0
        self._folder = Path(self._open.enter_context(tempfile.TemporaryDirectory()))
        source = None
        if plan.tokens:
            source = self._open.enter_context(self._new_source(plan.tokens))
        quick = RetryStrategy(retry_base_interval=BASE, retry_randomization_factor=0, retry_after_cap=RETRY_AFTER_CAP)
        is_january = plan.tokens == "january"
        self._client = self._open.enter_context(
            Client(
                None if is_january else quick,
                preset=Preset.JANUARY if is_january else Preset.BOX,
                token_source=source,
                ca_file=plan.ca,
                http_version=HTTPVersion.HTTP_1_1 if plan.version is Version.HTTP_1_1 else HTTPVersion.HTTP_2,
                timeout=Timeout(plan.idle_ms, plan.resource_ms),
                compression=plan.is_compressed,
            )
        )

    def _new_source(self, tokens: str) -> FixedToken | TokenSource:
        if tokens == "fixed":
            return FixedToken("always-the-same")
        return TokenSource((lambda: ("always-the-same", 3600)) if tokens == "same" else self._new_token)

    def _new_token(self) -> tuple[str, float]:
        self._tokens += 1
        return f"token-{self._tokens}", 3600

    def get(self, url: str) -> Response:
        """Another request of the same client, without a token and with as much time as it wants."""
        return self._client.get(url, authorization=False, timeout=Timeout())

    def start(self) -> None:
        plan = self.plan
        self._call = self._client.submit(
            plan.kind.method, plan.url, data=plan.kind.body(plan.body, self._folder), headers=plan.headers
        )

    def end(self) -> End:
        try:
            response = self._call.response(PATIENCE)
        except BoxRetryError as error:
            attached = error.response
            return End(
                error.attempts,
                error.name,
                attached.status if attached is not None else 0,
                attached.content if attached is not None else b"",
            )
        finally:
            del self._call
        return End(response.attempts, "", response.status, response.content)

    def close(self) -> None:
        """Ends its connections, too."""
        del self._client
        self._open.close()


def send_all(plans: list[Plan]) -> list[End]:
    """All at once."""
    senders = [Sender(plan) for plan in plans]
    for sender in senders:
        sender.start()
    ends = [sender.end() for sender in senders]
    for sender in senders:
        sender.close()
    return ends


def text_of(end: End) -> str:
    """A cell, in the words of expectations.py."""
    parts = []
    for attempt in end.attempts:
        parts += [_attempt(attempt), _wait(attempt)]
    last = end.attempts[-1]
    result = end.error or str(end.status)
    if end.error and end.status:
        result += f" with its {end.status}"
    reason = f" ({last.reason.name.lower()})" if last.reason is not None else ""
    return f"{', '.join(parts[:-1])} → {result}{reason}"


def _attempt(attempt: Attempt) -> str:
    is_local = not attempt.retry and attempt.cause == 0 and attempt.reason is None
    cause = attempt.cause.name.lower()
    how = "local failure" if is_local else cause if attempt.cause else str(attempt.status)
    assert attempt.status == 0 or not attempt.cause, "a network exception has status 0 (B2)"
    for count, name in ((attempt.reconnects, "reconnect"), (attempt.redirects, "redirect")):
        if count:
            how += f" after {count} {name}{'s' if count > 1 else ''}"
    return how


def _wait(attempt: Attempt) -> str:
    text = f"{attempt.delay * 1000:g} ms"
    asked = attempt.retry_after
    if asked is not None and asked != attempt.delay:
        text += f" of {asked:.0f} s"
    if attempt.delay_source is DelaySource.RETRY_AFTER:
        text += " as asked"
    elif attempt.delay_source is DelaySource.RETRY_AFTER_DATE:
        text += " by a date"
    return text

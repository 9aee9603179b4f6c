"""Statements of the two sources, counted at the server's side: see docs/conformance.md."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from boxretry import (
    CancelledError,
    CancelSwitch,
    Client,
    NetworkError,
    Preset,
    Reason,
    RequestSent,
    Timeout,
    TokenSource,
)
from calls import PATIENCE, quick, statuses, waits
from fault_server import FaultServer
from raw_server import RawServer

EXPIRED = json.dumps({"code": "token_expired"})
IDLE = Timeout(timeout_interval_for_request_ms=150)


class Provider:
    """Gives t1, t2, t3 and so on."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> tuple[str, float]:
        self.calls += 1
        return f"t{self.calls}", 3600


@pytest.mark.parametrize(
    ("url", "cause"),
    [
        ("http://127.0.0.1:{refused}/", "CONNECT"),
        ("http://nowhere.invalid/", "RESOLVE"),
        ("http://127.0.0.1:{silent}/", "TIMEOUT_IDLE"),
        ("https://127.0.0.1:{https_self_signed}/", "TLS"),
    ],
)
def test_b2_b3_each_network_failure_is_retried_twice(server: FaultServer, client: Client, url: str, cause: str) -> None:
    """Box's page names a refused connection, DNS, timeouts and TLS: each is a status of 0, and two retries follow."""
    with pytest.raises(NetworkError) as raised:
        client.get(url.format(**server.ports), timeout=IDLE)
    attempts = raised.value.attempts
    assert statuses(attempts) == [cause] * 3
    assert [attempt.status for attempt in attempts] == [0] * 3
    assert waits(attempts) == [0.002, 0.004]
    assert attempts[-1].reason is Reason.EXCEPTIONS_EXHAUSTED


@pytest.mark.parametrize("item", ["500", "503", "429", "401", "202", "409"])
def test_r2_january_sends_a_create_once(server: FaultServer, item: str) -> None:
    """January's page: "The SDK retries nothing else", with or without a Retry-After."""
    id = server.new_id()
    with TokenSource(lambda: ("token", 3600)) as source, Client(preset=Preset.JANUARY, token_source=source) as client:
        response = client.post(server.url(f"/seq/{item},200", {"h": "Retry-After:0"}, id=id), data="250 ml")
    assert (response.status, len(response.attempts), len(server.seen(id))) == (int(item), 1, 1)


@pytest.mark.parametrize("item", ["stall:before", "reset", "short"])
def test_b12_after_a_create_of_january_that_failed_the_record_says_what_was_sent(
    server: FaultServer, item: str
) -> None:
    """January's page: list the day before a retry. The server saw the create once, and the record tells."""
    id = server.new_id()
    with Client(preset=Preset.JANUARY) as client, pytest.raises(NetworkError) as raised:
        client.post(server.url(f"/seq/{item},200", id=id), data="250 ml", timeout=IDLE)
    (attempt,) = raised.value.attempts
    assert attempt.request_sent is RequestSent.SOME
    assert len(server.seen(id)) == 1


def test_t9_k1_a_canceled_call_stops_waiting_and_the_shared_refresh_goes_to_the_other(server: FaultServer) -> None:
    """January's page, "Cancellation": two calls wait for one refresh, and one is canceled."""
    canceled, other = server.new_id(), server.new_id()
    calls, entered, opened = [], threading.Event(), threading.Event()

    def provider() -> tuple[str, float]:
        calls.append(1)
        entered.set()
        assert opened.wait(PATIENCE)
        return "token", 3600

    with (
        TokenSource(provider) as source,
        Client(quick(), token_source=source) as client,
        CancelSwitch() as switch,
    ):
        first = client.submit("GET", server.url("/seq/200", id=canceled), cancel=switch)
        assert entered.wait(PATIENCE)
        second = client.submit("GET", server.url("/seq/200", id=other))
        switch.trigger()
        with pytest.raises(CancelledError):
            first.response()
        opened.set()
        assert second.response().status == 200
    assert len(calls) == 1
    assert (len(server.seen(canceled)), len(server.seen(other))) == (0, 1)


@pytest.mark.parametrize("code", ["token_invalid", "token_revoked", "insufficient_scope"])
def test_r2_other_codes_of_a_401_reach_the_caller_at_once(server: FaultServer, code: str) -> None:
    """And the token stays in use."""
    id, body, provider = server.new_id(), json.dumps({"code": code}), Provider()
    with TokenSource(provider) as source, Client(preset=Preset.JANUARY, token_source=source) as client:
        response = client.get(server.url("/seq/401,200", {"401.body": body}, id=id))
        assert (response.status, response.text, len(response.attempts)) == (401, body, 1)
        assert client.get(server.url("/seq/401,200", id=id)).status == 200
    assert provider.calls == 1


def test_f76_r1_a_second_401_after_the_replay_reaches_the_caller(server: FaultServer) -> None:
    """Given token_expired each time: one replay, and its 401 is the response."""
    id, provider = server.new_id(), Provider()
    url = server.url("/seq/401", {"body": EXPIRED, "h": "X-Of:401"}, id=id)
    with TokenSource(provider) as source, Client(preset=Preset.JANUARY, token_source=source) as client:
        response = client.post(url, data="x")
    assert (response.status, response.text, response.token_error) == (401, EXPIRED, None)
    assert [attempt.reason for attempt in response.attempts] == [Reason.TOKEN_EXPIRED, Reason.ATTEMPTS_EXHAUSTED]
    assert (len(server.seen(id)), provider.calls) == (2, 2)


@pytest.mark.parametrize(
    "body", [EXPIRED[:-1] + " " * 66_560 + "}", '{"code":"token_expired"', "token_expired", f"[{EXPIRED}]"]
)
def test_f79_r1_a_body_that_is_too_long_or_not_such_an_object_is_the_caller_s(body: str) -> None:
    provider, head = Provider(), f"HTTP/1.1 401 No\r\nContent-Length: {len(body)}\r\n\r\n"
    with (
        RawServer(head.encode() + body.encode()) as server,
        TokenSource(provider) as source,
        Client(preset=Preset.JANUARY, token_source=source) as client,
    ):
        response = client.get(server.url)
    assert (response.status, response.text, len(response.attempts)) == (401, body, 1)
    assert (len(server.heads), provider.calls) == (1, 1)


_SENDS_A_TOKEN = """
import sys
from boxretry import Client, TokenSource

with TokenSource(lambda: ("never-on-disk", 3600)) as source, Client(token_source=source) as client:
    assert client.get(sys.argv[1]).status == 200
    source.invalidate("never-on-disk")
    source.get()
"""


def test_t1_a_token_is_written_to_a_socket_and_nowhere_else(server: FaultServer, tmp_path: Path) -> None:
    """January's page: in memory only, never on disk. The process makes no file, and writes the token to none."""
    id, log = server.new_id(), tmp_path / "calls"
    watched = "open,openat,creat,write,writev,pwrite64,pwritev,pwritev2,sendto,sendmsg,sendmmsg"
    watch = ["strace", "-f", "-yy", "-s", "4000", "-o", str(log), "-e", f"trace={watched}"]
    program = [sys.executable, "-c", _SENDS_A_TOKEN, server.url("/seq/200", id=id)]
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    subprocess.run([*watch, *program], check=True, env=environment, timeout=120)
    calls = [call.split(maxsplit=1)[1] for call in log.read_text(errors="replace").splitlines()]
    assert [call for call in calls if re.match(r"(open|openat|creat)\(.*O_(CREAT|TMPFILE)", call)] == []
    with_token = [call for call in calls if "never-on-disk" in call]
    assert len(with_token) == len(server.seen(id)) == 1
    assert re.match(r"send\w*\(\d+<TCP:.*Bearer never-on-disk", with_token[0])

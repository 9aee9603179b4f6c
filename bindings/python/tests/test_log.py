"""The log of calls (issue 12, item 7): DEBUG for attempts, INFO for retries, WARNING for giving up."""

from __future__ import annotations

import asyncio
import logging
import re
import subprocess
import sys
from typing import Any

import pytest
from fault_server import FaultServer as Server

from boxretry import BoxRetryError, Client, Event, RetryStrategy
from boxretry.aio import AsyncClient

AT_ONCE = RetryStrategy(retry_base_interval=0, max_attempts=2, max_retries_on_exception=1)


def log_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Level and text of each record, without milliseconds, and with N for the ids of calls."""
    assert {record.name for record in caplog.records} <= {"boxretry"}
    return [
        f"{record.levelname} {re.sub(r'^call [0-9]+:', 'call N:', record.getMessage())}" for record in caplog.records
    ]


def failing(server: Server, **parameters: Any) -> str:
    return str(server.url("/seq/503,200", {"503.h": "Retry-After:0"}, id=server.new_id(), **parameters))


def test_attempts_and_retries_are_logged_as_they_happen(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    """Without secrets: no query, no user, no header, no body."""
    caplog.set_level("DEBUG", "boxretry")
    seen: list[int] = []
    url = failing(server)
    with Client(AT_ONCE, on_event=lambda event: seen.append(len(caplog.records))) as client:
        client.post(url.replace("//", "//user:secret@"), data="secret", headers={"Authorization": "secret"})
    about = f"call N: POST {url.partition('?')[0]}: "
    assert log_of(caplog) == [
        f"DEBUG {about}attempt 1 begins",
        f"DEBUG {about}attempt 1: 503, server_error",
        f"INFO {about}attempt 1: 503, server_error, retry in 0 s",
        f"DEBUG {about}attempt 2 begins",
        f"DEBUG {about}attempt 2: 200, success",
    ]
    assert "secret" not in caplog.text
    assert seen == [1, 2, 3, 4, 5, 5], "each record is there when its event is told"


def test_a_derived_client_logs_with_the_other_one(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "boxretry")
    with Client(AT_ONCE) as client, client.derived(headers={"As-User": "1"}) as derived:
        derived.get(failing(server))
    assert len(log_of(caplog)) == 1


def test_all_records_of_a_call_have_its_id(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("DEBUG", "boxretry")
    ids: list[int] = []

    def on_event(event: Event) -> None:
        ids.append(event.call_id)

    with Client(AT_ONCE, on_event=on_event) as client:
        for _ in range(2):
            client.get(server.url("/seq/503"))
    logged = [record.call_id for record in caplog.records]  # type: ignore[attr-defined]
    assert len(set(ids)) == 2
    assert set(logged) == set(ids)
    for id, record in zip(logged, caplog.records):
        assert record.getMessage().startswith(f"call {id}: ")
    assert [record.levelname for record in caplog.records].count("WARNING") == 2


@pytest.mark.parametrize(
    ("item", "result"), [("503", "status 503"), ("429", "status 429"), ("reset", "receive"), ("stall", "deadline")]
)
def test_giving_up_is_a_warning_once(server: Server, caplog: pytest.LogCaptureFixture, item: str, result: str) -> None:
    """Also for a client that logs nothing else."""
    caplog.set_level("WARNING", "boxretry")
    with Client(AT_ONCE) as client:
        call = client.submit("GET", server.url(f"/seq/{item}"), deadline=0.1 if item == "stall" else 60)
        for _ in range(2):
            try:
                call.response()
            except BoxRetryError:
                assert item in ("reset", "stall")
    (line,) = log_of(caplog)
    number = 1 if item == "stall" else 2
    assert re.fullmatch(
        rf"WARNING call N: GET http://127\.0\.0\.1:\d+/seq/{item}: gave up after attempt [{number}0]: {result}", line
    )


@pytest.mark.parametrize("item", ["200", "404", "302"])
def test_other_ends_are_no_giving_up(server: Server, caplog: pytest.LogCaptureFixture, item: str) -> None:
    caplog.set_level("WARNING", "boxretry")
    with Client(AT_ONCE, follow_redirects=False) as client:
        client.get(server.url(f"/seq/{item}"))
        stalled = client.submit("GET", server.url("/seq/stall"))
        stalled.cancel()
        with pytest.raises(Exception, match="canceled"):
            stalled.response()
    assert caplog.records == []


def test_a_client_has_no_listener_unless_there_is_something_to_log(server: Server) -> None:
    """So it has no costs."""
    logger = logging.getLogger("boxretry")
    assert not logger.isEnabledFor(logging.INFO)
    with Client(AT_ONCE) as client:
        assert not client._is_watched


# A separate program, because pytest adds handlers to the root logger; without any, Python prints errors to stderr.
FAILING_PROGRAM = """
import logging, sys
from boxretry import Client, OAuth2Token, Proxy, RetryStrategy

def fail(token):
    raise RuntimeError("the disk is full")

url, token_url, handler = sys.argv[1:]
if handler:
    logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
with Client(RetryStrategy(max_attempts=0), proxy=Proxy.NONE) as client:
    assert client.get(url).status == 503
options = {"refresh_token": "first", "on_refresh_token": fail, "proxy": Proxy.NONE}
with OAuth2Token(token_url, {"grant_type": "refresh_token"}, **options) as source:
    assert source.get().value == "one"
"""
TOKEN = '{"access_token": "one", "expires_in": 3600, "refresh_token": "second"}'


def errors_of_program(server: Server, *, handler: bool) -> str:
    """What a program prints to stderr in which a call is given up and on_refresh_token raises."""
    urls = [server.url("/seq/503"), server.url("/seq/200", {"200.body": TOKEN}, id=server.new_id())]
    command = [sys.executable, "-c", FAILING_PROGRAM, *map(str, urls), "yes" if handler else ""]
    result = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (result.returncode, result.stdout) == (0, ""), result.stderr
    return result.stderr


def test_f93_nothing_is_printed_unless_the_program_has_a_handler(server: Server) -> None:
    """F93, T12. Given a call that is given up, and an on_refresh_token that raises."""
    assert errors_of_program(server, handler=False) == ""


def test_f93_a_handler_gets_the_warning_and_the_traceback(server: Server) -> None:
    """F93, T12. The same program, after logging.basicConfig()."""
    warning, error, *traceback = errors_of_program(server, handler=True).splitlines()
    assert re.fullmatch(r"WARNING boxretry: call \d+: GET http://\S+: gave up after attempt 1: status 503", warning)
    assert error == "ERROR boxretry: on_refresh_token raised an exception"
    assert traceback[0] == "Traceback (most recent call last):"
    assert any(line.endswith("in fail") for line in traceback)
    assert traceback[-1] == "RuntimeError: the disk is full"


def test_an_asynchronous_client_logs_too(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "boxretry")
    url = server.url("/seq/503", {"503.h": "Retry-After:0"})

    async def main() -> None:
        async with AsyncClient(AT_ONCE) as client:
            await client.get(url)

    asyncio.run(main())
    about = f"call N: GET {url.partition('?')[0]}: "
    assert log_of(caplog) == [
        f"INFO {about}attempt 1: 503, server_error, retry in 0 s",
        f"WARNING {about}gave up after attempt 2: status 503",
    ]

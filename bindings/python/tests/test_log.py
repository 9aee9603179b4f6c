"""What is logged of calls (issue 12, item 7): DEBUG for attempts, INFO for retries, WARNING for giving up."""

from __future__ import annotations

import asyncio
import logging
import re
from typing import Any

import pytest
from fault_server import FaultServer as Server

from boxretry import BoxRetryError, Client, Event, RetryStrategy
from boxretry.aio import AsyncClient

AT_ONCE = RetryStrategy(retry_base_interval=0, max_attempts=2, max_retries_on_exception=1)


def log_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    """Level and text of each record, with milliseconds left out and the ids of calls as N."""
    assert {record.name for record in caplog.records} <= {"boxretry"}
    return [
        f"{record.levelname} {re.sub(r'^call [0-9]+:', 'call N:', record.getMessage())}" for record in caplog.records
    ]


def failing(server: Server, **parameters: Any) -> str:
    return str(server.url("/seq/503,200", {"503.h": "Retry-After:0"}, id=server.new_id(), **parameters))


def test_attempts_and_retries_are_logged_as_they_happen(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    """And no secret: no query, no user, no header, no body."""
    caplog.set_level("DEBUG", "boxretry")
    seen: list[int] = []
    url = failing(server)
    with Client(AT_ONCE, on_event=lambda event: seen.append(len(caplog.records))) as client:
        client.post(url.replace("//", "//user:secret@"), data="secret", headers={"Authorization": "secret"})
    about = f"call N: POST {url.partition('?')[0]}: "
    assert log_of(caplog) == [
        f"DEBUG {about}attempt 1 begins",
        f"DEBUG {about}attempt 1: 503, server_error",
        f"INFO {about}attempt 1: 503, server_error: again in 0 s",
        f"DEBUG {about}attempt 2 begins",
        f"DEBUG {about}attempt 2: 200, success",
    ]
    assert "secret" not in caplog.text
    assert seen == [1, 2, 3, 4, 5, 5], "each record is there when its event is told"


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
    """Also of a client that logs nothing else."""
    caplog.set_level("WARNING", "boxretry")
    with Client(AT_ONCE) as client:
        call = client.submit("GET", server.url(f"/seq/{item}"), deadline=0.1)
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
        with pytest.raises(Exception, match="cancelled"):
            stalled.response()
    assert caplog.records == []


def test_a_client_has_no_listener_unless_there_is_something_to_log(server: Server) -> None:
    """So nothing is paid for it."""
    logger = logging.getLogger("boxretry")
    assert not logger.isEnabledFor(logging.INFO)
    with Client(AT_ONCE) as client:
        assert not client._is_watched


def test_nothing_is_printed_unless_the_program_has_a_handler(server: Server, capfd: pytest.CaptureFixture[str]) -> None:
    """The logging package would print warnings on stderr by itself."""
    assert any(isinstance(handler, logging.NullHandler) for handler in logging.getLogger("boxretry").handlers)


def test_an_asynchronous_client_logs_too(server: Server, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO", "boxretry")
    url = server.url("/seq/503", {"503.h": "Retry-After:0"})

    async def main() -> None:
        async with AsyncClient(AT_ONCE) as client:
            await client.get(url)

    asyncio.run(main())
    about = f"call N: GET {url.partition('?')[0]}: "
    assert log_of(caplog) == [
        f"INFO {about}attempt 1: 503, server_error: again in 0 s",
        f"WARNING {about}gave up after attempt 2: status 503",
    ]

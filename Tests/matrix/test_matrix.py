"""Each fault, for each kind of request and each version of HTTP: what docs/semantics.md says is what happens."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Callable

import pytest
from cells import Result, run
from expectations import OR
from fault import Fault
from fault_server import FaultServer
from fault_table import FAULTS
from kinds import Kind, Times, Version
from report import PROPERTY
from sending import text_of

Row = dict[tuple[Kind, Times], Result]


class Deviation(AssertionError):
    """A call does not come to what it should."""


#: Rows that are run side by side: most of the time they wait.
AT_ONCE = 8


@pytest.fixture(scope="session")
def rows(
    request: pytest.FixtureRequest, server: FaultServer, quiet_server: FaultServer, names: None
) -> Iterator[dict[tuple[Version, str], Future[Row]]]:
    """The results of the rows with cells to test. They begin here."""
    with ThreadPoolExecutor(AT_ONCE) as threads:
        rows: dict[tuple[Version, str], Future[Row]] = {}
        for version, fault in _rows_of(request.session.items):
            its_server = quiet_server if fault.is_about_time else server
            rows[version, fault.name] = threads.submit(run, version, fault, its_server)
        yield rows
        for row in rows.values():
            row.cancel()


def _rows_of(items: list[pytest.Item]) -> list[tuple[Version, Fault]]:
    rows = {}
    for item in items:
        if (of_item := getattr(item, "callspec", None)) is not None:
            version, fault = of_item.params["version"], of_item.params["fault"]
            rows[version, fault.name] = version, fault
    return list(rows.values())


def deviating(fault: Fault) -> list[pytest.MarkDecorator]:
    raises = AssertionError if fault.deviates_in_record else Deviation
    return [pytest.mark.xfail(strict=True, raises=raises, reason=fault.deviation)] if fault.deviation else []


def every_cell() -> list[Any]:
    return [
        pytest.param(
            version,
            fault,
            kind,
            times,
            id=f"{version.value}-{fault.name}-{kind.value}-{times.value}",
            marks=deviating(fault),
        )
        for version, faults in FAULTS.items()
        for fault in faults
        for kind in Kind
        for times in Times
        if fault.cell(times) is not None
    ]


@pytest.mark.parametrize(("version", "fault", "kind", "times"), every_cell())
def test_a_fault_comes_to_what_the_semantics_say(
    rows: dict[tuple[Version, str], Future[Row]],
    record_property: Callable[[str, object], None],
    version: Version,
    fault: Fault,
    kind: Kind,
    times: Times,
) -> None:
    result = rows[version, fault.name].result()[kind, times]
    text = text_of(result.end)
    cell = fault.cell(times)
    assert cell is not None
    expected = cell(kind)
    is_right = text in expected.split(OR)
    record_property(
        PROPERTY, "\n".join([version.value, fault.name, kind.value, times.value, expected if is_right else text])
    )
    if result.failure is not None:
        raise result.failure
    if not is_right:
        why = [f"{attempt.curl_code} {attempt.curl_text}" for attempt in result.end.attempts]
        raise Deviation(f"it is\n  {text}\nand should be\n  {expected}\nlibcurl said {why}")

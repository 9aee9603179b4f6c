"""docs/testing-tools.md: which intercepting tools see the requests of this package. Each cell there is a test."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Callable

import pytest

for _name in ("pytest_httpserver", "pytest_httpx", "requests_mock", "responses", "respx", "vcr"):
    pytest.importorskip(_name)

import httpx  # noqa: E402
import requests  # noqa: E402
import requests_mock  # noqa: E402
import responses  # noqa: E402
import respx  # noqa: E402
import vcr  # noqa: E402
from pytest_httpserver import HTTPServer  # noqa: E402
from pytest_httpx import HTTPXMock  # noqa: E402
from requests.adapters import HTTPAdapter  # noqa: E402

from boxretry import Client, RetryStrategy  # noqa: E402
from boxretry.aio import AsyncClient  # noqa: E402
from boxretry.integrations.httpx import AsyncRetryTransport, RetryTransport  # noqa: E402
from boxretry.integrations.requests import RetryAdapter  # noqa: E402
from boxretry.testing import Answer, ScriptedServer  # noqa: E402

PAGE = Path(__file__).parents[3] / "docs" / "testing-tools.md"
COLUMNS = ["client", "requests", "httpx"]


def table() -> dict[str, dict[str, str]]:
    """The page's row for each tool."""
    rows = re.findall(r"^\| (?!tool |---)(.*) \|$", PAGE.read_text(), re.MULTILINE)
    cells = [[cell.strip() for cell in row.split("|")] for row in rows]
    return {row[0].strip("`"): dict(zip(COLUMNS, row[1:])) for row in cells}


def quick() -> RetryStrategy:
    return RetryStrategy(retry_base_interval=0.001)


def by_client(url: str) -> tuple[int, str]:
    with Client(quick()) as client:
        response = client.get(url)
        return response.status, response.text


def by_async_client(url: str) -> tuple[int, str]:
    async def work() -> tuple[int, str]:
        async with AsyncClient(quick()) as client:
            response = await client.get(url)
            return response.status, response.text

    return asyncio.run(work())


def by_requests(url: str, adapter: Any = None) -> tuple[int, str]:
    with requests.Session() as session:
        session.mount("http://", adapter or RetryAdapter(quick()))
        response = session.get(url)
        return response.status_code, response.text


def by_httpx(url: str, transport: Any = None) -> tuple[int, str]:
    with httpx.Client(transport=transport or RetryTransport(quick())) as client:
        response = client.get(url)
        return response.status_code, response.text


def by_httpx_async(url: str) -> tuple[int, str]:
    async def work() -> tuple[int, str]:
        async with httpx.AsyncClient(transport=AsyncRetryTransport(quick())) as client:
            response = await client.get(url)
            return response.status_code, response.text

    return asyncio.run(work())


WAYS: list[tuple[str, Callable[[str], tuple[int, str]]]] = [
    ("client", by_client),
    ("client", by_async_client),
    ("requests", by_requests),
    ("httpx", by_httpx),
    ("httpx", by_httpx_async),
]


@contextmanager
def with_responses(url: str, cassettes: Path) -> Iterator[object]:
    with responses.RequestsMock(assert_all_requests_are_fired=False) as mock:
        mock.add("GET", url, status=503, body="mocked")
        yield mock


@contextmanager
def with_requests_mock(url: str, cassettes: Path) -> Iterator[object]:
    with requests_mock.Mocker() as mock:
        mock.get(url, status_code=503, text="mocked")
        yield mock


@contextmanager
def with_respx(url: str, cassettes: Path) -> Iterator[object]:
    with respx.mock(assert_all_called=False) as router:
        router.get(url).respond(503, text="mocked")
        yield router


@contextmanager
def with_vcrpy(url: str, cassettes: Path) -> Iterator[object]:
    """Recorded with requests itself."""
    with vcr.use_cassette(str(cassettes / "a.yaml")):
        by_requests(url, HTTPAdapter())
    with vcr.use_cassette(str(cassettes / "a.yaml"), record_mode="none") as cassette:
        yield cassette


Interceptor = Callable[[str, Path], AbstractContextManager[object]]
INTERCEPTORS: dict[str, Interceptor] = {
    "requests-mock": with_requests_mock,
    "responses": with_responses,
    "respx": with_respx,
    "vcrpy": with_vcrpy,
}
NAMES = [*INTERCEPTORS, "pytest-httpx"]


def cells(tools: list[str]) -> list[Any]:
    """A test for each cell of these rows that is not empty, and each way to send a request."""
    found = [(tool, column, way) for tool in tools for column, way in WAYS if table()[tool][column]]
    return [pytest.param(*each, id=f"{each[0]}-{each[2].__name__}") for each in found]


def test_the_page_has_every_tool_and_no_other() -> None:
    assert set(table()) == {*NAMES, "boxretry.testing", "pytest-httpserver"}
    assert {cell for row in table().values() for cell in row.values()} == {"yes", "yes, without retries", "no", ""}


@pytest.mark.parametrize(("tool", "column", "way"), cells(list(INTERCEPTORS)))
def test_a_tool_that_intercepts(tool: str, column: str, way: Callable[[str], tuple[int, str]], tmp_path: Path) -> None:
    """If the tool does not see the request, the real server gets it, with retries."""
    answers = [Answer(503, body="busy"), Answer(200, body="real")]
    with ScriptedServer(answers) as server, INTERCEPTORS[tool](server.url + "/a", tmp_path):
        before = len(server.requests)
        came, requests_at_server = way(server.url + "/a"), len(server.requests) - before
    if table()[tool][column] == "no":
        assert came == (200, "real")
        assert requests_at_server == (1 if tool == "vcrpy" else 2)  # Recording took the first answer.
    else:
        assert (came, requests_at_server) == ((503, "mocked"), 0)


@pytest.mark.parametrize("tool", INTERCEPTORS)
def test_each_tool_does_intercept_what_it_is_for(tool: str, tmp_path: Path) -> None:
    answers = [Answer(503, body="mocked"), Answer(200, body="real")]
    with ScriptedServer(answers) as server, INTERCEPTORS[tool](server.url + "/a", tmp_path):
        came = by_httpx(server.url + "/a", httpx.HTTPTransport()) if tool == "respx" else None
        assert (came or by_requests(server.url + "/a", HTTPAdapter())) == (503, "mocked")


@pytest.mark.httpx_mock(assert_all_responses_were_requested=False)
@pytest.mark.parametrize(("tool", "column", "way"), cells(["pytest-httpx"]))
def test_pytest_httpx(httpx_mock: HTTPXMock, tool: str, column: str, way: Callable[[str], tuple[int, str]]) -> None:
    assert table()[tool][column] == "no"
    httpx_mock.add_response(text="mocked")
    with ScriptedServer([503, Answer(200, body="real")]) as server:
        assert way(server.url + "/a") == (200, "real")
        assert len(server.requests) == 2


@pytest.mark.parametrize(("tool", "column", "way"), cells(["boxretry.testing"]))
def test_a_scripted_server(tool: str, column: str, way: Callable[[str], tuple[int, str]]) -> None:
    assert table()[tool][column] == "yes"
    with ScriptedServer([503, Answer(200, body="real")]) as server:
        assert way(server.url + "/a") == (200, "real")


@pytest.mark.parametrize(("tool", "column", "way"), cells(["pytest-httpserver"]))
def test_pytest_httpserver(
    httpserver: HTTPServer, tool: str, column: str, way: Callable[[str], tuple[int, str]]
) -> None:
    assert table()[tool][column] == "yes"
    httpserver.expect_ordered_request("/a").respond_with_data("busy", status=503)
    httpserver.expect_ordered_request("/a").respond_with_data("real")
    assert way(httpserver.url_for("/a")) == (200, "real")
    httpserver.check()


def test_what_the_page_advises_for_tests_of_answers(httpx_mock: HTTPXMock, tmp_path: Path) -> None:
    url = "http://api.example/a"
    with with_responses(url, tmp_path):
        assert by_requests(url, HTTPAdapter()) == (503, "mocked")
    with respx.mock(assert_all_called=False, using=None) as router:
        router.get(url).respond(503, text="mocked")
        assert by_httpx(url, httpx.MockTransport(router.handler)) == (503, "mocked")
    httpx_mock.add_response(status_code=503, text="mocked")
    assert by_httpx(url, httpx.HTTPTransport()) == (503, "mocked")

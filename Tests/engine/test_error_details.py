"""What error answers say about themselves (issue 12, item 7), in the shapes of Box, January and OAuth."""

from __future__ import annotations

import json
import pickle
from typing import Any

import pytest
from boxretry import Client, HTTPStatusError
from calls import once
from fault_server import FaultServer
from raw_server import RawServer

BOX = {
    "type": "error",
    "status": 409,
    "code": "item_name_in_use",
    "help_url": "http://developers.box.com/docs/#errors",
    "message": "Item with the same name already exists",
    "request_id": "2132632057555f584de87b7",
}
JANUARY = {"type": "about:blank", "title": "Unauthorized", "status": 401, "detail": "Expired.", "code": "token_expired"}


@pytest.fixture(scope="module")
def client() -> Any:
    with Client(once()) as client:
        yield client


def error(server: FaultServer, client: Client, body: str, status: int = 409, **parameters: Any) -> HTTPStatusError:
    response = client.get(server.url(f"/seq/{status}", body=body.encode().decode("latin-1"), **parameters))
    with pytest.raises(HTTPStatusError) as raised:
        response.raise_for_status()
    return raised.value


def details(error: HTTPStatusError) -> list[str | float | None]:
    return [error.code, error.message, error.request_id, error.help_url, error.retry_after]


def test_boxs_error(server: FaultServer, client: Client) -> None:
    raised = error(server, client, json.dumps(BOX), h="Retry-After: 7")
    assert raised.status == 409
    assert details(raised) == [BOX["code"], BOX["message"], BOX["request_id"], BOX["help_url"], 7.0]
    assert raised.response.error_detail("retry_after") == "7"


def test_januarys_error(server: FaultServer, client: Client) -> None:
    raised = error(server, client, json.dumps(JANUARY), status=401, h="X-Request-Id: req_1")
    assert details(raised) == ["token_expired", "Expired.", "req_1", None, None]


def test_oauths_error(server: FaultServer, client: Client) -> None:
    raised = error(server, client, '{"error": "invalid_grant", "error_description": "No."}', status=400)
    assert details(raised)[:2] == ["invalid_grant", "No."]


@pytest.mark.parametrize("header", ["Box-Request-Id", "x-request-id"])
def test_the_request_id_may_be_in_a_header(server: FaultServer, client: Client, header: str) -> None:
    assert error(server, client, "<html>", h=f"{header}: abc").request_id == "abc"
    assert error(server, client, '{"request_id": "own"}', h=f"{header}: abc").request_id == "own"


def test_a_name_that_stands_twice_says_nothing(server: FaultServer, client: Client) -> None:
    """F109."""
    raised = error(server, client, '{"code": "a", "code": "b", "message": "m", "request_id": "x", "request_id": "y"}')
    assert (raised.code, raised.request_id) == (None, None)


@pytest.mark.parametrize(
    "body",
    [
        *("", "[]", "{", '"code"', '{"code": 5}', '{"code": null}', '{"code": {"code": "x"}}', '{"code": ""}'),
        *('{"x": 1}x', '{"code": "a\\u0000b"}'),
    ],
)
def test_missing_details_are_none(server: FaultServer, client: Client, body: str) -> None:
    assert details(error(server, client, body)) == [None] * 5


def test_a_body_above_64_kib_is_not_read(server: FaultServer, client: Client) -> None:
    for length, code in ((65_536, "x"), (65_537, None)):
        body = '{"code": "x"' + " " * (length - len('{"code": "x"}')) + "}"
        with RawServer(f"HTTP/1.1 409 Conflict\r\nContent-Length: {length}\r\n\r\n{body}".encode()) as raw:
            assert client.get(raw.url).error_detail("code") == code


def test_escapes_are_resolved_and_the_text_is_any(server: FaultServer, client: Client) -> None:
    raised = error(server, client, '{"message": "\\u00e4\\n\\ud83d\\ude00 \\"é\\"", "code": "a b"}')
    assert (raised.message, raised.code) == ('ä\n😀 "é"', "a b")


def test_a_success_has_no_error_details(server: FaultServer, client: Client) -> None:
    response = client.get(server.url("/seq/200", body=json.dumps(BOX), h="X-Request-Id: 1"))
    assert response.error_detail("code") is response.error_detail("request_id") is None
    assert response.error_detail("other") is None


def test_copies_have_them_too(server: FaultServer, client: Client) -> None:
    response = client.get(server.url("/seq/409", body=json.dumps(BOX)))
    assert pickle.loads(pickle.dumps(response)).error_detail("code") == "item_name_in_use"

"""Derived clients, headers and query parameters for all requests of a client (issue 12, item 7)."""

from __future__ import annotations

import asyncio
from ctypes import byref, c_void_p
from typing import Any

import pytest
from boxretry import (
    AttemptRequest,
    CancelledError,
    Client,
    ClosedError,
    Error,
    FixedToken,
    IdleTimeoutError,
    ManualClock,
    Preset,
    ReceiveError,
    ResponseTooLargeError,
    RetryBudget,
    RetryStrategy,
    Timeout,
)
from boxretry._c import _abi
from boxretry._c.arguments import new
from boxretry.aio import AsyncClient
from calls import in_both_ways, once, quick
from fault_server import FaultServer


def values_of(request: dict[str, Any], name: str) -> list[str]:
    return [value for each, value in request["headers"] if each.lower() == name]


# --- Headers and parameters for all requests ---


def test_a_clients_headers_go_with_each_request(server: FaultServer) -> None:
    id = server.new_id()
    with Client(quick(), headers=[("X-A", "1"), ("x-a", "2"), ("User-Agent", "mine")]) as client:
        for response in in_both_ways(client, "GET", server.url("/seq/503,200", id=id)):
            assert response.status == 200
    seen = server.seen(id)
    assert len(seen) == 3, "a retry has them too"
    for request in seen:
        assert (values_of(request, "x-a"), values_of(request, "user-agent")) == (["1", "2"], ["mine"])


def test_a_request_replaces_those_of_the_same_name(server: FaultServer) -> None:
    id = server.new_id()
    with Client(once(), headers={"X-A": "1", "X-B": "2"}) as client:
        client.get(server.url("/seq/200", id=id), headers={"x-a": "3", "X-C": "4"})
        client.get(server.url("/seq/200", id=id), idempotency_key="key")
    first, second = server.seen(id)
    assert [values_of(first, f"x-{name}") for name in "abc"] == [["3"], ["2"], ["4"]]
    assert (values_of(second, "x-a"), values_of(second, "idempotency-key")) == (["1"], ["key"])


def test_a_clients_authorization_wins_over_its_token_and_stays_with_its_origin(server: FaultServer) -> None:
    """T13."""
    id = server.new_id()
    other = f"http://127.0.0.1:{server.open('http')}"
    with (
        FixedToken("secret") as source,
        Client(once(), headers={"Authorization": "mine"}, token_source=source) as client,
    ):
        client.get(server.url("/seq/302,200", {"to": other}, id=id))
    assert [values_of(request, "authorization") for request in server.seen(id)] == [["mine"], []]


@pytest.mark.parametrize("headers", [{"Content-Length": "1"}, {"A B": "1"}, {"X": "a\nb"}])
def test_a_header_that_is_not_valid_is_refused_when_the_client_is_made(headers: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"options\.headers\[0\]"):
        Client(headers=headers)


def test_a_clients_parameters_go_into_each_url(server: FaultServer) -> None:
    id = server.new_id()
    with Client(once(), params={"size": 10, "h": ["X-A:1", "X-B:2"], "id": id}) as client:
        response = client.get(server.url("/seq/200"))
        assert (len(response.content), response.headers["x-a"], response.headers["x-b"]) == (10, "1", "2")
        own = client.get(server.url("/seq/200") + "#f", params={"size": 20, "body": None})
        assert (len(own.content), own.headers["x-a"]) == (20, "1")
        with client.stream("GET", server.url("/seq/200")) as stream:
            assert len(stream.read()) == 10
    assert len(server.seen(id)) == 3


# --- Derived clients ---


def test_a_derived_client_shares_connections_and_token_and_has_its_own_headers(server: FaultServer) -> None:
    id, port = server.new_id(), server.open("http")
    url = f"http://127.0.0.1:{port}{server.target('/seq/200', id=id)}"
    with (
        FixedToken("secret") as source,
        Client(once(), headers={"X-A": "1", "X-B": "2"}, token_source=source) as client,
        client.derived(headers={"As-User": "7", "x-b": "3"}) as derived,
    ):
        client.get(url)
        derived.get(url)
        assert derived.stats() == client.stats()
    first, second = server.seen(id)
    assert [values_of(first, name) for name in ("x-a", "x-b", "as-user")] == [["1"], ["2"], []]
    assert [values_of(second, name) for name in ("x-a", "x-b", "as-user")] == [["1"], ["3"], ["7"]]
    assert [values_of(each, "authorization") for each in (first, second)] == [["Bearer secret"]] * 2
    assert len(server.connections(port)) == 1


def test_a_derived_client_has_its_own_strategy_timeouts_and_parameters(server: FaultServer) -> None:
    with Client(quick(), timeout=Timeout(60_000), params={"size": 1}) as client:
        derived = client.derived(once(), timeout=Timeout(30), params={"every": 0}, deadline=60)
        assert len(derived.get(server.url("/seq/503", id=server.new_id())).attempts) == 1
        with pytest.raises(IdleTimeoutError):
            derived.get(server.url("/seq/stall"))
        assert len(client.get(server.url("/seq/503,200", id=server.new_id())).content) == 1
        again = derived.derived(quick(max_attempts=3), params={"size": 2})
        assert len(again.get(server.url("/seq/503,503,200", id=server.new_id())).content) == 2


def test_what_is_not_given_is_as_in_the_original(server: FaultServer) -> None:
    """A hook, the preset's switch for reconnects (B13), limits."""
    id = server.new_id()

    def sign(request: AttemptRequest) -> None:
        request.set_header("X-Signed", "yes")

    url = server.url("/seq/200,reset", id=id)
    with Client(preset=Preset.JANUARY, before_attempt=sign, follow_redirects=False, body_limit=10) as client:
        derived = client.derived(headers={"X-A": "1"})
        with pytest.raises(ResponseTooLargeError):
            derived.get(server.url("/seq/200", size=11))
        assert derived.get(server.url("/seq/302", size=1)).status == 302
        assert derived.get(url + "&size=1").status == 200
        with pytest.raises(ReceiveError):
            derived.get(url + "&size=1")
    assert [values_of(request, "x-signed") for request in server.seen(id)] == [["yes"], ["yes"]]


@pytest.mark.parametrize("closes_first", ["original", "derived"])
def test_either_can_be_closed_first(server: FaultServer, closes_first: str) -> None:
    """Closing one ends its own calls only, and refuses only its own further ones."""
    client = Client(once())
    derived = client.derived(headers={"X-A": "1"})
    first, second = (client, derived) if closes_first == "original" else (derived, client)
    stalled, id = server.url("/seq/stall"), server.new_id()
    calls = [first.submit("GET", stalled), second.submit("GET", server.url("/seq/200", id=id, first=50))]
    first.close()
    with pytest.raises(CancelledError):
        calls[0].response(10)
    assert calls[1].response(10).status == 200
    with pytest.raises(ClosedError):
        first.get(stalled)
    assert second.get(server.url("/seq/200")).status == 200
    waiting = second.submit("GET", stalled)
    second.close()
    with pytest.raises(CancelledError):
        waiting.response(10)


def test_nothing_is_derived_from_a_client_that_is_closed() -> None:
    client = Client()
    client.close()
    with pytest.raises(ClosedError):
        client.derived()


@pytest.mark.parametrize(
    "setting", [{"proxy": "http://a"}, {"max_transfers": 1}, {"on_event": print}, {"ca_file": "x"}]
)
def test_what_is_shared_cannot_be_set(setting: dict[str, Any]) -> None:
    message = f"{next(iter(setting))}.*derived clients share this setting"
    with Client() as client, pytest.raises(TypeError, match=message):
        client.derived(**setting)


SHARED: dict[str, Any] = {
    **{"user_agent": b"x", "ca_file": b"x", "ca_path": b"x", "proxy": b"http://a", "proxy_mode": 1, "max_transfers": 1},
    **{"preset": 1, "max_transfers_per_host": 1, "max_lookups": 1, "client_certificate": b"x", "client_key": b"x"},
    **{"client_key_password": b"x", "unix_socket": b"x", "secret_header_count": 1, "replay_code_count": 1},
    **{"budget_capacity": 1, "budget_ratio": 0.5, "tls_verify": -1, "share_retry_after": 1, "threads": 1},
    **{"on_event": _abi.EventCallback(lambda *_: None), "on_transfer": _abi.TransferCallback(lambda *_: None)},
    **{"budget": RetryBudget(1), "clock": ManualClock()},
}
#: The fields that a derived client may set, and those that only go with another one.
OF_DERIVED = {
    *("strategy", "timeouts", "deadline_ms", "max_total_attempts", "max_response_headers", "max_response_header_bytes"),
    *("body_limit", "error_body_limit", "http_version", "max_redirects", "compression", "idempotency_key_header"),
    *("before_attempt", "token_source", "allow_insecure_token", "connect_timeout_ms", "reconnect", "header_count"),
}
COMPANIONS = {
    *("struct_size", "on_event_context", "on_transfer_context", "before_attempt_context"),
    *("secret_headers", "replay_codes", "headers"),
}


def test_each_option_is_shared_or_of_the_derived_client() -> None:
    fields = {name for name, *_ in _abi.ClientOptions._fields_}
    assert fields == SHARED.keys() | OF_DERIVED | COMPANIONS


@pytest.mark.parametrize("field", SHARED)
def test_the_c_interface_names_what_cannot_be_set(field: str) -> None:
    struct = new(_abi.ClientOptions, _abi.boxretry_client_options_init)
    value = SHARED[field]
    setattr(struct, field, value._open_handle().pointer if hasattr(value, "_open_handle") else value)
    made = c_void_p()
    with Client() as client:
        handle = client._open_handle()
        assert _abi.boxretry_client_new_derived(handle.pointer, byref(struct), byref(made)) == Error.INVALID_ARGUMENT
        assert _abi.boxretry_last_error_detail().startswith(f"options.{field}: is shared with the client".encode())
        assert not made.value
        assert _abi.boxretry_client_new_derived(None, None, byref(made)) == Error.INVALID_ARGUMENT
        assert _abi.boxretry_client_new_derived(handle.pointer, None, None) == Error.INVALID_ARGUMENT


def test_events_of_derived_clients_come_to_the_listener_of_the_original(server: FaultServer) -> None:
    kinds: list[str] = []
    client = Client(once(), on_event=lambda event: kinds.append(event.kind.name))
    derived = client.derived()
    client.close()
    del client
    derived.get(server.url("/seq/200"))
    derived.close()
    assert kinds == ["ATTEMPT_BEGAN", "ATTEMPT_ENDED", "CALL_ENDED"]


def test_an_asynchronous_client_can_be_derived_too(server: FaultServer) -> None:
    id = server.new_id()

    async def main() -> int:
        async with (
            AsyncClient(once(), headers={"X-A": "1"}) as client,
            client.derived(headers={"X-B": "2"}, params={"id": id}) as derived,
        ):
            return (await derived.get(server.url("/seq/200"))).status

    assert asyncio.run(main()) == 200
    (request,) = server.seen(id)
    assert (values_of(request, "x-a"), values_of(request, "x-b")) == (["1"], ["2"])


def test_many_derived_clients_in_many_threads(server: FaultServer) -> None:
    """K5: made, used and closed at the same time."""
    from concurrent.futures import ThreadPoolExecutor

    with Client(RetryStrategy(max_attempts=0)) as client:

        def use(number: int) -> list[Any]:
            with client.derived(headers={"X-Number": str(number)}) as derived:
                return [derived.get(server.url("/echo")).json()["headers"] for _ in range(3)]

        with ThreadPoolExecutor(8) as pool:
            for number, seen in enumerate(pool.map(use, range(40))):
                assert all(["X-Number", str(number)] in headers for headers in seen)
        assert client.stats().calls_ended == 120

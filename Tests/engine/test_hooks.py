"""What is changed from attempt to attempt, and what never is: hooks and idempotency keys (B12)."""

from __future__ import annotations

import re
from typing import Any

import pytest
from boxretry import (
    AttemptRequest,
    CallbackFailedError,
    Client,
    ClosedError,
    InCallbackError,
    InvalidArgumentError,
    NetworkError,
    Reason,
    RetrySafety,
)
from calls import in_both_ways, once, quick, recorded, sent_header, statuses
from fault_server import FaultServer

KINDS = ["http", "h2"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", ["client", "request"])
def test_b12_a_hook_changes_the_headers_of_each_sending(server: FaultServer, kind: str, place: str) -> None:
    """And what it changed is gone in the next: retries, redirects and reconnects each have their own."""
    told: list[tuple[int, str, str]] = []

    def sign(request: AttemptRequest) -> None:
        told.append((request.attempt_number, request.method, request.url))
        assert request.user_data is mine
        assert request.header("x-signature") == "mine"
        assert request.header("X-None") is None
        request.set_header("X-Signature", f"{len(told)}")
        request.set_header(f"X-{len(told)}", "ü")
        request.set_header("X-Gone", None)
        assert request.header("X-GONE") is None
        assert request.header("x-signature") == f"{len(told)}"

    mine, id = object(), server.new_id()
    url = server.url("/seq/503,reset,307,200", id=id, kind=kind)
    options: dict[str, Any] = {"before_attempt": sign}
    with Client(quick(), ca_file=server.ca, **(options if place == "client" else {})) as client:
        response = client.post(
            url,
            data="body",
            headers=[("X-Signature", "mine"), ("x-signature", "twice"), ("X-Gone", "1"), ("X-Stays", "1")],
            user_data=mine,
            **(options if place == "request" else {}),
        )
    seen = server.seen(id)
    assert len(seen) == recorded(response.attempts) == len(told) == 4
    assert [number for number, _, _ in told] == [1, 2, 3, 3]
    assert {(method, where) for _, method, where in told} == {("POST", url)}
    for number, request in enumerate(seen, 1):
        assert sent_header(request, "X-Signature") == [str(number)]
        assert sent_header(request, "X-Gone") == []
        assert sent_header(request, "X-Stays") == ["1"]
        assert [name.lower() for name, _ in request["headers"] if re.fullmatch(r"(?i)x-\d", name)] == [f"x-{number}"]


def test_b13_a_hook_is_called_for_a_reconnect(server: FaultServer) -> None:
    numbers: list[int] = []
    id = server.new_id()
    with Client(quick(), before_attempt=lambda request: numbers.append(request.attempt_number)) as client:
        url = server.url("/seq/200,close,200", id=id)
        client.get(url)
        response = client.get(url)
    assert (response.attempts[0].reconnects, numbers) == (1, [1, 1, 1])


def test_a_request_s_hook_is_in_place_of_its_client_s(server: FaultServer) -> None:
    called: list[str] = []
    with Client(quick(), before_attempt=lambda _: called.append("client")) as client:
        client.get(server.url("/seq/200", id=server.new_id()), before_attempt=lambda _: called.append("request"))
        client.get(server.url("/seq/200", id=server.new_id()))
    assert called == ["request", "client"]


@pytest.mark.parametrize("place", ["client", "request"])
@pytest.mark.parametrize("at", [1, 2])
def test_what_a_hook_raises_ends_the_call(server: FaultServer, place: str, at: int) -> None:
    """Nothing is sent then; it is the cause of the error."""

    def hook(request: AttemptRequest) -> None:
        if request.attempt_number == at:
            raise KeyError("mine")

    id = server.new_id()
    options: dict[str, Any] = {"before_attempt": hook}
    with Client(quick(), **(options if place == "client" else {})) as client:
        url = server.url("/seq/503,200", id=id, cycle="")
        for number in (1, 2):
            (error, _) = in_both_ways(client, "GET", url, **(options if place == "request" else {}))
            assert type(error) is CallbackFailedError
            assert isinstance(error.__cause__, KeyError)
            assert statuses(error.attempts)[: at - 1] == [503] * (at - 1)
            assert len(server.seen(id)) == 2 * number * (at - 1)
            if at == 2:
                break


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("X-A", "a\r\nX-B: b"),
        ("X-A\r\nX-B", "b"),
        ("", "a"),
        ("X A", "a"),
        ("Content-Length", "5"),
        ("Transfer-Encoding", "chunked"),
        ("Expect", "100-continue"),
        ("X-A", "a\0b"),
        ("X-A", "x" * 1_000_001),
    ],
)
def test_a_hook_cannot_smuggle(server: FaultServer, client: Client, name: str, value: str) -> None:
    """The rules for a request's headers hold; a hook that ignores an error continues without that header."""
    refused: list[str] = []

    def hook(request: AttemptRequest) -> None:
        try:
            request.set_header(name, value)
        except InvalidArgumentError as error:
            refused.append(error.detail)

    id = server.new_id()
    client.get(server.url("/seq/200", id=id), before_attempt=hook)
    assert len(refused) == 1
    assert sent_header(server.seen(id)[0], "X-B") == []


def test_a_hook_s_request_is_of_no_use_later(server: FaultServer, client: Client) -> None:
    kept: list[AttemptRequest] = []
    client.get(server.url("/seq/200", id=server.new_id()), before_attempt=kept.append)
    (request,) = kept
    with pytest.raises(ClosedError):
        print(request.url)
    with pytest.raises(ClosedError):
        request.header("X")
    with pytest.raises(ClosedError):
        request.set_header("X", "1")


def test_k4_what_waits_is_refused_in_a_hook(server: FaultServer, client: Client) -> None:
    url = server.url("/seq/200", id=server.new_id())

    def hook(request: AttemptRequest) -> None:
        client.get(url)

    for error in in_both_ways(client, "GET", url, before_attempt=hook):
        assert type(error) is CallbackFailedError
        assert isinstance(error.__cause__, InCallbackError)


def test_t13_a_hook_may_give_a_secret_to_another_place(server: FaultServer, client: Client) -> None:
    """It sees the URL, and what it sets is sent: what is taken away is taken away before it is asked."""
    seen_by_hook: list[str | None] = []

    def hook(request: AttemptRequest) -> None:
        seen_by_hook.append(request.header("Authorization"))
        request.set_header("Authorization", f"for {len(seen_by_hook)}")

    id = server.new_id()
    url = server.url("/seq/302,200", id=id, to=f"http://localhost:{server.ports['http']}")
    client.get(url, headers={"Authorization": "mine"}, before_attempt=hook)
    assert seen_by_hook == ["mine", None]
    assert [sent_header(request, "Authorization") for request in server.seen(id)] == [["for 1"], ["for 2"]]


# --- Idempotency keys ---


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("key", ["mine-1", True])
def test_b12_an_idempotency_key_is_the_same_in_all_attempts(
    server: FaultServer, client: Client, kind: str, key: str | bool
) -> None:
    """Also behind a redirect and a reconnect; another call has another one."""
    keys = []
    for _ in range(2):
        id = server.new_id()
        url = server.url("/seq/503,reset,307,429,200", id=id, kind=kind)
        response = client.post(url, data="x", idempotency_key=key)
        assert response.status == 200
        sent = [sent_header(request, "Idempotency-Key") for request in server.seen(id)]
        assert len(sent) == recorded(response.attempts) == 5
        assert sent == [sent[0]] * 5
        assert len(sent[0]) == 1
        keys.append(sent[0][0])
    if key is True:
        assert keys[0] != keys[1]
        assert all(
            re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", each) for each in keys
        )
    else:
        assert keys == ["mine-1"] * 2


def test_b12_an_idempotency_key_makes_a_post_safe(server: FaultServer) -> None:
    """Given a strategy that does not retry unsafe methods, and an answer that broke off."""
    with Client(quick(retry_unsafe_methods=False)) as client:
        for arguments, attempts in (
            ({}, 1),
            ({"idempotency_key": True}, 2),
            ({"idempotency_key": True, "retry_safety": RetrySafety.UNSAFE}, 1),
        ):
            url = server.url("/seq/reset,200", id=server.new_id())
            given: dict[str, Any] = arguments
            if attempts == 2:
                assert len(client.post(url, **given).attempts) == 2
                continue
            with pytest.raises(NetworkError) as raised:
                client.post(url, **given)
            assert raised.value.attempts[-1].reason is Reason.UNSAFE_REQUEST


def test_the_header_of_idempotency_keys_has_a_name(server: FaultServer) -> None:
    id = server.new_id()
    with Client(quick(), idempotency_key_header="X-Request-Key") as client:
        client.post(server.url("/seq/200", id=id), idempotency_key="k")
    (request,) = server.seen(id)
    assert (sent_header(request, "X-Request-Key"), sent_header(request, "Idempotency-Key")) == (["k"], [])


@pytest.mark.parametrize("key", ["", "a b", "a\n", "ü", "x" * 256, "\x7f"])
def test_invalid_keys(client: Client, key: str) -> None:
    with pytest.raises(InvalidArgumentError, match="idempotency_key"):
        client.post("http://127.0.0.1:1/", idempotency_key=key)
    with pytest.raises(InvalidArgumentError, match="idempotency_key_header"):
        Client(once(), idempotency_key_header="a b")

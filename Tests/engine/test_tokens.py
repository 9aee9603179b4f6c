"""Access tokens in calls, on sockets: B8, the replay (R), T3, T8, T13."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from boxretry import (
    AttemptRequest,
    CancelledError,
    Client,
    ClientTokenProviderFailedError,
    FixedToken,
    InvalidArgumentError,
    Preset,
    Reason,
    RetryStrategy,
    TokenProviderError,
    TokenSource,
)
from calls import Background, once, takes
from fault_server import FaultServer

EXPIRED = json.dumps({"code": "token_expired"})


class Provider:
    """Gives t1, t2, t3 and so on."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> tuple[str, float]:
        self.calls += 1
        return f"t{self.calls}", 3600


def quick() -> RetryStrategy:
    return RetryStrategy(retry_base_interval=0.001)


def failed() -> Any:
    return pytest.raises(ClientTokenProviderFailedError)


def refused() -> Any:
    return pytest.raises(InvalidArgumentError, match="token")


def authorizations(server: FaultServer, id: str) -> list[str]:
    return [dict(request["headers"]).get("Authorization", "") for request in server.seen(id)]


def test_t3_a_thousand_cold_requests_cost_one_token(server: FaultServer) -> None:
    provider, id = Provider(), server.new_id()
    with TokenSource(provider) as source, Client(quick(), token_source=source) as client:
        calls = [client.submit("GET", server.url("/auth", accept="t1", id=id, quiet="")) for _ in range(1000)]
        assert [call.response().status for call in calls] == [200] * 1000
    assert provider.calls == 1


def test_t8_a_token_that_expires_in_the_middle_is_not_a_failure(server: FaultServer) -> None:
    """Given 1,000 requests, of which the later half is refused with the first token: one more is got, for all."""
    provider, id, other = Provider(), server.new_id(), server.new_id()
    with TokenSource(provider) as source, Client(quick(), token_source=source) as client:
        calls = [client.submit("GET", server.url("/auth", accept=["t1", "t2"], id=id, quiet="")) for _ in range(500)]
        calls += [client.submit("GET", server.url("/auth", reject="t1", id=other, quiet="")) for _ in range(500)]
        assert [call.response().status for call in calls] == [200] * 1000
    assert provider.calls == 2


def test_b8_f50_a_file_is_sent_again_with_the_new_token(server: FaultServer, tmp_path: Path) -> None:
    provider, id = Provider(), server.new_id()
    (tmp_path / "file").write_bytes(b"the same bytes")
    url = server.url("/auth", accept="t2", id=id)
    with TokenSource(provider) as source, Client(quick(), token_source=source) as client:
        response = client.put(url, data=(tmp_path / "file").open("rb"))
    assert (response.status, [attempt.status for attempt in response.attempts]) == (200, [401, 200])
    assert [request["body_start"] for request in server.seen(id)] == ["the same bytes"] * 2
    assert authorizations(server, id) == ["Bearer t1", "Bearer t2"]


def test_r1_a_token_that_has_expired_is_replayed(server: FaultServer) -> None:
    provider, id = Provider(), server.new_id()
    url = server.url("/seq/401,200", {"401.body": EXPIRED, "id": id})
    with TokenSource(provider) as source, Client(preset=Preset.JANUARY, token_source=source) as client:
        response = client.post(url, data="x")
    assert (response.status, response.token_error) == (200, None)
    assert [attempt.reason for attempt in response.attempts] == [Reason.TOKEN_EXPIRED, Reason.SUCCESS]
    assert authorizations(server, id) == ["Bearer t1", "Bearer t2"]


@pytest.mark.parametrize(
    "body", ['{"code":"token_expired","code":"token_expired"}', '{"code":"other","cod\\u0065":"token_expired"}']
)
def test_f109_a_401_that_says_its_code_twice_is_the_caller_s(server: FaultServer, body: str) -> None:
    """F109, R1. Given two members of that name, then the 401 comes untouched, and no other token is got."""
    provider, id = Provider(), server.new_id()
    url = server.url("/seq/401,200", {"401.body": body, "id": id})
    with TokenSource(provider) as source, Client(preset=Preset.JANUARY, token_source=source) as client:
        response = client.post(url, data="x")
    assert (response.status, response.text, provider.calls) == (401, body, 1)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_r1_replay_codes_of_one_s_own(server: FaultServer, method: str) -> None:
    """With no retry strategy: the codes that were given are replayed, and no others; case matters."""
    for code, is_replayed in (("stale", True), ("worn", True), ("STALE", False), ("token_expired", False)):
        provider, id = Provider(), server.new_id()
        url = server.url("/seq/401,200", {"401.body": json.dumps({"code": code}), "id": id})
        with (
            TokenSource(provider) as source,
            Client(once(), token_source=source, replay_codes=["stale", "worn"]) as client,
        ):
            response = client.request(method, url, data=b"x")
        assert [attempt.status for attempt in response.attempts] == ([401, 200] if is_replayed else [401])
        assert authorizations(server, id) == (["Bearer t1", "Bearer t2"] if is_replayed else ["Bearer t1"])
        assert provider.calls == len(response.attempts)


def test_r1_b8_in_a_mix_the_replay_comes_first_and_once(server: FaultServer) -> None:
    provider, id = Provider(), server.new_id()
    url = server.url("/seq/401*3,200", {"401.body": EXPIRED, "id": id})
    with (
        TokenSource(provider) as source,
        Client(quick(), token_source=source, replay_codes=["token_expired"]) as client,
    ):
        response = client.get(url)
    assert [attempt.reason for attempt in response.attempts] == [
        Reason.TOKEN_EXPIRED,
        Reason.UNAUTHORIZED,
        Reason.UNAUTHORIZED,
        Reason.SUCCESS,
    ]
    assert [attempt.delay > 0 for attempt in response.attempts] == [False, True, True, False]
    assert authorizations(server, id) == [f"Bearer t{number}" for number in (1, 2, 3, 4)]


def test_a_request_s_token_source_wins(server: FaultServer) -> None:
    """And it is the one whose token a 401 drops."""
    id = server.new_id()
    mine = Provider()
    with (
        FixedToken("theirs") as theirs,
        TokenSource(mine) as source,
        Client(quick(), token_source=theirs) as client,
    ):
        assert client.get(server.url("/auth", accept="t2", id=id), token_source=source).status == 200
        assert client.get(server.url("/seq/200", id=id)).status == 200
        assert theirs.get().value == "theirs"
    assert authorizations(server, id) == ["Bearer t1", "Bearer t2", "Bearer theirs"]


@pytest.mark.parametrize("authorization", [True, False])
def test_authorization_on_and_off(server: FaultServer, authorization: bool) -> None:
    """OFF: no token is fetched or sent, and a 401 does not reject one."""
    provider, id = Provider(), server.new_id()
    with TokenSource(provider) as source, Client(quick(), token_source=source) as client:
        response = client.get(server.url("/auth", accept="t2", id=id), authorization=authorization)
    expected = (200, 2, ["Bearer t1", "Bearer t2"]) if authorization else (401, 0, [""])
    assert (response.status, provider.calls, authorizations(server, id)) == expected


class Once(Provider):
    """Gives one token, and fails without retries after that."""

    def __call__(self) -> tuple[str, float]:
        if self.calls == 1:
            self.calls += 1
            raise TokenProviderError("there is no other")
        return super().__call__()


def test_r4_without_another_token_the_401_is_the_response(server: FaultServer) -> None:
    url = server.url("/seq/401", {"401.body": EXPIRED, "id": server.new_id()})
    with TokenSource(Once()) as source, Client(preset=Preset.JANUARY, token_source=source) as client:
        response = client.get(url)
    assert (response.status, response.text) == (401, EXPIRED)
    assert isinstance(response.token_error, ClientTokenProviderFailedError)


def test_f115_without_another_token_the_call_ends_at_once(server: FaultServer) -> None:
    """B8. And not after the 60 s for which the server asks."""
    id = server.new_id()
    url = server.url("/seq/401", {"401.body": "no", "h": "Retry-After:60", "id": id})
    with TokenSource(Once()) as source, Client(quick(), token_source=source) as client, takes(0), failed() as caught:
        client.get(url)
    assert caught.value.response is not None and caught.value.response.text == "no"
    assert len(server.seen(id)) == len(caught.value.attempts) == 1


def test_f114_the_new_token_is_fetched_beside_the_wait(server: FaultServer) -> None:
    """B8. Given 401 with Retry-After: 1, then the provider is asked right after it, and the server again after 1 s."""
    asked: list[float] = []

    def provider() -> tuple[str, float]:
        asked.append(time.monotonic())
        return f"t{len(asked)}", 3600

    id = server.new_id()
    url = server.url("/seq/401,200", {"401.h": "Retry-After:1", "id": id})
    with TokenSource(provider) as source, Client(quick(), token_source=source) as client:
        source.get()
        begun = time.monotonic()
        response = client.get(url)
        took = time.monotonic() - begun
    first, second = response.attempts
    assert (first.delay, asked[1] - begun < took - 0.9) == (1, True)
    assert second.started_ms - first.ended_ms >= 1000
    assert authorizations(server, id) == ["Bearer t1", "Bearer t2"]


@pytest.mark.parametrize("preset", list(Preset))
def test_f116_a_fixed_token_stays(server: FaultServer, preset: Preset) -> None:
    """B8, T12. A 401 reaches the caller at once, after one request; the next request has the same token."""
    id = server.new_id()
    url = server.url("/seq/401,200", {"401.body": EXPIRED, "id": id})
    with FixedToken("only") as source, Client(preset=preset, token_source=source) as client, takes(0):
        response = client.get(url)
        assert (response.status, response.token_error, len(response.attempts)) == (401, None, 1)
        assert client.get(url).status == 200
    assert authorizations(server, id) == ["Bearer only", "Bearer only"]


@pytest.mark.parametrize("way", ["blocking", "submitted"])
def test_f113_a_provider_that_cancels_cancels_the_call(server: FaultServer, way: str) -> None:
    """T4. The call ends with CancelledError, and says that it was the provider."""

    def provider() -> tuple[str, float]:
        raise CancelledError("mine")

    url = server.url("/auth", id=server.new_id())
    with (
        TokenSource(provider) as source,
        Client(quick(), token_source=source) as client,
        pytest.raises(CancelledError, match="the token provider canceled") as caught,
    ):
        _ = client.get(url) if way == "blocking" else client.submit("GET", url).response()
    assert str(caught.value.__cause__) == "mine"


@pytest.mark.parametrize("raised", [KeyError("mine"), TokenProviderError("why"), KeyboardInterrupt()])
def test_f68_what_a_provider_raised_is_the_cause_of_what_the_call_raises(
    server: FaultServer, raised: BaseException
) -> None:
    """T4. In the client's own call, in one that is submitted, and in one with its own source."""

    def provider() -> tuple[str, float]:
        raise raised

    url = server.url("/auth", id=server.new_id())
    with TokenSource(provider) as source, Client(quick(), token_source=source) as client, Client(quick()) as other:
        for send in (
            lambda: client.get(url),
            lambda: client.submit("GET", url).response(),
            lambda: client.stream("GET", url).__enter__(),
            lambda: other.get(url, token_source=source),
            lambda: Background(lambda: client.get(url)).result(),
        ):
            with failed() as caught:
                send()
            assert caught.value.__cause__ is raised


def test_f68_r4_what_a_provider_raised_is_the_cause_of_the_token_error(server: FaultServer) -> None:
    """Given a token that has expired, and no other."""
    answers = [KeyError("mine")]
    answers_or_tokens: list[Any] = [("t1", 3600), *answers]

    def provider() -> Any:
        answer = answers_or_tokens.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    url = server.url("/seq/401", {"401.body": EXPIRED, "id": server.new_id()})
    with TokenSource(provider) as source, Client(preset=Preset.JANUARY, token_source=source) as client:
        response = client.get(url)
    assert response.status == 401
    assert isinstance(response.token_error, ClientTokenProviderFailedError)
    assert response.token_error.__cause__ is answers[0]


def test_t13_a_header_of_the_caller_wins(server: FaultServer) -> None:
    provider, id = Provider(), server.new_id()
    with TokenSource(provider) as source, Client(quick(), token_source=source) as client:
        assert client.get(server.url("/seq/401", id=id), headers={"authorization": "Basic x"}).status == 401
        assert client.get(server.url("/seq/200", id=id), authorization=False).status == 200
    assert [dict(request["headers"]).get("authorization") for request in server.seen(id)] == ["Basic x", None]
    assert authorizations(server, id)[1] == "" and provider.calls == 0


def test_t13_a_hook_may_take_the_token_away(server: FaultServer) -> None:
    """For that one sending; a 401 to it does not reject the token."""

    def hook(request: AttemptRequest) -> None:
        if request.attempt_number == 2:
            request.set_header("AUTHORIZATION", None)

    provider, id = Provider(), server.new_id()
    with TokenSource(provider) as source, Client(quick(), token_source=source, before_attempt=hook) as client:
        assert client.get(server.url("/seq/503,401", id=id)).status == 401
    assert authorizations(server, id) == ["Bearer t1", ""]
    assert provider.calls == 1


def test_t13_a_token_does_not_go_over_http_to_another_machine() -> None:
    with FixedToken("x") as source, Client(token_source=source) as client, refused():
        client.submit("GET", "http://192.0.2.1/")


def test_t1_no_token_is_shown(server: FaultServer) -> None:
    events: list[Any] = []
    with FixedToken("very-secret") as source, Client(quick(), token_source=source, on_event=events.append) as client:
        response = client.get(server.url("/seq/503,200", id=server.new_id()))
        shown = repr((source, response, response.attempts, response.headers.pairs, events))
    assert events and "very-secret" not in shown

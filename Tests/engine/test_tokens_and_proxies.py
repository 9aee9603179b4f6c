"""T12, T13: what is secret and goes over http to this machine goes past proxies, which would read it."""

from __future__ import annotations

import json

import pytest
from boxretry import Client, FixedToken, InvalidArgumentError, OAuth2Token
from calls import once
from fault_server import FaultServer
from raw_server import RawServer


@pytest.fixture(autouse=True)
def no_exceptions_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ["no_proxy", "NO_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]:
        monkeypatch.delenv(name, raising=False)


def test_t13_a_token_goes_past_the_proxy_of_the_environment(
    server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    id = server.new_id()
    url = server.url("/seq/200", id=id)
    with RawServer() as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        with Client(once(), token_source=FixedToken("abc")) as client:
            assert client.get(url).status == 200
            assert proxy.heads == []
            # What has no token in it goes as the environment says, also if it comes between.
            client.get("http://127.0.0.1:1/", headers={"Authorization": "Basic of-the-caller"})
            assert len(proxy.heads) == 1
            assert client.get(url).status == 200
            assert len(proxy.heads) == 1
    assert [dict(request["headers"])["Authorization"] for request in server.seen(id)] == ["Bearer abc"] * 2


def test_t13_a_redirect_without_the_token_goes_as_the_environment_says(
    server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = server.url("/seq/302", {"h": "Location:http://127.0.0.1:1/"}, id=server.new_id())
    with RawServer() as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        with Client(once(), token_source=FixedToken("abc")) as client:
            assert client.get(url).content == b"ok"
        assert len(proxy.heads) == 1 and "Authorization" not in proxy.heads[0]


def test_t13_a_token_goes_in_clear_to_no_proxy_that_was_given(server: FaultServer) -> None:
    with RawServer() as proxy:
        url = f"http://127.0.0.1:{proxy.port}"
        with Client(once(), token_source=FixedToken("abc"), proxy=url) as client:
            with pytest.raises(InvalidArgumentError, match="proxy"):
                client.get(server.url("/seq/200", id=server.new_id()))
            assert proxy.heads == []
        with Client(once(), token_source=FixedToken("abc"), proxy=url, allow_insecure_token=True) as client:
            assert client.get("http://127.0.0.1:1/").content == b"ok"
        assert "Authorization: Bearer abc\r\n" in proxy.heads[0]


def test_t12_the_secrets_of_an_endpoint_go_past_the_proxy_of_the_environment(
    server: FaultServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = json.dumps({"access_token": "abc", "expires_in": 3600})
    endpoint = server.url("/seq/200", id=server.new_id(), body=body)
    with RawServer() as proxy:
        monkeypatch.setenv("http_proxy", f"http://127.0.0.1:{proxy.port}")
        with OAuth2Token(endpoint, {"client_secret": "s3cret"}) as tokens:
            assert tokens.get().value == "abc"
        assert proxy.heads == []


def test_t12_the_secrets_of_an_endpoint_go_in_clear_to_no_proxy_that_was_given() -> None:
    with pytest.raises(InvalidArgumentError, match="proxy"):
        OAuth2Token("http://127.0.0.1:1/", {"client_secret": "s3cret"}, proxy="http://127.0.0.1:1")
    OAuth2Token("http://127.0.0.1:1/", {}, proxy="http://127.0.0.1:1", allow_insecure=True).close()

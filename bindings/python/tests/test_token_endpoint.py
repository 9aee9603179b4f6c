"""Token endpoints (T12): what is sent, how answers are read, and what is not followed."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl

import pytest
from threads import run_in_threads

from boxretry import (
    BoxClientCredentials,
    ClientTokenProviderFailedError,
    InvalidArgumentError,
    InvalidClientTokenError,
    InvalidClientTokenExpirationError,
    ManualClock,
    OAuth2Token,
    Proxy,
    TokenRetryPolicy,
)

Answer = tuple[int, Any]
GOOD = {"access_token": "token", "expires_in": 3600, "token_type": "bearer"}
QUICK = TokenRetryPolicy(initial_delay=0)
#: Longer than anything here takes.
PATIENCE = 60


class Endpoint:
    """A server that gives the answers of a list, the last one repeatedly, and records its requests."""

    def __init__(self) -> None:
        self.answers: list[Answer] = [(200, GOOD)]
        self.headers: dict[str, str] = {}
        self.requests: list[tuple[str, dict[str, str], list[tuple[str, str]]]] = []
        self.bodies: list[bytes] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                fields = parse_qsl(body.decode(), keep_blank_values=True, strict_parsing=bool(body))
                lines = {name.lower(): value for name, value in self.headers.items()}
                endpoint.requests.append((f"{self.command} {self.path}", lines, fields))
                answers = endpoint.answers
                status, document = answers.pop(0) if len(answers) > 1 else answers[0]
                if status == 0:
                    self.close_connection = True  # Without an answer.
                    return
                answer = document if isinstance(document, bytes) else json.dumps(document).encode()
                self.send_response_only(status)
                for name, value in endpoint.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, format: str, *arguments: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/token"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    endpoint = Endpoint()
    yield endpoint
    endpoint.close()


def source_of(endpoint: Endpoint, fields: Any = (), **options: Any) -> OAuth2Token:
    return OAuth2Token(endpoint.url, fields, policy=options.pop("policy", QUICK), proxy=Proxy.NONE, **options)


def test_f127_the_life_of_an_answer_that_does_not_say_it(endpoint: Endpoint) -> None:
    """T12. Without a default it is an error; a lifetime in the answer takes precedence, even if it is invalid."""
    endpoint.answers = [(200, {"access_token": "token"})]
    with source_of(endpoint, default_expires_in=1800) as source:
        assert source.get().expires_in == pytest.approx(1800, abs=60)
    endpoint.answers = [(200, {"access_token": "token", "expires_in": "abc"})]
    with source_of(endpoint, default_expires_in=1800) as source, pytest.raises(InvalidClientTokenExpirationError):
        source.get()
    for wrong in (-1, float("nan"), float("inf")):
        with pytest.raises(InvalidArgumentError, match="default_expires_in"):
            source_of(endpoint, default_expires_in=wrong)


def test_t12_a_token_that_is_known_already_costs_no_request(endpoint: Endpoint) -> None:
    with source_of(endpoint, initial_token="known", initial_expires_in=100) as source:
        assert source.get().value == "known"
        assert not endpoint.requests
        source.invalidate("known")
        assert source.get().value == "token"
    assert len(endpoint.requests) == 1


# What is sent


def test_f74_secrets_come_through_the_form_as_they_are(endpoint: Endpoint) -> None:
    secret = "a+b%c&d=e é"
    with source_of(endpoint, {"client_secret": secret, "ä=&": ""}) as source:
        assert source.get().value == "token"
    request, headers, fields = endpoint.requests[0]
    assert request == "POST /token"
    assert fields == [("client_secret", secret), ("ä=&", "")]
    assert headers["content-type"] == "application/x-www-form-urlencoded"
    assert headers["accept"] == "application/json"


def test_t12_box_client_credentials(endpoint: Endpoint) -> None:
    options: dict[str, Any] = {"box_subject_id": "7", "url": endpoint.url, "proxy": Proxy.NONE}
    with BoxClientCredentials("id", "secret", **options) as source:
        assert source.get().value == "token"
    with BoxClientCredentials("id", "secret", box_subject_type="user", **options) as source:
        source.get()
    assert [fields for _, _, fields in endpoint.requests] == [
        [
            ("grant_type", "client_credentials"),
            ("client_id", "id"),
            ("client_secret", "secret"),
            ("box_subject_type", kind),
            ("box_subject_id", "7"),
        ]
        for kind in ("enterprise", "user")
    ]
    with pytest.raises(InvalidArgumentError, match="box_subject_type"):
        BoxClientCredentials("id", "secret", box_subject_id="7", box_subject_type="app")


def test_t12_a_relay_with_a_header_of_its_own_and_no_form(endpoint: Endpoint) -> None:
    endpoint.answers = [(200, {"token": "token", "expiresIn": "3600"})]
    with source_of(endpoint, headers={"X-Session": "me", "Accept": "text/json"}) as source:
        assert source.get().expires_in == pytest.approx(3600, abs=60)
    _, headers, fields = endpoint.requests[0]
    assert (headers["x-session"], headers["accept"], fields) == ("me", "text/json", [])


def test_f60_many_callers_make_one_request(endpoint: Endpoint) -> None:
    with source_of(endpoint) as source:

        def get(number: int) -> None:
            assert source.get().value == "token"

        run_in_threads(get, 50)
    assert len(endpoint.requests) == 1


def test_t12_a_refresh_token_rotates(endpoint: Endpoint) -> None:
    """Given an answer with another refresh token, it is passed on first, and sent the next time."""
    endpoint.answers = [
        (200, {**GOOD, "access_token": "one", "refresh_token": "second"}),
        (200, {**GOOD, "access_token": "two", "refresh_token": "second"}),
        (200, {**GOOD, "access_token": "three", "refresh_token": 7}),
    ]
    rotated: list[str] = []
    fields = {"grant_type": "refresh_token"}
    with source_of(endpoint, fields, refresh_token="first", on_refresh_token=rotated.append) as source:
        assert source.get().value == "one"
        assert rotated == ["second"]
        for expected in ("two", "three"):
            source.clear()
            assert source.get().value == expected
    assert [dict(sent)["refresh_token"] for _, _, sent in endpoint.requests] == ["first", "second", "second"]
    assert rotated == ["second"]


def test_f93_what_on_refresh_token_raises_is_logged(endpoint: Endpoint, caplog: pytest.LogCaptureFixture) -> None:
    """T12, F93. As an error with its traceback and without a secret. test_log.py tests what is printed to stderr."""
    endpoint.answers = [(200, {**GOOD, "access_token": "one", "refresh_token": "second"})]

    def fail(token: str) -> None:
        raise RuntimeError("the disk is full")

    fields = {"grant_type": "refresh_token"}
    with source_of(endpoint, fields, refresh_token="first", on_refresh_token=fail) as source:
        assert source.get().value == "one"
    (record,) = [record for record in caplog.records if record.name == "boxretry"]
    assert (record.levelname, record.getMessage()) == ("ERROR", "on_refresh_token raised an exception")
    assert record.exc_info is not None
    assert str(record.exc_info[1]) == "the disk is full"
    assert record.exc_info[2] is not None
    assert "second" not in caplog.text


# Answers


@pytest.mark.parametrize(
    "answer",
    [
        {"access_token": "token", "expires_in": "3600"},
        {"access_token": "token", "expires_in": 3600.0},
        {"token": "token", "expiresIn": 3600},
        {"access_token": " token\n", "expires_in": " 3.6e3 "},
    ],
)
def test_f73_answers_that_are_tokens(endpoint: Endpoint, answer: Any) -> None:
    endpoint.answers = [(200, answer)]
    with source_of(endpoint) as source:
        token = source.get()
        assert token.value == "token"
        assert 3500 < token.expires_in <= 3600


@pytest.mark.parametrize(
    ("answer", "error", "detail"),
    [
        ({"access_token": "token"}, InvalidClientTokenExpirationError, "has no expires_in"),
        ({"access_token": "token", "expires_in": "abc"}, InvalidClientTokenExpirationError, "life"),
        ({"access_token": "token", "expires_in": None}, InvalidClientTokenExpirationError, "life"),
        ({"expires_in": 3600}, InvalidClientTokenError, "token"),
        ({"access_token": "a\r\nb", "expires_in": 3600}, InvalidClientTokenError, "token"),
        ({"error": "invalid_scope", "error_description": "secret"}, ClientTokenProviderFailedError, "invalid_scope"),
        (b"[" * 100_000, ClientTokenProviderFailedError, "too long"),
        (b'{"a":' + b"[" * 50_000, ClientTokenProviderFailedError, "not a JSON object"),
        (b"<html>secret</html>", ClientTokenProviderFailedError, "not a JSON object"),
        (b"", ClientTokenProviderFailedError, "not a JSON object"),
        (b'{"access_token":"a","access_token":"b","expires_in":60}', ClientTokenProviderFailedError, "a name twice"),
        (b'{"access_token":"a","acces\\u0073_token":"b","expires_in":60}', ClientTokenProviderFailedError, "twice"),
        (b'{"access_token":"a","expires_in":60,"expires_in":60}', ClientTokenProviderFailedError, "a name twice"),
    ],
)
def test_f73_answers_that_are_none(endpoint: Endpoint, answer: Any, error: type[Exception], detail: str) -> None:
    """F73, F109, T12."""
    endpoint.answers = [(200, answer)]
    with source_of(endpoint) as source:
        with pytest.raises(error, match=detail) as raised:
            source.get()
        assert "secret" not in str(raised.value)
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("status", [408, 429, 500, 502, 503, 0])
def test_t12_what_may_pass_is_asked_again(endpoint: Endpoint, status: int) -> None:
    endpoint.answers = [(status, {}), (status, {}), (200, GOOD)]
    with source_of(endpoint) as source:
        assert source.get().value == "token"
    assert len(endpoint.requests) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 418])
def test_f75_what_will_not_pass_is_not(endpoint: Endpoint, status: int) -> None:
    """T12: a 401, too, is only a failure."""
    endpoint.answers = [(status, {"error": "invalid_client", "error_description": "secret"})]
    with source_of(endpoint) as source:
        with pytest.raises(ClientTokenProviderFailedError, match=f"status {status}: invalid_client") as raised:
            source.get()
        assert "secret" not in str(raised.value)
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_f75_redirects_are_not_followed(endpoint: Endpoint, status: int) -> None:
    elsewhere = Endpoint()
    endpoint.answers, endpoint.headers = [(status, {})], {"Location": elsewhere.url}
    with source_of(endpoint) as source, pytest.raises(ClientTokenProviderFailedError, match=f"status {status}"):
        source.get()
    assert (len(endpoint.requests), elsewhere.requests) == (1, [])
    elsewhere.close()


def test_t12_what_nobody_answers_is_asked_as_often_as_the_policy_says() -> None:
    policy = TokenRetryPolicy(maximum_attempts=3, initial_delay=0)
    source = OAuth2Token("http://127.0.0.1:1/", policy=policy, proxy=Proxy.NONE)
    with source, pytest.raises(ClientTokenProviderFailedError, match=r"\(calls: 3; last: connect\)$"):
        source.get()


def test_t6_the_last_status_is_told_without_the_server_s_words(endpoint: Endpoint) -> None:
    endpoint.answers = [(503, {"error": "secret"})]
    policy = TokenRetryPolicy(maximum_attempts=2, initial_delay=0)
    source = OAuth2Token(endpoint.url, policy=policy, proxy=Proxy.NONE)
    with source, pytest.raises(ClientTokenProviderFailedError, match=r"\(calls: 2; last: status 503\)$"):
        source.get()


# Arguments


@pytest.mark.parametrize(
    "url", ["http://example.com/", "http://128.0.0.1/", "http://localhost.example/", "ftp://x/", ""]
)
def test_t12_secrets_travel_by_https_only(url: str) -> None:
    with pytest.raises(InvalidArgumentError, match="url"):
        OAuth2Token(url)


@pytest.mark.parametrize(
    "url", ["https://example.com/", "http://localhost/", "http://127.9.9.9:8080/", "http://[::1]/", "HTTP://LOCALHOST/"]
)
def test_t12_or_to_this_very_machine(url: str) -> None:
    OAuth2Token(url).close()


def test_t12_or_where_it_is_allowed() -> None:
    OAuth2Token("http://example.com/", allow_insecure=True).close()


def test_fields_are_a_mapping_or_pairs() -> None:
    wrong: Any = "grant_type=client_credentials"
    with pytest.raises(TypeError, match="fields: must be a mapping, or pairs"):
        OAuth2Token("https://example.com/", wrong)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("headers", {"X": "a\nb"}),
        ("headers", {"Content-Length": "1"}),
        ("user_agent", "a\nb"),
        ("proxy", ""),
        ("provider_timeout", 0),
    ],
)
def test_what_cannot_be_is_refused(name: str, value: Any) -> None:
    with pytest.raises(InvalidArgumentError, match=name):
        OAuth2Token("https://example.com/", **{name: value})


def test_f126_a_busy_endpoint_is_asked_again_when_it_says(endpoint: Endpoint) -> None:
    """T7. Given 429 with Retry-After: 3 and a policy whose delay is 1 s, then the next request comes after 3 s."""
    endpoint.headers = {"Retry-After": "3"}
    for status in (429, 503, 500):
        endpoint.answers, endpoint.requests = [(status, b""), (200, GOOD)], []
        with (
            ManualClock(auto_advance=True) as clock,
            source_of(endpoint, policy=TokenRetryPolicy(jitter_ratio=0), clock=clock, provider_timeout=None) as source,
        ):
            source.get()
            assert clock.monotonic() == pytest.approx(1 if status == 500 else 3, abs=0.1)
        assert len(endpoint.requests) == 2

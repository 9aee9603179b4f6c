from boxretry import Client, IdleTimeoutError, RetryStrategy, TokenProviderError, TokenSource
from boxretry.testing import Answer, Fault, ManualClock, ScriptedServer


def test_a_server_that_is_busy_for_a_day() -> None:
    busy = Answer(503, {"Retry-After": "86400"})
    with ManualClock(auto_advance=True) as clock, ScriptedServer([busy, 200]) as server, Client(clock=clock) as client:
        assert client.get(server.url).status == 200
        assert clock.monotonic() == 24 * 3600


def test_a_server_that_is_silent() -> None:
    exact = RetryStrategy(retry_randomization_factor=0)
    with ManualClock(auto_advance=True) as clock, ScriptedServer([Fault.SILENCE]) as server:
        try:
            Client(exact, clock=clock).get(server.url)
        except IdleTimeoutError as error:
            # Three attempts with an idle timeout of 60 s, and waits of 2 s and 4 s.
            assert [attempt.started_ms for attempt in error.attempts] == [0, 62_000, 126_000]


def test_a_token_endpoint_that_fails_eight_times() -> None:
    calls = 0

    def provider() -> tuple[str, float]:
        nonlocal calls
        calls += 1
        if calls < 9:
            raise TokenProviderError("busy", retryable=True)
        return "secret", 3600

    with ManualClock(auto_advance=True) as clock, TokenSource(provider, clock=clock) as source:
        with ScriptedServer([200]) as server, Client(clock=clock, token_source=source) as client:
            assert client.get(server.url).status == 200
        assert calls == 9


test_a_server_that_is_busy_for_a_day()
test_a_server_that_is_silent()
test_a_token_endpoint_that_fails_eight_times()
print("a day has been tested")

"""January's rules: no retries of requests, retries of the token provider, one replay after token_expired."""

import sys

from boxretry import Client, HTTPStatusError, Preset, TokenProviderError, TokenRetryPolicy, TokenSource

url = sys.argv[1]
calls: list[int] = []


def client_token_provider() -> tuple[str, float]:
    calls.append(len(calls) + 1)
    if calls == [1]:
        raise TokenProviderError("the backend is busy", retryable=True)
    return f"token-{calls[-1]}", 300  # seconds


# January's names and defaults, written out, but for the first delay.
policy = TokenRetryPolicy(maximum_attempts=9, initial_delay=0.01, multiplier=2, maximum_delay=8, jitter_ratio=0.2)
with (
    TokenSource(client_token_provider, policy=policy) as tokens,
    Client(preset=Preset.JANUARY, token_source=tokens) as client,
):
    answer = client.get(f'{url}/auth?reject=token-2&id=january&401.body={{"code":"token_expired"}}')
    print(answer.status, [attempt.status for attempt in answer.attempts], calls)
    try:
        client.post(f'{url}/seq/401?body={{"code":"token_revoked"}}').raise_for_status()
    except HTTPStatusError as error:
        print(error.code, len(error.attempts))

import sys

from boxretry import Client, ClientTokenProviderFailedError, TokenProviderError, TokenSource

calls = 0


def from_the_vault() -> tuple[str, float]:
    global calls
    calls += 1
    if calls == 1:
        raise TokenProviderError("the vault is busy", retryable=True)
    if calls > 2:
        raise TokenProviderError("the vault is sealed")
    return "the-token", 3600


with TokenSource(from_the_vault) as tokens, Client(token_source=tokens) as client:
    print(client.get(sys.argv[1]).status)
    tokens.clear()
    try:
        client.get(sys.argv[1])
    except ClientTokenProviderFailedError as error:
        print(error)

import sys

from boxretry import Client, ClientTokenProviderFailedError, TokenProviderError, TokenSource

answers = [
    TokenProviderError("the vault is busy", retryable=True),
    ("first-token", 3600),
    TokenProviderError("the vault is sealed"),
]


def from_the_vault() -> tuple[str, float]:
    answer = answers.pop(0)
    if isinstance(answer, Exception):
        raise answer
    return answer


with TokenSource(from_the_vault) as tokens, Client(token_source=tokens) as client:
    print(client.get(sys.argv[1]).status)
    tokens.clear()
    try:
        client.get(sys.argv[1])
    except ClientTokenProviderFailedError as error:
        print(error)

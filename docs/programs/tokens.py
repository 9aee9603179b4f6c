import sys

from boxretry import Client, OAuth2Token

api, endpoint = sys.argv[1:]
fields = {"grant_type": "client_credentials", "client_id": "me", "client_secret": "s3cret"}
with OAuth2Token(endpoint, fields) as tokens, Client(token_source=tokens) as client:
    response = client.get(api)
    for attempt in response.attempts:
        print(attempt.number, attempt.status, attempt.action.name)
    print("generation", tokens.get().generation)

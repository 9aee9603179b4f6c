import os
import sys

from boxretry import Client

with Client() as client, open(__file__, "rb") as file:  # this program sends itself
    response = client.put(sys.argv[1], data=file, idempotency_key=True)
    response.raise_for_status()
    print([attempt.status for attempt in response.attempts])
    print("complete:", response.json()["body_length"] == os.path.getsize(__file__))
    form = client.post(sys.argv[1], files={"file": __file__}, data={"title": "a program"})
    print(form.json()["method"], form.status)

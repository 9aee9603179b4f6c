"""One set of connections for two users, and the details of an error response."""

import sys

from boxretry import Client, HTTPStatusError

url = sys.argv[1]
with Client(headers={"Accept": "application/json"}) as client:
    with client.derived(headers={"As-User": "12345"}) as as_user:
        print(as_user.get(f"{url}/echo").json()["headers"][-1])
    try:
        client.get(f'{url}/seq/404?body={{"code":"not_found"}}&h=X-Request-Id:r1').raise_for_status()
    except HTTPStatusError as error:
        print(error.status, error.code, error.request_id)

import sys

from boxretry import Client, HTTPStatusError, NetworkError, Timeout

# session = requests.Session(); session.mount("https://", HTTPAdapter(max_retries=Retry(...)))
with Client(timeout=Timeout(timeout_interval_for_request_ms=5_000)) as session:
    try:
        response = session.post(sys.argv[1], json={"name": "x"}, headers={"X-Trace": "7"})
        response.raise_for_status()
        print(response.status, response.json()["method"], response.headers["content-type"])
    except NetworkError as error:  # requests.exceptions.ConnectionError, Timeout
        print("no response:", error)
    except HTTPStatusError as error:  # requests.exceptions.HTTPError
        print("refused:", error)

from boxretry import Client, RetryStrategy
from boxretry.testing import Answer, Fault, ScriptedServer


def rename(api: str, client: Client) -> str:
    """The code under test."""
    response = client.put(api + "/files/1", json={"name": "new"})
    response.raise_for_status()
    return str(response.json()["name"])


def test_rename_outlasts_a_busy_server() -> None:
    busy, done = Answer(503, {"Retry-After": "0"}), Answer(200, body='{"name": "new"}')
    quick = RetryStrategy(retry_base_interval=0.001)  # seconds
    with ScriptedServer([busy, Fault.HANG_UP, done]) as server, Client(quick) as client:
        assert rename(server.url, client) == "new"
    assert [request.body for request in server.requests] == [b'{"name": "new"}'] * 3


test_rename_outlasts_a_busy_server()
print("a busy server and a lost connection have been tested")

import sys

from boxretry import Client

with Client() as client:
    response = client.get(sys.argv[1])
    print(response.status, "after", len(response.attempts), "attempts:", response.text)

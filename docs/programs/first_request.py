import sys

from boxretry import Client

with Client() as client:
    response = client.get(sys.argv[1])
    print("status:", response.status, "attempts:", len(response.attempts), "body:", response.text)

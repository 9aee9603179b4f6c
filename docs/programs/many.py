import sys

from boxretry import Client

with Client(max_transfers=8) as client:
    calls = [client.submit("GET", url) for url in sys.argv[1:]]  # all in flight at once
    print([call.response().status for call in calls])

import sys
import threading

from boxretry import CancelledError, CancelSwitch, Client

with Client() as client:
    switch = CancelSwitch()
    calls = [client.submit("GET", sys.argv[1], cancel=switch) for _ in range(3)]
    threading.Thread(target=switch.trigger).start()  # from any thread
    for call in calls:
        try:
            call.response()
        except CancelledError:
            print("canceled")

import os
import sys

from boxretry import Client, Progress, RetryStrategy

last = None


def show(progress: Progress) -> None:  # a few times a second, and at the end of each attempt
    global last
    last = f"attempt {progress.attempt_number}: {progress.received} of {progress.receive_total} bytes"


with Client(RetryStrategy(retry_base_interval=0.01)) as client:
    response = client.get(sys.argv[1], to_file="picture.jpg", resume=True, on_progress=show)
response.raise_for_status()
for attempt in response.attempts:
    print(f"attempt {attempt.number}: from byte {attempt.resumed_from}, {attempt.cause.name}")
print(last)
print(os.path.getsize("picture.jpg"), "bytes in the file")

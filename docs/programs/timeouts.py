import sys

from boxretry import Client, DeadlineError, IdleTimeoutError, RetryStrategy, Timeout

once = RetryStrategy(max_attempts=1, max_retries_on_exception=0)
timeout = Timeout(timeout_interval_for_request_ms=100, timeout_interval_for_resource_ms=60_000)
with Client(once, timeout=timeout) as client:
    try:
        client.get(sys.argv[1])
    except IdleTimeoutError:
        print("nothing moved for 0.1 s")
    try:
        client.get(sys.argv[1], timeout=Timeout(5_000), deadline=0.1)
    except DeadlineError as error:
        print("the deadline has passed, in attempt", len(error.attempts))

import sys

from boxretry import Client, RetryStrategy, Timeout

# Box's names and defaults, written out.
strategy = RetryStrategy(
    max_attempts=5,
    retry_base_interval=1,
    retry_randomization_factor=0.5,
    max_retries_on_exception=2,
)
timeout = Timeout(timeout_interval_for_request_ms=60_000, timeout_interval_for_resource_ms=21_600_000)
with Client(strategy, timeout=timeout) as client:
    print([attempt.status for attempt in client.get(sys.argv[1]).attempts])

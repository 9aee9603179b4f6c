import sys

from boxretry import Client, NetworkError, RetryStrategy

strategy = RetryStrategy(max_attempts=4, max_retries_on_exception=1, retry_base_interval=0.01)
with Client(strategy) as client:
    for url in sys.argv[1:]:
        try:
            attempts = client.get(url).attempts
        except NetworkError as error:
            print("no response:", type(error).__name__)
            attempts = error.attempts
        for attempt in attempts:
            why = "" if attempt.reason is None else attempt.reason.name  # None: canceled, or the deadline passed
            print(attempt.number, attempt.status or attempt.cause.name, "->", attempt.action.name, why)

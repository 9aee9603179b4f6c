import sys

from boxretry import Client, CustomRetryStrategy, Outcome


class WaitForLock(CustomRetryStrategy):
    """Retries only a resource that another client has locked (423)."""

    def should_retry(self, outcome: Outcome, attempt_number: int) -> bool:
        return outcome.status == 423 and attempt_number < 10

    def retry_after(self, outcome: Outcome, attempt_number: int) -> float:
        return 0.01 * attempt_number  # seconds


with Client(WaitForLock()) as client:
    response = client.get(sys.argv[1])
    print([attempt.status for attempt in response.attempts])

from typing import Callable

from boxretry import ManualClock, Outcome, RetryLoop, RetryStrategy


def poll(send: Callable[[], Outcome], clock: ManualClock) -> float:
    """The code under test: polls until the job is done, and returns how long that took."""
    start = clock.monotonic()
    with RetryLoop(RetryStrategy(), clock=clock, deadline=3600) as loop:
        while (decision := loop.next(send())).retry:
            clock.advance(decision.delay)  # in production: time.sleep(decision.delay)
    return clock.monotonic() - start


def test_poll_waits_as_long_as_the_server_asks() -> None:
    busy, done = Outcome(202, headers={"Retry-After": "600"}), Outcome(200)
    answers = iter([busy, busy, done])
    assert poll(lambda: next(answers), ManualClock()) == 1200


test_poll_waits_as_long_as_the_server_asks()
print("20 minutes have been tested")

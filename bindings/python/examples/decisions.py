"""What is decided about a sequence of outcomes: python decisions.py SEED OUTCOME…

An outcome is a status (503), a status with a Retry-After (429+7), or E for a network exception. The program
bindings/c/examples/decisions.c prints the same lines: with the same seed, even the jitter is the same.
"""

import sys

from boxretry import Cause, Outcome, RetryLoop, RetryStrategy


def outcome(text: str) -> Outcome:
    """Reads an outcome."""
    if text == "E":
        return Outcome(cause=Cause.CONNECT)
    status, has_retry_after, retry_after = text.partition("+")
    return Outcome(int(status), headers={"Retry-After": retry_after} if has_retry_after else {})


def main(seed: str, *outcomes: str) -> None:
    """Prints the decisions about the outcomes."""
    with RetryStrategy() as strategy, RetryLoop(strategy, seed=int(seed)) as loop:
        for text in outcomes:
            decision = loop.next(outcome(text))
            action, reason = decision.action.name.lower(), decision.reason.name.lower()
            source = decision.delay_source.name.lower()
            print(f"{text:<6} {action:<7} {reason:<20} {decision.delay:7.3f} s {source}")
            if not decision.retry:
                break


if __name__ == "__main__":
    main(*sys.argv[1:])

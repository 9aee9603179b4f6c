"""The text format in which generated sequences reach the runners, and their answers come back.

A runner (runner.c, run_python.py, swift/) reads sequences from standard input and writes answers to standard output.
Everything is ASCII. A line is one command, its words are separated by single spaces. A word is a plain value or
KEY=VALUE. Values are percent-encoded as in URLs (%20 is a space; header values may hold any byte but NUL), so that
they hold neither spaces nor commas nor colons unless the format says so. Numbers are written as C's strtod and strtoll
read them (`nan`, `inf` and `-inf` too). What a line does not say stays at the library's default. Enums are numbers.

Commands, and the one answer line that each gives ("-": none):

    sequence ID                                     begins a sequence, drops all that was made before: "sequence ID"
    clock WALL                                      makes a manual clock, its wall clock set to WALL: "-"
    strategy OPTION=…                               makes Box's strategy: "ok" or an error
    custom should_retry=A,A,… [retry_after=D,D,…]   makes a custom strategy that answers by this script: "ok"
    loop [auth_available=] [deadline_ms=] [seed=] [max_total_attempts=]
                                                    makes the retry loop, on the manual clock if there is one, else on
                                                    the system's: "ok" or an error
    advance SECONDS | suspend SECONDS | wall WALL   moves the manual clock, or sets its wall clock: "ok" or an error
    attempt OUTCOME                                 boxretry_retry_loop_next: a decision or an error
    should_retry NUMBER OUTCOME                     boxretry_strategy_should_retry: a decision or an error
    retry_after NUMBER OUTCOME                      boxretry_strategy_retry_after: a value or an error
    backoff NUMBER UNIT_RANDOM OPTION=…             boxretry_backoff_delay: a value or an error
    parse UNIX_TIME VALUE                           boxretry_parse_retry_after: a value or an error
    token_delay FAILED UNIT_RANDOM POLICY=…         boxretry_token_delay: a value or an error

    OPTION   the fields of boxretry_retry_options except its array; delay_header=NAME:UNIT once for each of those
    POLICY   the fields of boxretry_token_retry_policy
    OUTCOME  status= cause= auth_available= request_sent= body_not_replayable= header=NAME:VALUE (once for each line)
             and method= retry_safety=, the request's; without either of these two there is no request

In a custom script `should_retry` holds actions (numbers; -1 and other wrong ones too) and `retry_after` delays, or
`unanswered` for a callback that leaves its answer as it is. The n-th call of should_retry gets the n-th action, and a
call of retry_after the delay at the place of the latest should_retry (the first, if none was asked); both lists start
again at their end. Without retry_after= there is no such callback.

When a strategy or a loop could not be made, the rest of the sequence is skipped: no command of it is run or answered.

Answer lines:

    ok
    error NAME DETAIL…                              the error's name, and its detail as it is
    value SECONDS
    decision ACTION REASON DELAY DELAY_SOURCE ATTEMPT EXCEPTION RETRY_AFTER_STATE RETRY_AFTER
    asked should_retry NUMBER STATUS CAUSE AUTH HEADERS
    asked retry_after NUMBER STATUS CAUSE AUTH HEADERS

    unsupported                                     this runner's language has no way to say it

Actions, reasons and delay sources go by the library's names, the state of Retry-After is `absent`, `usable` or
`not_usable`; seconds have 17 significant digits (C's %.17g). `asked` lines tell what a custom callback was given (AUTH
is 0 or 1, HEADERS the number of lines) and stand before the answer to the command that led to them.
"""

from typing import NamedTuple
from urllib.parse import quote, unquote_to_bytes


class Command(NamedTuple):
    """One line, cut into its words."""

    name: str
    values: list[str]
    fields: list[tuple[str, str]]  # still percent-encoded

    def field(self, key: str) -> str:
        return dict(self.fields)[key]

    def pairs(self, key: str) -> list[tuple[bytes, bytes]]:
        """NAME:VALUE of every field of that name."""
        halves = [value.split(":", 1) for name, value in self.fields if name == key]
        return [(decode(name), decode(value)) for name, value in halves]


def encode(value: bytes) -> str:
    return quote(value, safe="+")


def decode(text: str) -> bytes:
    return unquote_to_bytes(text)


def parse_line(line: str) -> Command:
    name, *words = line.rstrip("\n").split(" ")
    plain = [word for word in words if "=" not in word]
    fields = [(key, value) for key, _, value in (word.partition("=") for word in words if "=" in word)]
    return Command(name, plain, fields)

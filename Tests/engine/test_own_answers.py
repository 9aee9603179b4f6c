"""An answer belongs to its request, no matter what servers speak or claim: W1, W2.

pytest Tests/engine/test_own_answers.py --rounds 5: that many rounds of 16 requests at once, not 12.
"""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any, Callable

import pytest
from boxretry import Call, Client, FixedToken, HTTPVersion, NetworkError, ProtocolError, Response
from calls import once, quick, sent_header, sha256
from fault_server import FaultServer, Value
from keeping_server import Exchange, KeepingServer
from relay import Balancer

AT_ONCE = 16
SIZES = (1, 100, 5_000, 70_000, 200_000)
LIE: dict[str, Value] = {"status_line": "HTTP/2 200 OK"}


class Sent:
    """A request that is like no other: its token, a header, and its body are its own."""

    def __init__(
        self, client: Client, url: str, number: int, dice: random.Random, folder: Path, versions: list[HTTPVersion]
    ) -> None:
        self.url = url
        self.version = dice.choice(versions)
        self.method = dice.choice(["GET", "POST", "PUT", "DELETE", "PATCH"])
        self.name = f"{number}-{dice.getrandbits(64):016x}"
        self.body = b"" if self.method == "GET" else f"{self.name} ".encode() * (dice.choice(SIZES) // 20 + 1)
        self.call: Call = client.submit(
            self.method,
            url,
            data=self._data(dice, folder) if self.body else None,
            headers={"X-Name": self.name},
            token_source=FixedToken("token-" + self.name),
            http_version=self.version,
        )

    def _data(self, dice: random.Random, folder: Path) -> Any:
        """The body, as bytes, as a file, or from a callback, of unknown length."""
        how = dice.choice(["bytes", "file", "callback"])
        if how == "bytes":
            return self.body
        if how == "file":
            path = folder / self.name
            path.write_bytes(self.body)
            return path.open("rb")
        return lambda: iter([self.body[start : start + 9_999] for start in range(0, len(self.body), 9_999)])

    def outcome(self) -> Response | NetworkError:
        try:
            return self.call.response(60)
        except NetworkError as error:
            return error

    def is_answered_by(self, response: Response) -> bool:
        """The answer is 200, and shows this request and no other."""
        seen = json.loads(response.content)
        return response.status == 200 and self.is_seen(seen) and bool(self.url.endswith(seen["path"]))

    def is_seen(self, seen: dict[str, Any]) -> bool:
        """What a server saw is this request, and nothing of another one: neither in its head nor in its body."""
        return (
            seen["method"] == self.method
            and sent_header(seen, "X-Name") == [self.name]
            and sent_header(seen, "Authorization") == ["Bearer token-" + self.name]
            and (seen["body_length"], seen["body_sha256"]) == (len(self.body), sha256(self.body))
        )


def play(
    server: FaultServer,
    folder: Path,
    rounds: int,
    urls: Callable[[str], list[str]],
    versions: list[HTTPVersion],
    check: Callable[[Sent, Response | NetworkError], None],
) -> None:
    """Rounds of requests at once, with the defaults but without retries; after each, what the server saw is compared
    with what was sent."""
    with Client(once(), ca_file=server.ca) as client:
        for number in range(rounds):
            seed = random.randrange(1 << 32)
            dice = random.Random(seed)
            id = server.new_id()
            sent = [Sent(client, dice.choice(urls(id)), each, dice, folder, versions) for each in range(AT_ONCE)]
            for each in sent:
                check(each, each.outcome())
            by_name = {each.name: each for each in sent}
            for seen in server.seen(id):
                assert by_name.pop(*sent_header(seen, "X-Name")).is_seen(seen), (number, seed)


def own(sent: Sent, outcome: Response | NetworkError) -> None:
    """It has its own answer, at its first attempt."""
    assert isinstance(outcome, Response), (sent.method, sent.version, outcome)
    assert sent.is_answered_by(outcome), (sent.name, outcome.content[:500])
    assert len(outcome.attempts) == 1 and outcome.attempts[0].reconnects == 0


BOTH = [HTTPVersion.HTTP_1_1, HTTPVersion.HTTP_2]
HONEST: dict[str, tuple[list[str], list[HTTPVersion]]] = {
    "HTTP/1.1": (["http", "https"], BOTH),
    "HTTP/2": (["h2"], BOTH),
    "h2c": (["h2c"], [HTTPVersion.HTTP_2_PRIOR_KNOWLEDGE]),
    "HTTP/2 with prior knowledge, and without": (["h2"], [*BOTH, HTTPVersion.HTTP_2_PRIOR_KNOWLEDGE]),
}


@pytest.mark.parametrize("kind", HONEST)
def test_w1_own_answers(server: FaultServer, tmp_path: Path, answer_rounds: int, kind: str) -> None:
    """W1. Given requests at once to an honest server, then each gets its own answer, and the server sees each body and
    token with its own request."""
    ports, versions = HONEST[kind]
    play(
        server,
        tmp_path,
        answer_rounds,
        lambda id: [server.url("/echo", id=id, kind=each) for each in ports],
        versions,
        own,
    )


@pytest.mark.parametrize("versions", [[HTTPVersion.HTTP_2], BOTH], ids=["default", "both"])
def test_w1_own_answers_behind_a_balancer(
    server: FaultServer, tmp_path: Path, answer_rounds: int, versions: list[HTTPVersion]
) -> None:
    """W1. Given an address behind which some servers speak HTTP/2 and some do not, all of them honest, then each
    request gets its own answer."""
    with Balancer([server.ports["h2"], server.ports["https"]]) as balancer:
        origin = f"https://127.0.0.1:{balancer.port}"
        play(server, tmp_path, answer_rounds, lambda id: [origin + server.target("/echo", id=id)], versions, own)


def lied_to(sent: Sent, outcome: Response | NetworkError) -> None:
    """An answer that claims another version is a protocol exception; the others are their requests' own."""
    if "status_line" in sent.url:
        assert isinstance(outcome, ProtocolError), outcome
    else:
        own(sent, outcome)


@pytest.mark.parametrize("kind", ["http", "https"])
def test_f94_own_answers_from_a_liar(server: FaultServer, tmp_path: Path, answer_rounds: int, kind: str) -> None:
    """F94, F96, W1, W2. Given a server of HTTP/1.1 that claims HTTP/2 in some of its answers, with uploads under way,
    then those are protocol exceptions, and each other request gets its own answer."""

    def urls(id: str) -> list[str]:
        honest = server.url("/echo", id=id, kind=kind)
        return [honest, server.url("/seq/echo", LIE, id=id, kind=kind)]

    play(server, tmp_path, answer_rounds, urls, BOTH, lied_to)


def hangs_up(exchange: Exchange) -> bool:
    """Answers in all ways that claim HTTP/2, and ends the connection in many."""
    how = random.choice(["reset", "close", "cut off", "busy", "announced end", "whole", "whole"])
    if how == "reset":
        exchange.reset_at_end()
    elif how == "cut off":
        exchange.send(b"HTTP/2 200 OK\r\nContent-Length: 5\r\n\r\nab")
    elif how == "busy":
        exchange.send(b"HTTP/2 503 OK\r\nContent-Length: 0\r\nRetry-After: 0\r\n\r\n")
    elif how == "announced end":
        exchange.send(b"HTTP/2 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
    elif how == "whole":
        exchange.send(b"HTTP/2 200 OK\r\nContent-Length: 2\r\n\r\nok")
    return how in ("busy", "whole")


def test_f96_uploads_to_a_liar_that_hangs_up(tmp_path: Path, answer_rounds: int) -> None:
    """F96, W1, W2. Given a server of HTTP/1.1 that claims HTTP/2, and closes and resets connections, with uploads from
    memory, files and callbacks under way, then each of them ends, in an exception, and the process lives."""
    with KeepingServer(hangs_up) as server, Client(quick()) as client:
        for number in range(answer_rounds):
            dice = random.Random(number)
            sent = [Sent(client, f"{server.url}/{each}", each, dice, tmp_path, BOTH) for each in range(AT_ONCE)]
            for each in sent:
                assert isinstance(each.outcome(), NetworkError)


def refused_or_own(sent: Sent, outcome: Response | NetworkError) -> None:
    """To a server of HTTP/1.1 prior knowledge of HTTP/2 is an error."""
    if sent.version is HTTPVersion.HTTP_2_PRIOR_KNOWLEDGE:
        assert isinstance(outcome, NetworkError), outcome
    else:
        own(sent, outcome)


@pytest.mark.parametrize("kind", ["http", "https"])
def test_f95_own_answers_beside_prior_knowledge(
    server: FaultServer, tmp_path: Path, answer_rounds: int, kind: str
) -> None:
    """F95, W1. Given a server of HTTP/1.1, and a third of the requests with prior knowledge of HTTP/2, then the others
    get their own answers."""
    versions = [HTTPVersion.HTTP_1_1, HTTPVersion.HTTP_2, HTTPVersion.HTTP_2_PRIOR_KNOWLEDGE]
    # Over TLS the server says that it speaks HTTP/1.1, and libcurl follows.
    check = refused_or_own if kind == "http" else own
    play(server, tmp_path, answer_rounds, lambda id: [server.url("/echo", id=id, kind=kind)], versions, check)

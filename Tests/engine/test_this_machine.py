"""T12, T13: which hosts count as this machine, so that a token may go to them over plain http."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from boxretry import Client, FixedToken, InvalidArgumentError, OAuth2Token, Proxy
from calls import LIBCURL, once, sent_header
from fault_server import FaultServer
from programs import run
from raw_server import RawServer

LOOPBACK = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f000001",
    "0177.0.0.1",
    "%31%32%37.0.0.1",
    "localhost",
    "LocalHost",
    "loc%61lhost",
    "user@localhost",
]
#: Each of these may lead to another machine, if the resolver or the network says so.
ELSEWHERE = [
    "localhost.",
    "LOCALHOST.",
    "localhost%2e",
    "localhost..",
    "app.localhost",
    "localhost.localdomain",
    "localhost@other.test",
    "ip6-localhost",
    "loopback",
    "localhost\u3002",
    "\uff4cocalhost",
    "127.0.0.1.nip.test",
    "127.0.0.256",
    "126.255.255.255",
    "128.0.0.1",
    "0.0.0.0",
    "0",
    "192.168.0.1",
    "[::]",
    "[::2]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[::127.0.0.1]",
    "[fe80::1%25lo]",
]
# libcurl from 8.21 on connects to the address; before, it asks the resolver for a name.
(LOOPBACK if LIBCURL >= (8, 21) else ELSEWHERE).append("127.0.0.1.")


@pytest.fixture(scope="module")
def refusing() -> Iterator[Client]:
    """A client with a token, which may go to this machine only."""
    with FixedToken("SECRET") as source, Client(once(), token_source=source, proxy=Proxy.NONE) as client:
        yield client


@pytest.mark.parametrize("host", LOOPBACK)
def test_t13_a_loopback_address_is_this_machine(refusing: Client, host: str) -> None:
    """However it is written; and it is where the request goes, with the token."""
    with RawServer() as server:
        assert refusing.get(f"http://{host}:{server.port}/", deadline=60).status == 200
        assert "Authorization: Bearer SECRET" in server.heads[0]


@pytest.mark.parametrize("host", ELSEWHERE)
def test_f100_other_hosts_are_not_this_machine(refusing: Client, host: str) -> None:
    """T13. Given a host that a resolver could send elsewhere, nothing is sent; nor are an endpoint's secrets (T12)."""
    with pytest.raises(InvalidArgumentError):
        refusing.get(f"http://{host}:8080/")
    with pytest.raises(InvalidArgumentError):
        OAuth2Token(f"http://{host}:8080/", {"client_secret": "SECRET"})


def test_f100_a_resolver_is_not_asked_where_this_machine_is(scripted_lookups: str, tmp_path: Path) -> None:
    """T13. Given one that sends every form of localhost elsewhere, a token comes here or is refused."""
    program = """
    def outcome(host):
        try:
            return client.get(f"http://{host}:{sys.argv[1]}/", deadline=60).status
        except BoxRetryError as error:
            return type(error).__name__
    with FixedToken("SECRET") as source, Client(once, token_source=source, proxy=Proxy.NONE) as client:
        print(*map(outcome, ["localhost", "LOCALHOST", "127.1", "localhost.", "LOCALHOST.", "app.localhost"]))
    """
    log = tmp_path / "log"
    log.touch()
    elsewhere = " ".join(f"{name}=192.0.2.1" for name in ("localhost", "LOCALHOST", "localhost.", "LOCALHOST."))
    with RawServer() as server:
        output = run(program, server.port, LD_PRELOAD=scripted_lookups, LOOKUPS=elsewhere, LOOKUPS_LOG=str(log))
    assert output == "200 200 200" + " InvalidArgumentError" * 3 + "\n"
    assert log.read_text() == ""


def test_t13_a_redirect_to_the_dotted_name_goes_without_the_token(server: FaultServer, scripted_lookups: str) -> None:
    """Given a redirect from localhost to localhost., whose resolver says 127.0.0.1, only the first request has it."""
    program = """
    with FixedToken("SECRET") as source, Client(once, token_source=source, proxy=Proxy.NONE) as client:
        print(client.get(sys.argv[1], deadline=60).status)
    """
    id, port = server.new_id(), server.ports["http"]
    target = server.target("/seq/302,200", id=id, to=f"http://localhost.:{port}")
    url = f"http://localhost:{port}{target}"
    assert run(program, url, LD_PRELOAD=scripted_lookups, LOOKUPS="localhost.=127.0.0.1") == "200\n"
    assert [sent_header(request, "Authorization") for request in server.seen(id)] == [["Bearer SECRET"], []]

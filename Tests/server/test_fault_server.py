"""The server as a program, and the class that runs it."""

from __future__ import annotations

import http.client
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from fault_server import FaultServer, pattern

PROGRAM = Path(__file__).with_name("fault_server.py")


def start(*options: str, python: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    command = [sys.executable, *python, str(PROGRAM), *options]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def first_line(program: subprocess.Popen[str]) -> str:
    assert program.stdout is not None
    return program.stdout.readline()


def test_prints_one_line_with_its_ports_and_ends_when_its_input_closes() -> None:
    program = start()
    ports = json.loads(first_line(program))
    connection = http.client.HTTPConnection("127.0.0.1", ports["http"], timeout=60)
    connection.request("GET", "/seq/503")
    assert connection.getresponse().status == 503

    rest, errors = program.communicate(timeout=60)  # closes its input

    assert (rest, errors, program.returncode) == ("", "", 0)
    assert "https" not in ports


STANDARD_LIBRARY_ALONE = ("-E", "-S")  # without what the environment and an installation add to Python's path


def test_http_1_1_needs_the_standard_library_alone() -> None:
    program = start(python=STANDARD_LIBRARY_ALONE)
    ports = json.loads(first_line(program))
    connection = http.client.HTTPConnection("127.0.0.1", ports["http"], timeout=60)
    answers = []
    for _ in range(2):
        connection.request("GET", "/seq/503,200?id=a&200.body=hello")
        response = connection.getresponse()
        answers.append((response.status, response.read()))
    refused = []
    for script in ["refused_stream", "goaway&code=NO_ERROR", "200&settings=ENABLE_PUSH:1"]:
        connection.request("GET", f"/seq/{script}&id=b".replace("&", "?", 1))
        response = connection.getresponse()
        refused.append(response.status)
        response.read()
        connection.close()

    rest, errors = program.communicate(timeout=60)

    assert (answers[0][0], answers[1], rest, errors, program.returncode) == (503, (200, b"hello"), "", "", 0)
    assert "h2c" not in ports
    assert refused == [400, 400, 400]


def test_says_what_tls_needs() -> None:
    program = start("--tls", python=STANDARD_LIBRARY_ALONE)
    assert "--tls needs the package h2" in program.communicate(timeout=60)[1]
    assert program.returncode == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_ends_at_a_signal_with_requests_in_flight(number: signal.Signals) -> None:
    program = start()
    ports = json.loads(first_line(program))
    connection = http.client.HTTPConnection("127.0.0.1", ports["http"], timeout=60)
    connection.request("GET", "/seq/stall:body")
    connection.getresponse()

    program.send_signal(number)

    assert program.wait(timeout=60) == 0
    assert program.stderr is not None and program.stderr.read() == ""
    program.communicate()


def test_takes_the_port_that_it_is_given_and_repeats_its_first_line_on_demand() -> None:
    with FaultServer() as other:
        free = other.open("http")
        other.control("shut", port=free)
        program = start("--port", str(free))
        ports = json.loads(first_line(program))
        connection = http.client.HTTPConnection("127.0.0.1", free, timeout=60)
        connection.request("GET", "/_ports")
        assert json.loads(connection.getresponse().read()) == ports
        assert ports["http"] == free
        program.communicate(timeout=60)


def test_says_in_one_line_that_its_port_is_in_use(server: FaultServer) -> None:
    port = server.ports["http"]

    output, errors = (program := start("--port", str(port))).communicate(timeout=60)

    assert (output, program.returncode) == ("", 1)
    assert errors == f"fault_server: port {port} is in use; choose another with --port\n"


def test_leaves_no_certificates_behind() -> None:
    with FaultServer(tls=True) as server:
        authority = Path(server.ca)
        assert authority.read_text().startswith("-----BEGIN CERTIFICATE-----")
    assert not authority.parent.exists()


def test_a_server_that_cannot_start_says_so(server: FaultServer) -> None:
    program = start("--port", str(server.ports["http"]))
    assert first_line(program) == ""
    assert program.wait(timeout=60) != 0
    program.communicate()


def test_the_pattern_says_at_each_place_where_it_is() -> None:
    assert pattern(40) == b"000000000000000\n000000000000016\n00000000"
    assert pattern(5, 27) == b"0016\n"
    assert pattern(32, 999_984) == b"000000000999984\n000000000000000\n"
    assert pattern(2_500_000)[1_700_000:1_700_016] == pattern(16, 1_700_000)


def test_urls_are_encoded_so_that_each_byte_arrives(server: FaultServer) -> None:
    url = server.url("/seq/200", {"h": ["X-One:a b+c&d", "X-Two:\xff"]}, id="x")
    assert url == (f"http://127.0.0.1:{server.ports['http']}/seq/200?h=X-One%3Aa%20b%2Bc%26d&h=X-Two%3A%FF&id=x")
    assert server.url("/echo", kind="https") == f"https://127.0.0.1:{server.ports['https']}/echo"
    assert server.new_id() != server.new_id()

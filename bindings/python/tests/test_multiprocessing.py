"""Processes and their children: a working client in the child, or a clear error; never a hang."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from paths import PACKAGE
from test_client_process import end_of

Server = Any


def run(folder: Path, program: str, *arguments: object) -> str:
    """The output of the program. It is a file, because "spawn" imports it in the child."""
    script = folder / "program.py"
    script.write_text(textwrap.dedent(program))
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore::DeprecationWarning", str(script), *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(PACKAGE / "src")},
    )
    code, output, errors = end_of(process)
    assert (code, errors) == (0, "")
    return output


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_children_with_clients_of_their_own(server: Server, tmp_path: Path, method: str) -> None:
    """Given a client of the parent with a call in progress, four children send theirs, blocking and asynchronous."""
    program = """
    import asyncio, multiprocessing, sys
    from boxretry import Client
    from boxretry.aio import AsyncClient

    async def several(url):
        async with AsyncClient() as client:
            return [response.status for response in await asyncio.gather(*(client.get(url) for _ in range(3)))]

    def work(url):
        with Client() as client:
            return [client.get(url).status, *asyncio.run(several(url))]

    if __name__ == "__main__":
        url, stall, method = sys.argv[1:]
        with Client() as client:
            call = client.submit("GET", stall)
            client.get(url)
            asyncio.run(several(url))
            with multiprocessing.get_context(method).Pool(4) as pool:
                print(pool.map(work, [url] * 4))
            print(client.get(url).status)
    """
    urls = server.url("/seq/200", id=server.new_id()), server.url("/seq/stall", id=server.new_id())
    assert run(tmp_path, program, *urls, method) == f"{[[200] * 4] * 4}\n200\n"


def test_a_client_of_the_parent_is_refused(server: Server, tmp_path: Path) -> None:
    """With a clear error, for both clients, also if the fork comes during calls; the child may close it."""
    program = """
    import asyncio, os, sys, threading
    from boxretry import Client, ForkedError
    from boxretry.aio import AsyncClient

    url, stall = sys.argv[1:]
    client, aclient = Client(), AsyncClient()
    calls = [client.submit("GET", stall) for _ in range(5)]
    threading.Thread(target=client.get, args=(stall,), daemon=True).start()
    asyncio.run(aclient.get(url))

    def refused(use):
        try:
            use()
        except ForkedError as error:
            return "forked" if "fork" in str(error) else str(error)

    child = os.fork()
    if child == 0:
        print(refused(lambda: client.get(url)), refused(lambda: client.submit("GET", url)))
        print(refused(lambda: asyncio.run(aclient.get(url))), refused(aclient.stats))
        client.close()
        asyncio.run(aclient.aclose())
        del calls
        print(Client().get(url).status)
        sys.exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), client.get(url).status)
    sys.stdout.flush()
    os._exit(0)  # One thread still waits for its response.
    """
    urls = server.url("/seq/200", id=server.new_id()), server.url("/seq/stall", id=server.new_id())
    assert run(tmp_path, program, *urls) == "forked forked\nforked forked\n200\n0 200\n"


def test_a_pre_fork_server(server: Server, tmp_path: Path) -> None:
    """Given sessions that were made and used before the workers started, then each worker can use them.

    Workers of the second generation can too, and each exits normally by itself.
    """
    pytest.importorskip("requests")
    program = """
    import os, sys
    import requests
    from boxretry import RetryStrategy
    from boxretry.integrations.requests import RetryAdapter

    session, url = requests.Session(), sys.argv[1]
    session.mount("http://", RetryAdapter(strategy=RetryStrategy(retry_base_interval=0)))
    session.get(url)

    def worker(generation):
        assert session.get(url).status_code == 200
        if generation:
            child = os.fork()
            if child == 0:
                worker(generation - 1)
            assert os.waitpid(child, 0)[1] == 0
        sys.exit(0)

    workers = []
    for _ in range(4):
        workers.append(os.fork())
        if workers[-1] == 0:
            worker(1)
    print([os.waitpid(worker, 0)[1] for worker in workers], session.get(url).status_code)
    """
    assert run(tmp_path, program, server.url("/seq/503,200", id=server.new_id(), cycle="")) == "[0, 0, 0, 0] 200\n"


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_errors_and_responses_come_out_of_a_process_pool(server: Server, tmp_path: Path, method: str) -> None:
    program = """
    import multiprocessing, sys
    from concurrent.futures import ProcessPoolExecutor
    from boxretry import Client, ConnectError, RetryStrategy

    def get(url):
        with Client(RetryStrategy(retry_base_interval=0)) as client:
            return client.get(url)

    if __name__ == "__main__":
        good, refused, method = sys.argv[1:]
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(method)) as pool:
            response = pool.submit(get, good).result()
            print(response.status, response.text, [attempt.status for attempt in response.attempts])
            try:
                pool.submit(get, refused).result()
            except ConnectError as error:
                print([attempt.cause.name for attempt in error.attempts])
    """
    good = server.url("/seq/503,200", {"200.body": "hello"}, id=server.new_id())
    output = run(tmp_path, program, good, f"http://127.0.0.1:{server.ports['refused']}/", method)
    assert output == "200 hello [503, 200]\n['CONNECT', 'CONNECT', 'CONNECT']\n"


def test_a_client_is_not_sent_to_a_child(tmp_path: Path) -> None:
    program = """
    import multiprocessing
    from boxretry import Client

    if __name__ == "__main__":
        try:
            multiprocessing.get_context("spawn").Process(target=print, args=(Client(),)).start()
        except TypeError as error:
            print(error)
    """
    assert run(tmp_path, program) == "Client objects cannot be copied or pickled\n"

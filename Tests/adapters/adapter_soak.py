"""Sends many requests: `adapter_soak.py requests|httpx plain|ours URL COUNT`. Prints seconds and memory, as JSON."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

WARM_UP = 2000


def resident() -> int:
    """Bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


def client(package: str, is_ours: bool) -> Any:
    if package == "requests":
        import requests

        session = requests.Session()
        session.trust_env = False
        if is_ours:
            from boxretry.integrations.requests import RetryAdapter

            session.mount("http://", RetryAdapter())
        return session
    import httpx

    if not is_ours:
        return httpx.Client(trust_env=False)
    from boxretry.integrations.httpx import RetryTransport

    return httpx.Client(trust_env=False, transport=RetryTransport())


if __name__ == "__main__":
    package, whose, url, count = sys.argv[1:]
    get = client(package, whose == "ours").get
    for _ in range(WARM_UP):
        assert get(url).content == b"ok"
    before, began = resident(), time.process_time()
    started = time.monotonic()
    for _ in range(int(count)):
        assert get(url).content == b"ok"
    seconds = time.monotonic() - started
    print(json.dumps({"seconds": seconds, "cpu": time.process_time() - began, "growth": resident() - before}))

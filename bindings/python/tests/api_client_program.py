"""Sends one request with an API client to a server that is always busy, and prints how many requests arrived.

    python api_client_program.py openai plain|both|off

plain: the client's own retries; both: with the adapter too; off: as docs/api-clients.md says.
"""

from __future__ import annotations

import contextlib
import json
import sys
import time
from typing import Any

from boxretry import Preset, RetryStrategy
from boxretry.testing import Answer, ScriptedServer

BUSY = Answer(503, {"Content-Type": "application/json"}, '{"error": {"message": "busy"}}')


def adapter_settings() -> dict[str, Any]:
    return {"strategy": RetryStrategy(max_attempts=3, retry_base_interval=0)}


def requests_adapter() -> Any:
    from boxretry.integrations.requests import RetryAdapter

    return RetryAdapter(**adapter_settings())


def session(adapter: bool) -> Any:
    import requests

    made = requests.Session()
    if adapter:
        made.mount("http://", requests_adapter())
    return made


def httpx2_client(**settings: Any) -> Any:
    import httpx2

    from boxretry.integrations.httpx2 import RetryTransport

    return httpx2.Client(transport=RetryTransport(**(settings or adapter_settings())))


def with_openai(url: str, adapter: bool, off: bool) -> None:
    from openai import OpenAI

    how: dict[str, Any] = {"http_client": httpx2_client()} if adapter else {}
    if off:
        how["max_retries"] = 0
    OpenAI(api_key="key", base_url=url, **how).models.list()


def with_anthropic(url: str, adapter: bool, off: bool) -> None:
    from anthropic import Anthropic

    how: dict[str, Any] = {"http_client": httpx2_client()} if adapter else {}
    if off:
        how["max_retries"] = 0
    Anthropic(api_key="key", base_url=url, **how).models.list()


def with_huggingface_hub(url: str, adapter: bool, off: bool) -> None:
    from huggingface_hub import set_client_factory
    from huggingface_hub.utils import http_backoff

    if off:
        set_client_factory(lambda: httpx2_client(preset=Preset.JANUARY))
    elif adapter:
        set_client_factory(httpx2_client)
    http_backoff("GET", url)


def with_stripe(url: str, adapter: bool, off: bool) -> None:
    import stripe

    stripe.api_key, stripe.api_base = "key", url
    stripe.default_http_client = stripe.RequestsClient(session=session(adapter))
    if off:
        stripe.max_network_retries = 0
    stripe.Customer.list()


def with_google_cloud_storage(url: str, adapter: bool, off: bool) -> None:
    from google.auth.credentials import AnonymousCredentials
    from google.auth.transport.requests import AuthorizedSession
    from google.cloud.storage import Client
    from google.cloud.storage.retry import DEFAULT_RETRY

    authorized = AuthorizedSession(AnonymousCredentials())
    if adapter:
        authorized.mount("http://", requests_adapter())
    client = Client("project", authorized.credentials, _http=authorized, client_options={"api_endpoint": url})
    client.get_bucket("bucket", retry=None if off else DEFAULT_RETRY.with_delay(0.001, 0.001).with_timeout(1))


def with_twilio(url: str, adapter: bool, off: bool) -> None:
    from twilio.http.http_client import TwilioHttpClient

    client = TwilioHttpClient()
    if adapter:
        client.session.mount("http://", requests_adapter())
    client.request("GET", url)


CLIENTS = {
    "openai": with_openai,
    "anthropic": with_anthropic,
    "huggingface_hub": with_huggingface_hub,
    "stripe": with_stripe,
    "google-cloud-storage": with_google_cloud_storage,
    "twilio": with_twilio,
}


def main() -> None:
    name, how = sys.argv[1:]
    sleep = time.sleep
    time.sleep = lambda seconds: sleep(0)  # The clients' own waits.
    with ScriptedServer([BUSY]) as server:
        with contextlib.suppress(Exception):  # Each client reports the busy server in its own way.
            CLIENTS[name](server.url, adapter=how != "plain", off=how == "off")
        print(json.dumps(len(server.requests)))


if __name__ == "__main__":
    main()

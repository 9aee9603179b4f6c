# mypy: disable-error-code="import-not-found, import-untyped"
"""Programs that use API clients. `client_programs.py PROGRAM plain|ours URL`: prints what it has got, as JSON."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


@contextlib.contextmanager
def _counted_requests() -> Iterator[list[None]]:
    """A list that grows with each request that this package sends."""
    from boxretry import Client

    count: list[None] = []
    sending = Client._sending

    def counted(*arguments: Any) -> Any:
        count.append(None)
        return sending(*arguments)

    Client._sending = counted  # type: ignore[method-assign,assignment]
    yield count


def _httpx2_client(is_ours: bool, **settings: Any) -> Any:
    import httpx2

    if not is_ours:
        return httpx2.Client(**settings)
    from boxretry import RetryStrategy
    from boxretry.integrations.httpx2 import RetryTransport

    once = RetryStrategy(max_attempts=1, max_retries_on_exception=0)
    return httpx2.Client(transport=RetryTransport(once), **settings)


def _async_httpx2_client(is_ours: bool) -> Any:
    import httpx2

    if not is_ours:
        return httpx2.AsyncClient()
    from boxretry import RetryStrategy
    from boxretry.integrations.httpx2 import AsyncRetryTransport

    once = RetryStrategy(max_attempts=1, max_retries_on_exception=0)
    return httpx2.AsyncClient(transport=AsyncRetryTransport(once))


def openai(url: str, is_ours: bool) -> Any:
    """JSON, server-sent events, multipart, an error; and the events asynchronously."""
    import asyncio

    from openai import AsyncOpenAI, NotFoundError, OpenAI

    settings: Any = {"api_key": "k", "base_url": f"{url}/v1", "max_retries": 0}
    client = OpenAI(http_client=_httpx2_client(is_ours), **settings)
    question: Any = {"model": "m", "messages": [{"role": "user", "content": "hi ☃"}]}
    got: list[Any] = [client.chat.completions.create(**question).to_dict()]
    got.append([chunk.to_dict() for chunk in client.chat.completions.create(stream=True, **question)])
    got.append(client.files.create(file=("a.jsonl", b"{}\n" * 1000), purpose="batch").to_dict())
    try:
        client.models.retrieve("none")
    except NotFoundError as error:
        got.append([str(error), error.status_code])

    async def events() -> list[Any]:
        async with AsyncOpenAI(http_client=_async_httpx2_client(is_ours), **settings) as other:
            return [chunk.to_dict() async for chunk in await other.chat.completions.create(stream=True, **question)]

    got.append(asyncio.run(events()))
    raw = client.chat.completions.with_raw_response.create(**question)
    got.append([raw.status_code, raw.http_version, raw.headers.get("x-request-id")])
    return got


def anthropic(url: str, is_ours: bool) -> Any:
    """JSON and server-sent events."""
    from anthropic import Anthropic

    client = Anthropic(api_key="k", base_url=url, max_retries=0, http_client=_httpx2_client(is_ours))
    question: Any = {"model": "m", "max_tokens": 9, "messages": [{"role": "user", "content": "hi"}]}
    got: list[Any] = [client.messages.create(**question).to_dict()]
    with client.messages.stream(**question) as stream:
        got.append(list(stream.text_stream))
        got.append(stream.get_final_message().to_dict())
    return got


def huggingface_hub(url: str, is_ours: bool) -> Any:
    """JSON; a download that breaks off and is resumed."""
    os.environ.update(HF_ENDPOINT=url, HF_HUB_DISABLE_XET="1", HF_HUB_DISABLE_PROGRESS_BARS="1")
    import huggingface_hub as hub

    hub.set_client_factory(lambda: _httpx2_client(is_ours, follow_redirects=True))
    with tempfile.TemporaryDirectory() as folder:
        path = hub.hf_hub_download("org/model", "file.bin", cache_dir=folder)
        got = [_digest(Path(path).read_bytes())]
    return [*got, hub.HfApi(endpoint=url, token="t").whoami()["name"]]


def _mount(is_ours: bool) -> None:
    if is_ours:
        import mounted_requests  # noqa: F401


def twine(url: str, is_ours: bool) -> Any:
    """A multipart upload with Basic authentication, by the program itself."""
    _mount(is_ours)
    import requests.sessions
    import twine.utils
    from twine.__main__ import main

    twine.utils.HTTPAdapter = requests.sessions.HTTPAdapter  # It mounts its own adapter.

    with tempfile.TemporaryDirectory() as folder:
        wheel = Path(folder) / "nothing-1.0-py3-none-any.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            date = (2020, 1, 1, 0, 0, 0)
            metadata = "Metadata-Version: 2.1\nName: nothing\nVersion: 1.0\n"
            archive.writestr(zipfile.ZipInfo("nothing-1.0.dist-info/METADATA", date), metadata)
            archive.writestr(zipfile.ZipInfo("nothing-1.0.dist-info/WHEEL", date), "Wheel-Version: 1.0\n")
            archive.writestr(zipfile.ZipInfo("nothing-1.0.dist-info/RECORD", date), "")
        sys.argv = ["twine", "upload", "--repository-url", f"{url}/legacy/", "-u", "me", "-p", "secret"]
        sys.argv += ["--disable-progress-bar", "--non-interactive", str(wheel)]
        sys.stdout, shown = io.StringIO(), sys.stdout
        try:
            return main()
        finally:
            sys.stdout = shown


def google_auth(url: str, is_ours: bool) -> Any:
    """A refreshed token; a token that is rejected, and refreshed."""
    _mount(is_ours)
    from google.auth.transport.requests import AuthorizedSession
    from google.oauth2.credentials import Credentials

    known: Any = {"refresh_token": "r", "token_uri": f"{url}/token", "client_id": "c", "client_secret": "s"}
    session = AuthorizedSession(Credentials(None, **known))
    return [session.get(f"{url}/protected/second", params={"a": "b c"}).json(), session.get(f"{url}/protected").json()]


def authlib(url: str, is_ours: bool) -> Any:
    """Client credentials with requests and with httpx2."""
    _mount(is_ours)
    from authlib.integrations.httpx_client import OAuth2Client
    from authlib.integrations.requests_client import OAuth2Session

    session = OAuth2Session("c", "s+ü&", scope="a b")
    got = [session.fetch_token(f"{url}/token", grant_type="client_credentials")["access_token"]]
    got.append(session.post(f"{url}/protected", json={"x": 1}).json())
    settings: dict[str, Any] = {}
    if is_ours:
        from boxretry import RetryStrategy
        from boxretry.integrations.httpx2 import RetryTransport

        settings["transport"] = RetryTransport(RetryStrategy(max_attempts=1, max_retries_on_exception=0))
    client = OAuth2Client("c", "s", token_endpoint_auth_method="client_secret_post", **settings)
    got.append(client.fetch_token(f"{url}/token", grant_type="client_credentials")["access_token"])
    return [*got, client.get(f"{url}/protected").json()]


def requests_oauthlib(url: str, is_ours: bool) -> Any:
    """OAuth 2 with cookies over a redirect; a file."""
    _mount(is_ours)
    os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
    from oauthlib.oauth2 import BackendApplicationClient
    from requests_oauthlib import OAuth2Session

    session = OAuth2Session(client=BackendApplicationClient(client_id="c"))
    got = [session.fetch_token(f"{url}/token", client_id="c", client_secret="s")["access_token"]]
    response = session.get(f"{url}/redirect")
    got += [response.url, len(response.history), response.json(), sorted(session.cookies.items())]
    files = {"f": ("ü.txt", io.BytesIO(b"x" * 100_000), "text/plain")}
    return [*got, session.post(f"{url}/protected", files=files).json()]


def tuspy(url: str, is_ours: bool) -> Any:
    """An upload in parts, of which the second half is resumed by another uploader."""
    _mount(is_ours)
    from tusclient.client import TusClient

    data = bytes(range(251)) * 1000
    client = TusClient(f"{url}/uploads/")
    first = client.uploader(file_stream=io.BytesIO(data), chunk_size=50_000)
    first.upload_chunk()
    first.upload_chunk()
    second = client.uploader(file_stream=io.BytesIO(data), chunk_size=60_000, url=first.url)
    second.upload()
    return [first.offset, second.offset]


if __name__ == "__main__":
    program, whose, url = sys.argv[1:]
    with _counted_requests() as count:
        got = globals()[program](url, whose == "ours")
    print(json.dumps([got, len(count)], sort_keys=True))

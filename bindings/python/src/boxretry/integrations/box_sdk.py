"""A network client for the Box SDK (`boxsdk` 10): the SDK with its own auth classes, on this engine.

session = NetworkSession(network_client=RetryNetworkClient())
client = BoxClient(auth=auth, network_session=session)
"""

from __future__ import annotations

import dataclasses
import io
import time
from collections.abc import Iterator
from functools import partial
from typing import Any, Union
from urllib.parse import urljoin

from box_sdk_gen.box.errors import BoxAPIError, BoxSDKError, RequestInfo, ResponseInfo
from box_sdk_gen.internal.utils import ResponseByteStream
from box_sdk_gen.networking import retries
from box_sdk_gen.networking.box_network_client import APIRequest, BoxNetworkClient
from box_sdk_gen.networking.fetch_options import FetchOptions, ResponseFormat
from box_sdk_gen.networking.fetch_response import FetchResponse
from box_sdk_gen.networking.network import NetworkSession
from box_sdk_gen.serialization.json import json_to_serialized_data
from requests.structures import CaseInsensitiveDict
from requests.utils import super_len
from urllib3 import HTTPHeaderDict

from ..calls.response import Response
from ..client import Client
from ..decisions.loop import RetryLoop
from ..decisions.strategy import RetryStrategy
from ..enums import Action, Proxy
from ..errors import BoxRetryError, CancelledError, NetworkError
from ..outcome import Outcome
from ..stream import Stream
from ._engine import REQUEST_ARGUMENTS, Clients, idle_timeout, latin_1_lines, sendable
from ._sending import body_of_host, send, send_for_stream

_MOST_REDIRECTS = 30

#: The response of an attempt: complete, or to be read.
_Came = Union[Response, Stream]


class RetryNetworkClient(BoxNetworkClient):
    """Sends the requests of a `NetworkSession`, and retries them as its `retry_strategy` decides.

    If that is the SDK's own `BoxRetryStrategy`, this package's `RetryStrategy` decides with the same options: its rules
    are the same, and it also understands all forms of Retry-After. Any other strategy of the SDK is called itself. A
    401 refreshes the token of the auth class, and each attempt asks the auth class for its header again.

    `timeout_config`: the read timeout is the longest time without any data in each attempt, including the time to
    connect; the connection timeout limits the time to connect. A value that is not given keeps its default (60 s;
    none). `proxy_url` is the proxy; without it no proxy is used.

    The waiting thread reads uploads while they are sent. Downloads arrive while they are read: if one breaks off after
    its status is known, reading it raises BoxSDKError.

    Raises the SDK's exceptions: BoxAPIError for a response, BoxSDKError without one. Its `error` is a BoxRetryError, or
    a CancelledError if the call was canceled, for example by `close()`.
    """

    def __init__(self, **settings: Any) -> None:
        """The settings are those of `boxretry.Client` except `strategy` and `proxy`, which the session sets."""
        super().__init__()
        unsupported = {"strategy", "proxy"} & settings.keys()
        if unsupported:
            raise TypeError(f"{', '.join(sorted(unsupported))}: the NetworkSession sets this")
        # Each attempt is a separate call, because its headers differ.
        once = RetryStrategy(max_attempts=1, max_retries_on_exception=0)
        self._clients = Clients(Client, {"strategy": once, **settings})

    def fetch(self, options: FetchOptions) -> FetchResponse:
        """Sends a request for the SDK. See the class."""
        session = options.network_session or NetworkSession()
        stream_position = self._get_options_stream_position(options)
        part_positions = self._get_multipart_stream_positions(options)
        rules = _rules(options, session.retry_strategy)
        while True:
            request = self._prepare_request(options)
            response, error = self._attempt(request, session, options)
            wait = rules.wait_before_retry(response, error)
            if wait is None:
                break
            if isinstance(response, Stream):
                response.close()
            self._reset_options_stream(options, stream_position, error)
            self._reset_multipart_streams(options, part_positions, error)
            time.sleep(max(wait, 0))
        if response is None:
            raise BoxSDKError(message=str(error), error=error) from error
        if 200 <= response.status < 400:
            return _fetch_response(response)
        raise _api_error(request, response.response if isinstance(response, Stream) else response, session)

    def close(self) -> None:
        """Closes all connections. If the network client is used again, it makes new ones."""
        for client in self._clients.take_all():
            client.close()

    def _attempt(
        self, request: APIRequest, session: NetworkSession, options: FetchOptions
    ) -> tuple[_Came | None, NetworkError | None]:
        """The response; or the error if there is none, if that is a network exception."""
        client = self._clients.get(proxy=session.proxy_url or Proxy.NONE)
        timeouts = _timeouts(session.timeout_config)
        is_binary = options.response_format == ResponseFormat.BINARY
        send_it = partial(send_for_stream, stream_errors=False) if is_binary else send
        try:
            # The engine's own redirects could replace this loop.
            for _ in range(_MOST_REDIRECTS + 1):
                arguments = {
                    "params": {name: value for name, value in request.params.items() if value is not None},
                    "headers": sendable(request.headers.items()),
                    **timeouts,
                    **_body(request.data),
                    **REQUEST_ARGUMENTS,
                }
                response: _Came = send_it(client, request.method, request.url, arguments)
                following = self._redirected(request, response) if request.allow_redirects else None
                if following is None:
                    return response, None
                request = following
            raise BoxSDKError(message=f"Exceeded {_MOST_REDIRECTS} redirects")
        except NetworkError as error:
            return None, error
        except (BoxRetryError, CancelledError, OSError) as error:  # OSError: from reading the body.
            raise BoxSDKError(message=str(error), error=error) from error

    def _redirected(self, request: APIRequest, response: _Came) -> APIRequest | None:
        """The request that follows a redirect, as the SDK's own client (through requests) makes it."""
        location = response.headers.get("Location")
        if response.status not in (301, 302, 303, 307, 308) or location is None:
            return None
        url, headers, method, data = (
            urljoin(response.url, location),
            dict(request.headers),
            request.method,
            request.data,
        )
        if self.requests_session.should_strip_auth(response.url, url):  # type: ignore[no-untyped-call]
            headers.pop("Authorization", None)
        if response.status < 307:
            if method != "HEAD" and (response.status != 301 or method == "POST"):
                method = "GET"
            data = None
            headers.pop("Content-Type", None)
        elif not isinstance(data, (str, bytes, type(None))):
            raise BoxSDKError(message="A redirect needs the request's stream again, which cannot be read twice")
        return dataclasses.replace(request, method=method, url=url, headers=headers, params={}, data=data)


def _timeouts(config: Any) -> dict[str, Any]:
    """The arguments of a request for a TimeoutConfig. A value that is not given keeps its default."""
    read, connection = config.read_timeout_ms, config.connection_timeout_ms
    return {
        "timeout": None if read is None else idle_timeout(read / 1000),
        "connect_timeout": None if connection is None else connection / 1000,
    }


class _BoxRules:
    """Decides about the attempts of one request by the rules of Box's strategy."""

    def __init__(self, options: FetchOptions, strategy: retries.BoxRetryStrategy) -> None:
        self._options = options
        decides = RetryStrategy(
            strategy.max_attempts,
            strategy.retry_base_interval,
            strategy.retry_randomization_factor,
            strategy.max_retries_on_exception,
        )
        self._loop = RetryLoop(decides, auth_available=options.auth is not None)

    def wait_before_retry(self, response: _Came | None, error: NetworkError | None) -> float | None:
        """The seconds to wait; None: do not retry."""
        if response is None:
            assert error is not None
            decision = self._loop.next(Outcome(cause=error.attempts[-1].cause))
        else:
            decision = self._loop.next(Outcome(response.status, headers=response.headers.pairs))
        if decision.action is Action.REFRESH_TOKEN_AND_RETRY:
            assert self._options.auth is not None
            self._options.auth.refresh_token(network_session=self._options.network_session)
        return decision.delay if decision.retry else None


class _OtherRules:
    """Calls another strategy of the SDK.

    This does not use `RetryLoop`, because the strategy may send requests (to refresh a token), which callbacks cannot.
    """

    def __init__(self, options: FetchOptions, strategy: retries.RetryStrategy) -> None:
        self._options, self._strategy = options, strategy
        self._attempts = self._exceptions = 0

    def wait_before_retry(self, response: _Came | None, error: NetworkError | None) -> float | None:
        """The seconds to wait; None: do not retry."""
        self._attempts += 1
        if response is None:
            self._exceptions += 1
            outcome, number = FetchResponse(status=0, headers={}), self._exceptions
        else:
            outcome, number = _fetch_response(response), self._attempts
        if not self._strategy.should_retry(self._options, outcome, number):
            return None
        return self._strategy.retry_after(self._options, outcome, number)


def _rules(options: FetchOptions, strategy: retries.RetryStrategy) -> _BoxRules | _OtherRules:
    if type(strategy) is retries.BoxRetryStrategy:
        return _BoxRules(options, strategy)
    return _OtherRules(options, strategy)


def _body(data: Any) -> dict[str, Any]:
    """A body of any type that the SDK accepts: text, or a stream."""
    if data is None or isinstance(data, (str, bytes)):
        return {"data": data}
    # If requests does not find a length, it sends chunks.
    return body_of_host(data, super_len(data) or None)  # type: ignore[no-untyped-call]


def _fetch_response(response: _Came) -> FetchResponse:
    known: dict[str, Any] = {"url": response.url, "status": response.status, "headers": _headers(response)}
    if isinstance(response, Stream):
        content = ResponseByteStream(_pieces(response))  # type: ignore[no-untyped-call]
        return FetchResponse(content=content, **known)
    return FetchResponse(data=_json_body(response), content=io.BytesIO(response.content), **known)


def _pieces(stream: Stream) -> Iterator[bytes]:
    try:
        yield from stream.iter_bytes()
    except (BoxRetryError, CancelledError) as error:
        raise BoxSDKError(message=str(error), error=error) from error
    finally:
        stream.close()


def _headers(response: _Came) -> Any:
    return CaseInsensitiveDict(HTTPHeaderDict(latin_1_lines(response.headers)))


def _json_body(response: Response) -> Any:
    """The body, as the SDK reads it: an empty object if it is not valid JSON."""
    try:
        return json_to_serialized_data(response.text) if response.content else {}
    except ValueError:
        return {}


def _api_error(request: APIRequest, response: Response, session: NetworkSession) -> BoxAPIError:
    body = _json_body(response)
    body = body if isinstance(body, dict) else {}
    return BoxAPIError(
        message=f"{response.status} {body.get('message', '')}; Request ID: {body.get('request_id', '')}",
        request_info=RequestInfo(
            method=request.method,
            url=request.url,
            query_params=request.params,
            headers=request.headers,
            body=request.data,
            content_type=request.content_type,
        ),
        response_info=ResponseInfo(
            status_code=response.status,
            headers=dict(_headers(response)),
            body=body,
            raw_body=response.text,
            code=body.get("code"),
            context_info=body.get("context_info", {}),
            request_id=body.get("request_id"),
            help_url=body.get("help_url"),
        ),
        data_sanitizer=session.data_sanitizer,
    )

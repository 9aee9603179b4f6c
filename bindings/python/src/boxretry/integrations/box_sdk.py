"""A network client for the Box SDK (`boxsdk` 10): the SDK with its own auth classes, on this engine.

session = NetworkSession(network_client=RetryNetworkClient())
client = BoxClient(auth=auth, network_session=session)

If the program repeats failed calls of the SDK itself, retries multiply. Turn one of the two off, for example with
`NetworkSession(retry_strategy=BoxRetryStrategy(max_attempts=1), network_client=...)`. Retries also multiply if the
SDK's own `BoxNetworkClient` has a requests session with a `RetryAdapter`: use this client instead.
"""

from __future__ import annotations

import dataclasses
import time
from functools import partial
from typing import Any
from urllib.parse import urljoin

from box_sdk_gen.box.errors import BoxAPIError, BoxSDKError, RequestInfo
from box_sdk_gen.networking import retries
from box_sdk_gen.networking.box_network_client import APIRequest, BoxNetworkClient
from box_sdk_gen.networking.fetch_options import FetchOptions, ResponseFormat
from box_sdk_gen.networking.fetch_response import FetchResponse
from box_sdk_gen.networking.network import NetworkSession
from requests.utils import get_environ_proxies, select_proxy, super_len

from ..client import Client
from ..decisions.loop import RetryLoop
from ..decisions.strategy import RetryStrategy
from ..enums import Action, Proxy
from ..errors import BoxRetryError, CancelledError, NetworkError
from ..outcome import Outcome
from ._box_responses import Received
from ._engine import REQUEST_ARGUMENTS, Clients, idle_timeout, sendable
from ._sending import body_of_host, send, send_for_stream

_MOST_REDIRECTS = 30

#: Settings for box-sdk-gen, and for boxsdk before 10.5, whose sessions have no `timeout_config`.
_OLD_SETTINGS = {} if hasattr(NetworkSession, "with_timeout_config") else {"connect_timeout": 5}


class RetryNetworkClient(BoxNetworkClient):
    """Sends the requests of a `NetworkSession`, and retries them as its `retry_strategy` decides.

    If that is the SDK's own `BoxRetryStrategy`, this package's `RetryStrategy` decides with the same options: its rules
    are the same, and it also understands all forms of Retry-After. Any other strategy of the SDK is called itself. A
    401 refreshes the token of the auth class, and each attempt asks the auth class for its header again.

    `timeout_config`: the read timeout is the longest time without any data in each attempt, including the time to
    connect; the connection timeout limits the time to connect. A value that is not given keeps its default (60 s;
    none). With versions of the SDK that do not have it, the client's settings `timeout` and `connect_timeout` apply, by
    default 60 s and 5 s.

    `proxy_url` is the proxy. Without it, the proxy is that of the environment, as in requests: `http_proxy`,
    `https_proxy`, `all_proxy` and `no_proxy` are read for each request that is sent, also after a redirect.

    Compressed responses are requested and decompressed.

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
        self._clients = Clients(Client, {"strategy": once, **_OLD_SETTINGS, **settings})

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
            if response is not None:
                response.close()
            self._reset_options_stream(options, stream_position, error)
            self._reset_multipart_streams(options, part_positions, error)
            time.sleep(max(wait, 0))
        if response is None:
            raise BoxSDKError(message=str(error), error=error) from error
        if 200 <= response.status < 400:
            return response.fetch_response()
        raise _api_error(request, response, session)

    def close(self) -> None:
        """Closes all connections. If the network client is used again, it makes new ones."""
        for client in self._clients.take_all():
            client.close()

    def _attempt(
        self, request: APIRequest, session: NetworkSession, options: FetchOptions
    ) -> tuple[Received | None, NetworkError | None]:
        """The response; or the error if there is none, if that is a network exception."""
        timeouts = _timeouts(getattr(session, "timeout_config", None))
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
                    "compression": True,
                }
                client = self._clients.get(proxy=self._proxy(request.url, session))
                response = Received(send_it(client, request.method, request.url, arguments), request.headers)
                following = self._redirected(request, response) if request.allow_redirects else None
                if following is None:
                    return response, None
                request = following
            raise BoxSDKError(message=f"Exceeded {_MOST_REDIRECTS} redirects")
        except NetworkError as error:
            return None, error
        except (BoxRetryError, CancelledError, OSError) as error:  # OSError: from reading the body.
            raise BoxSDKError(message=str(error), error=error) from error

    def _proxy(self, url: str, session: NetworkSession) -> str | Proxy:
        if session.proxy_url:
            return session.proxy_url
        proxies = get_environ_proxies(url) if self.requests_session.trust_env else None
        return select_proxy(url, proxies) or Proxy.NONE

    def _redirected(self, request: APIRequest, response: Received) -> APIRequest | None:
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
    if config is None:
        return {}
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

    def wait_before_retry(self, response: Received | None, error: NetworkError | None) -> float | None:
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

    def wait_before_retry(self, response: Received | None, error: NetworkError | None) -> float | None:
        """The seconds to wait; None: do not retry."""
        self._attempts += 1
        if response is None:
            self._exceptions += 1
            outcome, number = FetchResponse(status=0, headers={}), self._exceptions
        else:
            outcome, number = response.fetch_response(), self._attempts
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


def _api_error(request: APIRequest, response: Received, session: NetworkSession) -> BoxAPIError:
    info = response.response_info()
    body = info.body or {}
    # Older versions of the SDK do not have it.
    content_type = {"content_type": request.content_type} if hasattr(request, "content_type") else {}
    return BoxAPIError(
        message=f"{info.status_code} {body.get('message', '')}; Request ID: {body.get('request_id', '')}",
        request_info=RequestInfo(
            method=request.method,
            url=request.url,
            query_params=request.params,
            headers=request.headers,
            body=request.data,
            **content_type,
        ),
        response_info=info,
        data_sanitizer=session.data_sanitizer,
    )

"""Reads the attempts, redirects and reconnects of a boxretry_response."""

from __future__ import annotations

from ctypes import byref
from typing import Any

from .._c import _abi
from .._c.arguments import new
from .._c.texts import decoded
from ..attempt import Attempt, Reconnect, Redirect
from ..enums import Action, Cause, DelaySource, Reason, RequestSent
from ..errors import check


def attempts_of_call(pointer: int) -> list[Attempt]:
    """The attempts of a boxretry_response."""
    attempts, struct = [], new(_abi.Attempt, _abi.boxretry_attempt_init)
    for index in range(_abi.boxretry_response_attempt_count(pointer)):
        check(_abi.boxretry_response_attempt(pointer, index, byref(struct)))
        attempts.append(_attempt_from_struct(struct))
    return attempts


def http_version_of_call(pointer: int) -> int:
    """The HTTP version of a boxretry_response, which has one."""
    struct = new(_abi.Attempt, _abi.boxretry_attempt_init)
    check(_abi.boxretry_response_attempt(pointer, _abi.boxretry_response_attempt_count(pointer) - 1, byref(struct)))
    version: int = struct.http_version
    return version


def _attempt_from_struct(struct: Any) -> Attempt:
    return Attempt(
        number=struct.number,
        exception_number=struct.exception_number,
        status=struct.status,
        cause=Cause(struct.cause),
        action=Action(struct.action),
        reason=None if struct.reason < 0 else Reason(struct.reason),
        delay=struct.delay,
        delay_source=DelaySource(struct.delay_source),
        reconnects=struct.reconnects,
        started_ms=struct.started_ms,
        ended_ms=struct.ended_ms,
        retry_after=_known(struct.retry_after),
        curl_code=struct.curl_code,
        curl_text=decoded(struct.curl_text),
        redirects=struct.redirects,
        http_version=struct.http_version,
        resumed_from=struct.resumed_from,
        bytes_sent=struct.bytes_sent,
        bytes_received=struct.bytes_received,
        lookup_ms=_known(struct.lookup_ms),
        connect_ms=_known(struct.connect_ms),
        tls_ms=_known(struct.tls_ms),
        first_byte_ms=_known(struct.first_byte_ms),
        request_sent=RequestSent(struct.request_sent),
        proxy_status=struct.proxy_status,
    )


def _known(number: float) -> float | None:
    return None if number < 0 else number


def reconnects_of_call(pointer: int) -> list[Reconnect]:
    """The reconnects of a boxretry_response, of all attempts, in order."""
    reconnects, struct = [], new(_abi.Reconnect, _abi.boxretry_reconnect_init)
    for index in range(_abi.boxretry_response_reconnect_count(pointer)):
        check(_abi.boxretry_response_reconnect(pointer, index, byref(struct)))
        reconnects.append(Reconnect(struct.attempt_number, Cause(struct.cause), struct.at_ms))
    return reconnects


def redirects_of_call(pointer: int) -> list[Redirect]:
    """The redirects of a boxretry_response, of all attempts, in order."""
    redirects, struct = [], new(_abi.Redirect, _abi.boxretry_redirect_init)
    for index in range(_abi.boxretry_response_redirect_count(pointer)):
        check(_abi.boxretry_response_redirect(pointer, index, byref(struct)))
        redirects.append(Redirect(struct.attempt_number, struct.status, decoded(struct.url)))
    return redirects

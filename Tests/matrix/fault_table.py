"""The rows of the matrix, for each version of HTTP."""

from __future__ import annotations

import zlib

import expectations as right
import retry_afters
from boxretry import libcurl_version
from fault import BYTE_EVERY_MS, IDLE_MS, RESOURCE_MS, SLOW_SIZE, Fault, Parameters
from fault_server import pattern
from kinds import Version

LIBCURL = tuple(int(part) for part in libcurl_version().split("."))


def _exception(name: str, cause: str, item: str, **more: object) -> Fault:
    return Fault(name, right.exception(cause), right.one_exception(cause), item, **more)  # type: ignore[arg-type]


def _handshake(name: str, port: str, cause: str = "tls", **more: object) -> Fault:
    """Of a port that makes it before the request is sent."""
    return Fault(
        name,
        right.exception_before_the_request(cause),
        right.one_exception_before_the_request(cause),
        port=port,
        seen_as="connection",
        **more,  # type: ignore[arg-type]
    )


def _reach(version: Version) -> list[Fault]:
    """No connection, or none that can be used."""
    tls = version.tls_port
    return [
        Fault("connection refused", right.exception_before_the_request("connect"), port="refused", seen_as="nothing"),
        Fault(
            "unknown host name",
            right.exception_before_the_request("resolve"),
            host="host.unknown.test",
            seen_as="nothing",
        ),
        Fault(
            "silent name server",
            right.exception_before_the_request("timeout_idle"),
            host="host.sleeps.test",
            seen_as="nothing",
            idle_ms=IDLE_MS,
        ),
        Fault(
            "connection never accepted",
            right.exception_before_the_request("timeout_idle"),
            port="backlog",
            seen_as="nothing",
            idle_ms=IDLE_MS,
        ),
        _handshake("certificate for another name", f"{tls}_wrong_name"),
        _handshake("certificate expired", f"{tls}_expired"),
        _handshake("certificate self-signed", f"{tls}_self_signed"),
        _handshake("handshake cut off", "tls_cut"),
        _handshake("handshake reset", "tls_reset"),
        _handshake("handshake answered in plain HTTP", "tls_garbage"),
        _handshake("handshake never answered", "silent", "timeout_idle", idle_ms=IDLE_MS),
    ]


def _broken_answers(version: Version) -> list[Fault]:
    is_2 = version is Version.HTTP_2
    return [
        _exception("reset before the answer", "receive", "reset"),
        _exception("reset in the headers", "receive", "reset:headers"),
        _exception("reset in the body", "receive", "reset:body"),
        _exception("closed before the answer", "receive", "close"),
        _exception("closed in the headers", "receive", "close:headers"),
        _exception("closed in the body", "receive", "close:body"),
        _exception("cut off in the body, over TLS", "receive", "cut:body", port=version.tls_port),
        # In HTTP/2 the body has its own end, and a length that says otherwise is malformed: RFC 9113, 8.1.1.
        _exception("too short a body", "protocol", "stream_end:body")
        if is_2
        else _exception("too short a body", "receive", "short"),
        # The announced body is complete, and what follows it is dropped.
        Fault(
            "too long a body",
            right.well(),
            item="long",
            deviation="libcurl 8.6 and newer reports a stream error, which is a protocol exception"
            if is_2 and LIBCURL >= (8, 6)
            else "",
        ),
        _exception("garbage for a status", "protocol", "garbage"),
        *(
            []
            if is_2
            else [
                _exception(
                    "claims another version than it speaks",
                    "protocol",
                    "599",
                    parameters={"599.status_line": "HTTP/2 200 OK"},
                )
            ]
        ),
        *(
            Fault(
                name,
                right.too_large(),
                item="200",
                parameters={"headers": size},
                deviation="libcurl accepts 128 KiB of headers over HTTP/2, and reports more as a receive error; the"
                " result is a network exception, but should be response_too_large, without retries"
                if is_2
                else "",
            )
            for name, size in (("1 MB of headers", 1_000_000), ("endless headers", "endless"))
        ),
    ]


#: What a stream with the 64 bytes of the usual body begins with.
CODED = {
    "gzip": bytes.fromhex("1f8b0800000000000003333040015c283c4354"),
    "deflate": zlib.compress(pattern(64))[:12],
    "br": bytes.fromhex("1b3f0000c431c6be6f25226cc001788e"),
}


def _broken_contents(version: Version) -> list[Fault]:
    """W4. What the framing calls whole, or cannot say the end of."""
    framings = {"Content-Length": ""} if version is Version.HTTP_2 else {"Content-Length": "", "chunks": "chunked"}
    framings |= {"the end of the stream" if version is Version.HTTP_2 else "the end of the connection": "until_close"}
    return [
        *(
            _exception(
                f"half of a {coding} stream, whole by {name}",
                "receive",
                "201",
                parameters={
                    "201.h": f"Content-Encoding:{coding}",
                    "201.body": half.decode("latin-1"),
                    **({f"201.{framing}": ""} if framing else {}),
                },
                is_compressed=True,
            )
            for coding, half in CODED.items()
            for name, framing in framings.items()
        ),
        *(
            _exception(f"Content-Length: {name}", "protocol", "201", parameters={"201.h": lines})
            for name, lines in {
                "64, and another line with 63": ["Content-Length:64", "Content-Length:63"],
                "64, 63": ["Content-Length:64, 63"],
                "64abc": ["Content-Length:64abc"],
                "2^63": [f"Content-Length:{2**63}"],
            }.items()
        ),
    ]


def _slowness(version: Version) -> list[Fault]:
    slowly: Parameters = {"every": BYTE_EVERY_MS, "size": SLOW_SIZE}
    return [
        _exception("never answers", "timeout_idle", "stall", idle_ms=IDLE_MS),
        _exception("stops in the headers", "timeout_idle", "stall:headers", idle_ms=IDLE_MS),
        _exception("stops in the body", "timeout_idle", "stall:body", idle_ms=IDLE_MS),
        Fault("one byte per second", right.well(), item="200", parameters=slowly, idle_ms=IDLE_MS),
        Fault(
            "one byte per second of the headers",
            right.well(),
            item="200",
            parameters={"every_head": BYTE_EVERY_MS, "h": f"X-Long:{'x' * SLOW_SIZE}"},
            idle_ms=IDLE_MS,
            deviation="libcurl does not show a frame of headers before it is complete, so its bytes do not restart"
            " the idle time, but should"
            if version is Version.HTTP_2
            else "",
        ),
        _exception(
            "one byte per second without end",
            "timeout_resource",
            "200",
            parameters={"1.every": BYTE_EVERY_MS, "1.size": "endless"},
            resource_ms=RESOURCE_MS,
        ),
    ]


def _connections(version: Version) -> list[Fault]:
    """What was kept alive."""
    is_2 = version is Version.HTTP_2
    return [
        *(
            Fault(
                f"kept-alive connection {ended} meanwhile",
                right.dead_before_use() if is_2 else right.well(),
                item="200",
                is_reused=True,
                hang_up=how,
            )
            for how, ended in (("close", "closed"), ("cut", "cut off"), ("reset", "reset"))
        ),
        *(
            Fault(
                f"{what} on a kept-alive connection",
                right.well(),
                item="200",
                is_reused=True,
                says=text,
                deviation="libcurl 8.0 to 8.21 reads what arrived on an idle HTTP/2 connection, and reports that it was"
                " not HTTP/2 only when it sends the request: the record has a request that was not sent"
                if is_2 and (8,) <= LIBCURL < (8, 22)
                else "",
                deviates_in_record=True,
            )
            for what, text in (
                ("an unsolicited response", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nnot yours"),
                # In HTTP/2 it is the beginning of a frame, and its rest may still come.
                *([] if is_2 else [("an empty line", "\r\n")]),
            )
        ),
        *(
            Fault(
                f"kept-alive connection {ended} on the request",
                right.dead_on_use(),
                right.dead_on_use_once(),
                how,
                is_reused=True,
            )
            for how, ended in (("close", "closed"), ("reset", "reset"))
        ),
        Fault("100-continue ignored", right.well(), item="200", parameters={"expect": "ignore"}, body_size=1_500_000),
    ]


def _streams() -> list[Fault]:
    """HTTP/2's own. That a server refuses a stream, or ends it, is a `protocol`: docs/curl-codes.md. To REFUSED_STREAM
    alone libcurl would answer by sending the request again, so that it is a reconnect; from 8.0 on it does the same for
    a request that GOAWAY names as one that was not looked at."""
    refused = (right.refused_unseen(), right.refused_unseen_once())
    return [
        _exception("GOAWAY before the answer", "receive", "goaway"),
        _exception("GOAWAY in the body", "receive", "goaway:body"),
        _exception(
            "GOAWAY with ENHANCE_YOUR_CALM", "receive", "goaway", parameters={"goaway.code": "ENHANCE_YOUR_CALM"}
        ),
        Fault("GOAWAY, request not looked at", *refused, "goaway", parameters={"goaway.unprocessed": ""})
        if LIBCURL >= (8,)
        else _exception("GOAWAY, request not looked at", "protocol", "goaway", parameters={"goaway.unprocessed": ""}),
        Fault("GOAWAY, request still answered", right.well(), item="200", parameters={"drain": ""}),
        *(
            Fault(
                f"{name} with HTTP_1_1_REQUIRED",
                once=right.needs_http_1_1(),
                item=item,
                parameters={f"{item}.code": "HTTP_1_1_REQUIRED"},
                http_version=11,
            )
            for name, item in (("RST_STREAM", "stream_reset"), ("GOAWAY", "goaway"))
        ),
        Fault("REFUSED_STREAM", *refused, "stream_reset", parameters={"stream_reset.code": "REFUSED_STREAM"}),
        _exception(
            "RST_STREAM before the answer",
            "protocol",
            "stream_reset",
            parameters={"stream_reset.code": "INTERNAL_ERROR"},
        ),
        _exception(
            "RST_STREAM in the body",
            "protocol",
            "stream_reset:body",
            parameters={"stream_reset:body.code": "INTERNAL_ERROR"},
        ),
        _exception(
            "garbage in place of frames",
            "protocol",
            "599",
            parameters={"599.raw": "nonsense " * 100},
            **(
                {
                    "idle_ms": IDLE_MS,
                    "deviation": "libcurl 8.0 and newer reports it to the server, and then waits for the server"
                    " to close the connection; the cause is timeout_idle, but should be protocol",
                }
                if LIBCURL >= (8,)
                else {
                    "deviation": "libcurl before 8.0 reports invalid frames as a response that never came; the"
                    " cause is receive, but should be protocol"
                }
            ),
        ),
    ]


def _redirects(version: Version) -> list[Fault]:
    if version is Version.HTTP_1_1:
        host, scheme = "http://localhost:{http}", "https://127.0.0.1:{https}"
    else:
        host, scheme = "https://localhost:{h2}", "http://127.0.0.1:{http}"
    return [
        Fault("redirects without end (302)", right.redirects_without_end(), item="302"),
        Fault("redirects without end (307)", right.redirects_with_the_body_without_end(), item="307"),
        *(
            Fault(
                f"redirect to another {what} ({status})",
                once=cell,
                item=status,
                parameters={f"{status}.to": to},
                has_secret=True,
            )
            for what, to in (("host", host), ("scheme and port", scheme))
            for status, cell in (("302", right.one_redirect()), ("307", right.one_redirect_with_the_body()))
        ),
    ]


def _statuses() -> list[Fault]:
    return [
        Fault("401, no token", right.final_status(401), item="401"),
        Fault(
            "401, a new token each time",
            right.retried_status(401),
            right.one_retried_status(401),
            "401",
            tokens="fresh",
        ),
        Fault("401, always the same token", right.same_token_again(), item="401", tokens="same"),
        Fault("401, a fixed token", right.final_status(401), item="401", tokens="fixed"),
        Fault(
            "401 with token_expired, preset of January",
            right.replayed_once(),
            right.one_replay(),
            "401",
            {"401.body": '{"code": "token_expired"}'},
            tokens="january",
        ),
        Fault("429", right.retried_status(429), right.one_retried_status(429), "429"),
        Fault("500", right.retried_status(500), right.one_retried_status(500), "500"),
        Fault("503", right.retried_status(503), right.one_retried_status(503), "503"),
    ]


def _table(version: Version) -> list[Fault]:
    return [
        *_reach(version),
        *_broken_answers(version),
        *_broken_contents(version),
        *_slowness(version),
        *_connections(version),
        *(_streams() if version is Version.HTTP_2 else []),
        *_redirects(version),
        *_statuses(),
        *retry_afters.rows(version),
    ]


FAULTS: dict[Version, list[Fault]] = {version: _table(version) for version in Version}

"""What boxretry_last_error_detail() says: which of several arguments it was, and why a call has ended."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from arguments import Arguments
from bodies import BODY, Streams
from calls import Calls, server
from custom import Custom
from header import read_header
from isolated import isolated
from library import address

PROXY_ENVIRONMENT, PROXY_NONE, PROXY_GIVEN = 0, 1, 2
SOURCE_FILE, SOURCE_DESCRIPTOR, SOURCE_MULTIPART, SINK_FILE = 1, 2, 4, 1


def array_of(calls: Calls, struct: str, *values: dict[str, Any]) -> int:
    """An array of structs that have no struct_size."""
    kind = type(calls.library.struct(struct))
    array = (kind * len(values))(*(calls.library.struct(struct, **each) for each in values))
    calls._alive.append(array)
    return ctypes.addressof(array)


def headers_of(calls: Calls, *lines: tuple[bytes | None, bytes | None]) -> dict[str, int]:
    values = [{"name": name and calls.text(name), "value": value and calls.text(value)} for name, value in lines]
    return {"headers": array_of(calls, "boxretry_header", *values), "header_count": len(lines)}


# Which of several


@pytest.mark.parametrize(
    "line, why",
    [
        ((b"a b", b"1"), "has an invalid name"),
        ((b"\x1b[2J", b"1"), "has an invalid name"),
        ((b"X-A", b"1\n"), "has a value with a control character (X-A)"),
        ((b"expect", b"1"), "is set by the library itself (expect)"),
        ((b"X-A", None), "has a name or a value that is NULL"),
        ((None, b"1"), "has a name or a value that is NULL"),
    ],
)
@isolated
def test_detail_has_the_index_of_a_refused_header(line: tuple[bytes | None, bytes | None], why: str) -> None:
    """And by its name, if there can be nothing in it that a terminal would obey."""
    calls = Calls()
    request = calls.request(**headers_of(calls, (b"X-B", b"1"), line, (b"X-C", b"1")))
    assert calls.refused(request) == f"request.headers[1]: {why}"


@isolated
def test_detail_says_that_headers_are_too_long_together() -> None:
    calls = Calls()
    request = calls.request(**headers_of(calls, *[(b"X-A", b"x" * 300_000)] * 4))
    assert calls.refused(request) == "request.headers: are longer than 1000000 bytes in total"


@pytest.mark.parametrize(
    "part, why",
    [
        ({"name": None}, "parts[1].name: is NULL"),
        ({"file_name": b"a\nb"}, "parts[1].file_name: has a control character"),
        ({"content_type": b"\x7f"}, "parts[1].content_type: has a control character"),
        ({"header_count": 65}, "parts[1].header_count: must be at most 64"),
    ],
)
@isolated
def test_detail_has_the_index_of_a_refused_part(part: dict[str, Any], why: str) -> None:
    calls = Calls()
    values = {"name": b"name", **part}
    texts = {name: calls.text(value) if isinstance(value, bytes) else value for name, value in values.items()}
    parts = array_of(calls, "boxretry_part", {"name": calls.text(b"name")}, texts)
    source = calls.library.struct("boxretry_body_source", kind=SOURCE_MULTIPART, parts=parts, part_count=2)
    assert calls.refused(calls.request(body_source=address(source))) == why


@isolated
def test_detail_has_both_indices_of_a_parts_header() -> None:
    calls = Calls()
    lines = headers_of(calls, (b"X-A", b"1"), (b"X B", b"1"))
    parts = array_of(calls, "boxretry_part", {"name": calls.text(b"name"), **lines})
    source = calls.library.struct("boxretry_body_source", kind=SOURCE_MULTIPART, parts=parts, part_count=1)
    refused = calls.refused(calls.request(body_source=address(source)))
    assert refused == "parts[0].headers[1]: has an invalid name"


# Proxies, and where tokens go


@pytest.mark.parametrize("mode", [PROXY_ENVIRONMENT, PROXY_NONE])
@pytest.mark.parametrize("of", ["client", "token_endpoint"])
@isolated
def test_proxy_that_would_be_ignored_is_refused(of: str, mode: int) -> None:
    calls = Calls()
    options = calls.library.struct(f"boxretry_{of}_options", proxy_mode=mode, proxy=calls.text(b"http://127.0.0.1:1/"))
    if of == "token_endpoint":
        options.url = calls.text(b"https://127.0.0.1:1/")
    function = "client_new" if of == "client" else "token_source_new_endpoint"
    out = ctypes.c_void_p()
    assert calls.ask(function, address(options), address(out)) == "BOXRETRY_ERROR_INVALID_ARGUMENT"
    assert calls.library.detail == "options.proxy: is set, but proxy_mode is not BOXRETRY_PROXY_GIVEN"


@isolated
def test_t13_refusal_names_the_option_that_allows_it() -> None:
    calls = Calls()
    source = calls.library.new("boxretry_token_source_new_fixed", calls.text(b"token"))
    request = calls.request(b"http://192.0.2.1/", token_source=source)
    assert "set allow_insecure_token to allow this" in calls.refused(request)


# Files


@isolated
def test_sink_is_looked_at_before_anything_is_sent(tmp_path: Path) -> None:
    calls = Calls()
    (tmp_path / "dangling").symlink_to(tmp_path / "none" / "file")
    for path, why in (
        (tmp_path / "none" / "file", "No such file or directory"),
        (tmp_path / "dangling", "No such file or directory"),
        (tmp_path, "Is a directory"),
        (Path("/dev/null"), "is not a regular file"),
        (tmp_path / ("x" * 300), "File name too long"),
    ):
        sink = calls.library.struct("boxretry_sink", kind=SINK_FILE, path=calls.text(bytes(path)))
        assert calls.refused(calls.request(sink=address(sink))) == f"sink.path: {why}"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["dangling"]


@isolated
def test_b2_detail_has_the_systems_reason_for_an_unreadable_source(tmp_path: Path) -> None:
    """A local failure: the call ends with it, and it is not retried."""
    (tmp_path / "file").write_bytes(b"12345")
    calls = Calls(max_total_attempts=5)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"path": tmp_path / "none"}, "path: No such file or directory"),
        ({"path": tmp_path}, "path: Is a directory"),
        ({"path": Path("/dev/null")}, "path: is not a regular file"),
        ({"path": tmp_path / "file", "offset": 6}, "offset: is beyond the end of the file"),
        ({"path": tmp_path / "file", "offset": 2, "length": 4}, "length: goes beyond the end of the file"),
    ]
    for fields, why in cases:
        values = {**fields, "path": calls.text(bytes(fields["path"]))}
        source = calls.library.struct("boxretry_body_source", kind=SOURCE_FILE, **values)
        response = calls.perform(calls.request(body_source=address(source)))
        assert (calls.error(response), calls.library.detail) == ("BOXRETRY_ERROR_SOURCE", f"body_source.{why}")
        assert calls.ask("response_attempt_count", response) == 1
        calls.ask("response_free", response)


@isolated
def test_descriptor_is_looked_at_before_anything_is_sent(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"12345")
    calls = Calls()
    with (tmp_path / "file").open() as file:
        for fields, why in (
            ({"offset": 6}, "offset: is beyond the end of the file"),
            ({"offset": 2**63 - 1}, "offset: is beyond the end of the file"),
            ({"offset": 5, "length": 1}, "length: goes beyond the end of the file"),
            ({"length": 2**63 - 1}, "length: goes beyond the end of the file"),
        ):
            source = calls.library.struct(
                "boxretry_body_source", kind=SOURCE_DESCRIPTOR, descriptor=file.fileno(), **fields
            )
            assert calls.refused(calls.request(body_source=address(source))) == f"body_source.{why}"


# Callbacks


@pytest.mark.parametrize(
    "name, answer, error, why",
    [
        ("read", -1, "SOURCE", "body_source.read: failed, or did not answer"),
        ("read", None, "SOURCE", "body_source.read: failed, or did not answer"),
        ("read", 0, "SOURCE", "body_source.read: ended before there were `length` bytes"),
        ("write", 0, "SINK", "sink.write: failed, or did not answer"),
        ("begin", 0, "SINK", "sink.begin: failed, or did not answer"),
    ],
)
@isolated
def test_callback_that_ends_a_call_is_named(name: str, answer: int | None, error: str, why: str) -> None:
    with server() as url:
        streams = Streams(url)
        streams.source.length = len(BODY)
        streams.answers[name] = [answer]
        assert streams.ended() == error
    assert streams.calls.library.detail == why


@isolated
def test_hook_that_ends_a_call_is_named() -> None:
    with server() as url:
        streams = Streams(url)
        streams.inside["before_attempt"] = lambda: streams.calls.ask("sending_fail", streams.sending)
        assert streams.ended() == "CALLBACK_FAILED"
    assert streams.calls.library.detail == "before_attempt: called boxretry_sending_fail()"


def leave_action(custom: Custom) -> None:
    custom.action = None


def answer_no_action(custom: Custom) -> None:
    custom.action = 3


def leave_delay(custom: Custom) -> None:
    custom.delay = None


@pytest.mark.parametrize(
    "spoil, why",
    [
        (leave_action, "should_retry returned without an answer"),
        (answer_no_action, "should_retry did not answer STOP, RETRY or REFRESH_TOKEN_AND_RETRY"),
        (leave_delay, "retry_after returned without an answer"),
    ],
)
@isolated
def test_b9_detail_says_what_a_strategy_did_that_ended_a_call(spoil: Callable[[Custom], None], why: str) -> None:
    custom = Custom()
    spoil(custom)
    calls = Calls(max_total_attempts=2)
    response = calls.perform(calls.request(strategy=custom.strategy))
    calls.ask("client_new", None, None)  # Which fails, and leaves its own detail.
    assert (calls.error(response), calls.library.detail) == ("BOXRETRY_ERROR_CALLBACK_FAILED", why)


@isolated
def test_error_without_details_does_not_show_those_of_another() -> None:
    calls = Calls()
    cancel = calls.library.new("boxretry_cancel_new")
    calls.ask("cancel_trigger", cancel)
    response = calls.perform(calls.request(cancel=cancel))
    calls.ask("client_new", None, None)
    assert calls.library.detail
    assert (calls.error(response), calls.library.detail) == ("BOXRETRY_ERROR_CANCELLED", "")


# Handles


@pytest.mark.parametrize("field", ["strategy", "cancel", "token_source"])
@isolated
def test_handle_in_a_request_that_is_refused_is_told_by_its_field(field: str) -> None:
    calls = Calls()
    assert calls.refused(calls.request(**{field: calls.client})) == f"request.{field}: is a handle of another kind"


@pytest.mark.parametrize(
    "function, field",
    [
        ("client_new", "strategy"),
        ("client_new", "token_source"),
        ("client_new", "budget"),
        ("client_new", "clock"),
        ("retry_loop_new", "budget"),
        ("retry_loop_new", "clock"),
        ("token_source_new", "clock"),
        ("token_source_new_endpoint", "clock"),
    ],
)
@isolated
def test_handle_in_options_that_is_refused_is_told_by_its_field(function: str, field: str) -> None:
    calls = Calls()
    library = calls.library
    arguments = Arguments(library, read_header().functions[f"boxretry_{function}"])
    setattr(arguments.struct_at(("options",)), field, calls.client)
    assert arguments.call() == "BOXRETRY_ERROR_INVALID_ARGUMENT"
    assert library.detail == f"options.{field}: is a handle of another kind"

"""boxretry._c._abi and boxretry.enums declare the same as boxretry.h, and all of it."""

from __future__ import annotations

import ctypes
import re
from ctypes import POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_uint64, c_void_p
from enum import IntEnum
from typing import Any

import pytest
from c_header import Header, read_header

import boxretry
from boxretry import enums
from boxretry._c import _abi, functions, library

#: The enum for each prefix of the header's constants.
ENUMS: dict[str, type[IntEnum]] = {
    "BOXRETRY_ERROR_": enums.Error,
    "BOXRETRY_SAFETY_": enums.RetrySafety,
    "BOXRETRY_CAUSE_": enums.Cause,
    "BOXRETRY_ACTION_": enums.Action,
    "BOXRETRY_DELAY_": enums.DelaySource,
    "BOXRETRY_REASON_": enums.Reason,
    "BOXRETRY_SENT_": enums.RequestSent,
    "BOXRETRY_BODY_": enums.BodyState,
    "BOXRETRY_OVER_CAP_": enums.OverCap,
    "BOXRETRY_RETRY_AFTER_": enums.RetryAfterState,
    "BOXRETRY_TIMELINE_": enums.Timeline,
    "BOXRETRY_PROXY_": enums.Proxy,
    "BOXRETRY_EVENT_": enums.EventKind,
    "BOXRETRY_PRESET_": enums.Preset,
    "BOXRETRY_": enums.HTTPVersion,
    "BOXRETRY_SWITCH_": enums.Switch,
    "BOXRETRY_THREADS_": enums.Threads,
    "BOXRETRY_SOURCE_": enums.SourceKind,
    "BOXRETRY_SINK_": enums.SinkKind,
    "BOXRETRY_WRITE_": enums.WriteAnswer,
}

#: The other constants.
NUMBERS: dict[str, float] = {
    "BOXRETRY_NO_TIMEOUT": _abi.NO_TIMEOUT,
    "BOXRETRY_ACTION_UNANSWERED": _abi.ACTION_UNANSWERED,
    "BOXRETRY_DELAY_UNANSWERED": _abi.DELAY_UNANSWERED,
    "BOXRETRY_NO_REDIRECTS": _abi.NO_REDIRECTS,
    "BOXRETRY_READ_FAILED": _abi.READ_FAILED,
    "BOXRETRY_READ_PAUSE": _abi.READ_PAUSE,
    "BOXRETRY_OK": enums.Error.OK,
}

SIMPLE_TYPES: dict[str, Any] = {
    "void": None,
    "char *": c_char_p,
    "void *": c_void_p,
    "double": c_double,
    "int": c_int,
    "int32_t": c_int32,
    "boxretry_error": c_int32,
    "int64_t": c_int64,
    "uint64_t": c_uint64,
    "size_t": c_size_t,
}


@pytest.fixture(scope="module")
def header(tmp_path_factory: pytest.TempPathFactory) -> Header:
    return read_header(tmp_path_factory.mktemp("header"))


def struct_of(name: str) -> Any:
    """The class of a struct: boxretry_retry_options is RetryOptions."""
    return getattr(_abi, "".join(word.capitalize() for word in name.split("_")[1:]))


def ctypes_of(c_type: str, header: Header) -> Any:
    """The ctypes type for a type of the header."""
    if c_type in SIMPLE_TYPES:
        return SIMPLE_TYPES[c_type]
    if "(*)" in c_type:
        result, parameters = c_type.rstrip(")").split(" (*)(")
        types = [ctypes_of(each, header) for each in parameters.split(", ")]
        return ctypes.CFUNCTYPE(ctypes_of(result, header), *types)
    assert c_type.endswith("*")
    inner = c_type[:-1].rstrip()
    if inner in header.opaque:
        return c_void_p
    return POINTER(struct_of(inner) if inner in header.structs else ctypes_of(inner, header))


def test_the_header_was_read(header: Header) -> None:
    """Otherwise the tests below would compare nothing."""
    assert len(header.functions) > 100
    assert len(header.structs) > 20
    names = ["strategy", "clock", "retry_loop", "client", "call", "response", "queue", "cancel", "sending"]
    names += ["token_source", "token", "token_request", "budget"]
    assert header.opaque == {f"boxretry_{name}" for name in names}
    assert header.values["BOXRETRY_REASON_TOKEN_EXPIRED"] == 17


def test_every_function_is_declared_with_its_types(header: Header) -> None:
    expected = {
        name: (ctypes_of(result, header), tuple(ctypes_of(each, header) for each in parameters))
        for name, (result, parameters) in header.functions.items()
    }
    assert expected == functions.DECLARED


def test_every_function_is_there_under_its_name(header: Header) -> None:
    for name in header.functions:
        function: Any = getattr(_abi, name)
        assert function.__name__ == name
        assert (function.restype, tuple(function.argtypes)) == functions.DECLARED[name]


def test_every_struct_has_its_fields_with_their_types(header: Header) -> None:
    for name, fields in header.structs.items():
        declared = dict(struct_of(name)._fields_)
        assert declared == {field: ctypes_of(c_type, header) for field, c_type in fields.items()}, name


def test_every_struct_has_its_layout(header: Header) -> None:
    for name in header.structs:
        struct = struct_of(name)
        layout = {field: getattr(struct, field).offset for field, _ in struct._fields_}
        assert {"": ctypes.sizeof(struct), **layout} == header.layout[name]


def test_every_constant_has_its_value(header: Header) -> None:
    declared = dict(NUMBERS)
    for prefix, enum in ENUMS.items():
        for member in enum:
            name = "BOXRETRY_OK" if member is enums.Error.OK else prefix + member.name
            declared[name] = member
    versions = {name for name in header.values if name.startswith("BOXRETRY_VERSION_")}
    assert declared == {name: value for name, value in header.values.items() if name not in versions}


def test_the_versions_agree(header: Header) -> None:
    version = tuple(int(header.values[f"BOXRETRY_VERSION_{part}"]) for part in ("MAJOR", "MINOR", "PATCH"))
    dotted = ".".join(map(str, version))
    assert boxretry.version() == dotted
    assert re.fullmatch(r"\d+\.\d+\.\d+", boxretry.libcurl_version())
    assert _abi.boxretry_version_number() == header.values["BOXRETRY_VERSION_NUMBER"]
    assert version >= library.NEEDED_VERSION


@pytest.mark.parametrize(
    ("enum", "name_of"),
    [
        (enums.Error, _abi.boxretry_error_name),
        (enums.Cause, _abi.boxretry_cause_name),
        (enums.Action, _abi.boxretry_action_name),
        (enums.DelaySource, _abi.boxretry_delay_source_name),
        (enums.Reason, _abi.boxretry_reason_name),
    ],
)
def test_the_names_in_lower_case_are_the_library_s(enum: type[IntEnum], name_of: Any) -> None:
    assert [member.name.lower() for member in enum] == [name_of(member).decode() for member in enum]


def test_what_a_newer_library_may_say_is_no_error() -> None:
    """Given a number that this package does not know, when the library returns it, then it is still an enum."""
    reason = enums.Reason(1000)
    assert isinstance(reason, enums.Reason)
    assert reason.name == "UNKNOWN_1000"
    assert reason == 1000
    assert reason.text == "not a reason of this library"
    with pytest.raises(ValueError, match="none"):
        enums.Reason("none")  # type: ignore[arg-type]

"""Functions that check a setting of a client and put it into the boxretry_client_options."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from ctypes import c_char_p
from enum import IntEnum
from typing import Any, Callable

from .._bodies.forms import field_pairs
from .._c import _abi
from .._c.arguments import member, new, path_bytes, real, text
from .._c.handle import Handle
from .._connection import set_proxy, switch
from ..outcome import HeaderArray
from ..timeout import timeouts_pointer
from .common_arguments import called, positive, redirects, seconds_or_none_ms, token_source_handle


class Draft:
    """A boxretry_client_options that is being filled in, and what else the settings say."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.struct = new(_abi.ClientOptions, _abi.boxretry_client_options_init)
        self.settings = settings
        #: Names and values that are added to the query of each URL.
        self.params: list[tuple[str, str]] = []
        self.on_event: Callable[[Any], object] | None = None
        self.before_attempt: Callable[[Any], object] | None = None
        #: The objects that the client needs as long as it lives.
        self.keeps: list[object] = []


#: Gets the draft, the name of the field, the value, and the setting's name, for errors.
Setter = Callable[[Draft, str, Any, str], None]


def a_text(draft: Draft, field: str, value: Any, name: str) -> None:
    setattr(draft.struct, field, text(value, name))


def a_path(draft: Draft, field: str, value: Any, name: str) -> None:
    setattr(draft.struct, field, path_bytes(value, name))


def a_real(draft: Draft, field: str, value: Any, name: str) -> None:
    setattr(draft.struct, field, real(value, name))


def a_flag(draft: Draft, field: str, value: Any, name: str) -> None:
    setattr(draft.struct, field, bool(value))


def a_switch(draft: Draft, field: str, value: Any, name: str) -> None:
    """On, off, or not given."""
    setattr(draft.struct, field, switch(value, name))


def seconds(draft: Draft, field: str, value: Any, name: str) -> None:
    """For a field in milliseconds; math.inf: no limit."""
    setattr(draft.struct, field, seconds_or_none_ms(value, name))


def number(fits: range) -> Setter:
    """A number of 1 or more."""

    def a_number(draft: Draft, field: str, value: Any, name: str) -> None:
        setattr(draft.struct, field, positive(value, name, fits))

    return a_number


def one_of(enum: type[IntEnum]) -> Setter:
    """A member of the enum."""

    def a_member(draft: Draft, field: str, value: Any, name: str) -> None:
        setattr(draft.struct, field, member(value, enum, name))

    return a_member


def texts(what: str) -> Setter:
    """Several texts; the field with their number is named after the field's singular."""

    def several(draft: Draft, field: str, value: Iterable[Any], name: str) -> None:
        if isinstance(value, (str, bytes)):
            raise TypeError(f"{name}: must be several {what}, not one")
        encoded = [text(each, name) for each in value]
        setattr(draft.struct, field, (c_char_p * len(encoded))(*encoded))
        setattr(draft.struct, f"{field.removesuffix('s')}_count", len(encoded))

    return several


def handle(handle_of: Callable[[Any], Handle]) -> Setter:
    """An object with a handle, which the client keeps."""

    def a_handle(draft: Draft, field: str, value: Any, name: str) -> None:
        kept = handle_of(value)
        setattr(draft.struct, field, kept.pointer)
        draft.keeps.append(kept)

    return a_handle


def timeouts(draft: Draft, field: str, value: Any, name: str) -> None:
    setattr(draft.struct, field, timeouts_pointer(value))


def a_proxy(draft: Draft, field: str, value: Any, name: str) -> None:
    set_proxy(draft.struct, value)


def redirect_limit(draft: Draft, field: str, value: Any, name: str) -> None:
    """For `follow_redirects` and `max_redirects`, which share a field."""
    limit = redirects(draft.settings.get("follow_redirects"), draft.settings.get("max_redirects"))
    setattr(draft.struct, field, limit)


def a_certificate(draft: Draft, field: str, value: Any, name: str) -> None:
    """The client's certificate, its key and the key's password."""
    parts: tuple[Any, ...] = value if isinstance(value, tuple) else (value,)
    if not 1 <= len(parts) <= 3:
        raise TypeError(
            f"{name}: must be a path, or a certificate, a key and optional password (got {len(parts)} items)"
        )
    parts += (None, None)
    certificate, key, password = parts[:3]
    setattr(draft.struct, field, path_bytes(certificate, name))
    draft.struct.client_key = None if key is None else path_bytes(key, name)
    draft.struct.client_key_password = None if password is None else text(password, name)


def a_token_source(draft: Draft, field: str, value: Any, name: str) -> None:
    setattr(draft.struct, field, token_source_handle(value).pointer)
    draft.keeps.append(value)


def header_lines(draft: Draft, field: str, value: Any, name: str) -> None:
    lines = HeaderArray()
    draft.struct.header_count = lines.fill(value, name)
    setattr(draft.struct, field, lines.pointer)


def query(draft: Draft, field: str, value: Any, name: str) -> None:
    """Parameters of all URLs. The library does not know them."""
    draft.params = field_pairs(value, name)


def a_listener(draft: Draft, field: str, value: Any, name: str) -> None:
    draft.on_event = called(value, name)


def a_hook(draft: Draft, field: str, value: Any, name: str) -> None:
    draft.before_attempt = called(value, name)


def a_telemetry(draft: Draft, field: str, value: Any, name: str) -> None:
    """The callbacks of events and hooks report to it."""
    if not callable(getattr(value, "begin", None)):
        raise TypeError(f"{name}: must be an object with begin(), not {type(value).__name__}")

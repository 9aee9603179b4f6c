"""Names and values, in the format of HTML forms and queries; and forms with files."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from ctypes import c_char_p, c_void_p, cast
from typing import Any, Union

from .._c import _abi
from .._c.arguments import Path, Text, path_bytes, text
from ..enums import SourceKind
from ..outcome import HeaderArray
from .sources import SourceBody, as_bytes

#: Names, each with a value or several; or pairs of a name and such values. None does not count as a value.
Fields = Union[Mapping[str, Any], Iterable[tuple[str, Any]]]


def is_form(data: object) -> bool:
    """Whether `data` itself is a form: a mapping, or a list of pairs. Other lists contain pieces of a body."""
    if isinstance(data, (list, tuple)):
        return bool(data) and all(isinstance(item, tuple) and len(item) == 2 for item in data)
    return isinstance(data, Mapping)


def urlencoded(fields: Fields, argument: str) -> str:
    """The fields in the form of a URL's query, or of a form without files."""
    from urllib.parse import urlencode  # Slow to import, and most requests do not need it.

    return urlencode(field_pairs(fields, argument), errors="surrogateescape")


def with_params(url: Text, params: Fields) -> str:
    """The URL, with these fields in its query."""
    address = url if isinstance(url, str) else url.decode("utf-8", "surrogateescape")
    address, hash_sign, fragment = address.partition("#")
    query = urlencoded(params, "params")
    if query:
        address += ("&" if "?" in address else "?") + query
    return address + hash_sign + fragment


def field_pairs(fields: Fields, argument: str) -> list[tuple[Any, Any]]:
    """Each name with each of its values."""
    return [(name, each) for name, value in _pairs(fields, argument) for each in _values(value) if each is not None]


def _values(value: Any) -> Iterable[Any]:
    is_one = isinstance(value, (str, bytes, bytearray, Mapping)) or not isinstance(value, Iterable)
    return (value,) if is_one else value


def _pairs(mapping: Any, argument: str) -> Iterable[tuple[Any, Any]]:
    if isinstance(mapping, (str, bytes)) or not (hasattr(mapping, "items") or isinstance(mapping, Iterable)):
        raise TypeError(f"{argument}: must be a mapping, or pairs of a name and a value, not {type(mapping).__name__}")
    return mapping.items() if hasattr(mapping, "items") else mapping  # type: ignore[no-any-return]


class MultipartBody(SourceBody):
    """Fields and files of a form."""

    def __init__(self, fields: Any, files: Any) -> None:
        super().__init__()
        parts = [] if fields is None else [_field(name, value) for name, value in field_pairs(fields, "data")]
        parts += [_file(name, value) for name, value in _pairs(files, "files")]
        self._kept = parts
        array = (_abi.Part * len(parts))()
        for index, part in enumerate(parts):
            part.fill(array[index])
        self.struct.kind = SourceKind.MULTIPART
        self.struct.parts, self.struct.part_count = array, len(parts)


class _Part:
    """One part of a form."""

    def __init__(
        self,
        name: Text,
        *,
        file_name: Text | None = None,
        data: bytes | None = None,
        path: Path | None = None,
        content_type: Text | None = None,
        headers: Any = (),
    ) -> None:
        self._name, self._file_name, self._content_type = name, file_name, content_type
        self._data, self._path, self._headers = data, path, headers

    def fill(self, struct: Any) -> None:
        struct.name = text(self._name, "files")
        struct.file_name = None if self._file_name is None else text(self._file_name, "files")
        struct.content_type = None if self._content_type is None else text(self._content_type, "files")
        self._array = HeaderArray()
        struct.header_count = self._array.fill(self._headers, "files")
        struct.headers = self._array.pointer
        if self._path is not None:
            struct.path = path_bytes(self._path, "files")
        elif self._data is not None:
            struct.data, struct.data_length = cast(c_char_p(self._data), c_void_p), len(self._data)


def _field(name: Text, value: Any) -> _Part:
    return _Part(name, data=as_bytes(value if isinstance(value, (str, bytes)) else str(value), "data"))


def _file(name: Text, value: Any) -> _Part:
    if not isinstance(value, tuple):
        value = (None, value)
    if not 2 <= len(value) <= 4:
        raise TypeError(f"files: must have a name, content, and optionally type and headers (got {len(value)} items)")
    parts: tuple[Any, ...] = (*value, None, None)
    file_name, content, content_type, headers = parts[:4]
    told: dict[str, Any] = {"content_type": content_type, "headers": () if headers is None else headers}
    if isinstance(content, (str, os.PathLike)):
        return _Part(name, file_name=file_name, path=content, **told)
    if hasattr(content, "read"):
        if file_name is None and isinstance(getattr(content, "name", None), str):
            file_name = os.path.basename(content.name)
        content = content.read()
    return _Part(name, file_name=name if file_name is None else file_name, data=as_bytes(content, "files"), **told)

"""The installed library through ctypes, with all declarations made from the header.

Every pointer is a plain address (an int, or None for NULL), so that tests can pass anything that a C program could.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from header import TEXT, Header, Struct, Type, read_header
from install import LIBRARY

NUMBERS = {
    "int": ctypes.c_int,
    "int32_t": ctypes.c_int32,
    "boxretry_error": ctypes.c_int32,
    "int64_t": ctypes.c_int64,
    "uint64_t": ctypes.c_uint64,
    "size_t": ctypes.c_size_t,
    "double": ctypes.c_double,
}

M_PERTURB = -6
"""Of malloc.h."""

ROOM = 2048
"""Bytes that stand behind each struct's beginning: more than the library accepts for any."""


def c_type(type: Type) -> Any:
    if type.pointers or type.parameters is not None:
        return ctypes.c_void_p
    return None if type.name == "void" else NUMBERS[type.name]


def _structure(struct: Struct) -> type[ctypes.Structure]:
    fields = [(field.name, c_type(field.type)) for field in struct.fields]
    return type(struct.name, (ctypes.Structure,), {"_fields_": fields})


# What is the same in each child process is made once, before it starts: there are thousands of them. libcurl is loaded
# here for that reason, too; it is initialized only in a child.
HEADER: Header = read_header()
STRUCTS: dict[str, Any] = {struct.name: _structure(struct) for struct in (*HEADER.structs.values(), TEXT)}
ERRORS = {value: name for name, value in HEADER.errors.items()}
LIBCURL = ctypes.CDLL("libcurl.so.4")


class Library:
    """The library, loaded. Make one only in a child process (isolated.py)."""

    def __init__(self) -> None:
        self.header = HEADER
        self.structs = STRUCTS
        self.errors = ERRORS
        ctypes.CDLL(None).mallopt(M_PERTURB, 0xA5)  # overwrites what is freed, so that a use of it shows
        self._library = ctypes.CDLL(str(LIBRARY))
        self._functions: dict[str, Any] = {}

    def _function(self, name: str) -> Any:
        """The function, declared as in the header."""
        if name not in self._functions:
            declared, function = HEADER.functions[name], getattr(self._library, name)
            function.argtypes = [c_type(parameter.type) for parameter in declared.parameters]
            is_text = declared.result == Type("char", 1, True)
            function.restype = ctypes.c_char_p if is_text else c_type(declared.result)
            self._functions[name] = function
        return self._functions[name]

    def call(self, name: str, *arguments: Any) -> Any:
        """Calls a function; an error comes back as its constant's name."""
        answer = self._function(name)(*arguments)
        if HEADER.functions[name].can_fail:
            return self.errors.get(answer, f"an error that is in no table: {answer}")
        return answer

    def new(self, name: str, *arguments: Any) -> int:
        """What a function that must succeed writes to its last parameter, a handle."""
        out = ctypes.c_void_p()
        answer = self.call(name, *arguments, ctypes.addressof(out))
        assert answer == "BOXRETRY_OK", f"{name}: {answer}: {self.detail}"
        assert out.value
        return out.value

    @property
    def detail(self) -> str:
        return str(self.call("boxretry_last_error_detail").decode())

    def struct(self, struct: str, /, **fields: Any) -> Any:
        """A struct with its defaults, in a buffer with ROOM."""
        value = self.structs[struct].from_buffer(ctypes.create_string_buffer(ROOM))
        if struct != TEXT.name and self.header.structs[struct].is_sized:
            answer = self.call(f"{struct}_init", ctypes.addressof(value), ctypes.sizeof(value))
            assert answer == "BOXRETRY_OK", f"{struct}_init: {answer}"
        for field, content in fields.items():
            setattr(value, field, content)
        return value

    def callback(self, struct: str, field: str, function: Callable[..., None]) -> Any:
        """A function for that field of a struct, to be kept alive as long as the library may call it."""
        type = next(f.type for f in self.header.structs[struct].fields if f.name == field)
        assert type.parameters is not None
        return ctypes.CFUNCTYPE(None, *(c_type(parameter.type) for parameter in type.parameters))(function)


def address(value: Any) -> int:
    """Where a ctypes value is, or what a callback points to."""
    if hasattr(value, "argtypes"):
        return ctypes.cast(value, ctypes.c_void_p).value or 0
    return ctypes.addressof(value)

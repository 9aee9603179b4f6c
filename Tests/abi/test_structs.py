"""Structs of other sizes: an older program's are shorter, a newer program's longer (convention 3 of the header)."""

from __future__ import annotations

import ctypes
from typing import Any

import pytest
from arguments import UNWRITTEN, Arguments
from facts import ANSWER_IF_VALID
from fixed import first_size
from header import Function, read_header
from hostile import Path, input_struct, output_struct, places, wrong_sizes
from install import run_c
from isolated import isolated
from layout import measure_sizes
from library import ROOM, Library
from ways import CALLBACKS

HEADER = read_header()
SIZES = measure_sizes()
SIZED = [struct.name for struct in HEADER.sized_structs if f"{struct.name}_init" in HEADER.functions]
LONGEST = 1024

ASKING = {
    "boxretry_strategy": "boxretry_strategy_should_retry",
    "boxretry_retry_loop": "boxretry_retry_loop_next",
    "boxretry_budget": "boxretry_budget_get_stats",
    "boxretry_client": "boxretry_client_get_stats",
    "boxretry_call": "boxretry_call_wait",
    "boxretry_response": "boxretry_response_status",
    "boxretry_token_source": "boxretry_token_source_clear",
}

Reader = tuple[Function, Path, str]
"""A function, the way from its parameters to a struct that it reads, and the struct's name."""


def readers() -> list[Reader]:
    found = []
    for function in HEADER.functions.values():
        for place in places(function, CALLBACKS):
            struct = input_struct(HEADER, place.what)
            if struct and struct.is_sized:
                found.append((function, place.path, struct.name))
    return found


def writers() -> list[Reader]:
    """The functions whose result is a struct, and that have one to give. (An _init function's does not count.)"""
    found: list[Reader] = []
    for function in HEADER.functions.values():
        struct = output_struct(HEADER, function.parameters[-1]) if function.parameters else None
        if struct and struct.is_sized and function.name not in ANSWER_IF_VALID:
            found.append((function, (function.parameters[-1].name,), struct.name))
    return found


def id_of(reader: Reader) -> str:
    function, path, _ = reader
    return f"{function.name}-{'.'.join(path)}"


each_reader = pytest.mark.parametrize("reader", readers(), ids=id_of)
each_writer = pytest.mark.parametrize("writer", writers(), ids=id_of)
each_struct = pytest.mark.parametrize("struct", SIZED)


def sizes_until_now(struct: str) -> range:
    return range(first_size(struct), SIZES[struct] + 1, 8)


def bytes_of(struct: Any, end: int = ROOM) -> bytes:
    return ctypes.string_at(ctypes.addressof(struct), end)


def put(struct: Any, offset: int, content: bytes) -> None:
    ctypes.memmove(ctypes.addressof(struct) + offset, content, len(content))


def result(arguments: Arguments) -> tuple[str, bytes]:
    """What a call answers, and what it writes; of a handle, what that handle decides."""
    answer = arguments.call()
    written = bytes(arguments.out)
    last = arguments.function.parameters[-1].type
    if answer == "BOXRETRY_OK" and last.pointers == 2:
        ask = Arguments(arguments.library, HEADER.functions[ASKING[last.name]])
        pointer = arguments.result
        asked = arguments.library.call(ask.function.name, pointer, *ask.values[1:])
        answer = asked if ask.function.can_fail else answer
        written = bytes(ask.out) if ask.out is not None else repr(asked).encode()
        arguments.library.call(f"{last.name}_free", pointer)
    return answer, written


# Initialisers


def initialiser_bytes() -> dict[str, bytes]:
    """The bytes of a static struct that begins with each of the macros; padding is zero there."""
    lines = []
    for macro in HEADER.initialisers:
        lines.append(f"  static const {HEADER.struct_of(macro)} {macro}_value = {macro};")
        lines.append(f'  show("{macro}", &{macro}_value, sizeof {macro}_value);')
    body = "\n".join(lines)
    text = run_c(
        f"""
        #include "boxretry.h"
        #include <stdio.h>
        static void show(const char *name, const void *bytes, size_t count) {{
          printf("%s ", name);
          for (size_t i = 0; i < count; i++) printf("%02x", ((const unsigned char *)bytes)[i]);
          printf("\\n");
        }}
        int main(void) {{
        {body}
          return 0;
        }}
        """
    )
    return {name: bytes.fromhex(content) for name, content in (line.split() for line in text.splitlines())}


@each_struct
@isolated
def test_init_function_does_what_the_macro_does(struct: str) -> None:
    """Given memory full of something else, the function leaves the macro's bytes in it, and touches nothing behind."""
    macro = initialiser_bytes()[f"{struct.upper()}_INIT"]
    memory = ctypes.create_string_buffer(UNWRITTEN, ROOM)
    assert Library().call(f"{struct}_init", ctypes.addressof(memory), SIZES[struct]) == "BOXRETRY_OK"
    assert bytes(memory) == macro + UNWRITTEN[len(macro) :]


@each_struct
@isolated
def test_init_function_fills_a_struct_of_another_size(struct: str) -> None:
    """Given the size of an older or newer program, that many bytes are filled: defaults, then zeros."""
    library = Library()
    macro = initialiser_bytes()[f"{struct.upper()}_INIT"]
    for size in [*sizes_until_now(struct), SIZES[struct] + 8, LONGEST]:
        memory = ctypes.create_string_buffer(UNWRITTEN, ROOM)
        assert library.call(f"{struct}_init", ctypes.addressof(memory), size) == "BOXRETRY_OK", size
        expected = size.to_bytes(8, "little") + macro[8:size].ljust(size - 8, b"\0")
        assert bytes(memory) == expected + UNWRITTEN[size:], size


@each_struct
@isolated
def test_init_function_refuses_a_size_that_never_was(struct: str) -> None:
    library = Library()
    for size in wrong_sizes(struct):
        memory = ctypes.create_string_buffer(UNWRITTEN, ROOM)
        answer = library.call(f"{struct}_init", ctypes.addressof(memory), size)
        assert answer == "BOXRETRY_ERROR_INVALID_ARGUMENT", size
        assert "struct_size" in library.detail
        assert bytes(memory) == UNWRITTEN, size


def test_policy_without_retry_differs_from_the_default_in_its_attempts_alone() -> None:
    """T5: NONE is one attempt."""
    values = initialiser_bytes()
    init, none = values["BOXRETRY_TOKEN_RETRY_POLICY_INIT"], values["BOXRETRY_TOKEN_RETRY_POLICY_NONE"]
    assert none == init[:8] + (1).to_bytes(4, "little") + init[12:]


# Structs that the library reads


@each_reader
@isolated
def test_shorter_struct_is_read_as_far_as_it_goes(reader: Reader) -> None:
    """Given an older struct, what it lacks is default; what stands behind it (here nothing acceptable) is not read."""
    function, path, struct = reader
    library = Library()
    defaults = bytes_of(library.struct(struct), SIZES[struct])
    for size in sizes_until_now(struct):
        arguments = Arguments(library, function)
        value = arguments.struct_at(path)
        put(value, size, defaults[size:])
        expected = result(arguments)
        value.struct_size = size
        put(value, size, b"\xff" * (ROOM - size))
        assert result(arguments) == expected, f"struct_size {size}: {library.detail}"
        assert expected[0] == "BOXRETRY_OK"


@each_reader
@isolated
def test_longer_struct_is_accepted_if_the_rest_is_zero(reader: Reader) -> None:
    function, path, struct = reader
    library = Library()
    arguments = Arguments(library, function)
    value = arguments.struct_at(path)
    expected = result(arguments)
    for size in (SIZES[struct] + 8, LONGEST):
        value.struct_size = size
        assert result(arguments) == expected, size
        for offset in (SIZES[struct], size - 1):
            put(value, offset, b"\x01")
            assert arguments.call() == "BOXRETRY_ERROR_INVALID_ARGUMENT", (size, offset)
            assert "struct_size" in library.detail
            put(value, offset, b"\0")


@each_reader
@isolated
def test_struct_of_a_size_that_never_was_is_refused(reader: Reader) -> None:
    function, path, struct = reader
    library = Library()
    arguments = Arguments(library, function)
    for size in wrong_sizes(struct):
        arguments.struct_at(path).struct_size = size
        assert arguments.call() == "BOXRETRY_ERROR_INVALID_ARGUMENT", size
        assert "struct_size" in library.detail, f"{size}: {library.detail}"
        assert not arguments.has_written


# Structs that the library writes


@each_writer
@isolated
def test_shorter_result_is_written_as_far_as_it_goes(writer: Reader) -> None:
    """Given an older program's struct, what lies behind it is left alone, and its struct_size is what it was."""
    function, path, struct = writer
    arguments = Arguments(Library(), function)
    whole = result(arguments)[1]
    for size in sizes_until_now(struct):
        arguments.struct_at(path).struct_size = size
        answer, written = result(arguments)
        assert answer == "BOXRETRY_OK", size
        assert written == size.to_bytes(8, "little") + whole[8:size] + UNWRITTEN[size:], size


@each_writer
@isolated
def test_longer_result_is_written_if_the_rest_is_zero(writer: Reader) -> None:
    function, path, struct = writer
    library = Library()
    arguments = Arguments(library, function)
    whole = result(arguments)[1]
    for size in (SIZES[struct] + 8, LONGEST):
        zeros = bytes(size - SIZES[struct])
        arguments.struct_at(path).struct_size = size
        arguments.blank = UNWRITTEN[: SIZES[struct]] + zeros + UNWRITTEN[size:]
        answer, written = result(arguments)
        assert answer == "BOXRETRY_OK", size
        assert written == size.to_bytes(8, "little") + whole[8 : SIZES[struct]] + zeros + UNWRITTEN[size:], size
        for offset in (SIZES[struct], size - 1):
            arguments.blank = arguments.blank[:offset] + b"\x01" + arguments.blank[offset + 1 :]
            assert arguments.call() == "BOXRETRY_ERROR_INVALID_ARGUMENT", (size, offset)
            assert "struct_size" in library.detail
            assert not arguments.has_written
            arguments.blank = arguments.blank[:offset] + b"\0" + arguments.blank[offset + 1 :]

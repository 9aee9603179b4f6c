"""The declarations of the C header: parsed, and measured by the C compiler."""

from __future__ import annotations

import json
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from paths import HEADER
from pycparser import c_ast, c_parser

# Replacements for the system's headers, whose extensions the parser does not know.
SYSTEM_HEADERS = {
    "stddef.h": "typedef unsigned long size_t;\n#define NULL ((void *)0)\n",
    "stdint.h": "".join(
        f"typedef {c_type} {name};\n"
        for c_type, name in (("int", "int32_t"), ("long", "int64_t"), ("unsigned long", "uint64_t"))
    ),
}


MEASURE = r"""
#include <boxretry.h>
#include <stdio.h>
#define SHOW(name, value) \
  printf(_Generic((value), double: "[\"\", \"%s\", %.17g],\n", default: "[\"\", \"%s\", %lld],\n"), name, \
         _Generic((value), double: (value), default: (long long)(value)))
int main(void) {
  puts("[");
  LINES
  puts("null]");
}
"""


@dataclass
class Header:
    """The declarations. A type is a text, such as "boxretry_strategy **"; const is left out."""

    functions: dict[str, tuple[str, list[str]]] = field(default_factory=dict)
    structs: dict[str, dict[str, str]] = field(default_factory=dict)
    opaque: set[str] = field(default_factory=set)
    enum_constants: list[str] = field(default_factory=list)
    number_macros: list[str] = field(default_factory=list)
    #: Sizes of structs and offsets of fields, and the values of constants, from the compiler.
    layout: dict[str, dict[str, int]] = field(default_factory=dict)
    values: dict[str, float] = field(default_factory=dict)


def read_header(directory: Path) -> Header:
    """Reads boxretry.h; `directory` is for temporary files."""
    for name, text in SYSTEM_HEADERS.items():
        (directory / name).write_text(text)
    preprocess = ["gcc", "-E", "-P", "-nostdinc", "-I", str(directory)]
    source = subprocess.run([*preprocess, HEADER], capture_output=True, text=True, check=True).stdout
    macros = subprocess.run([*preprocess, "-dM", HEADER], capture_output=True, text=True, check=True).stdout

    header = Header()
    for node in c_parser.CParser().parse(source).ext:
        _take(node, header)
    # Macros with a number: not those of initializers, tables and texts, and not those with arguments.
    for name, value in re.findall(r"^#define (BOXRETRY_\w+) (.+)$", macros, re.MULTILINE):
        if not value.startswith(("{", '"')) and not name.endswith("_MAP"):
            header.number_macros.append(name)
    _measure(header, directory)
    return header


def _take(node: Any, header: Header) -> None:
    if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
        header.functions[node.name] = _signature(node.type)
    elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.Enum):
        header.enum_constants += [each.name for each in node.type.values.enumerators]
    elif isinstance(node, c_ast.Typedef) and isinstance(node.type.type, c_ast.Struct):
        if node.type.type.decls is None:
            header.opaque.add(node.name)
        else:
            header.structs[node.name] = _fields(node.type.type)
    elif isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.Struct):  # after a typedef of its name
        header.opaque.discard(node.type.name)
        header.structs[node.type.name] = _fields(node.type)


def _fields(struct: Any) -> dict[str, str]:
    return {each.name: _type(each.type) for each in struct.decls}


def _signature(function: Any) -> tuple[str, list[str]]:
    parameters = [_type(each.type) for each in function.args.params]
    return _type(function.type), [] if parameters == ["void"] else parameters


def _type(node: Any) -> str:
    if isinstance(node, c_ast.PtrDecl):
        if isinstance(node.type, c_ast.FuncDecl):
            result, parameters = _signature(node.type)
            return f"{result} (*)({', '.join(parameters)})"
        inner = _type(node.type)
        return f"{inner}*" if inner.endswith("*") else f"{inner} *"
    names: list[str] = node.type.names
    return " ".join(names)


def _measure(header: Header, directory: Path) -> None:
    """Measures with the compiler and the system's own headers."""
    lines = []
    for struct, fields in header.structs.items():
        lines.append(f'printf("[\\"{struct}\\", \\"\\", %zu],\\n", sizeof({struct}));')
        lines += [f'printf("[\\"{struct}\\", \\"{each}\\", %zu],\\n", offsetof({struct}, {each}));' for each in fields]
    lines += [f'SHOW("{name}", {name});' for name in header.enum_constants + header.number_macros]
    (directory / "measure.c").write_text(MEASURE.replace("LINES", "\n".join(lines)))
    subprocess.run(
        ["gcc", "-Wall", "-Werror", "-I", HEADER.parent, directory / "measure.c", "-o", directory / "measure"],
        check=True,
    )
    output = subprocess.run([directory / "measure"], capture_output=True, check=True).stdout
    for struct, name, number in json.loads(output)[:-1]:
        if struct:
            header.layout.setdefault(struct, {})[name] = number
        else:
            header.values[name] = number

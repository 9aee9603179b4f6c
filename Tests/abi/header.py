"""The public header as data: structs, handles, constants and functions. All other tests are made from it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Union

from install import HEADER, preprocess
from pycparser import CParser, c_ast  # type: ignore[import-untyped]

Number = Union[int, float]


@dataclass(frozen=True)
class Type:
    """A C type, as far as this header needs it: a name, how many pointers lead to it, and whether it is const."""

    name: str
    pointers: int = 0
    const: bool = False
    parameters: tuple[Parameter, ...] | None = None  # of a pointer to a function
    const_pointer: bool = False  # of a pointer to a pointer: the one that it leads to is const

    def __str__(self) -> str:
        if self.parameters is not None:
            return f"{self.name} (*)({', '.join(str(parameter.type) for parameter in self.parameters)})"
        stars = "*const *" if self.const_pointer else "*" * self.pointers
        return ("const " if self.const else "") + self.name + (" " + stars if stars else "")

    @property
    def pointee(self) -> Type:
        return Type(self.name, self.pointers - 1, self.const)

    @property
    def is_text_array(self) -> bool:
        """Whether that is an array of texts, for the library to read."""
        return self == Type("char", 2, True, None, True)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function, or a field of a struct."""

    name: str
    type: Type
    comment: str = ""


@dataclass(frozen=True)
class Struct:
    name: str
    fields: tuple[Parameter, ...]

    @property
    def is_sized(self) -> bool:
        return self.fields[0].name == "struct_size"


TEXT = Struct("text", (Parameter("text", Type("char", 1, True)),))
"""What an array of texts consists of, seen as a struct of one field."""


@dataclass(frozen=True)
class Function:
    name: str
    result: Type
    parameters: tuple[Parameter, ...]
    comment: str
    section: str  # the comment at the beginning of its section

    @cached_property
    def can_fail(self) -> bool:
        return self.result == Type("boxretry_error") and self.name not in (
            "boxretry_response_error",
            "boxretry_response_token_error",
        )

    @cached_property
    def words(self) -> set[str]:
        """What its comment writes in capitals."""
        return set(re.findall(r"[A-Z_]+", self.comment))

    @property
    def result_handle(self) -> bool:
        """Whether its result is a handle that the caller frees."""
        return self.result == Type("boxretry_response", 1)


@dataclass(frozen=True)
class Header:
    text: str
    structs: dict[str, Struct]
    handles: dict[str, str]  # and the comment of each
    constants: dict[str, Number]
    texts: dict[str, str]
    macros: tuple[str, ...]  # that stand for something, in order
    initialisers: tuple[str, ...]  # macros that stand for a whole struct
    functions: dict[str, Function]

    @property
    def sized_structs(self) -> list[Struct]:
        return [struct for struct in self.structs.values() if struct.is_sized]

    @cached_property
    def errors(self) -> dict[str, int]:
        names = [name for name in self.constants if re.match(r"BOXRETRY_(OK|ERROR_\w+)$", name)]
        return {name: int(self.constants[name]) for name in names}

    def struct_of(self, initialiser: str) -> str:
        """The struct that such a macro stands for: BOXRETRY_X_INIT is a boxretry_x."""
        return max((s for s in self.structs if initialiser.lower().startswith(s + "_")), key=len)

    def documented_errors(self, function: Function) -> set[str]:
        """The errors that the function's comment names, without their prefix."""
        return {name[len("BOXRETRY_ERROR_") :] for name in self.errors} & function.words


@cache
def read_header() -> Header:
    text = HEADER.read_text()
    macros = _object_macros()
    probes = "".join(f"int probe_{name} = {name};\n" for name in macros)
    source = preprocess(f'#include "{HEADER}"\n{probes}')
    declarations = [d for d in CParser().parse(source).ext if _file(d) in (str(HEADER), "<stdin>")]

    lines = text.splitlines()
    structs: dict[str, Struct] = {}
    handles: dict[str, str] = {}
    constants: dict[str, Number] = {}
    texts: dict[str, str] = {}
    initialisers: list[str] = []
    functions: dict[str, Function] = {}
    for declaration in declarations:
        kind = declaration.type
        if isinstance(declaration, c_ast.Typedef) and isinstance(kind.type, c_ast.Struct):
            if kind.type.decls is None:
                handles[declaration.name] = _comment_above(lines, declaration.coord.line - 1)
            else:
                structs[declaration.name] = _struct(declaration.name, kind.type, lines)
        elif isinstance(kind, c_ast.Struct):  # after a typedef of its name, which is in the section Types
            handles.pop(kind.name, None)
            structs[kind.name] = _struct(kind.name, kind, lines)
        elif isinstance(kind, c_ast.Enum):
            _add_enum(kind, constants)
        elif isinstance(kind, c_ast.FuncDecl):
            functions[declaration.name] = _function(declaration, lines)
        elif declaration.name.startswith("probe_"):
            name = declaration.name[len("probe_") :]
            if isinstance(declaration.init, c_ast.InitList):
                initialisers.append(name)
            elif isinstance(declaration.init, c_ast.Constant) and declaration.init.type == "string":
                texts[name] = declaration.init.value.strip('"')
            else:
                constants[name] = _value(declaration.init, constants)
    return Header(text, structs, handles, constants, texts, tuple(macros), tuple(initialisers), functions)


def _file(node: Any) -> str:
    return str(node.coord.file)


def _object_macros() -> list[str]:
    """The macros of the header that stand for something and take no arguments, in its order."""
    text = HEADER.read_text()
    defined = preprocess(f'#include "{HEADER}"\n', "-dM")
    names = re.findall(r"^#define (BOXRETRY_\w+) \S", defined, re.MULTILINE)
    return sorted(names, key=lambda name: text.index(f"#define {name}"))


def _struct(name: str, struct: Any, lines: list[str]) -> Struct:
    fields = [Parameter(f.name, _type(f.type), _field_comment(lines, f.coord.line - 1)) for f in struct.decls]
    return Struct(name, tuple(fields))


def _field_comment(lines: list[str], line: int) -> str:
    """The comment that begins behind a field, or else the one that ends above it."""
    behind = re.search(r";\s*(/\*.*?\*/)", "\n".join(lines[line:]), re.DOTALL)
    if behind and "/*" in lines[line]:
        return _plain(behind.group(1))
    start = line
    if lines[line - 1].endswith("*/"):
        start = next(index for index in range(line - 1, -1, -1) if "/*" in lines[index])
    above = re.search(r"/\*.*?\*/$", "\n".join(lines[start:line]), re.DOTALL)
    return _plain(above.group()) if above else ""


def _function(declaration: Any, lines: list[str]) -> Function:
    parameters = declaration.type.args.params
    named = [Parameter(p.name, _type(p.type)) for p in parameters if p.name is not None]  # all but (void)
    line = declaration.coord.line - 1
    result = _type(declaration.type.type)
    return Function(declaration.name, result, tuple(named), _comment_above(lines, line), _section(lines, line))


def _comment_above(lines: list[str], line: int) -> str:
    """The comment of this line's paragraph: several functions may share one."""
    start = line
    while start > 0 and lines[start - 1].strip():
        start -= 1
    # A comment may itself have empty-looking lines (" *"), but none that is empty.
    comment = re.match(r"/\*\*.*?\*/", "\n".join(lines[start:line]), re.DOTALL)
    return _plain(comment.group()) if comment else ""


def _section(lines: list[str], line: int) -> str:
    """The comment with which the section of this line begins."""
    start = max((i for i in range(line) if lines[i].startswith("/* ====")), default=None)
    if start is None:
        return ""
    end = next(i for i in range(start, len(lines)) if lines[i].endswith("*/"))
    return _plain("\n".join(lines[start : end + 1])).replace("=", "")


def _plain(comment: str) -> str:
    """A comment as running text."""
    return " ".join(re.sub(r"/\*+|\*/|^ +\*(?!/)", " ", comment, flags=re.MULTILINE).split())


def _type(node: Any) -> Type:
    if isinstance(node, c_ast.PtrDecl) and isinstance(node.type, c_ast.FuncDecl):
        parameters = tuple(Parameter(p.name, _type(p.type)) for p in node.type.args.params)
        return Type(_type(node.type.type).name, 0, False, parameters)
    if isinstance(node, c_ast.PtrDecl):
        to = _type(node.type)
        leads_to_const = isinstance(node.type, c_ast.PtrDecl) and "const" in node.type.quals
        return Type(to.name, to.pointers + 1, to.const, None, leads_to_const)
    if isinstance(node, c_ast.TypeDecl):
        return Type(" ".join(node.type.names), 0, "const" in node.quals)
    if isinstance(node, c_ast.Typename):
        return _type(node.type)
    raise NotImplementedError(f"{node.coord}: the tests do not know this kind of type; teach it to them")


def _add_enum(enum: Any, constants: dict[str, Number]) -> None:
    following: Number = 0
    for enumerator in enum.values.enumerators:
        value = following if enumerator.value is None else _value(enumerator.value, constants)
        constants[enumerator.name] = value
        following = value + 1


def _value(node: Any, constants: dict[str, Number]) -> Number:
    """What a constant expression is worth. test_layout compares it with what the compiler says."""
    if isinstance(node, c_ast.Constant):
        return float(node.value) if "double" in node.type else int(node.value.rstrip("uUlL"), 0)
    if isinstance(node, c_ast.ID):
        return constants[node.name]
    if isinstance(node, c_ast.UnaryOp) and node.op == "-":
        return -_value(node.expr, constants)
    if isinstance(node, c_ast.BinaryOp) and node.op in ("+", "-", "*"):
        left, right = _value(node.left, constants), _value(node.right, constants)
        return {"+": left + right, "-": left - right, "*": left * right}[node.op]
    raise NotImplementedError(f"{node.coord}: the tests do not know this kind of expression; teach it to them")

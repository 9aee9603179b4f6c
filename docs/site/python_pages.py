"""The reference of the Python package: a page for each topic, for sphinx.ext.autodoc."""

from __future__ import annotations

import types
from dataclasses import dataclass

import boxretry


@dataclass(frozen=True)
class Topic:
    """A page: the public names of `boxretry` that these modules or packages of it define."""

    key: str
    title: str
    modules: tuple[str, ...]
    also: tuple[str, ...] = ()
    """Names that belong here, although other modules define them."""


TOPICS = (
    Topic("client", "Client", ("client", "options", "timeout")),
    Topic("responses", "Calls and responses", ("calls", "response_headers", "stream", "attempt"), also=("Response",)),
    Topic("decisions", "Decisions", ("decisions", "outcome")),
    Topic("tokens", "Access tokens", ("tokens",), also=("TokenProvider",)),
    Topic("errors", "Errors", ("errors",)),
    Topic("constants", "Constants", ("enums",)),
    Topic("clock", "Manual clock", ("clock",)),
)


@dataclass(frozen=True)
class Module:
    """A module that a program imports separately, without the names that are described elsewhere."""

    name: str
    title: str
    without: str = ""


MODULES = (
    Module("aio", "asyncio"),
    Module("testing", "Tests of your program", without="ManualClock"),
    Module("conformance", "Tests of your strategy"),
    Module("integrations.requests", "Adapter for requests"),
    Module("integrations.httpx", "Adapter for HTTPX"),
    Module("integrations.httpx2", "Adapter for HTTPX 2"),
    Module("integrations.box_sdk", "Adapter for Box's SDK"),
    Module("integrations.opentelemetry", "OpenTelemetry"),
)


def made() -> dict[str, str]:
    """The pages by their names, with the page that lists them."""
    pages = {f"reference/python/{topic.key}.rst": _titled(topic.title, _described(topic)) for topic in TOPICS}
    for module in MODULES:
        text = f".. automodule:: boxretry.{module.name}\n   :exclude-members: {module.without}\n"
        pages[f"reference/python/{module.name.rpartition('.')[2]}.rst"] = _titled(module.title, text)
    rows = "".join(f"   {name.split('/')[-1].removesuffix('.rst')}\n" for name in pages)
    introduction = ".. automodule:: boxretry\n   :no-members:\n\n"
    functions = "".join(f".. autofunction:: boxretry.{name}\n" for name in _names(("",)))
    pages["reference/python/index.rst"] = _titled(
        "The Python package", f"{introduction}.. toctree::\n   :maxdepth: 1\n\n{rows}\n{functions}"
    )
    return pages


def _titled(title: str, text: str) -> str:
    return f"{title}\n{'=' * len(title)}\n\n{text}"


def _names(modules: tuple[str, ...]) -> list[str]:
    """The public names that these modules define, in the order in which they do."""
    return [name for name in boxretry.__all__ if _module_of(getattr(boxretry, name)) in modules]


def _module_of(value: object) -> str:
    """The first part of the module's name within the package."""
    module = getattr(value, "__module__", None) or type(value).__module__
    return module.removeprefix("boxretry").removeprefix(".").partition(".")[0]


def _described(topic: Topic) -> str:
    elsewhere = {name for other in TOPICS for name in other.also}
    own = [name for name in _names(topic.modules) if name not in elsewhere]
    return "\n".join(_directive(name) for name in [*own, *topic.also])


def _directive(name: str) -> str:
    value = getattr(boxretry, name)
    if isinstance(value, type):
        bases = "   :show-inheritance:\n" if issubclass(value, Exception) else ""
        return f".. autoclass:: boxretry.{name}\n{bases}"
    return f".. auto{'function' if isinstance(value, types.FunctionType) else 'data'}:: boxretry.{name}\n"

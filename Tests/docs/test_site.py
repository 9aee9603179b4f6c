"""The site that scripts/docs makes: links lead somewhere, the reference is complete, and no page needs a network."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import boxretry
import pytest
from header_text import read
from tool_help import Tool

ROOT = Path(__file__).resolve().parents[2]
PREFIX = Path(os.environ.get("BOXRETRY_PREFIX") or ROOT / "build/prefix").resolve()
LOADING = {"img": "src", "script": "src", "link": "href", "iframe": "src", "source": "src", "object": "data"}


@dataclass
class Page(HTMLParser):
    """What a page links to, what it loads, and the anchors that it has."""

    path: Path
    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    anchors: set[str] = field(default_factory=set)
    fits_a_phone: bool = False

    def __post_init__(self) -> None:
        super().__init__()
        self.feed(self.path.read_text())

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attributes}
        self.anchors.add(values.get("id", ""))
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        if values.get(LOADING.get(tag, "")):
            self.loads.append(values[LOADING[tag]])
        if tag == "meta" and values.get("name") == "viewport":
            self.fits_a_phone = "width=device-width" in values["content"]


@pytest.fixture(scope="module")
def pages() -> dict[Path, Page]:
    """The pages of the site, which is made here if it is out of date."""
    made = subprocess.run(
        [ROOT / "build/site-venv/bin/python", ROOT / "docs/site/build.py"], capture_output=True, text=True, check=False
    )
    assert (made.returncode, made.stdout + made.stderr) == (0, "")
    site = ROOT / "build/site"
    return {path: Page(path) for path in site.rglob("*.html")}


def anchors(pages: dict[Path, Page], folder: str) -> set[str]:
    return {anchor for path, page in pages.items() if folder in path.as_posix() for anchor in page.anchors}


def test_every_link_leads_to_a_file_and_an_anchor_that_exist(pages: dict[Path, Page]) -> None:
    broken, checked = [], 0
    for path, page in pages.items():
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme in ("http", "https"):
                continue
            checked += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            anchor = unquote(parts.fragment)
            if not target.is_file() or (anchor and target in pages and anchor not in pages[target].anchors):
                broken.append(f"{path.name}: {link}")
    assert checked > 1000
    assert broken == []


def test_no_page_loads_anything_from_a_network(pages: dict[Path, Page]) -> None:
    files = [(path, load) for path, page in pages.items() for load in page.loads]
    assert files
    assert [(path.name, load) for path, load in files if urlsplit(load).netloc] == []
    missing = [
        (path.name, load) for path, load in files if not (path.parent / (urlsplit(load).path or path.name)).is_file()
    ]
    assert missing == []


def test_no_style_loads_anything_from_a_network(pages: dict[Path, Page]) -> None:
    styles = [path.read_text() for path in (ROOT / "build/site/_static").rglob("*.css")]
    assert styles
    assert [
        url for style in styles for url in re.findall(r"(?:url\(|@import)\s*[\"']?((?:https?:)?//[^)\"']*)", style)
    ] == []


def test_each_page_fits_a_phone(pages: dict[Path, Page]) -> None:
    assert [path.name for path, page in pages.items() if not page.fits_a_phone] == []


def test_the_reference_has_every_function_and_every_struct_of_the_header(pages: dict[Path, Page]) -> None:
    declarations = [each for section in read(ROOT / "include/boxretry.h") for each in section.declarations]
    functions = {name for each in declarations for name in each.function_names}
    structs = set(re.findall(r"^(?:typedef )?struct (\w+)", (ROOT / "include/boxretry.h").read_text(), re.MULTILINE))
    assert len(functions) > 100
    assert len(structs) > 30
    assert {f"c.{name}" for name in functions | structs} - anchors(pages, "reference/c") == set()


def test_the_reference_has_every_field_and_every_constant_of_the_header(pages: dict[Path, Page]) -> None:
    """As the frozen layout of the binary interface lists them."""
    names, struct = set(), ""
    for line in (ROOT / "abi/layout.txt").read_text().splitlines():
        if line.startswith("struct "):
            struct = line.split()[1]
        elif field_name := re.search(r"^  \d+ \d+ .*?(\w+)(?:\)\(.*)?$", line):
            names.add(f"c.{struct}.{field_name[1]}")
        names |= {f"c.{name}" for name in re.findall(r"\bBOXRETRY_[A-Z0-9_]+\b", line)}
    assert len(names) > 300
    assert names - anchors(pages, "reference/c") == set()


def test_the_reference_has_every_public_name_of_the_python_package(pages: dict[Path, Page]) -> None:
    assert {f"boxretry.{name}" for name in boxretry.__all__} - anchors(pages, "reference/python") == set()


def test_the_reference_does_not_repeat_the_constructor_of_a_base_class(pages: dict[Path, Page]) -> None:
    assert pages
    page = (ROOT / "build/site/reference/python/errors.html").read_text()
    assert page.count("could not do what it was asked to") == 1
    assert (
        page.count("says what was wrong, for example") == 2
    )  # BoxRetryError and CancelledError, whose base is private.


def test_the_reference_has_every_option_of_the_tool(pages: dict[Path, Page]) -> None:
    tool = Tool(PREFIX / "bin/boxretry")
    expected = {
        f"cmdoption-boxretry-{command.name}-{option.letter or '-' + option.name}"
        for command in tool.commands
        for option in command.options
    }
    found = anchors(pages, "reference/tool")
    assert {anchor for anchor in expected if anchor.replace("--", "-") not in found and anchor not in found} == set()


@pytest.mark.parametrize(
    ("term", "page"),
    [
        ("boxretry_client_perform", "reference/c/client"),
        ("retry_after_jitt", "docs/guide"),
        ("outag", "docs/outages"),
        ("timeout_idl", "reference/c/errors"),
    ],
)
def test_the_search_finds_words_and_names(pages: dict[Path, Page], term: str, page: str) -> None:
    """The index has the stem of each word, and the pages with it in their text or title: a number, or a list."""
    assert pages
    text = (ROOT / "build/site/searchindex.js").read_text()
    index = json.loads(text.removeprefix("Search.setIndex(").removesuffix(")"))
    found = [numbers.get(term, []) for numbers in (index["terms"], index["titleterms"])]
    numbers = {number for each in found for number in ([each] if isinstance(each, int) else each)}
    assert page in [index["docnames"][number] for number in numbers]

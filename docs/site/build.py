"""Makes build/site: the documents of this repository as web pages, with a reference and search. They need no network.

build/site-venv/bin/python docs/site/build.py [FOLDER]: writes the pages into FOLDER, by default build/site. A warning
is an error. Needs what scripts/build installs. The pages are README.md, those that contents.md lists, and those of the
reference. build/site-source has what Sphinx reads: copies of these pages, in which links lead to other pages.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "build/site-source"
PREFIX = Path(os.environ.get("BOXRETRY_PREFIX") or ROOT / "build/prefix").resolve()
os.environ.setdefault("BOXRETRY_LIBRARY", str(PREFIX / "lib/libboxretry.so.0"))
sys.path[:0] = [str(ROOT / "docs/generate"), str(ROOT / "bindings/python/src")]

import c_pages  # noqa: E402
import header_text  # noqa: E402
import python_pages  # noqa: E402
import tool_page  # noqa: E402
from tool_help import Tool  # noqa: E402

CONTENTS = (ROOT / "docs/site/contents.md").read_text()
PAGES = [f"{name}.md" for name in re.findall(r"^([\w/-]+)$", CONTENTS, re.MULTILINE) if (ROOT / f"{name}.md").exists()]

_LINK = re.compile(r"(?P<mark>!?)\[(?P<text>[^\]]*)\]\((?P<file>[^)#:\s]+)(?P<anchor>#[^)]*)?\)")
_INSTEAD = {"README.md": "index.md", "include/boxretry.h": "reference/c/index.md"}
"""Pages of the site, by the file of the repository that they show."""


def adapted(text: str, page: str, linked: set[str]) -> str:
    """A page whose links lead to other pages, or to files; adds these to `linked`. A folder is not a target."""

    def link(found: re.Match[str]) -> str:
        target = os.path.normpath(os.path.join(os.path.dirname(page), found["file"]))
        if (ROOT / target).is_dir():
            return found["text"]
        if target in _INSTEAD:
            file = os.path.relpath(_INSTEAD[target], os.path.dirname(page))
            return f"{found['mark']}[{found['text']}]({file}{found['anchor'] or ''})"
        if target not in PAGES and (ROOT / target).exists():
            linked.add(target)
        return found[0]

    return _LINK.sub(link, text)


def sources() -> dict[str, bytes]:
    """The files that Sphinx reads, by their paths."""
    linked: set[str] = set()
    pages = {page: adapted((ROOT / page).read_text(), page, linked) for page in PAGES}
    pages["index.md"] = adapted((ROOT / "README.md").read_text(), "index.md", linked) + CONTENTS
    pages |= c_pages.made(header_text.read(ROOT / "include/boxretry.h"))
    pages |= python_pages.made()
    pages["reference/tool.md"] = tool_page.made(Tool(PREFIX / "bin/boxretry"))
    return {name: text.encode() for name, text in pages.items()} | {
        name: (ROOT / name).read_bytes() for name in sorted(linked)
    }


def write(files: dict[str, bytes]) -> None:
    """Makes build/site-source consist of these files. Those that have not changed keep their times."""
    for path in SOURCE.rglob("*"):
        if path.is_file() and str(path.relative_to(SOURCE)) not in files:
            path.unlink()
    for name, content in files.items():
        path = SOURCE / name
        if not path.exists() or path.read_bytes() != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def main(arguments: list[str]) -> int:
    write(sources())
    site = arguments[0] if arguments else str(ROOT / "build/site")
    sphinx = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning", "--keep-going", "-b", "html"]
    folders = ["-c", str(ROOT / "docs/site"), "-d", str(ROOT / "build/site-doctrees"), str(SOURCE), site]
    return subprocess.run([*sphinx, *folders], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

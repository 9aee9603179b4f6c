"""Makes documents from the header and from the tool: manual pages, shell completion, pictures.

python docs/generate [--check]: writes the files, or lists those that are out of date. scripts/docs calls it.
It also makes the pages that link to tests; python docs/generate/test_pages.py makes only these, and needs no build.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import completions
import decision_flow
import drawings
import header_text
import made_files
import manual_pages
import outages
import terminal_picture
import test_pages
from made_files import ROOT
from tool_help import Tool

PREFIX = Path(os.environ.get("BOXRETRY_PREFIX") or ROOT / "build/prefix").resolve()

_MADE = (
    *test_pages.NAMES,
    "man/*",
    "completions/*",
    "decision-flow.*",
    "architecture-*.svg",
    "fetch.svg",
    "outages.md",
    "outages-*.svg",
)


def made() -> dict[Path, str]:
    """All files that are made, with their content."""
    tool = Tool(PREFIX / "bin/boxretry")
    files = {Path("docs/man", name): text for name, text in manual_pages.tool_pages(tool).items()}
    header = header_text.read(ROOT / "include/boxretry.h")
    files[Path("docs/man/libboxretry.3")] = manual_pages.library_page(header, tool.version)
    files |= {Path("docs/completions", name): text for name, text in completions.scripts(tool).items()}
    flow = decision_flow.dot(PREFIX / "bin/boxretry")
    files[Path("docs/decision-flow.dot")] = flow
    files[Path("docs/decision-flow.svg")] = drawings.svg(flow, ROOT / "docs/decision-flow.svg")
    for text in sorted((ROOT / "docs").glob("architecture-*.dot")):
        files[Path("docs", text.stem + ".svg")] = drawings.svg(text.read_text(), text.with_suffix(".svg"))
    page, pictures = outages.made(PREFIX / "bin/boxretry", (ROOT / "docs/outages.md").read_text())
    files[Path("docs/outages.md")] = page
    files |= {Path("docs", name): text for name, text in pictures.items()}
    files[Path("docs/fetch.svg")] = terminal_picture.svg(PREFIX / "bin/boxretry")
    return files


def main() -> int:
    parser = argparse.ArgumentParser(prog="docs/generate", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; say what is out of date")
    check = parser.parse_args().check
    index = test_pages.read()
    status = test_pages.report_problems(index)
    return made_files.write(made() | test_pages.made(index), _MADE, check) or status


if __name__ == "__main__":
    sys.exit(main())

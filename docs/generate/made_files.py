"""Writes the files that are made, or says which of them are out of date."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def write(files: dict[Path, str], patterns: Iterable[str], check: bool) -> int:
    """The exit status. What matches a pattern in docs/ and is not made any more is removed. check: only says so."""
    known = {path.relative_to(ROOT) for pattern in patterns for path in (ROOT / "docs").glob(pattern)}
    outdated = sorted(path for path, text in files.items() if path not in known or (ROOT / path).read_text() != text)
    left_over = sorted(known - files.keys())
    if check:
        for path in outdated + left_over:
            print(f"{path}: is out of date; run scripts/docs")
        return 1 if outdated or left_over else 0
    for path in outdated:
        (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
        (ROOT / path).write_text(files[path])
    for path in left_over:
        (ROOT / path).unlink()
    return 0

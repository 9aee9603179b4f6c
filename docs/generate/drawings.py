"""Pictures that Graphviz draws from a text, which is in the repository beside its picture."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path


def svg(text: str, picture: Path) -> str:
    """The picture of the text. An up-to-date `picture` stays as it is: each version of Graphviz draws differently."""
    if picture.exists():
        drawn = picture.read_text()
        if mark(text) in drawn:
            return drawn
    drawn = subprocess.run(["dot", "-Tsvg"], input=text, check=True, capture_output=True, text=True).stdout
    return drawn.replace("<svg ", f"{mark(text)}\n<svg ", 1)


def mark(text: str) -> str:
    """A comment in the picture that identifies its text."""
    return f"<!-- made from a text with the SHA-256 {hashlib.sha256(text.encode()).hexdigest()} -->"

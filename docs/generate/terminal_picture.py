"""A picture of `boxretry fetch` on a terminal: what one shows when the tool runs on it, against the fault server."""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import struct
import subprocess
import sys
import tempfile
import termios
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "Tests/server"))

from fault_server import FaultServer  # noqa: E402

_SERVER = "http://127.0.0.1:8080"
_TARGET = "/seq/503,short,429,200?id=picture&429.h=Retry-After:0.3"
_ARGUMENTS = ["fetch", "-o", "page", "--retry-base-interval=0.1", "--retry-randomization-factor=0"]
_COMMAND = [f"$ boxretry {' '.join(_ARGUMENTS)} \\", f"    '{_SERVER}{_TARGET}'"]

_ROWS, _COLUMNS = 24, 100
_WIDTH, _HEIGHT, _MARGIN = 8.4, 19, 14
"""Of a character, of a line, and around them; in pixels."""

_STYLES = {
    "": "#d4d4d4",
    "1": "#ffffff",
    "2": "#8a8a8a",
    "1;31": "#f48771",
    "1;32": "#89d185",
    "1;33": "#e2c08d",
}
"""The color of each style that the tool uses."""

Cell = tuple[str, str]
"""A character and its style."""

_PIECE = re.compile(r"\x1b\[(?P<style>[\d;]*)m|(?P<return>\r)|(?P<line>\n)|(?P<text>[^\x00-\x1f\x7f])")
_TOOK = re.compile(r"^ *\d+ +(\d+\.\d+) s  ")


def screen_of(written: str) -> list[list[Cell]]:
    """What a terminal shows after this, line by line. Raises ValueError for what the tool has no use for."""
    lines: list[list[Cell]] = [[]]
    column, style, place = 0, "", 0
    while place < len(written):
        piece = _PIECE.match(written, place)
        if not piece:
            raise ValueError(f"this means nothing here: {written[place : place + 10]!r}")
        place = piece.end()
        if piece["return"]:
            column = 0
        elif piece["line"]:
            lines.append([])
            column = 0
        elif piece["text"]:
            lines[-1][column : column + 1] = [(piece["text"], style)]
            column += 1
        else:
            style = "" if piece["style"] in ("", "0") else piece["style"]
    return lines


def svg(program: Path) -> str:
    """The picture. What the attempts took is left out, since it differs each time."""
    shown = [[(character, "") for character in line] for line in _COMMAND]
    shown += [_without_time(line) for line in screen_of(_on_terminal(program)) if line]
    width = round(max(map(len, shown)) * _WIDTH + 2 * _MARGIN)
    height = len(shown) * _HEIGHT + 2 * _MARGIN
    text = "".join(_line(line, number) for number, line in enumerate(shown))
    return (
        "<!-- Made by scripts/docs from a run of the tool; not to be edited. -->\n"
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}">\n'
        "<title>boxretry fetch on a terminal: each attempt with its result, and what comes next</title>\n"
        f'<rect width="{width}" height="{height}" rx="8" fill="#1e1e1e"/>\n'
        '<g font-family="ui-monospace, Menlo, Consolas, DejaVu Sans Mono, monospace" font-size="14">\n'
        f"{text}</g>\n</svg>\n"
    )


def _line(line: list[Cell], number: int) -> str:
    """Each run of one style has its place and its length, independent of the font."""
    text, column = "", 0
    y = _MARGIN + number * _HEIGHT + 14
    for style, cells in groupby(line, key=lambda cell: cell[1]):
        run = "".join(character for character, _ in cells)
        bare = run.strip()
        if bare:
            x = _MARGIN + (column + len(run) - len(run.lstrip())) * _WIDTH
            text += (
                f'<text x="{x:.1f}" y="{y}" textLength="{len(bare) * _WIDTH:.1f}" fill="{_STYLES[style]}" '
                f'xml:space="preserve">{escape(bare)}</text>\n'
            )
        column += len(run)
    return text


def _without_time(line: list[Cell]) -> list[Cell]:
    took = _TOOK.match("".join(character for character, _ in line))
    if not took:
        return line
    start, end = took.span(1)
    return [*line[:start], *[(" ", "")] * (end - start - 1), ("…", ""), *line[end:]]


def _on_terminal(program: Path) -> str:
    """What the command writes to a terminal."""
    environment = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    environment |= {"TERM": "xterm", "no_proxy": "*"}
    ours, theirs = os.openpty()
    with open(ours, "rb", buffering=0) as screen, FaultServer() as server, tempfile.TemporaryDirectory() as folder:
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", _ROWS, _COLUMNS, 0, 0))
        command = [str(program), *_ARGUMENTS, server.url("") + _TARGET]
        process = subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=folder, env=environment, start_new_session=True
        )
        os.close(theirs)
        written = b"".join(_pieces(screen.fileno()))
        if process.wait() != 0:
            raise RuntimeError(f"the command of the picture has failed: {written.decode()}")
    return written.decode()


def _pieces(descriptor: int) -> Iterator[bytes]:
    with contextlib.suppress(OSError):  # The other end is closed.
        while piece := os.read(descriptor, 65536):
            yield piece

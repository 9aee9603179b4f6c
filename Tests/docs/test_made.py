"""The documents that are made from the header and from the tool: they are what these make now, and of use."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest
from drawings import mark
from header_text import read
from terminal_picture import screen_of
from tool_help import Command, Tool

ROOT = Path(__file__).resolve().parents[2]
PREFIX = Path(os.environ.get("BOXRETRY_PREFIX") or ROOT / "build/prefix").resolve()

COMPLETIONS = ROOT / "docs/completions"
TOOL = Tool(PREFIX / "bin/boxretry")
FUNCTIONS = [
    name
    for section in read(ROOT / "include/boxretry.h")
    for declaration in section.declarations
    for name in declaration.function_names
]

each_command = pytest.mark.parametrize("command", TOOL.commands, ids=lambda command: command.name)


def output_of(*command: str | Path, stdin: str = "") -> str:
    ran = subprocess.run(command, input=stdin, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stderr) == (0, ""), ran
    return ran.stdout


def test_they_are_what_the_header_and_the_tool_make_now() -> None:
    ran = subprocess.run(
        [sys.executable, ROOT / "docs/generate", "--check"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr


@pytest.mark.parametrize("page", sorted((ROOT / "docs/man").iterdir()), ids=lambda page: page.name)
def test_a_manual_page_is_shown_without_a_warning(page: Path) -> None:
    text = output_of("man", "--warnings", "-l", "-Tutf8", page)
    assert "SYNOPSIS" in re.sub(".\b", "", text)  # Bold is a letter twice at one place.


@pytest.mark.parametrize("page", sorted((ROOT / "docs/man").glob("*.1")), ids=lambda page: page.name)
def test_a_manual_page_of_the_tool_has_each_heading_once(page: Path) -> None:
    headings = re.findall(r"^\.SH (.*)$", page.read_text(), re.MULTILINE)
    assert len(headings) == len(set(headings)) > 2, headings


@pytest.mark.parametrize("page", sorted((ROOT / "docs/man").iterdir()), ids=lambda page: page.name)
def test_a_manual_page_is_of_the_version_of_the_header(page: Path) -> None:
    version = re.findall(r'^#define BOXRETRY_VERSION "(.*)"$', (ROOT / "include/boxretry.h").read_text(), re.MULTILINE)
    assert f'"libboxretry {version[0]}"' in page.read_text().split("\n")[1]


def test_the_manual_of_the_library_has_every_function() -> None:
    text = (ROOT / "docs/man/libboxretry.3").read_text()
    assert FUNCTIONS
    assert [name for name in FUNCTIONS if f"{name}(" not in text] == []


def words_of(command: Command) -> set[str]:
    return {f"--{option.name}" for option in command.options}


def bash_offers(*words: str) -> set[str]:
    script = (
        'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _boxretry; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    return set(output_of("bash", "-c", script, "bash", COMPLETIONS / "boxretry.bash", *words).split())


def fish_offers(*words: str) -> set[str]:
    line = " ".join(words)
    script = f"source {COMPLETIONS / 'boxretry.fish'}; complete -C '{line}'"
    return {offer.split("\t")[0] for offer in output_of("fish", "--no-config", "-c", script).splitlines()}


@each_command
def test_bash_offers_each_option_of_a_command(command: Command) -> None:
    assert bash_offers("boxretry", command.name, "--") == words_of(command)


@each_command
def test_fish_offers_each_option_of_a_command(command: Command) -> None:
    assert fish_offers("boxretry", command.name, "--") == words_of(command)


@each_command
def test_zsh_knows_each_option_of_a_command(command: Command) -> None:
    """zsh asks _arguments, which is replaced here by one that prints what it is asked with."""
    script = """
_arguments() {
  if [[ $1 == -C ]]; then state=argument; line=($command); return; fi
  print -rl -- "${@#-S}"
}
compdef() { : }
command=$2
source $1
"""
    specifications = output_of("zsh", "-f", "-c", script, "zsh", COMPLETIONS / "_boxretry", command.name).split("\n")
    names = {text.lstrip("*").split("[")[0].rstrip("=") for text in specifications if text.lstrip("*").startswith("--")}
    assert names == words_of(command)


@pytest.mark.parametrize("offers", [bash_offers, fish_offers])
def test_the_commands_are_offered_first(offers: Callable[..., set[str]]) -> None:
    assert {command.name for command in TOOL.commands} <= offers("boxretry", "")


@pytest.mark.parametrize("offers", [bash_offers, fish_offers])
def test_the_values_of_an_option_are_offered(offers: Callable[..., set[str]]) -> None:
    assert {"none", "timeout_idle"} <= offers("boxretry", "explain", "--exception", "")


def test_bash_offers_values_behind_an_equals_sign_too() -> None:
    assert bash_offers("boxretry", "fetch", "--preset", "=", "j") == {"january"}


@pytest.mark.parametrize("text", sorted((ROOT / "docs").glob("*.dot")), ids=lambda text: text.stem)
def test_a_diagram_is_drawn_from_its_text(text: Path) -> None:
    picture = text.with_suffix(".svg").read_text()
    assert mark(text.read_text()) in picture
    words = " ".join(ElementTree.fromstring(picture).itertext())
    label = re.findall(r'label="\s*([\w ]+)', text.read_text())[-1]
    assert label.strip() in words


def test_the_picture_of_a_terminal_shows_what_the_tool_wrote() -> None:
    words = " ".join(" ".join(ElementTree.parse(ROOT / "docs/fetch.svg").getroot().itertext()).split())
    for row in (
        "1 … s 503 server_error, retry in 0.2 s (backoff)",
        "2 … s receive network_exception, retry in 0.2 s (backoff)",
        "3 … s 429 rate_limited, retry in 0.3 s (retry_after)",
        "4 … s 200 success",
    ):
        assert row in words


def test_a_terminal_writes_over_what_a_line_began_with() -> None:
    assert screen_of("abc\rx\n\x1b[1;31mred\x1b[0m.") == [
        [("x", ""), ("b", ""), ("c", "")],
        [("r", "1;31"), ("e", "1;31"), ("d", "1;31"), (".", "")],
    ]
    with pytest.raises(ValueError, match="means nothing"):
        screen_of("\x1b[2J")

"""What the tool `boxretry` says of itself: its commands, their options, and what these take.

The tool prints its help from the very tables from which it reads its options; this reads that help.
"""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

_OPTION = re.compile(r"^  (?:-(?P<letter>\w), |    )--(?P<name>[\w.-]+)(?: (?P<value>\S+))?  +(?P<help>\S.*)$")
_GROUP = re.compile(r"^(?P<name>\w+): (?P<title>\S.*)$")
_CONTINUATION = re.compile(r"^ {10,}(\S.*)$")


def _has_options(paragraph: str) -> bool:
    return any(_OPTION.match(line) for line in paragraph.splitlines())


@dataclass
class Option:
    """One option of a command."""

    letter: str | None
    name: str
    value: str | None
    help: str
    group: str = ""
    """What it and its neighbors are about; empty if the command has no groups."""
    choices: list[str] = field(default_factory=list)
    """All values that it takes, if it takes only these."""


@dataclass
class Command:
    """A command, or (with an empty name) the tool itself."""

    name: str
    usage: str
    summary: str
    options: list[Option]
    details: list[str]
    """The paragraphs behind the options."""

    @property
    def takes_operand(self) -> bool:
        return not self.usage.endswith("[OPTION]...")


class Tool:
    """The installed tool."""

    def __init__(self, program: Path) -> None:
        self._program = program
        main_help = self._output("--help")
        self.main = self._read("", main_help)
        names = re.findall(r"^  (\w+)  +\S.*$", main_help.split("Commands:\n")[1].split("\n\n")[0], re.MULTILINE)
        self.commands = [self._read(name, self._output(name, "--help", "all")) for name in names]
        self.version = self._output("--version").split("library ")[1].split(",")[0]

    def _output(self, *arguments: str) -> str:
        return subprocess.run([self._program, *arguments], check=True, capture_output=True, text=True).stdout

    def _read(self, name: str, text: str) -> Command:
        head, _, tail = text.partition("Options:\n")
        usage, summary = head.rstrip().split("\n\n")[:2]
        paragraphs = tail.rstrip().split("\n\n")
        count = next((at for at, each in enumerate(paragraphs) if not _has_options(each)), len(paragraphs))
        command = Command(name, usage.removeprefix("Usage: "), summary, [], paragraphs[count:])
        group = ""
        for row in "\n".join(paragraphs[:count]).splitlines():
            heading = _GROUP.match(row)
            if heading:
                group = heading["title"]
                continue
            continuation = _CONTINUATION.match(row)
            if continuation:
                command.options[-1].help += " " + continuation[1]
                continue
            match = _OPTION.match(row)
            assert match, f"this line of the help of '{name}' is no option: {row!r}"
            command.options.append(Option(match["letter"], match["name"], match["value"], match["help"], group))
        for option in command.options:
            if option.value:
                option.choices = self._choices(name, option.name)
        return command

    def _choices(self, command: str, option: str) -> list[str]:
        """The values of which an option takes one; empty if there are none such. Refusing one, the tool lists them."""
        # The second option keeps a command that accepts the first one from running.
        refusal = subprocess.run(
            [self._program, command, f"--{option}=?", "--no-such-option"], check=False, capture_output=True, text=True
        ).stderr
        listed = re.search(r"is not one of: (.*) \(try ", refusal)
        return listed[1].split(", ") if listed else []

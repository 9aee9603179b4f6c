"""The reference of the command-line tool, made from its help."""

from __future__ import annotations

from itertools import groupby

from tool_help import Command, Option, Tool


def made(tool: Tool) -> str:
    """The page."""
    return "\n".join(["# The command-line tool\n", _command(tool.main), *map(_command, tool.commands)])


def _command(command: Command) -> str:
    name = f"boxretry {command.name}".rstrip()
    parts = [
        f"## {name}\n",
        f"```text\n{command.usage}\n```\n",
        f"{command.summary}\n",
        f"```{{program}} {name}\n```\n",
    ]
    for group, options in groupby(command.options, lambda option: option.group):
        if group:
            parts.append(f"### {group[0].upper()}{group[1:]}\n")
        parts += map(_option, options)
    if command.details:
        parts.append("### More\n")
        parts += [f"```text\n{paragraph}\n```\n" for paragraph in command.details]
    return "\n".join(parts)


def _option(option: Option) -> str:
    value = f" {option.value}" if option.value else ""
    forms = f"-{option.letter}, --{option.name}{value}" if option.letter else f"--{option.name}{value}"
    return f"```{{option}} {forms}\n\n{option.help}.\n```\n"

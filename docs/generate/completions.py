"""Shell completion of the tool: one script each for bash, zsh and fish."""

from __future__ import annotations

import re

from tool_help import Command, Option, Tool

_HEAD = "# Completion of boxretry for {shell}. Made by scripts/docs; not to be edited.\n"
_FILE_VALUES = ("FILE", "DATA")
"""Values that are the name of a file, or (DATA) may be one behind an @."""


def _single_quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _short(text: str) -> str:
    """The beginning of a help text, up to its first stop: a list of options has no room for more."""
    return re.split(r"; |: | \(|\. ", text)[0]


def _words(command: Command) -> list[str]:
    letters = [f"-{option.letter}" for option in command.options if option.letter]
    return letters + [f"--{option.name}" for option in command.options]


def _patterns(option: Option) -> str:
    return "|".join([f"-{option.letter}"] * bool(option.letter) + [f"--{option.name}"])


def bash(tool: Tool) -> str:
    """For bash alone: the package bash-completion is not needed, but loads it by itself."""
    first_words = " ".join([command.name for command in tool.commands] + _words(tool.main))
    text = _HEAD.format(shell="bash") + (
        "_boxretry() {\n"
        "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} words= values=\n"
        "  # --option=value comes in three words.\n"
        "  if [[ $word == = ]]; then\n"
        "    word=\n"
        "  elif [[ $before == = ]]; then\n"
        "    before=${COMP_WORDS[COMP_CWORD - 2]}\n"
        "  fi\n"
        "  COMPREPLY=()\n"
        "  if ((COMP_CWORD == 1)); then\n"
        f"    mapfile -t COMPREPLY < <(compgen -W '{first_words}' -- \"$word\")\n"
        "    return\n"
        "  fi\n"
        "  case ${COMP_WORDS[1]} in\n"
    )
    for command in tool.commands:
        text += f"    {command.name})\n      words='{' '.join(_words(command))}'\n      case $before in\n"
        for option in command.options:
            if option.choices:
                text += f"        {_patterns(option)}) values='{' '.join(option.choices)}' ;;\n"
            elif option.value in _FILE_VALUES:
                text += f"        {_patterns(option)}) values=@file ;;\n"
            elif option.value:
                text += f"        {_patterns(option)}) return ;;\n"
        text += "      esac\n      ;;\n"
    return text + (
        "  esac\n"
        "  if [[ $values == @file ]]; then\n"
        "    local at=\n"
        "    if [[ $word == @* ]]; then at=@; fi\n"
        "    compopt -o filenames 2>/dev/null\n"
        '    mapfile -t COMPREPLY < <(compgen -P "$at" -f -- "${word#@}")\n'
        "  else\n"
        '    mapfile -t COMPREPLY < <(compgen -W "${values:-$words}" -- "$word")\n'
        "  fi\n"
        "}\n"
        "complete -F _boxretry boxretry\n"
    )


def _zsh_option(option: Option) -> str:
    help = _short(option.help).replace("[", "(").replace("]", ")").replace("\\", "\\\\").replace(":", "\\:")
    if option.choices:
        action = f":{option.value}:({' '.join(option.choices)})"
    elif option.value in _FILE_VALUES:
        action = f":{option.value}:_files"
    else:
        action = f":{option.value}:" if option.value else ""
    equals = "=" if option.value else ""
    forms = [f"-{option.letter}" + "+" * bool(option.value)] if option.letter else []
    forms.append(f"--{option.name}{equals}")
    repeats = "*" if "given again" in option.help.lower() else ""
    lines = [_single_quoted(f"{repeats}{form}[{help}]{action}") for form in forms]
    return "".join(f"        {line} \\\n" for line in lines)


def zsh(tool: Tool) -> str:
    """For zsh."""
    text = "#compdef boxretry\n" + _HEAD.format(shell="zsh") + "_boxretry() {\n  local context state state_descr line\n"
    text += "  typeset -A opt_args\n  _arguments -C \\\n"
    text += "".join(_zsh_option(option)[4:].replace("\n        ", "\n    ") for option in tool.main.options)
    text += "    '1:command:->command' '*::argument:->argument'\n"
    text += "  case $state in\n    command)\n      local -a commands\n      commands=(\n"
    for command in tool.commands:
        text += f"        {_single_quoted(command.name + ':' + command.summary.rstrip('.'))}\n"
    text += "      )\n      _describe command commands\n      ;;\n    argument)\n      case $line[1] in\n"
    for command in tool.commands:
        options = "".join(_zsh_option(option).replace("        '", "            '") for option in command.options)
        end = "'*:URL:_urls'" if command.takes_operand else ""
        options = options + f"            {end}\n" if end else options.removesuffix(" \\\n") + "\n"
        text += f"        {command.name})\n          _arguments -S \\\n{options}          ;;\n"
    return text + '      esac\n      ;;\n  esac\n}\n_boxretry "$@"\n'


def _fish_option(condition: str, option: Option) -> str:
    line = f"complete -c boxretry -n {_single_quoted(condition)}"
    if option.letter:
        line += f" -s {option.letter}"
    line += f" -l {option.name}"
    if option.choices:
        line += f" -x -a {_single_quoted(' '.join(option.choices))}"
    elif option.value in _FILE_VALUES:
        line += " -r -F"
    elif option.value:
        line += " -x"
    return f"{line} -d {_single_quoted(_short(option.help))}\n"


def fish(tool: Tool) -> str:
    """For fish."""
    text = _HEAD.format(shell="fish") + "complete -c boxretry -f\n"
    for option in tool.main.options:
        text += _fish_option("__fish_use_subcommand", option)
    for command in tool.commands:
        summary = _single_quoted(command.summary.rstrip("."))
        text += f"complete -c boxretry -n __fish_use_subcommand -a {command.name} -d {summary}\n"
    for command in tool.commands:
        for option in command.options:
            text += _fish_option(f"__fish_seen_subcommand_from {command.name}", option)
    return text


def scripts(tool: Tool) -> dict[str, str]:
    """The scripts, by the file names that the shells look for."""
    return {"boxretry.bash": bash(tool), "_boxretry": zsh(tool), "boxretry.fish": fish(tool)}

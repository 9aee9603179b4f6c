"""The tool as a program: help, versions, exit codes, colors, and arguments that mean harm."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from tool_program import PREFIX, TOOL, json_of, run_tool, text_of

USAGE_ERROR = 2
COMMANDS = ("delays", "explain", "fetch", "simulate")


def header_version() -> str:
    header = (PREFIX / "include" / "boxretry.h").read_text()
    found = re.search(r'#define BOXRETRY_VERSION "(.+)"', header)
    assert found
    return found.group(1)


def test_help_is_printed_on_stdout() -> None:
    assert text_of("--help") == text_of("-h")
    for command in COMMANDS:
        assert f"\n  {command} " in text_of("--help")
        assert text_of(command, "--help").startswith(f"Usage: boxretry {command} ")
        assert text_of(command, "--help", "all").startswith(f"Usage: boxretry {command} ")
        assert text_of(command, "--help") == text_of(command, "--json", "-h")


def test_help_is_a_command_too() -> None:
    assert text_of("help") == text_of("--help")
    for command in COMMANDS:
        assert text_of("help", command) == text_of(command, "--help")
        assert text_of("help", command, "all") == text_of(command, "--help", "all")


def test_the_help_of_each_command_begins_with_what_fits_a_screen() -> None:
    """Issue 12, item 9: 24 lines of 80 columns, and each group by its name."""
    short, whole = text_of("fetch", "--help"), text_of("fetch", "--help", "all")
    assert len(short.splitlines()) <= 24 and max(map(len, short.splitlines())) <= 80
    groups = re.findall(r"^([a-z]+): \S", whole.split("\nExamples:")[0], re.MULTILINE)
    assert f"Groups for --help: {', '.join(groups)}." in short
    for group in groups:
        assert text_of("fetch", "--help", group) in whole
    for command in ("delays", "explain"):
        assert text_of(command, "--help") == text_of(command, "--help", "all")


def test_every_option_that_help_names_exists() -> None:
    """And takes a value exactly if help shows one."""
    for command in COMMANDS:
        text = text_of(command, "--help", "all")
        options = re.findall(r"^  (?:-\w,|   ) (--[\w-]+)( [A-Z-]+)?  ", text, re.MULTILINE)
        assert len(options) > 5
        for option, value in options:
            if option == "--help":
                continue
            needs_value = "needs a value" in run_tool(command, option).errors
            assert needs_value == bool(value), option


def test_version_names_the_library_the_header_and_libcurl() -> None:
    assert text_of("--version") == text_of("-V")
    version = header_version()
    expected = rf"boxretry: library {version}, header {version}, libcurl \d+\.\d+\.\d+\n"
    assert re.fullmatch(expected, text_of("--version"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "no command"),
        ([""], "unknown command ''"),
        (["fetsch"], "unknown command 'fetsch'"),
        (["help", "fetsch"], "unknown command 'fetsch'"),
        (["help", "fetch", "delays"], "--help: 'delays' is not 'all' or the name of a group"),
        (["help", "delays", "retry"], "--help: 'retry' is not 'all'"),
        (["help", "fetch", "all", "all"], "unexpected argument 'all'"),
        (["--json"], "unknown option '--json'"),
        (["delays", "--color"], "unknown option '--color' (try"),
        (["delays", "--max-atempts"], "unknown option '--max-atempts'; did you mean '--max-attempts'?"),
        (["fetch", "--no-verify"], "unknown option '--no-verify' (try"),
        (["fetch", "--data-binary", "a"], "unknown option '--data-binary'; use --data, which sends the data unchanged"),
        (["fetch", "--retry-delay", "1"], "unknown option '--retry-delay'; use --retry-base-interval"),
        (["fetch", "--retry-max-time=9"], "unknown option '--retry-max-time'; use --max-time"),
        (["explain", "--data-binary", "a"], "unknown option '--data-binary' (try"),
        (["delays", "--max"], "ambiguous option '--max': it could be --max-attempts, --max-retries-on-exception (try"),
        (
            ["fetch", "--c"],
            "ambiguous option '--c': it could be --compressed, --connect-timeout, --cacert, --capath, ... (try",
        ),
        (["delays", "-x"], "unknown option '-x'"),
        (["delays", "--json=1"], "'--json': this option takes no value"),
        (["delays", "5"], "unexpected argument '5'"),
        (["delays", "--", "--json"], "unexpected argument '--json'"),
        (["delays", "--max-attempts"], "'--max-attempts' needs a value"),
        (["explain", "-H"], "'-H' needs a value"),
        (["explain"], "one of --status and --exception is required"),
        (["explain", "--exception", "none"], "one of --status and --exception is required"),
        (["explain", "--exception", "dns"], "--exception: 'dns' is not one of: none, resolve, connect, tls, send,"),
        (["explain", "--status", "200", "--retry-after-over-cap", "2"], "'2' is not one of: clamp, stop"),
        (["explain", "--status", "200", "-H", "Retry-After 7"], "--header: 'Retry-After 7' has no colon"),
        (["explain", "--status", "200", "-H", " : 7"], "--header: ' : 7' has no name"),
        (["explain", "--status", "200", "-H", ""], "--header: '' has no colon"),
    ],
)
def test_a_wrong_command_line_is_refused_in_one_line_with_a_hint(arguments: list[str], message: str) -> None:
    run = run_tool(*arguments)
    assert (run.exit_code, run.output) == (USAGE_ERROR, "")
    assert run.errors.count("\n") == 1
    assert message in run.errors
    assert re.search(r"\(try 'boxretry( delays| explain| fetch)? --help'\)\n$", run.errors)


@pytest.mark.parametrize("value", ["", " 1", "1 ", "1x", "0x1", "1.5", "1e3", "--1", "+", "\u0663", "nan"])
def test_a_count_is_a_whole_number_and_nothing_else(value: str) -> None:
    run = run_tool("delays", f"--max-attempts={value}")
    assert (run.exit_code, run.output) == (USAGE_ERROR, "")
    assert "is not a whole number" in run.errors


@pytest.mark.parametrize("value", ["", " 1", "1 ", "1s", "0x1p3", "1e", "1,5", ".", "-", "nan", "inf", "-Infinity"])
def test_an_interval_is_a_decimal_number_and_nothing_else(value: str) -> None:
    run = run_tool("delays", f"--retry-base-interval={value}")
    assert (run.exit_code, run.output) == (USAGE_ERROR, "")
    assert "is not a number" in run.errors


@pytest.mark.parametrize("value", ["2147483648", "-2147483649", "9" * 30, "-" + "9" * 10_000])
def test_a_count_that_no_number_can_hold_is_out_of_range(value: str) -> None:
    run = run_tool("explain", "--status", value)
    assert (run.exit_code, run.output) == (USAGE_ERROR, "")
    assert "is out of range" in run.errors
    assert len(run.errors) < 200


@pytest.mark.parametrize(
    ("arguments", "detail"),
    [
        (["delays", "--max-attempts", "-1"], "max_attempts: must be from 0 to 1000000 (got -1)"),
        (["delays", "--max-attempts", "1000001"], "max_attempts: must be from 0 to 1000000 (got 1000001)"),
        (["delays", "--max-retries-on-exception=-2147483648"], "max_retries_on_exception: must be from 0 to 1000000"),
        (["delays", "--retry-base-interval", "-0.1"], "retry_base_interval: must be 0 or more, and finite"),
        (["delays", "--retry-base-interval", "1e999"], "retry_base_interval: must be 0 or more, and finite"),
        (["delays", "--retry-randomization-factor", "1.01"], "retry_randomization_factor: must be from 0 to 1"),
        (["delays", "--backoff-cap", "-1"], "backoff_cap: must be 0 or more, and finite"),
        (["explain", "--status=200", "--retry-after-cap=-1"], "retry_after_cap: must be 0 or more, and finite"),
        (["explain", "--status=99"], "boxretry explain: --status: must be 0, or from 100 to 999 (got 99)"),
        (["explain", "--status=1000"], "boxretry explain: --status: must be 0, or from 100 to 999 (got 1000)"),
        (["explain", "--status=200", "--attempt=-1"], "attempt_number: must be 0 or more (got -1)"),
    ],
)
def test_the_error_for_a_refused_value_is_the_librarys(arguments: list[str], detail: str) -> None:
    """B1, B2: the tool does not check ranges itself."""
    run = run_tool(*arguments)
    assert (run.exit_code, run.output) == (USAGE_ERROR, "")
    assert detail in run.errors
    assert run.errors.count("\n") == 1


def test_too_many_headers_are_refused() -> None:
    accepted = ["-HRetry-After:1", *["-Ha:"] * 65_535]
    assert json_of("explain", "--status=503", *accepted)["delay"] == 1
    run = run_tool("explain", "--status=503", *accepted, "-Ha:")
    assert (run.exit_code, run.output) == (USAGE_ERROR, "")
    assert "header_count: must be at most 65536" in run.errors


@pytest.mark.parametrize(
    "arguments",
    [
        [b"explain", b"--status=503", b"-HRetry-After: " + b"9" * 10_000],
        [b"explain", b"--status=503", b"-H" + b"x" * 10_000 + b": 7"],
        [b"explain", b"--status=503", b"-HRetry-After: \xff\xfe\x80"],
        [b"explain", b"--status=503", b"-HRetry-After: %n%s%n"],
        [b"explain", b"--status=503", b"-X\x1b[2J\xff"],
        [b"explain", b"--status=503", b"-X", b""],
        [b"explain", b"--status=503", b"--attempt=2147483647", b"--max-attempts=1000000"],
        [b"explain", b"--status=0", b"--attempt=1000000", b"--max-retries-on-exception=1000000"],
        [b"explain", b"--status=503", b"--attempt=0", b"--retry-base-interval=0", b"--retry-randomization-factor=1"],
        [b"explain", b"--status=503", b"--retry-base-interval=5e-324"],
        [b"explain", b"--status=503", b"--status=200", b"--status=404", b"--"],
    ],
)
def test_strange_but_right_arguments_are_answered(arguments: list[bytes]) -> None:
    for further in ([], [b"--json"]):
        run = run_tool(arguments[0], *further, *arguments[1:])
        assert (run.exit_code, run.errors) == (0, "")
        assert "\x1b" not in run.output and "\\x" not in run.output


@pytest.mark.parametrize(
    "arguments",
    [
        [b"\xff\x1b[2J\n%s%n"],
        [b"-\xff"],
        [b"--\xff\n"],
        [b"delays", b"\x1b[2J" + b"z" * 10_000],
        [b"delays", b"-\xff"],
        [b"delays", b"a\x7f"],
        [b"delays", b"--\xff\x07\n\r"],
        [b"delays", b"--max-attempts=%n%n\n\x1b[31m"],
        [b"explain", b"--exception=" + b"y" * 10_000],
        [b"explain", b"--status=503", b"--header", b"\n\n\xff" * 3_000],
        [b"explain", b"--status=503", b"--header", b":" * 10_000],
    ],
)
def test_a_message_repeats_nothing_that_harms_a_terminal(arguments: list[bytes]) -> None:
    """One short line of printable ASCII, for any argument."""
    run = run_tool(*arguments)
    assert (run.exit_code, run.output) == (USAGE_ERROR, "")
    assert re.fullmatch(r"[ -~]{20,250}\n", run.errors)


def test_an_option_may_be_given_with_a_space_or_an_equals_sign_and_the_last_one_wins() -> None:
    expected = text_of("explain", "--status", "503", "--attempt", "2")
    assert text_of("explain", "--attempt=9", "--status=404", "--attempt=2", "--status=503") == expected
    assert text_of("explain", "--status=503", "--attempt=2", "--") == expected


def test_output_that_cannot_be_written_is_an_error() -> None:
    commands = [["delays"], ["delays", "--json"], ["explain", "--status=503"], ["fetch", "--help"]]
    for command in (*commands, ["--help"], ["--version"]):
        with Path("/dev/full").open("wb") as full:
            run = subprocess.run([TOOL, *command], stdout=full, stderr=subprocess.PIPE, check=False)
        assert run.returncode == 1
        assert b"could not be written: No space left" in run.stderr


# --- Colors ---


def output_on_terminal(arguments: list[str], **environment: str) -> str:
    """What the tool writes if its stdout is a terminal."""
    ours, theirs = pty.openpty()
    clean = {name: value for name, value in os.environ.items() if name not in ("TERM", "NO_COLOR")}
    with subprocess.Popen([TOOL, *arguments], stdout=theirs, env={**clean, **environment}) as process:
        os.close(theirs)
        output = b""
        try:
            while piece := os.read(ours, 4096):
                output += piece
        except OSError:
            pass  # Linux says so when the other side is closed.
    os.close(ours)
    assert process.returncode == 0
    return output.decode().replace("\r\n", "\n")


EXAMPLES = [["delays"], ["explain", "--status", "503"], ["explain", "--status", "200"], ["explain", "--status", "404"]]


@pytest.mark.parametrize("arguments", EXAMPLES)
def test_a_terminal_gets_colors_and_otherwise_the_same_text(arguments: list[str]) -> None:
    coloured = output_on_terminal(arguments, TERM="xterm-256color")
    assert "\x1b[" in coloured
    assert re.sub(r"\x1b\[[\d;]*m", "", coloured) == text_of(*arguments)
    assert coloured.count("\x1b[0m") * 2 == coloured.count("\x1b[")


@pytest.mark.parametrize("arguments", EXAMPLES)
@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {}, {"TERM": "xterm", "NO_COLOR": "1"}, {"TERM": ""}])
def test_no_colors_for_those_who_do_not_want_them(arguments: list[str], environment: dict[str, str]) -> None:
    assert output_on_terminal(arguments, **environment) == text_of(*arguments)


def test_an_empty_no_color_does_not_count() -> None:
    """As https://no-color.org has it."""
    assert "\x1b[" in output_on_terminal(["delays"], TERM="xterm", NO_COLOR="")


def test_json_has_no_colors_even_on_a_terminal() -> None:
    assert output_on_terminal(["delays", "--json"], TERM="xterm") == text_of("delays", "--json")


# --- Locale ---


def test_numbers_do_not_depend_on_the_locale(tmp_path: Path) -> None:
    """Neither those that are read nor those that are written, where a comma is the decimal point."""
    if not shutil.which("localedef") or not Path("/usr/share/i18n/locales/de_DE").exists():
        pytest.skip("needs the locales' sources")
    subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", tmp_path / "de_DE.UTF-8"], check=True)
    german = {"LOCPATH": str(tmp_path), "LC_ALL": "de_DE.UTF-8"}
    printed = subprocess.check_output(["printf", "%.1f", "1,5"], env={**os.environ, **german})
    assert printed == b"1,5", "the locale does not work"

    arguments = ["delays", "--retry-base-interval", "0.3"]
    for further in ([], ["--json"]):
        assert run_tool(*arguments, *further, **german).output == text_of(*arguments, *further)

"""The runners, built once for all tests: in C and in Python over the installed library, in Swift over the core."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Werror"]


def installed_library() -> Path:
    prefix = Path(os.environ.get("BOXRETRY_PREFIX", REPOSITORY / "build" / "prefix"))
    found = sorted(prefix.glob("lib*/**/libboxretry.so"))
    assert found, f"no libboxretry.so below {prefix}: build and install first, or set BOXRETRY_PREFIX"
    return found[0]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--long", action="store_true", help="the long form: 200,000 sequences instead of 5,000")


@pytest.fixture(scope="session")
def sequence_count(request: pytest.FixtureRequest) -> int:
    """Sequences for each seed."""
    return 40_000 if request.config.getoption("--long") else 1_000


@pytest.fixture(scope="session")
def c_runner(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command that runs the C runner."""
    library = installed_library()
    prefix = Path(os.environ.get("BOXRETRY_PREFIX", REPOSITORY / "build" / "prefix"))
    program = tmp_path_factory.mktemp("model") / "runner"
    linking = [f"-L{library.parent}", "-lboxretry", f"-Wl,-rpath,{library.parent}"]
    compiler = [os.environ.get("CC", "cc"), "-std=c11", "-O1", *WARNINGS, f"-I{prefix / 'include'}"]
    subprocess.run([*compiler, str(HERE / "runner.c"), "-o", str(program), *linking], check=True)
    return [str(program)]


@pytest.fixture(scope="session")
def gate_runner(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The command that runs the gate of `boxretry simulate`."""
    tool = REPOSITORY / "bindings" / "c" / "tool"
    program = tmp_path_factory.mktemp("gate") / "gate_runner"
    sources = [str(HERE / "gate_runner.c"), str(tool / "simulate_gates.c"), str(tool / "simulate_random.c")]
    compiler = [os.environ.get("CC", "cc"), "-std=c11", "-O1", *WARNINGS, f"-I{tool}"]
    subprocess.run([*compiler, *sources, "-o", str(program), "-lm"], check=True)
    return [str(program)]


@pytest.fixture(scope="session")
def python_runner() -> list[str]:
    """The command that runs the Python runner, over the package of this repository and the installed library."""
    places = [str(REPOSITORY / "bindings" / "python" / "src"), os.environ.get("PYTHONPATH", "")]
    settings = [f"PYTHONPATH={os.pathsep.join(places)}", f"BOXRETRY_LIBRARY={installed_library()}.0"]
    return ["env", *settings, sys.executable, str(HERE / "run_python.py")]


@pytest.fixture(scope="session")
def swift_runner() -> list[str]:
    """The command that runs the Swift runner, built as ordinary Swift under the address sanitizer."""
    building = [str(REPOSITORY / "Tests" / "sanitizers" / "build"), "address", "--product", "ModelRunner"]
    shown = subprocess.run(building, cwd=REPOSITORY, check=True, stdout=subprocess.PIPE, text=True)
    return [str(Path(shown.stdout.strip()) / "ModelRunner")]

"""Fuzz libboxretry: libFuzzer with AddressSanitizer over the Swift sources.

    Tests/fuzz/run [--seconds N] [--jobs N] [--grow] [TARGET ...]

The sources are compiled as ordinary Swift, optimized like the shipped library, with Swift's checks on. Each target
TARGET.c runs for N seconds (30) on one core, and as many run at once as there are cores. It begins with the inputs of
its corpus (see corpus.py), and with what earlier runs on this machine have found. Share of time on two cores: a minute
to build and to prove that faults are seen, then 4 N seconds.

A finding is a crash of any kind: a broken promise (REQUIRE), a Swift trap, an error that the sanitizer sees, a leak, an
input that takes longer than 10 seconds. Its input is kept in build/fuzz/findings, and how to repeat it is printed.

--grow makes a new corpus/TARGET.tar.xz of what was found: the fewest inputs that reach all that has been reached, and
the inputs that have a name.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import corpus

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
BUILD = REPOSITORY / "build" / "fuzz"
TARGETS = ("retry_after", "http_date", "options", "outcomes", "retry_loop", "json", "server", "url")
# These have threads, which free later: leaks are looked for in the end.
THREADED = ("server",)
IN_SWIFT = ("json",)  # what they call is not in the header: TARGET.swift calls it
HELPERS = ("oracle", "model", "peer")  # linked to each of them
SWIFT_SANITIZERS = "-sanitize=fuzzer,address"
C_SANITIZERS = ("-fsanitize=fuzzer-no-link,address,undefined", "-fno-sanitize-recover=undefined")

# Swift's own crash reporter would take the signal that libFuzzer waits for.
ENVIRONMENT = {**os.environ, "SWIFT_BACKTRACE": "enable=no"}


class Fault(NamedTuple):
    """What proof.c does wrong, and what the report must contain."""

    name: str
    what: str
    sign: str


FAULTS = (
    Fault("find", "the fuzzer finds a way through the Swift code", "proof: found"),
    Fault("over-read", "the sanitizer sees the Swift code read too far", "AddressSanitizer: heap-buffer-overflow"),
    Fault("trap", "a Swift trap is a finding", "libFuzzer: deadly signal"),
    Fault("leak", "a leak is a finding", "LeakSanitizer: detected memory leaks"),
)


def call(*command: str | Path) -> None:
    """Run a command of the build; end everything if it fails."""
    words = [str(word) for word in command]
    finished = subprocess.run(words, cwd=REPOSITORY, capture_output=True, text=True, check=False)
    if finished.returncode != 0:
        sys.exit(f"{shlex.join(words)}\n{finished.stdout}{finished.stderr}failed: {finished.returncode}")


def build(targets: list[str]) -> None:
    """Build the library's objects, and a program of each target. The Swift toolchain's clang fits its sanitizers."""
    swiftc = shutil.which("swiftc") or sys.exit("swiftc is not on the PATH")
    clang = Path(swiftc).resolve().parent / "clang"
    scratch = BUILD / "swift"
    flags = ["-Xswiftc", SWIFT_SANITIZERS]
    for option in C_SANITIZERS:
        flags += ["-Xcc", option]
    call("swift", "build", "-c", "release", "--target", "BoxRetry", "--scratch-path", scratch, *flags)
    objects = sorted((scratch / "release").glob("*.build/*.o"))

    c_flags = ("-std=c11", "-D_DEFAULT_SOURCE", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g", "-O1", *C_SANITIZERS)
    for name in (*HELPERS, "proof", *targets):
        call(
            clang,
            *c_flags,
            "-I",
            REPOSITORY / "include",
            "-I",
            REPOSITORY / "Sources" / "CShims" / "include",
            "-c",
            HERE / f"{name}.c",
            "-o",
            BUILD / f"{name}.o",
        )
    trap = BUILD / "proof-swift.o"
    call(swiftc, "-O", "-parse-as-library", SWIFT_SANITIZERS, "-c", HERE / "proof.swift", "-o", trap)
    objects += [trap, *(BUILD / f"{name}.o" for name in HELPERS)]
    for name in ("proof", *targets):
        own = [BUILD / f"{name}.o"]
        if name in IN_SWIFT:
            own.append(BUILD / f"{name}-swift.o")
            modules = ("-I", scratch / "release" / "Modules")
            call(
                swiftc,
                "-O",
                "-parse-as-library",
                SWIFT_SANITIZERS,
                *modules,
                "-c",
                HERE / f"{name}.swift",
                "-o",
                own[1],
            )
        call(swiftc, "-use-ld=lld", SWIFT_SANITIZERS, *objects, *own, "-lcurl", "-o", BUILD / name)


def unpacked(target: str) -> Path:
    """Where the inputs of a target's corpus are while it runs."""
    return BUILD / "unpacked" / target


def prove(fault: Fault) -> bool:
    """Whether this deliberate fault is found."""
    artifacts = BUILD / "proofs"
    artifacts.mkdir(exist_ok=True)
    command = [str(BUILD / "proof"), "-max_total_time=60", "-max_len=32", f"-artifact_prefix={artifacts}/"]
    environment = {**ENVIRONMENT, "FUZZ_PROOF": fault.name}
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, errors="replace", check=False)
    found = finished.returncode != 0 and fault.sign in finished.stderr
    print(f"proof: {fault.what}: {'yes' if found else 'NO'}", flush=True)
    return found


def fuzz(target: str, seconds: int) -> bool:
    """Run one target; whether nothing was found."""
    found, findings = BUILD / "corpus" / target, BUILD / "findings"
    log = BUILD / f"{target}.log"
    dictionary = HERE / f"{target}.dict"
    for directory in (found, findings):
        directory.mkdir(parents=True, exist_ok=True)
    command = [str(BUILD / target), str(found), str(unpacked(target)), f"-max_total_time={seconds}"]
    command += ["-timeout=10", "-use_value_profile=1", "-print_final_stats=1", f"-artifact_prefix={findings}/{target}-"]
    if target in THREADED:
        command.append("-detect_leaks=0")
    if dictionary.exists():
        command.append(f"-dict={dictionary}")
    with log.open("wb") as stream:
        status = subprocess.run(command, env=ENVIRONMENT, stdout=stream, stderr=stream, check=False).returncode

    text = log.read_text(errors="replace")
    executions = re.search(r"stat::number_of_executed_units: (\d+)", text)
    edges = re.search(r"\((\d+) inline 8-bit counters\)", text)
    covered = re.findall(r" cov: (\d+) ", text)
    print(
        f"{target}: {executions[1] if executions else '?'} executions, {covered[-1] if covered else '?'}"
        f" of {edges[1] if edges else '?'} edges covered, {'nothing found' if status == 0 else 'FINDING'}",
        flush=True,
    )
    if status != 0:
        report(target, log, text)
    return status == 0


def report(target: str, log: Path, text: str) -> None:
    """Print what was found, and how to repeat it."""
    lines = re.findall(r"^.*(?:not so: |Fatal error: |ERROR: |SUMMARY: ).*$", text, re.MULTILINE)
    lines.append(f"everything: {log}")
    kept = re.search(r"Test unit written to (\S+)", text)
    if kept:
        lines.append(f"repeat: SWIFT_BACKTRACE=enable=no {BUILD / target} {kept[1]}")
    print("\n".join(f"    {line}" for line in lines), flush=True)


def grow(target: str) -> None:
    """Make a new archive: the fewest inputs that reach all edges, and those of before that have a name."""
    merged = BUILD / "merged" / target
    shutil.rmtree(merged, ignore_errors=True)
    merged.mkdir(parents=True)
    command = (BUILD / target, "-set_cover_merge=1", "-use_counters=0", merged, unpacked(target))
    call("env", "SWIFT_BACKTRACE=enable=no", *command, BUILD / "corpus" / target)
    inputs = {
        name: content for name, content in corpus.archived(target).items() if not corpus.is_nameless(name, content)
    }
    named = set(inputs.values())
    for file in merged.iterdir():
        content = file.read_bytes()
        if content not in named:
            inputs[file.name] = content
    corpus.pack(target, inputs)
    count, files = len(corpus.archived(target)), len(corpus.findings(target))
    print(f"{target}: {count} inputs in {corpus.archive_of(target)}, {files} as files")


def prepare(target: str) -> bool:
    """Unpack the corpus of a target; whether its archive is as corpus.py makes it."""
    corpus.unpack(target, unpacked(target))
    count = len(list(unpacked(target).iterdir()))
    good = corpus.is_reproducible(target)
    print(f"corpus: {target}: {count} inputs, sorted, each once: {'yes' if good else 'NO'}")
    return good


def main() -> int:
    parser = argparse.ArgumentParser(
        "run", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter, usage=argparse.SUPPRESS
    )
    parser.add_argument("--seconds", type=int, default=30, help="how long each target runs (30)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="how many run at once (one for each core)")
    parser.add_argument("--grow", action="store_true", help="add what was found to the corpora")
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(TARGETS)} (all)")
    arguments = parser.parse_args()
    targets = arguments.targets or list(TARGETS)
    for target in targets:
        if target not in TARGETS:
            parser.error(f"there is no target {target}")

    build(targets)
    results = [prepare(target) for target in targets] + [prove(fault) for fault in FAULTS]
    if all(results):
        with ThreadPoolExecutor(arguments.jobs) as pool:
            results += pool.map(lambda target: fuzz(target, arguments.seconds), targets)
        if all(results) and arguments.grow:
            for target in targets:
                grow(target)
    print(f"{sum(results)} passed, {len(results) - sum(results)} failed")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())

"""The inputs that each fuzz target starts with.

    python3 Tests/fuzz/corpus.py unpack FOLDER TARGET ...    puts the inputs of each target into FOLDER/TARGET
    python3 Tests/fuzz/corpus.py pack FOLDER TARGET ...      makes corpus/TARGET.tar.xz from FOLDER/TARGET

corpus/TARGET.tar.xz has the inputs that libFuzzer found, named by the SHA-1 of their content, and those that somebody
wrote, named by what they are. An input that once was a finding is a file in corpus/TARGET, outside of the archive, so
that a change of it shows.

The same inputs always make the same tar file: sorted by name, without times and owners. "pack" leaves an archive alone
that has these inputs already, since versions of liblzma may compress them differently.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import lzma
import shutil
import tarfile
from pathlib import Path

CORPUS = Path(__file__).resolve().parent / "corpus"


def archive_of(target: str) -> Path:
    return CORPUS / f"{target}.tar.xz"


def findings(target: str) -> dict[str, bytes]:
    """The inputs that are files, by name."""
    return {file.name: file.read_bytes() for file in sorted((CORPUS / target).glob("*"))}


def archived(target: str) -> dict[str, bytes]:
    """The inputs in the archive, by name."""
    inputs = {}
    with tarfile.open(archive_of(target)) as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content is None or "/" in member.name:
                raise ValueError(f"{archive_of(target)}: {member.name} is not a plain file at the top")
            inputs[member.name] = content.read()
    return inputs


def tar(inputs: dict[str, bytes]) -> bytes:
    """The tar file of these inputs; it depends on nothing else."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.USTAR_FORMAT) as archive:
        for name, content in sorted(inputs.items()):
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def is_reproducible(target: str) -> bool:
    """Whether the archive is what `pack` makes of the inputs in it, and repeats no input that is a file."""
    inputs, files = archived(target), findings(target)
    repeated = set(inputs.values()) & set(files.values()) or inputs.keys() & files.keys()
    return not repeated and lzma.decompress(archive_of(target).read_bytes()) == tar(inputs)


def is_nameless(name: str, content: bytes) -> bool:
    """Whether libFuzzer named it: with the SHA-1 of its content."""
    return name == hashlib.sha1(content).hexdigest()


def unpack(target: str, folder: Path) -> None:
    """Puts all inputs into this folder, and removes what was there before."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for name, content in (archived(target) | findings(target)).items():
        (folder / name).write_bytes(content)


def pack(target: str, inputs: dict[str, bytes]) -> None:
    """Makes the archive of these inputs, without those that are files."""
    files = findings(target)
    known = set(files.values())
    inputs = {name: content for name, content in inputs.items() if name not in files and content not in known}
    if not archive_of(target).exists() or archived(target) != inputs or not is_reproducible(target):
        archive_of(target).write_bytes(lzma.compress(tar(inputs), preset=9 | lzma.PRESET_EXTREME))


def main() -> None:
    parser = argparse.ArgumentParser(
        "corpus.py", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("action", choices=("unpack", "pack"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("targets", nargs="+", metavar="TARGET")
    arguments = parser.parse_args()
    for target in arguments.targets:
        folder = arguments.folder / target
        if arguments.action == "unpack":
            unpack(target, folder)
        else:
            pack(target, {file.name: file.read_bytes() for file in folder.iterdir()})


if __name__ == "__main__":
    main()

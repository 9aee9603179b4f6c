"""A bare Debian: what debootstrap makes, and nothing else, as a folder to chroot into.

What debootstrap has made is kept in build/roots; each test gets a copy of it, and throws it away. A root is for the
architecture under test: where this is another one, its programs run by qemu (packaging/run-arm64).
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from paths import ARCHITECTURE, BUILD, NATIVE, ROOT, RUNNER, run

# What the tests install; downloaded once.
DOWNLOADED = ("gcc", "libc6-dev", "pkg-config", "cmake", "make", "python3-venv", "libcurl4")
ENVIRONMENT = {
    "PATH": "/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LC_ALL": "C.UTF-8",
    "DEBIAN_FRONTEND": "noninteractive",
}
# With /proc, from which the loader learns where a program is, and /dev/shm, where glibc 2.31 looks for a file system.
# The mounts are gone when the command has ended.
ENTER = 'mount --rbind /proc "$0/proc"; mount -t tmpfs none "$0/dev/shm"; exec chroot "$0" "$@"'


class BareRoot:
    """A separate Debian, in which commands run; the network is the machine's."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def run(self, *command: str, **variables: str) -> str:
        """`variables` are added to the environment."""
        namespace = RUNNER or ("unshare", "--mount")
        return run(*namespace, "sh", "-ec", ENTER, self.path, *command, env={**ENVIRONMENT, **variables})

    def shell(self, script: str) -> str:
        return self.run("sh", "-ec", script)

    def install(self, *packages: str) -> None:
        self.run("apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages)

    def files(self) -> dict[str, tuple[int, int]]:
        """Each file with its mode and size, but for what the package manager notes down about itself."""
        own = ("var/lib/dpkg/", "var/cache/", "var/log/", "var/lib/apt/", "etc/ld.so.cache")
        found = {}
        for path in self.path.rglob("*"):
            name = str(path.relative_to(self.path))
            if not name.startswith(own):
                status = path.lstat()
                found[name] = (status.st_mode, status.st_size if path.is_file() else 0)
        return found


def make(suite: str, path: Path) -> BareRoot:
    """A fresh copy of the bare root of a release of Debian."""
    kept = BUILD / "roots" / (suite if ARCHITECTURE == NATIVE else f"{suite}-{ARCHITECTURE}")
    run(ROOT / "packaging/bare-root", suite, ARCHITECTURE, kept, *DOWNLOADED)
    subprocess.run(["cp", "-a", "--reflink=auto", kept, path], check=True)
    (path / "complete").unlink()
    return BareRoot(path)

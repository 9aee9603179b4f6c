"""The paths of the project."""

from __future__ import annotations

from pathlib import Path

REPOSITORY = Path(__file__).parents[3]
PACKAGE = REPOSITORY / "bindings" / "python"
HEADER = REPOSITORY / "include" / "boxretry.h"
VECTORS = REPOSITORY / "Tests" / "vectors"
C_CONFORMANCE = REPOSITORY / "bindings" / "c" / "conformance.c"

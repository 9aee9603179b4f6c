"""The modules that make documents are part of what is tested."""

from __future__ import annotations

import sys
from pathlib import Path

for folder in ("docs/generate", "Tests/libcurls"):
    sys.path.append(str(Path(__file__).resolve().parents[2] / folder))

"""Errors for names that this package has under another name or in another module."""

from __future__ import annotations

import sys


def missing_from_package(name: str) -> Exception:
    """Made in the `__getattr__()` of the package. `hasattr()` still works: only an import gets an ImportError."""
    hint = f"; the classes for asyncio are in boxretry.aio: from boxretry.aio import {name}"
    if not name.startswith("Async"):
        return AttributeError(f"module 'boxretry' has no attribute {name!r}")
    # `from boxretry import …` first asks whether the name exists, and drops an AttributeError with its text.
    if sys._getframe(2).f_code.co_name == "_handle_fromlist":
        return ImportError(f"cannot import name {name!r} from 'boxretry'{hint}", name="boxretry")
    return AttributeError(f"module 'boxretry' has no attribute {name!r}{hint}")


def missing_from_response(name: str) -> AttributeError:
    """Made in `Response.__getattr__()`."""
    hint = "; use `status`" if name == "status_code" else ""
    return AttributeError(f"'Response' object has no attribute {name!r}{hint}")

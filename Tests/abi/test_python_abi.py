"""The Python package's declarations are those that are made from the header."""

from __future__ import annotations

from python_abi import FILE, python_abi


def test_the_declarations_of_the_python_package_are_up_to_date() -> None:
    assert FILE.read_text() == python_abi(), "run: python Tests/abi/python_abi.py --write"

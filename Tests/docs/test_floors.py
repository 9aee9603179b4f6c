"""CurlEngine's folders are floors: files use those of their own folder and of lower ones, and not in a circle."""

from __future__ import annotations

from pathlib import Path

import floors
import pytest


def test_no_arrow_points_to_a_higher_floor() -> None:
    assert not floors.upward(floors.arrows())


def test_no_files_refer_to_each_other_in_a_circle() -> None:
    assert not floors.cycles(floors.arrows())


def test_the_core_has_no_cycle_with_the_engine() -> None:
    """SwiftPM's targets keep RetryCore from importing anything."""
    for file in (floors.SOURCES / "RetryCore").rglob("*.swift"):
        assert "\nimport " not in "\n" + file.read_text(), file


@pytest.mark.parametrize(
    ("lower", "higher", "up", "inside"),
    [
        ("struct Low {}", "struct High { let low: Low }", set(), set()),
        ("struct Low { let high: High? }", "class High {}", {"Clock/Low.swift -> Loop/High.swift"}, set()),
        ('// High\nlet text = "High"', "struct High {}", set(), set()),
        (
            "class Low { var high: High? }",
            "class High { var low: Low? }",
            {"Clock/Low.swift -> Loop/High.swift"},
            {"Clock/Low.swift", "Loop/High.swift"},
        ),
    ],
)
def test_it_sees_what_it_is_there_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lower: str, higher: str, up: set[str], inside: set[str]
) -> None:
    for folder, name, text in (("Clock", "Low", lower), ("Loop", "High", higher)):
        (tmp_path / "CurlEngine" / folder).mkdir(parents=True, exist_ok=True)
        (tmp_path / "CurlEngine" / folder / f"{name}.swift").write_text(text + "\n")
    monkeypatch.setattr(floors, "SOURCES", tmp_path)
    assert floors.upward(floors.arrows()) == up
    assert floors.cycles(floors.arrows()) == inside

"""Which goals are met by what was measured, and why others are not."""

from __future__ import annotations

from typing import NamedTuple

from reasons import REASONS


class Goal(NamedTuple):
    """A limit for a figure. Both are judged as they are shown, so that none is missed by an invisible difference."""

    what: str
    measured: float
    limit: float
    #: Whether it is the least that the figure may be; else it is the most.
    is_least: bool = False

    @property
    def is_met(self) -> bool:
        measured = round(self.measured, 2)
        return measured >= self.limit if self.is_least else measured <= self.limit

    def __str__(self) -> str:
        return f"- {self.what}: " + ("met" if self.is_met else "missed") + f": {self.measured:,.2f} of {self.limit:,g}"


def said(section: str, goals: list[Goal]) -> str:
    """The lines about them after the section's table."""
    lines = "\n".join(map(str, goals))
    why = "" if all(goal.is_met for goal in goals) else f"\n\n{REASONS[section]}"
    return f"\n\nThe goals, as measured here:\n\n{lines}{why}"

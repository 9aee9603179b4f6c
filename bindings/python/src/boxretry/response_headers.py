"""The header lines of a response."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ._c.texts import decoded, encoded


class ResponseHeaders(Mapping[str, str]):
    """The header lines of a response. The case of names does not matter.

    If several lines have one name, `headers[name]` is the first. Bytes that are not UTF-8 are escaped as
    os.fsdecode() does it.
    """

    #: All lines as bytes, as the server sent them, in order.
    raw: list[tuple[bytes, bytes]]

    _pairs: list[tuple[str, str]] | None = None
    _lines_by_name: dict[str, list[tuple[str, str]]] | None = None

    def __init__(self, pairs: Iterable[tuple[str, str]]) -> None:
        self.raw = [(encoded(name), encoded(value)) for name, value in pairs]

    @classmethod
    def of_bytes(cls, raw: list[tuple[bytes, bytes]]) -> ResponseHeaders:
        """Makes it of the lines as they are in the response."""
        headers = cls.__new__(cls)
        headers.raw = raw
        return headers

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """All lines, as the server sent them, in order."""
        if self._pairs is None:
            self._pairs = [(decoded(name), decoded(value)) for name, value in self.raw]
        return self._pairs

    @property
    def _lines(self) -> dict[str, list[tuple[str, str]]]:
        """The lines by their names in lower case."""
        if self._lines_by_name is None:
            lines: dict[str, list[tuple[str, str]]] = {}
            for name, value in self.pairs:
                lines.setdefault(name.lower(), []).append((name, value))
            self._lines_by_name = lines
        return self._lines_by_name

    def get_all(self, name: str) -> list[str]:
        """The values of all lines with this name."""
        return [value for _, value in self._lines.get(name.lower(), ())]

    def __getitem__(self, name: str) -> str:
        return self._lines[name.lower()][0][1]

    def __iter__(self) -> Iterator[str]:
        return (lines[0][0] for lines in self._lines.values())

    def __len__(self) -> int:
        return len(self._lines)

    def __repr__(self) -> str:
        return f"ResponseHeaders({self.pairs!r})"

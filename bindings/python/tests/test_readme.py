"""The program in README.md."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from paths import PACKAGE


class Response(NamedTuple):
    status: int
    headers: dict[str, str]


def test_the_program_in_the_readme_runs() -> None:
    (program,) = re.findall(r"^```python\n(.*?)^```$", (PACKAGE / "README.md").read_text(), re.DOTALL | re.MULTILINE)
    names: dict[str, Any] = {}
    exec(program, names)

    responses = iter([Response(503, {"retry-after": "0"}), Response(429, {"Retry-After": "0"}), Response(200, {})])
    assert names["get"](lambda: next(responses)).status == 200
    assert names["get"](lambda: Response(404, {})).status == 404

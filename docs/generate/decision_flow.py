"""The documented decision flow (B3) as a diagram: what `boxretry explain` asks about outcomes that reach every end."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

_OUTCOMES = (
    "--exception=connect",
    "--exception=connect --attempt=3",
    "--status=503 --attempt=5",
    "--status=200 --attempt=5",
    "--status=202 --header=Retry-After:1",
    "--status=503",
    "--status=429",
    "--status=401 --auth",
    "--status=404",
    "--status=200",
)
_ENDS = {
    "retry": ("Wait, then retry", "#d5e8d4"),
    "refresh_token_and_retry": ("Get a new token,\\nwait, then retry", "#d5e8d4"),
    "succeed": ("The call has succeeded", "#dae8fc"),
    "stop": ("The call has failed", "#f8cecc"),
}


def dot(program: Path) -> str:
    """The diagram as text for Graphviz."""
    questions: dict[str, str] = {}
    edges: dict[tuple[str, str, bool], None] = {}
    for outcome in _OUTCOMES:
        answer = json.loads(
            subprocess.run(
                [program, "explain", "--json", *outcome.split()], check=True, capture_output=True, text=True
            ).stdout
        )
        path = answer["path"]
        for step, following in zip(path, [*path[1:], None]):
            questions.setdefault(step["name"], _in_general(step["question"]))
            edges[step["name"], following["name"] if following else answer["action"], step["answer"]] = None
    lines = [
        f'  {name} [label="{question}", shape=diamond, style=filled, fillcolor="#fff2cc"]'
        for name, question in questions.items()
    ]
    for end, (label, colour) in _ENDS.items():
        lines.append(f'  {end} [label="{label}", shape=box, style="rounded,filled", fillcolor="{colour}"]')
    lines += [f'  {start} -> {end} [label=" {"yes" if yes else "no"} "]' for start, end, yes in edges]
    first = next(iter(questions))
    return (
        "// The decision flow of Box's strategy (B3). Made by scripts/docs from what `boxretry explain` asks.\n"
        'digraph decision_flow {\n  graph [fontname="sans-serif"]\n  node [fontname="sans-serif", fontsize=11]\n'
        '  edge [fontname="sans-serif", fontsize=10]\n'
        '  outcome [label="An attempt has ended", shape=box, style=rounded]\n'
        + "\n".join(lines)
        + f"\n  outcome -> {first}\n}}\n"
    )


def _in_general(question: str) -> str:
    """The question without the numbers of one outcome, in lines for a diamond."""
    question = re.sub(r"^(Exception|Attempt) \d+", r"Number of the \1", question).replace("the E", "the e")
    question = re.sub(r" \(\d+\)", "", question.replace("the A", "the a"))
    return re.sub(r" (?=\(|and |<= |>= max)", r"\\n", question)

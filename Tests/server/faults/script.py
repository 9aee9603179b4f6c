"""What one URL asks for: a list of answers, each with its parameters. README.md has the vocabulary as a table."""

from __future__ import annotations

import functools
from urllib.parse import unquote

from .vocabulary import FAULTS, FAULTS_AFTER, PARSERS, Answer, BadScript, apply, meaning_of, parse_count, parse_flag

MAX_ITEMS = 1_000_000
SHORT_PATHS = {"echo": "echo", "token": "token", "auth": "200"}  # what they are short for, as items


def split_query(query: str) -> list[tuple[str, str]]:
    """Names and values, percent-decoded to bytes as in Latin-1. A plus is a plus, not a space."""
    parts = [part.partition("=") for part in query.split("&") if part]
    return [(unquote(name, "latin-1"), unquote(value, "latin-1")) for name, _, value in parts]


class Script:
    """All that one URL asks for: its items in order, and the parameters of each."""

    def __init__(self, target: str) -> None:
        path, _, query = target.partition("?")
        self.path = path
        self.id = ""
        self.cycle = False
        self.quiet = False
        self.accept: list[str] = []
        self.reject: list[str] = []
        self._parameters: dict[str, list[tuple[str, str]]] = {}  # by prefix; "" are those of all answers
        self._answers: dict[tuple[str, str], Answer] = {}
        for name, value in split_query(query):
            self._read_parameter(name, value)
        self.checks_token, self.items = self._read_path(unquote(path, "latin-1"))
        self._check()

    def _read_parameter(self, name: str, value: str) -> None:
        if name == "id":
            self.id = value
        elif name in ("cycle", "quiet"):
            setattr(self, name, parse_flag(value))
        elif name in ("accept", "reject"):
            getattr(self, name).append(value)
        else:
            prefix, _, rest = name.rpartition(".")
            if rest not in PARSERS:
                raise BadScript(f"there is no parameter {name!r}")
            self._parameters.setdefault(prefix, []).append((rest, value))

    def _read_path(self, path: str) -> tuple[bool, list[str]]:
        kind, slash, items = path[1:].partition("/")
        if not path.startswith("/") or (kind not in ("seq", "redirect") and kind not in SHORT_PATHS):
            raise BadScript(f"there is no path {path!r}")
        if kind == "redirect":
            items = f"302*{items},200"
        elif kind in ("echo", "token") and slash:
            raise BadScript(f"/{kind} takes no items: /seq/503,{kind} does")
        expanded: list[str] = []
        for text in (items if slash else SHORT_PATHS.get(kind, "")).split(","):
            item, star, times = text.partition("*")
            count = parse_count(times) if star else 1
            if len(expanded) + count > MAX_ITEMS:
                raise BadScript("too many items")
            expanded += [item] * count
        return kind == "auth", expanded

    def _check(self) -> None:
        """Makes every answer once, so that any mistake in a URL is refused at the first request."""
        if len(self.items) > 1 and not self.id:
            raise BadScript("a script of several items needs an id")
        if self.checks_token != bool(self.accept or self.reject):
            raise BadScript("accept and reject belong to /auth, which needs one of them")
        known = dict.fromkeys(self.items)
        if self.checks_token:
            known["401"] = None
        for item in known:
            self._make(item, "")
        for prefix in filter(None, self._parameters):
            if prefix in known:
                continue
            if not prefix.isdigit() or not 1 <= parse_count(prefix) <= min(len(self.items), 199):
                raise BadScript(f"{prefix!r} is no item of this path, and no place of one")
            self._make(self.items[int(prefix) - 1], prefix)

    def turn(self, number: int) -> Answer:
        """The answer to the request `number`, from 0."""
        index = number % len(self.items) if self.cycle else min(number, len(self.items) - 1)
        place = str(index + 1)
        return self._make(self.items[index], place if place in self._parameters else "")

    def unauthorized(self) -> Answer:
        return self._make("401", "")

    def accepts(self, authorization: str) -> bool:
        scheme, _, token = authorization.partition(" ")
        if scheme.lower() != "bearer" or token in self.reject:
            return False
        return token in self.accept if self.accept else True

    def _make(self, item: str, place: str) -> Answer:
        """What is more specific wins: for all, what the item stands for, for this item, for its place."""
        if (answer := self._answers.get((item, place))) is not None:
            return answer
        answer = Answer(item)
        meaning = meaning_of(item)
        if item.isdigit():
            answer.status = int(item)
        levels = [self._parameters.get("", []), meaning, self._parameters.get(item, [])]
        if place:
            levels.append(self._parameters[place])
        for level in levels:
            if sum(name in FAULTS or name in FAULTS_AFTER for name, _ in level) > 1:
                raise BadScript("two faults for one answer")
            for name, value in level:
                apply(answer, name, value)
        if item in ("echo", "token"):
            answer.content = item
        fault, length = answer.fault, answer.known_length
        if fault is not None and length is not None and fault.after > length:
            raise BadScript(f"{fault.how} after {fault.after} bytes of a body that has {length}")
        self._answers[item, place] = answer
        return answer


@functools.lru_cache(maxsize=1024)
def parse(target: str) -> Script:
    """The script of a request target. Raises BadScript."""
    return Script(target)

"""Random options of strategies and policies, right and wrong, as words of the text format (text_format.py)."""

from collections.abc import Callable
from random import Random
from typing import Union

from text_format import encode

SMALL_DOUBLES = [0.0, -0.0, 5e-324, 1e-300, 1e-9, 0.1]
LARGE_DOUBLES = [1.0, 59.875, 2147483646.5, 2147483647.0, 2147483648.0, 1e18, 1e308]
EXTREME_DOUBLES = SMALL_DOUBLES + LARGE_DOUBLES
WRONG_DOUBLES = [-1.0, -5e-324, -1e308, float("nan"), float("inf"), float("-inf")]
EXTREME_COUNTS = [0, 1, 2, 3, 999, 1000, 1001, 999_999, 1_000_000]
WRONG_COUNTS = [-1, -(2**31), 1_000_001, 2**31 - 1]

Value = Union[int, float, str]


def text(fields: dict[str, Value]) -> str:
    return "".join(f" {key}={value}" for key, value in fields.items())


def wrong(random: Random, fields: dict[str, Value], makers: dict[str, Callable[[], Value]]) -> None:
    """Once in a while, makes one of the fields wrong."""
    if random.random() < 0.06:
        key = random.choice(list(makers))
        fields[key] = makers[key]()


def some(random: Random, share: float, makers: dict[str, Callable[[], Value]]) -> dict[str, Value]:
    """Each field with a probability of `share`."""
    return {key: make() for key, make in makers.items() if random.random() < share}


def delay_header_fields(random: Random, names: list[bytes]) -> str:
    units = [0.001, 0.001, 1.0, 1e-6, 60.0, 86400.0]
    return "".join(f" delay_header={encode(name)}:{random.choice(units)}" for name in names)


def wrong_delay_headers(random: Random) -> str:
    bad = [f"{encode(name)}:1.0" for name in (b"", b"a b", b"a:b", b"\ta", b"a\n", b"a\r", b"a" * 257)]
    bad += [f"x-ok:{unit}" for unit in (0.0, -0.0, -1.0, 86400.1, "nan", "inf")]
    many = [f"x-{index}:1.0" for index in range(17)]
    pairs = random.choice([[random.choice(bad)], ["x-fine:1", random.choice(bad)], many])
    return "".join(f" delay_header={pair}" for pair in pairs)


def retry_options(random: Random, delay_names: list[bytes], is_long: bool = False) -> str:
    """`is_long`: with many retries. Most options are without jitter, so that delays can be compared exactly."""
    pick = random.choice
    fields = some(random, 0.5, {
        "max_attempts": lambda: pick([pick(EXTREME_COUNTS), random.randrange(12)]),
        "max_retries_on_exception": lambda: pick([pick(EXTREME_COUNTS), random.randrange(6)]),
        "retry_base_interval": lambda: pick([pick(EXTREME_DOUBLES), random.randrange(40) / 8, random.uniform(0, 3)]),
        "retry_after_over_cap": lambda: pick([0, 1]),
    })  # fmt: skip
    fields.update(some(random, 0.25, {
        "backoff_cap": lambda: pick([pick(EXTREME_DOUBLES), random.randrange(100) / 8]),
        "retry_after_cap": lambda: pick([pick(EXTREME_DOUBLES), random.randrange(100) / 8]),
        "retry_after_jitter": lambda: pick([0.0, 0.5, 1.0, 1e-9, random.random()]),
    }))  # fmt: skip
    fields["retry_unsafe_methods"] = pick([0, 0, 1, 1, 7, -1])
    if is_long:
        fields.update({"max_attempts": pick([9, 12, 1000]), "max_retries_on_exception": pick([3, 9, 1000])})
    has_jitter = random.random() < 0.3
    fields["retry_randomization_factor"] = pick([0.5, 1.0, 0.3, 1e-9, random.random()]) if has_jitter else 0.0
    wrong(random, fields, {
        "max_attempts": lambda: pick(WRONG_COUNTS),
        "max_retries_on_exception": lambda: pick(WRONG_COUNTS),
        "retry_base_interval": lambda: pick(WRONG_DOUBLES),
        "retry_randomization_factor": lambda: pick([*WRONG_DOUBLES, 1.5, 1.0000000000000002]),
        "backoff_cap": lambda: pick(WRONG_DOUBLES),
        "retry_after_cap": lambda: pick(WRONG_DOUBLES),
        "retry_after_jitter": lambda: pick([*WRONG_DOUBLES, 1.5, 1.0000000000000002]),
        "retry_after_over_cap": lambda: pick([-1, 2, 2**31 - 1]),
    })  # fmt: skip
    if random.random() < 0.01:
        return text(fields) + wrong_delay_headers(random)
    return text(fields) + delay_header_fields(random, delay_names)


def backoff_options(random: Random) -> str:
    """Mostly only those that bear on the backoff."""
    options = retry_options(random, [])
    if random.random() < 0.1:
        return options
    kept = [word for word in options.split(" ") if word.startswith(("retry_base", "retry_random", "backoff_cap"))]
    return "".join(f" {word}" for word in kept)


def token_policy(random: Random) -> str:
    pick = random.choice
    fields = some(random, 0.6, {
        "maximum_attempts": lambda: pick([1, 2, 9, 2**31 - 1]),
        "initial_delay": lambda: pick([pick(EXTREME_DOUBLES), random.uniform(0, 5)]),
        "multiplier": lambda: pick([1.0, 1.0000000000000002, 1.5, 2.0, 3.0, 1e9, 1e308, random.uniform(1, 5)]),
        "maximum_delay": lambda: pick([pick(EXTREME_DOUBLES), random.uniform(0, 100)]),
        "jitter_ratio": lambda: pick([0.0, 0.2, 1.0, 5e-324, random.random()]),
    })  # fmt: skip
    wrong(random, fields, {
        "maximum_attempts": lambda: pick([0, -1, -(2**31)]),
        "initial_delay": lambda: pick(WRONG_DOUBLES),
        "multiplier": lambda: pick([*WRONG_DOUBLES, 0.0, 0.9999999999999999]),
        "maximum_delay": lambda: pick(WRONG_DOUBLES),
        "jitter_ratio": lambda: pick([*WRONG_DOUBLES, 1.0000000000000002]),
    })  # fmt: skip
    return text(fields)

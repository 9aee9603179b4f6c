"""A picture of lines over logarithmic axes, as SVG: what costs the same each time is level, however much there is."""

from __future__ import annotations

import math

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 64, 120, 36, 48
COLOURS = ("#0b5fb0", "#b04a0b", "#3d7d2c", "#6b3fa0")


def lines(title: str, across: str, series: dict[str, list[tuple[float, float]]]) -> str:
    """`series`: for each name its points, from left to right; all numbers are above 0."""
    every_x = [x for points in series.values() for x, _ in points]
    heights = marks(*(bound(y for points in series.values() for _, y in points) for bound in (min, max)))

    def place(x: float, y: float) -> tuple[float, float]:
        right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
        return (
            LEFT + (right - LEFT) * share(x, min(every_x), max(every_x)),
            bottom - (bottom - TOP) * share(y, heights[0], heights[-1]),
        )

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"',
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="14">{title}</text>',
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">{across}</text>',
    ]
    for height in heights:
        x, y = place(min(every_x), height)
        parts.append(f'<path d="M{x:.1f} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{x - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{height:,g}</text>')
    for value in sorted(set(every_x)):
        x, _ = place(value, heights[0])
        parts.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{value:,.0f}</text>')
    for colour, (name, points) in zip(COLOURS, series.items()):
        places = [place(x, y) for x, y in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.extend(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places)
        x, y = places[-1]
        parts.append(f'<text x="{x + 8:.1f}" y="{y + 4:.1f}" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>\n"])


def share(value: float, least: float, most: float) -> float:
    """How far along a logarithmic axis it stands, from 0 to 1."""
    return math.log(value / least) / math.log(most / least)


def marks(least: float, most: float) -> list[float]:
    """1, 2 and 5 times powers of ten: from one that is not above the least to one that is not below the most."""
    powers = range(math.floor(math.log10(least)), math.ceil(math.log10(most)) + 1)
    every = [factor * 10.0**power for power in powers for factor in (1, 2, 5)]
    first = max(mark for mark in every if mark <= least)
    last = min(mark for mark in every if mark >= most and mark > first)
    return [mark for mark in every if first <= mark <= last]

"""A picture of lines over a logarithmic axis, as SVG."""

from __future__ import annotations

import math

WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 56, 120, 36, 48
COLOURS = ("#0b5fb0", "#b04a0b", "#3d7d2c", "#6b3fa0")


def lines(title: str, across: str, series: dict[str, list[tuple[float, float]]]) -> str:
    """`series`: for each name its points, from left to right; all x above 0, all y from 0."""
    every_x = [x for points in series.values() for x, _ in points]
    least, most = math.log10(min(every_x)), math.log10(max(every_x))
    step = tick_step(max(y for points in series.values() for _, y in points))
    top = step * math.ceil(max(y for points in series.values() for _, y in points) / step)

    def place(x: float, y: float) -> tuple[float, float]:
        right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM
        return (
            LEFT + (right - LEFT) * (math.log10(x) - least) / (most - least),
            bottom - (bottom - TOP) * y / top,
        )

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}"',
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
        f'<text x="{LEFT}" y="20" font-size="14">{title}</text>',
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">{across}</text>',
    ]
    for number in range(round(top / step) + 1):
        x, y = place(min(every_x), number * step)
        parts.append(f'<path d="M{x:.1f} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{x - 6:.1f}" y="{y + 4:.1f}" text-anchor="end">{number * step:g}</text>')
    for value in sorted(set(every_x)):
        x, y = place(value, 0)
        parts.append(f'<text x="{x:.1f}" y="{y + 16:.1f}" text-anchor="middle">{value:,.0f}</text>')
    for colour, (name, points) in zip(COLOURS, series.items()):
        places = [place(x, y) for x, y in points]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.extend(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places)
        x, y = places[-1]
        parts.append(f'<text x="{x + 8:.1f}" y="{y + 4:.1f}" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>\n"])


def tick_step(most: float) -> float:
    """1, 2 or 5 times a power of ten, so that there are at most six steps."""
    power: float = 10 ** math.floor(math.log10(most / 6))
    return next(power * factor for factor in (1, 2, 5, 10) if most / (power * factor) <= 6)

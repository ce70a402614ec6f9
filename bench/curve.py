"""A log-log line chart as SVG, written directly: the bench extra stays without a charting library."""

from collections.abc import Mapping, Sequence
from math import ceil, floor, log10
from pathlib import Path

WIDTH, HEIGHT = 640, 400
LEFT, RIGHT, TOP, BOTTOM = 70, 150, 30, 50
COLOURS = ("#1f6fb4", "#d1572c", "#3f8f4f", "#7d5ba6")

Point = tuple[float, float]


def write_curves(path: Path, title: str, axes: tuple[str, str], lines: Mapping[str, Sequence[Point]]) -> None:
    points = [point for line in lines.values() for point in line]
    x_range, y_range = (_decades([point[axis] for point in points]) for axis in (0, 1))

    def place(point: Point) -> Point:
        x = LEFT + (log10(point[0]) - x_range[0]) / (x_range[1] - x_range[0]) * (WIDTH - LEFT - RIGHT)
        y = HEIGHT - BOTTOM - (log10(point[1]) - y_range[0]) / (y_range[1] - y_range[0]) * (HEIGHT - TOP - BOTTOM)
        return round(x, 1), round(y, 1)

    parts = frame(title, axes)
    for decade in range(x_range[0], x_range[1] + 1):
        x, _ = place((10.0**decade, 10.0 ** y_range[0]))
        parts += [rule((x, TOP), (x, HEIGHT - BOTTOM)), text((x, HEIGHT - BOTTOM + 16), f"{10**decade:,}", "middle")]
    for decade in range(y_range[0], y_range[1] + 1):
        _, y = place((10.0 ** x_range[0], 10.0**decade))
        parts += [rule((LEFT, y), (WIDTH - RIGHT, y)), text((LEFT - 6, y + 4), f"{10.0**decade:,g}", "end")]
    for (name, line), colour in zip(lines.items(), COLOURS, strict=False):
        parts += _line(name, [place(point) for point in line], colour)
    write(path, parts)


def frame(title: str, axes: tuple[str, str]) -> list[str]:
    """What every chart begins with: ground, title, and what its axes are."""
    return [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        text(((LEFT + WIDTH - RIGHT) / 2, 16), title, "middle"),
        text(((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12), axes[0], "middle"),
        text((8, 16), axes[1]),
    ]


def write(path: Path, parts: Sequence[str]) -> None:
    path.write_text("\n".join([*parts, "</svg>"]) + "\n", encoding="utf-8")


def _decades(values: Sequence[float]) -> tuple[int, int]:
    low, high = floor(log10(min(values))), ceil(log10(max(values)))
    return low, max(high, low + 1)


def _line(name: str, points: Sequence[Point], colour: str) -> list[str]:
    path = " ".join(f"{x},{y}" for x, y in points)
    dots = [f'<circle cx="{x}" cy="{y}" r="3" fill="{colour}"/>' for x, y in points]
    label = text((points[-1][0] + 8, points[-1][1] + 4), name, colour=colour)
    return [f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>', *dots, label]


def rule(start: Point, end: Point) -> str:
    return f'<line x1="{start[0]}" y1="{start[1]}" x2="{end[0]}" y2="{end[1]}" stroke="#ddd"/>'


def text(place: Point, words: str, anchor: str = "start", colour: str = "#333") -> str:
    return f'<text x="{place[0]}" y="{place[1]}" text-anchor="{anchor}" fill="{colour}">{words}</text>'

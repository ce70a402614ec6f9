"""Charts with a linear y axis as SVG, beside bench/curve.py: lines with circles of a size, and groups of bars."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor, log10
from pathlib import Path

from bench.curve import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, WIDTH, frame, rule, text, write

COLOURS = ("#1f6fb4", "#8a8a8a", "#d1572c")  # what rises, stays, falls
_LARGEST = 14.0  # radius of a circle
_SMALLEST = 2.5
_MARGIN = 0.08  # of the heights' range, for the circles at its ends
_TICKS = 5  # about
_BETWEEN_GROUPS = 0.25  # of a group's width
_AXIS, _HEAD = "#888", 20  # above the highest value, for the axis's name


@dataclass(frozen=True, slots=True)
class Circle:
    x: int
    y: float
    size: float  # its area stands for this


@dataclass(frozen=True, slots=True)
class Scale:
    """Values upwards, from the lowest tick to the highest."""

    ticks: tuple[float, ...]

    def y(self, value: float) -> float:
        low, high = self.ticks[0], self.ticks[-1]
        top = TOP + _HEAD
        return round(HEIGHT - BOTTOM - (value - low) / (high - low) * (HEIGHT - top - BOTTOM), 1)

    def drawn(self) -> list[str]:
        places = [(tick, self.y(tick)) for tick in self.ticks]
        rules = [rule((LEFT, y), (WIDTH - RIGHT, y)) for _, y in places]
        return rules + [text((LEFT - 6, y + 4), _readable(f"{tick:g}"), "end") for tick, y in places]


def scale_of(values: Sequence[float]) -> Scale:
    """Round ticks around the values."""
    low, high = min(values), max(values)
    rough = max(high - low, 1e-9) / _TICKS
    power = 10.0 ** floor(log10(rough))
    step = next(power * factor for factor in (1, 2, 5, 10) if power * factor >= rough)
    first, last = floor(low / step), ceil(high / step)
    return Scale(tuple(round(step * number, 10) for number in range(first, max(last, first + 1) + 1)))


def write_circles(path: Path, title: str, axes: tuple[str, str], lines: Mapping[str, Sequence[Circle]]) -> None:
    """Lines over whole numbers; each line's name stands at its end."""
    circles = [circle for line in lines.values() for circle in line]
    heights, most = [circle.y for circle in circles], max(circle.size for circle in circles)
    margin = _MARGIN * (max(heights) - min(heights))
    scale = scale_of([min(heights) - margin, max(heights) + margin])
    first, last = min(circle.x for circle in circles), max(circle.x for circle in circles)
    inset = 2 * _LARGEST

    def x(number: int) -> float:
        width = WIDTH - LEFT - RIGHT - 2 * inset
        return round(LEFT + inset + (number - first) / max(1, last - first) * width, 1)

    parts = frame(title, axes) + scale.drawn()
    parts += [text((x(number), HEIGHT - BOTTOM + 18), str(number), "middle") for number in range(first, last + 1)]
    for (name, line), colour in zip(lines.items(), COLOURS, strict=False):
        places = " ".join(f"{x(circle.x)},{scale.y(circle.y)}" for circle in line)
        parts.append(f'<polyline points="{places}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for circle in line:
            radius = max(_SMALLEST, round(_LARGEST * (circle.size / most) ** 0.5, 1))
            parts.append(
                f'<circle cx="{x(circle.x)}" cy="{scale.y(circle.y)}" r="{radius}" fill="{colour}" fill-opacity="0.6">'
                f"<title>{circle.size:g}</title></circle>"
            )
        parts.append(text((WIDTH - RIGHT + 6, scale.y(line[-1].y) + 4), name, colour=colour))
    write(path, parts)


def write_bars(path: Path, title: str, axes: tuple[str, str], groups: Mapping[str, Mapping[str, float]]) -> None:
    """A group of bars for each name, each with its figure; the same bars in each, explained on the right."""
    names = list(dict.fromkeys(name for bars in groups.values() for name in bars))
    scale = scale_of([0.0, *(value for bars in groups.values() for value in bars.values())])
    group_width = (WIDTH - LEFT - RIGHT) / len(groups)
    width = group_width * (1 - _BETWEEN_GROUPS) / len(names)
    parts = frame(title, axes) + scale.drawn()
    for number, (group, bars) in enumerate(groups.items()):
        left = LEFT + number * group_width + group_width * _BETWEEN_GROUPS / 2
        parts.append(text((round(left + width * len(names) / 2, 1), HEIGHT - BOTTOM + 18), group, "middle"))
        for name, value in bars.items():
            at = names.index(name)
            parts += _bar(left + at * width, width, value, scale, COLOURS[at])
    zero = scale.y(0.0)
    parts.append(f'<line x1="{LEFT}" y1="{zero}" x2="{WIDTH - RIGHT}" y2="{zero}" stroke="{_AXIS}"/>')
    for at, name in enumerate(names):
        y = TOP + _HEAD + 20 * at
        parts.append(f'<rect x="{WIDTH - RIGHT + 10}" y="{y}" width="10" height="10" fill="{COLOURS[at]}"/>')
        parts.append(text((WIDTH - RIGHT + 26, y + 9), name))
    write(path, parts)


def _bar(left: float, width: float, value: float, scale: Scale, colour: str) -> list[str]:
    ends = sorted((scale.y(0.0), scale.y(value)))
    figure = ends[0] - 4 if value >= 0 else ends[1] + 12
    height = f"{ends[1] - ends[0]:.1f}"
    return [
        f'<rect x="{left:.1f}" y="{ends[0]}" width="{width - 2:.1f}" height="{height}" fill="{colour}"/>',
        f'<text x="{left + width / 2 - 1:.1f}" y="{figure:.1f}" text-anchor="middle" font-size="10" fill="#333">'
        f"{_readable(f'{value:.1f}')}</text>",
    ]


def _readable(figure: str) -> str:
    return figure.replace("-", "−")

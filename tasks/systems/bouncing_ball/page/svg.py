"""Axes and lines as SVG, so that a page draws itself without a program from elsewhere.

A viewBox unit is a CSS pixel at full width. Colours are classes, which the page's style sets for
light and dark. All text is escaped.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from matplotlib.ticker import MaxNLocator

WIDTH = 960.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 16.0, 14.0, 40.0  # margins round the data


@dataclass(frozen=True)
class Axes:
    """The data's range in both directions, and the height of the drawing."""

    x: tuple[float, float]
    y: tuple[float, float]
    height: float

    def at_x(self, value: float) -> float:
        """Return where a value lies from the left."""
        low, high = self.x
        return LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT)

    def at_y(self, value: float) -> float:
        """Return where a value lies from the top."""
        low, high = self.y
        return self.height - BOTTOM - (value - low) / (high - low) * (self.height - TOP - BOTTOM)

    def points(self, values: Sequence[tuple[float, float]]) -> str:
        """Return places as SVG writes them."""
        return " ".join(f"{self.at_x(x):.1f},{self.at_y(y):.1f}" for x, y in values)


def drawing(axes: Axes, parts: Sequence[str], *, label: str, below: str, left: str) -> str:
    """Return a drawing with its axes, named for those who cannot see it."""
    begin, end = axes.x
    content = "\n".join([*_ticks(axes), *_names(axes, below, left), *parts])
    return (
        f'<svg viewBox="0 0 {WIDTH:g} {axes.height:g}" role="group" aria-label="{escape(label)}" '
        f'data-left="{LEFT:g}" data-right="{WIDTH - RIGHT:g}" data-from="{begin:.6f}" '
        f'data-to="{end:.6f}">\n{content}\n</svg>'
    )


def polyline(axes: Axes, values: Sequence[tuple[float, float]], look: str) -> str:
    """Return a line through places, drawn by the class `look`."""
    return f'<polyline class="{look}" points="{axes.points(values)}"/>'


def polygon(axes: Axes, values: Sequence[tuple[float, float]], look: str) -> str:
    """Return a closed shape, drawn by the class `look`."""
    return f'<polygon class="{look}" points="{axes.points(values)}"/>'


def dot(axes: Axes, place: tuple[float, float], look: str, *, title: str, radius: float = 3) -> str:
    """Return a point that says its title when one rests on it."""
    x, y = axes.at_x(place[0]), axes.at_y(place[1])
    return (
        f'<circle class="{look}" cx="{x:.1f}" cy="{y:.1f}" r="{radius:g}">'
        f"<title>{escape(title)}</title></circle>"
    )


def cursor(axes: Axes) -> str:
    """Return the line that a page moves as its sound plays; it waits at the left."""
    bottom = axes.height - BOTTOM
    return f'<line class="cursor" x1="{LEFT}" x2="{LEFT}" y1="{TOP}" y2="{bottom}"/>'


def _ticks(axes: Axes) -> list[str]:
    bottom, right = axes.height - BOTTOM, WIDTH - RIGHT
    parts = [f'<path class="axis" d="M{LEFT},{TOP} V{bottom} H{right}"/>']
    for value in _values(axes.x, 8):
        x = axes.at_x(value)
        parts.append(f'<path class="axis" d="M{x:.1f},{bottom} v5"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 18}" class="middle">{value:g}</text>')
    for value in _values(axes.y, 4):
        y = axes.at_y(value)
        parts.append(f'<path class="grid" d="M{LEFT},{y:.1f} H{right}"/>')
        parts.append(f'<text x="{LEFT - 7}" y="{y + 4:.1f}" class="end">{value:g}</text>')
    return parts


def _values(ends: tuple[float, float], most: int) -> list[float]:
    found = MaxNLocator(nbins=most).tick_values(*ends)
    reach = 1e-9 * (ends[1] - ends[0])
    return [round(float(v), 12) for v in found if ends[0] - reach <= v <= ends[1] + reach]


def _names(axes: Axes, below: str, left: str) -> list[str]:
    middle = (TOP + axes.height - BOTTOM) / 2
    x = (LEFT + WIDTH - RIGHT) / 2
    return [
        f'<text x="{x}" y="{axes.height - 4}" class="middle name">{escape(below)}</text>',
        f'<text transform="translate(14 {middle}) rotate(-90)" class="middle name">'
        f"{escape(left)}</text>",
    ]

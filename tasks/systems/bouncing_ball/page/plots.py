"""The three drawings of a page: the sound, the ball's height, and restitution by speed.

The first two share their time axis. A bounce that can be listened to is a `g.bounce` whose
`data-time` is the second of the page's sound at which it is.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from itertools import pairwise
from typing import Any

import numpy as np

from ricochet.tasks.systems.bouncing_ball.calibration import plain_words
from ricochet.tasks.systems.bouncing_ball.calibration.bounce_table import Bounce
from ricochet.tasks.systems.bouncing_ball.page import svg
from ricochet.tasks.systems.bouncing_ball.page.sound import Excerpt

DEEPEST = -60.0
"""dB below the loudest frame, down to which the sound is drawn."""
_COLUMNS = 880  # of the envelope
_WIDEST = 24.0  # of the area that a click on a bounce hits


def loudness(part: Excerpt, bounces: Sequence[Bounce]) -> str:
    """Draw the sound's envelope in dB, with its bounces."""
    axes = svg.Axes((part.start, part.end), (DEEPEST, 4.0), 230.0)
    edges = np.linspace(0, len(part.samples), min(_COLUMNS, len(part.samples)) + 1).astype(int)
    peaks = np.maximum.reduceat(np.abs(part.samples), edges[:-1])
    level = 20.0 * np.log10(np.maximum(peaks / peaks.max(), 10.0 ** (DEEPEST / 20.0)))
    times = part.start + edges[:-1] / part.rate
    line = list(zip(times.tolist(), level.tolist(), strict=True))
    area = [(part.start, DEEPEST), *line, (part.end, DEEPEST)]
    parts = [svg.polygon(axes, area, "sound"), *_bounces(axes, part, bounces), svg.cursor(axes)]
    return svg.drawing(
        axes, parts, label="loudness over time", below="time, s", left="loudness, dB"
    )


def height(part: Excerpt, bounces: Sequence[Bounce]) -> str:
    """Draw the ball's height between its bounces, a parabola for each flight."""
    heights = [1e2 * row.height_after_m for row in bounces if row.height_after_m is not None]
    axes = svg.Axes((part.start, part.end), (0.0, 1.1 * max(heights, default=1.0)), 230.0)
    parts = [_flight(axes, *pair) for pair in _flights(bounces)]
    parts += [*_bounces(axes, part, bounces), svg.cursor(axes)]
    return svg.drawing(axes, parts, label="height over time", below="time, s", left="height, cm")


def by_speed(restitution: Mapping[str, Any], bounces: Sequence[Bounce]) -> str:
    """Draw restitution over impact speed with its 90 % band, and what each bounce kept alone."""
    alone = [
        (row.speed_before_m_per_s, row.speed_after_m_per_s / row.speed_before_m_per_s, row.bounce)
        for row in bounces
        if row.speed_before_m_per_s and row.speed_after_m_per_s
    ]
    axes = _speed_axes(restitution, [speed for speed, _, _ in alone])
    parts = [*_band(axes, restitution["band"], ""), *_band(axes, restitution["beyond"], " beyond")]
    for speed, kept, number in alone:
        place = speed, float(np.clip(kept, *axes.y))
        parts.append(svg.dot(axes, place, "alone", title=f"bounce {number} alone: {kept:.3f}"))
    at = restitution["at_first_bounce"]
    low, high = at["region_90"]
    parts.append(svg.polyline(axes, [(at["speed"], low), (at["speed"], high)], "first"))
    title = "at the first bounce {}, {} to {}".format(*plain_words.shares(at))
    parts.append(svg.dot(axes, (at["speed"], at["mean"]), "first", title=title, radius=5))
    return svg.drawing(
        axes, parts, label="restitution by speed", below="impact speed, m/s", left="speed kept"
    )


def playable(part: Excerpt, bounce: Bounce) -> bool:
    """Return whether a bounce lies in the sound that the page carries."""
    return part.start <= bounce.time_s <= part.end


def _bounces(axes: svg.Axes, part: Excerpt, bounces: Sequence[Bounce]) -> Iterator[str]:
    shown = [row for row in bounces if playable(part, row)]
    places = np.array([axes.at_x(row.time_s) for row in shown])
    gaps = np.minimum(np.diff(places, prepend=-np.inf), np.diff(places, append=np.inf))
    bottom = axes.height - svg.BOTTOM
    for row, x, width in zip(shown, places, np.minimum(gaps, _WIDEST), strict=True):
        label = escape(f"bounce {row.bounce} of drop {row.drop}, at {row.time_s:.3f} s")
        yield (
            f'<g class="bounce" data-time="{row.time_s - part.start:.4f}" role="button" '
            f'aria-label="play {label}"><title>{label}</title>'
            f'<rect x="{x - width / 2:.1f}" y="{svg.TOP}" width="{width:.1f}" '
            f'height="{bottom - svg.TOP}"/><path d="M{x:.1f},{svg.TOP + 8} V{bottom}"/>'
            f'<circle cx="{x:.1f}" cy="{svg.TOP + 5}" r="4"/></g>'
        )


def _flights(bounces: Sequence[Bounce]) -> Iterator[tuple[Bounce, Bounce]]:
    """Yield the bounces at both ends of every flight that is known."""
    for before, after in pairwise(bounces):
        if before.drop == after.drop and before.height_after_m is not None:
            yield before, after


def _flight(axes: svg.Axes, before: Bounce, after: Bounce) -> str:
    """Return a parabola: a quadratic Bezier curve whose control point is at twice its height."""
    top = 1e2 * (before.height_after_m or 0.0)
    start, end = (axes.at_x(row.time_s) for row in (before, after))
    ground, control = axes.at_y(0.0), axes.at_y(2.0 * top)
    return (
        f'<path class="flight" d="M{start:.1f},{ground:.1f} '
        f'Q{(start + end) / 2:.1f},{control:.1f} {end:.1f},{ground:.1f}">'
        f"<title>{top:.1f} cm high</title></path>"
    )


def _speed_axes(restitution: Mapping[str, Any], speeds: Sequence[float]) -> svg.Axes:
    rows = [*restitution["band"], *restitution["beyond"], restitution["at_first_bounce"]]
    ends = np.array([row["region_90"] for row in rows])
    reach = float(np.clip(3.0 * np.median(ends[:, 1] - ends[:, 0]), 0.01, 0.1))
    fastest = max([row["speed"] for row in rows] + list(speeds))
    low, high = float(ends.min()) - reach, float(ends.max()) + reach
    return svg.Axes((0.0, 1.03 * fastest), (low, high), 260.0)


def _band(axes: svg.Axes, rows: Sequence[Mapping[str, Any]], look: str) -> list[str]:
    if not rows:
        return []
    low = [(row["speed"], row["region_90"][0]) for row in rows]
    high = [(row["speed"], row["region_90"][1]) for row in reversed(rows)]
    mean = [(row["speed"], row["mean"]) for row in rows]
    return [
        svg.polygon(axes, [*low, *high], f"band{look}"),
        svg.polyline(axes, mean, f"mean{look}"),
    ]

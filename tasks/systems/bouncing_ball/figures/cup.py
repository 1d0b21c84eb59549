"""Figures of the cup study: where to drop a ball so that it bounces into the cup."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.figure import Figure
from numpy import ndarray

_COLUMNS = ("predicted", "counted on the twin", "no noise: 100 or none")


@dataclass(frozen=True)
class SuccessMaps:
    """What is drawn of one ball: counts out of 100 over the drop positions (x, y), m."""

    places: Float[ndarray, "row column 2"]
    predicted: Float[ndarray, "row column"]
    twin: Float[ndarray, "row column"]
    deterministic: Float[ndarray, "row column"]
    inside: Bool[ndarray, "row column"]
    drop: Float[ndarray, " 2"]


def success_maps(balls: Mapping[str, SuccessMaps]) -> Figure:
    """Draw the success maps of every ball, as Fig. 6b of Matl et al.

    Each row is a ball with a scale of its own, darkest the most successes. A red point marks the
    drop that was compared, crosses where the count left its predicted interval.
    """
    figure = Figure(figsize=(11.0, 2.05 * len(balls) + 0.8), layout="constrained")
    grid = figure.subplots(len(balls), 3, sharex=True, sharey=True, squeeze=False)
    for row, (name, maps) in zip(grid, balls.items(), strict=True):
        most = max(5.0, maps.predicted.max(), maps.twin.max())
        drawn = (maps.predicted, maps.twin, maps.deterministic)
        for axes, counts in zip(row, drawn, strict=True):
            mesh = _draw(axes, maps, counts, most)
        row[1].plot(*maps.places[~maps.inside].T, "x", color="#0072B2", markersize=3)
        row[0].set_ylabel(f"{name}\n\ny / m")
        figure.colorbar(mesh, ax=row, label="in the cup, of 100", extend="max")
    for axes, title in zip(grid[0], _COLUMNS, strict=True):
        axes.set_title(title)
    for axes in grid[-1]:
        axes.set_xlabel("x / m (foot of the incline at 0)")
    return figure


def _draw(
    axes: Axes, maps: SuccessMaps, counts: Float[ndarray, "row column"], most: float
) -> QuadMesh:
    x, y = maps.places[0, :, 0], maps.places[:, 0, 1]
    mesh = axes.pcolormesh(
        x, y, np.asarray(counts), cmap="Greys", vmin=0.0, vmax=most, shading="nearest"
    )
    axes.plot(*maps.drop, "o", color="#D55E00", markersize=5, markeredgecolor="white")
    axes.set_aspect("equal")
    return mesh

"""What all figures share: colours, the size of a 90 % region, and pictures from figures.

Figures are drawn without a display and without global state. Colours are those of Okabe and Ito,
which stay apart for readers with any colour vision.
"""

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float, UInt8
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.image import imread
from matplotlib.patches import Ellipse
from numpy import ndarray

from ricochet.tasks.storage.files import output_folder, write_bytes, writing

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
REGION = 4.605
"""Squared Mahalanobis radius that holds 90 % of a Gaussian in the plane, -2 ln 0.1."""


def to_png(figure: Figure) -> bytes:
    """Draw a figure as PNG; the same figure gives the same bytes."""
    content = io.BytesIO()
    figure.savefig(content, format="png", dpi=110, metadata={"Software": None})
    return content.getvalue()


def write(folder: Path, figures: Mapping[str, Figure]) -> None:
    """Write figures as PNG files, by their names; `BadInput` if the place cannot be written.

    A link in place of the folder is removed: what it leads to is not a result's.
    """
    if folder.is_symlink():
        with writing(folder):
            folder.unlink()
    place = output_folder(folder)
    for name, figure in figures.items():
        write_bytes(place / f"{name}.png", to_png(figure))


def to_pixels(figure: Figure) -> UInt8[ndarray, "height width 3"]:
    """Draw a figure as an array of colours."""
    colours = imread(io.BytesIO(to_png(figure)))[..., :3]
    return np.round(255.0 * np.asarray(colours)).astype(np.uint8)


def label_axes(axes: Axes, below: str, left: str) -> None:
    """Name both axes and leave the frame open at the top and on the right."""
    axes.set_xlabel(below)
    axes.set_ylabel(left)
    axes.spines[["top", "right"]].set_visible(False)


def region(mean: Float[ndarray, " 2"], covariance: Float[ndarray, "2 2"], **look: Any) -> Ellipse:
    """Return the ellipse that holds 90 % of a Gaussian in the plane.

    Args:
        look: How Matplotlib draws the patch.
    """
    values, vectors = np.linalg.eigh(covariance)
    width, height = 2.0 * np.sqrt(REGION * np.maximum(values, 0.0))
    angle = float(np.degrees(np.arctan2(vectors[1, 0], vectors[0, 0])))
    return Ellipse((float(mean[0]), float(mean[1])), width, height, angle=angle, **look)

"""Which figures a calibration of sessions draws, and under which names."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from models.systems.ball_calibration import Calibration
from tasks import figures, recordings
from tasks.artefacts import output_folder, write_bytes
from tasks.hearing import Heard, NamedTake

if TYPE_CHECKING:
    from tasks.calibration import Pair


def draw(
    pair: "Pair", heard: Heard, found: Calibration, details: Mapping[str, Any], *, folder: Path
) -> None:
    """Draw every figure of a pair into a folder.

    Args:
        pair: The pair.
        heard: Its takes.
        found: Its posterior.
        details: What `details.json` holds.
        folder: Where the pictures go.

    Raises:
        BadInput: If the place cannot be written.
    """
    output_folder(folder)
    samples = np.asarray(found.samples)
    drawn: dict[str, Figure] = {
        "posterior": figures.posterior(samples, title=pair.name, truth=details["truth"]),
        "narrowing": _narrowing(found),
        "ratio-by-bounce": _ratios(pair, heard, found),
        "localisation": _localisation(heard),
        "waveform": _waveform(heard, heard.takes[0]),
    }
    for name, figure in drawn.items():
        write_bytes(folder / f"{name}.png", figures.to_png(figure))


def _narrowing(found: Calibration) -> Figure:
    means = np.array([grid.mean for _, grid in found.narrowing])
    spreads = np.array([np.sqrt(np.diag(grid.covariance)) for _, grid in found.narrowing])
    return figures.narrowing([number for number, _ in found.narrowing], means, spreads)


def _ratios(pair: "Pair", heard: Heard, found: Calibration) -> Figure:
    chains = [take.heard.times for take in heard.takes]
    ratios = [np.diff(times)[1:] / np.diff(times)[:-1] for times in chains]
    low, high = (float(value) for value in np.asarray(found.region_90)[0])
    return figures.ratio_by_bounce(ratios, title=pair.name, interval=(low, high))


def _localisation(heard: Heard) -> Figure:
    bounces = [take.heard for take in heard.takes if take.heard.positions is not None]
    return figures.localisation_map(
        heard.sessions[0].rig.array().positions,
        np.concatenate([take.positions for take in bounces if take.positions is not None]),
        np.concatenate([take.covariances for take in bounces if take.covariances is not None]),
        np.concatenate([take.outliers for take in bounces]),
    )


def _waveform(heard: Heard, take: NamedTake) -> Figure:
    samples = recordings.load_take(take.path)
    rate = float(heard.sessions[0].rig.sample_rate)
    return figures.waveform(samples, rate, take.heard.times, title=take.file)

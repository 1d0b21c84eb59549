"""What results say of a pendulum's predictions: medians over recordings, instants and angles."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ricochet.tasks.systems.rigid_bodies import predicted_motions
from ricochet.tasks.systems.rigid_bodies.predicted_motions import AHEAD, Prediction


def to_json(prediction: Prediction) -> dict[str, Any]:
    """Return errors in degrees, and how often intervals held."""
    off = np.degrees(np.median(prediction.errors, (0, 2)))
    held = prediction.inside.mean((0, 2))
    return {
        "places": len(prediction.errors),
        "angle_deg": {f"{t:g}": float(x) for t, x in zip(AHEAD, off, strict=True)},
        "coverage_90": {f"{t:g}": float(x) for t, x in zip(AHEAD, held, strict=True)},
    }


def together(found: Sequence[Prediction]) -> dict[str, Any] | None:
    """Return what results say of all, if there are some."""
    return to_json(predicted_motions.together(found)) if found else None

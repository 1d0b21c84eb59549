"""Simulated sessions inferred side by side, wherever the run was sent: each a job of its own."""

from collections.abc import Sequence

from ricochet.models.core.progress import Progress
from ricochet.models.systems.bouncing_ball.calibration import simulation_checks
from ricochet.models.systems.bouncing_ball.calibration.simulation_checks import (
    Place,
    SimulatedSession,
)
from ricochet.tasks.console.jobs import run_all


def place_all(sessions: Sequence[SimulatedSession], progress: Progress) -> list[Place]:
    """Infer sessions; returns where their truths fell: `simulation_checks.PlaceAll`."""
    return run_all(simulation_checks.place, sessions, here=True, progress=progress)

"""The filmed pendulum as it is studied: what is learnt from, and what particles are compared with.

The first second of recording 0 is learnt from, its first state known and a step of the simulation a
frame, as the paper has it. Particles are rolled out from the first states of recordings 1 to 10 and
compared with what came. States are over their deviations: those of recording 0 in densities, those
of all ten in distances, since the second link turns over in some of them and not in others.

Sources: Heiden et al., section V-B and appendix II-B; film: Asseman et al. 2018.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from scipy.spatial.distance import pdist
from torch import Tensor

from ricochet.models.core.bad_input import BadInput
from ricochet.models.inference.limits import Limits, Shares
from ricochet.models.inference.multiple_shooting import Shooting
from ricochet.models.probability import sample_distances
from ricochet.models.systems.rigid_bodies import double_pendulum
from ricochet.tasks.systems.rigid_bodies import motion_files, pendulum_inference
from ricochet.tasks.systems.rigid_bodies.motion_tables import Recorded

RATE = 400.0
"""As it is documented, Hz."""
STEPS = 400
"""Frames of a trajectory after its first."""
LEARNT, TESTED = 0, tuple(range(1, 11))
WINDOWS = {"ss": 1, "ms": 20}
"""Of single and of multiple shooting; a window is a twentieth of a second."""


@dataclass(frozen=True)
class Film:
    """Trajectories.

    Attributes:
        seen: Of recording 0.
        tests: Of the others.
    """

    seen: Float[ndarray, "instant 4"]
    tests: Float[ndarray, "test instant 4"]

    @property
    def scale(self) -> Float[Tensor, " 4"]:
        """Deviations of the states of recording 0."""
        return torch.from_numpy(self.seen.std(0))

    def shooting(self, windows: int) -> Shooting:
        """Return what is learnt from, in windows."""
        simulate = partial(double_pendulum.move, duration=1.0 / RATE)
        return Shooting(simulate, torch.from_numpy(self.seen[None]), windows, self.scale)

    @cached_property
    def judge(self) -> "Judge":
        """What particles are compared with."""
        scale = self.tests.std((0, 1))
        return Judge(self.tests[:, 0], _flat(self.tests[:, 1:] / scale), scale)

    def misses(self, theta: Float[ndarray, "particle 11"]) -> Float[ndarray, " particle"]:
        """Return the root mean squares of residuals of recording 0, over `scale`.

        From the first state as it was observed; infinity for what is no motion.
        """
        moved = rolled(theta, self.seen[:1])[:, 0]
        away = (moved - self.seen[1:]) / self.scale.numpy()
        with np.errstate(over="ignore"):
            return np.nan_to_num(np.sqrt(np.square(away).mean((1, 2))), nan=np.inf)


@dataclass(frozen=True)
class Judge:
    """Recordings that were not learnt from.

    Attributes:
        starts: Their first states.
        came: What came, over the scale.
        scale: Deviations of their states.
    """

    starts: Float[ndarray, "test 4"]
    came: Float[ndarray, "test input"]
    scale: Float[ndarray, " 4"]

    def numbers(
        self,
        theta: Float[ndarray, "particle 11"],
        departures: Float[ndarray, "particle 4"] | None = None,
    ) -> dict[str, float | None]:
        """Compare particles; None is infinite, and particles without a motion are left out.

        Divergences (Eq. 11) are of trajectories, all of the particles from all starts against those
        recorded; the kernel of the discrepancy is as wide as the median distance of two of these.
        Energy scores are of each recording from its own start, over the root of the number of
        inputs: deviations of the states. `spread` is, in the same unit, the root mean square of
        the particles' deviation from their mean.

        Args:
            departures: Deviations by which states depart from the equations (`rolled`).
        """
        moved = rolled(theta, self.starts, departures)
        dense = (np.abs(moved / self.scale) < FARTHEST).all((1, 2, 3))
        sure = _flat(moved[dense] / self.scale)
        every, root = sure.reshape(-1, self.came.shape[1]), np.sqrt(self.came.shape[1])
        if len(sure) <= sample_distances.NEIGHBOURS:
            return dict.fromkeys((*METRICS, "spread"), None) | {"unstable": 1.0}
        width = float(np.median(pdist(self.came)))
        return {
            "kl_real_sim": _divergence(self.came, every),
            "kl_sim_real": _divergence(every, self.came),
            "mmd2": sample_distances.mean_discrepancy(self.came, every, width),
            "energy_score": float(sample_distances.energy_score(sure, self.came).mean() / root),
            "spread": float(np.sqrt(np.square(sure - sure.mean(0)).mean())),
            "unstable": float(1.0 - dense.mean()),
        }


FARTHEST = 1e6
"""Deviations of a state beyond which there is no motion: nothing is left of a distance's digits."""
METRICS = ("kl_real_sim", "kl_sim_real", "mmd2", "energy_score")


def read(folder: Path) -> Film:
    """Read the recordings of a folder, `0.csv` to `10.csv`.

    Raises:
        BadInput: If one is missing, cannot be read or is shorter than a second.
    """
    runs = recordings(folder, (LEARNT, *TESTED))
    cut = [run.states[: STEPS + 1] for run in runs.values()]
    return Film(cut[0], np.stack(cut[1:]))


def recordings(folder: Path, numbers: Sequence[int]) -> dict[str, Recorded]:
    """Return whole recordings by their number.

    Raises:
        BadInput: If one is missing, cannot be read or is shorter than a second.
    """
    if not (folder / f"{LEARNT}.csv").is_file():
        raise BadInput(
            "pendulum.films",
            f"{folder} without {LEARNT}.csv",
            "the folder of the film's recordings 0.csv to 10.csv (docs/systems/rigid_bodies.md)",
        )
    found = {str(number): motion_files.read(folder / f"{number}.csv", RATE) for number in numbers}
    for number, run in found.items():
        if len(run.states) <= STEPS:
            file = str(folder / f"{number}.csv")
            raise BadInput(file, f"{len(run.states)} frames", f"more than {STEPS}")
    return found


def coordinates(limits: Limits | None = None) -> Shares:
    """Return those that methods are given: logarithms of the moments of inertia.

    Args:
        limits: Those of `pendulum_inference` when absent.
    """
    inertias = pendulum_inference.inertias()
    return Shares(limits or pendulum_inference.limits(), inertias)


def rolled(
    theta: Float[ndarray, "particle 11"],
    starts: Float[ndarray, "start 4"],
    departures: Float[ndarray, "particle 4"] | None = None,
) -> Float[ndarray, "particle start 400 4"]:
    """Return the states of particles after each step, from some starts.

    Args:
        departures: Deviations of what states are displaced by at the start of every window but the
            first, drawn from the same sequence at each call.
    """
    each = torch.from_numpy(np.repeat(theta, len(starts), 0))
    state = torch.from_numpy(np.tile(starts, (len(theta), 1)))
    width, generator = STEPS // WINDOWS["ms"], np.random.default_rng(0)
    wide = 0.0 if departures is None else np.repeat(departures, len(starts), 0)
    found = []
    for _ in range(WINDOWS["ms"]):
        part = double_pendulum.roll_out(each, state, steps=width, duration=1.0 / RATE)
        state = part[:, -1] + torch.from_numpy(wide * generator.normal(size=state.shape))
        found.append(part)
    return torch.cat(found, 1).numpy().reshape(len(theta), len(starts), STEPS, 4)


def _flat(states: Float[ndarray, "*batch step 4"]) -> Float[ndarray, "*batch input"]:
    return states.reshape(*states.shape[:-2], states.shape[-2] * states.shape[-1])


def _divergence(p: ndarray, q: ndarray) -> float | None:
    try:
        return sample_distances.divergence(p, q)
    except ValueError:
        return None

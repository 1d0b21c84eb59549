"""How well the puck is predicted: `python -m benchmarks.air_hockey.puck_prediction`.

The modes are fitted to `--episodes N` episodes of 50 periods on the simulated table under the
stated airflow, as in Sec. V-A1 of Jankowski, Maric et al., "Energy-based Contact Planning under
Uncertainty for Robot Air Hockey", and asked on other episodes of 100 periods. Printed: the laws;
error, that of the noiseless baseline and coverage by mode; what a bank keeps of the velocity when
it is a puck's first and when the one before it was on the opposite rim (then the puck spins).
With `--noise` the modes are learnt from noisy places alone, as from a recording.
"""

import argparse

import numpy as np

from ricochet.models.probability.linear_gaussians import LinearGaussian
from ricochet.models.systems.air_hockey import simulator
from ricochet.models.systems.air_hockey.puck import (
    dataset,
    mode_fitting,
    prediction_checks,
    recorded_modes,
    segmentation,
)
from ricochet.models.systems.air_hockey.puck.dynamics import PuckModes
from ricochet.models.systems.air_hockey.puck.recorded_modes import Places
from ricochet.models.systems.air_hockey.puck.segmentation import Contacts, Recording
from ricochet.models.systems.air_hockey.simulator import Disturbance
from ricochet.models.systems.air_hockey.table import Table


def print_law(name: str, law: LinearGaussian) -> None:
    """Print what a contact keeps and how much it scatters, of the contact's own velocity."""
    sd = np.sqrt(np.diag(law.covariance))
    print(f"{name}: {np.round(law.matrix, 3).tolist()}, sd {np.round(sd, 3).tolist()}")


def kept(banks: Contacts, rows: list[int]) -> str:
    """Median share of the normal and of the tangential speed that banks keep."""
    sliding = [i for i in rows if abs(banks.before[i, 1]) > 0.15]
    share = np.abs(banks.after[sliding] / banks.before[sliding])
    return f"n = {len(sliding)}, normal and tangent {np.round(np.median(share, axis=0), 3)}"


def print_banks(banks: Contacts) -> None:
    """Print what first and second banks keep."""
    first, second = [], []
    for i in range(len(banks.episode)):
        if i == 0 or banks.episode[i] != banks.episode[i - 1]:
            first.append(i)
        elif banks.normal[i] @ banks.normal[i - 1] < -0.5:
            second.append(i)
    print(f"first bank: {kept(banks, first)}\nafter the opposite rim: {kept(banks, second)}")


def from_places(exact: Recording, table: Table, noise: float) -> PuckModes:
    """Learn modes from places of puck and mallet with noise, and print how pucks fly in them."""
    draw = np.random.default_rng(13)
    puck, mallet = (
        part + noise * draw.standard_normal(part.shape) for part in (exact.puck, exact.mallet)
    )
    gone = np.logical_or.accumulate(np.abs(exact.puck[..., 0]) > table.half_length, axis=1)
    modes, law = recorded_modes.fit(Places(np.where(gone[..., None], np.nan, puck), mallet), table)
    print(f"from places with {1e3 * noise:g} mm of noise: {law}")
    return modes


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--held-out", type=int, default=160)
    parser.add_argument("--noise", type=float, default=0.0, help="of places alone, m")
    options, world = parser.parse_args(), simulator.build()
    learnt, held_out = (
        dataset.collect(
            world,
            episodes=count,
            steps=steps,
            disturbance=Disturbance(),
            draw=np.random.default_rng(seed),
        )
        for count, steps, seed in ((options.episodes, 50, 11), (options.held_out, 100, 12))
    )
    if options.noise:
        modes = from_places(learnt, world.table, options.noise)
    else:
        modes = mode_fitting.fit(learnt, world.table)
    drag = modes.drag_by_axis
    print(f"drag {drag} 1/s, airflow sd {modes.airflow_sd:.4f} m/s^2, delay {modes.delay:.4f} s")
    print_law("wall", modes.wall)
    for way in modes.rebounds:
        print_law(f"first bank, {way.share:.0%}", way.law)
    print_law("mallet", modes.mallet)
    print(f"{'mode':12s}{'ahead, s':>9s}{'count':>7s}{'error':>8s}{'baseline':>9s}  50 %  90 %")
    for row in prediction_checks.prediction_table(
        modes, held_out, world.table, draw=np.random.default_rng(0)
    ):
        shares = "".join(f"{share:6.2f}" for share in row.coverage)
        print(
            f"{row.mode:12s}{row.horizon:9.2f}{row.count:7d}{row.error:8.4f}{row.baseline:9.4f}{shares}"
        )
    print_banks(segmentation.assign(held_out, world.table, drag=drag).banks)


if __name__ == "__main__":
    main()

"""What estimating the mallet's mass brings: `python -m benchmarks.air_hockey.payload`.

Policies of `make repro` shoot the same pucks on an arm whose motors' law knows the mallet and on
one whose law does not, with agents that estimate the mallet's mass
(`models.systems.air_hockey.arm.payload_estimator`) and with agents that assume none.
Printed: share of the shots that scored, how far the contact's normal was off (standard deviation),
and how many shots broke a limit.
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from ricochet.models.systems.air_hockey.arm import payload_estimator
from ricochet.tasks.registry.signatures import UNSIGNED
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.disturbance import disturbance_of
from ricochet.tasks.systems.air_hockey.policies import agents, packages
from ricochet.tasks.systems.air_hockey.settings import Hockey
from ricochet.tasks.systems.air_hockey.validation import trials
from ricochet.tasks.systems.air_hockey.validation.trials import Played

SEED = 80_000
POLICIES = ("shooting-cautious", "shooting-aggressive")


@contextmanager
def bounded(largest: float) -> Iterator[None]:
    """Bound the mass that agents of this process estimate, kg."""
    before, payload_estimator.LARGEST_MASS = payload_estimator.LARGEST_MASS, largest
    yield
    payload_estimator.LARGEST_MASS = before


def describe(played: list[Played]) -> str:
    """Return a line of what came of shots."""
    struck = [each for each in played if each.strike_plans and each.outcome.strikes]
    off = np.std([each.outcome.normal - each.strike_plans[0].angle for each in struck])
    scored = np.mean([each.outcome.scored for each in played])
    broken = sum(bool(each.outcome.violations) for each in played)
    return f"{scored:7.2f}{1e3 * off:11.1f}{broken:15d}"


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--shots", type=int, default=40, help="of each line")
    parser.add_argument("--packages", type=Path, default=Path("artifacts/energy"))
    options = parser.parse_args()
    if not all((options.packages / name / "package").exists() for name in POLICIES):
        print(f"{options.packages}: no policies; ricochet train energy --out {options.packages}")
        return
    begun = trials.starts(options.shots, seed=SEED)
    disturbance = disturbance_of(catalogue.load_settings()[Hockey])
    print("policy               motors know it  weighed   score  off, mrad  broke a limit")
    for name in POLICIES:
        make = partial(
            agents.make, packages.read(options.packages / name / "package", key=UNSIGNED)
        )
        for known, largest in (
            (False, 0.0),
            (False, payload_estimator.LARGEST_MASS),
            (True, payload_estimator.LARGEST_MASS),
        ):
            about = replace(disturbance, mallet_known=known)
            with bounded(largest):
                played = trials.play_all(make, begun, about, workers=1)
            print(f"{name:20s}{known!s:>15s}{largest > 0.0!s:>9s} {describe(played)}", flush=True)


if __name__ == "__main__":
    main()

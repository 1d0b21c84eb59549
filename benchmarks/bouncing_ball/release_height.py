"""How honest the inference is about the height of release, and how exact its network over heights.

Run by `python -m benchmarks.bouncing_ball.release_height [--sessions N] [--drops N] [--cases N]`.

Sessions are simulated with the truth drawn from the prior, or at the ping-pong ball, and inferred.
Printed for each kind of session: how often the regions of 50 and 90 % hold the truth, how often the
stated height was refuted (the result then has a finding, and the height that the takes tell is
used), the root mean square of error over stated deviation of restitution and
log10 concentration, and for the wrongly stated ones how often a session was neither right nor
warned of: outside its 99 % region without a finding. Then what the density network loses against
the exact posterior of single drops.
"""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import torch

from ricochet.models.probability import truncated_mixtures
from ricochet.models.systems.bouncing_ball import problem
from ricochet.models.systems.bouncing_ball.calibration import drop_posterior, posterior
from ricochet.tasks.console.jobs import run_all
from tests.oracles.height_sessions import Case, Outcome, outcome, share, standard_error

HEIGHTS = (0.10, 0.26, 0.50, 1.00)
BALL = (0.85, 3.5)


def cases(drops: int) -> Iterator[tuple[str, Case]]:
    """Name the kinds of sessions."""
    for height in HEIGHTS:
        yield f"{height:.2f} m, stated to 5 mm", Case(height, drops=drops)
    for height in HEIGHTS:
        yield f"{height:.2f} m, not stated", Case(height, None, drops=drops)
    for height in (0.10, 0.26):
        one = Case(height, shared_sd=0.0, single_sd=5e-3, drops=drops)
        yield f"{height:.2f} m, each take off by 5 mm of its own", one
    wrong = [(0.10, 0.12), (0.26, 0.28), (0.26, 0.24), (1.00, 0.98), (0.26, 0.52), (0.50, 0.25)]
    for height, stated in wrong:
        one = Case(height, stated / height, shared_sd=0.0, theta=BALL, drops=2 * drops)
        yield f"{height:.2f} m, stated as {stated:.2f} m", one


def quiet_and_wrong(one: Outcome) -> bool:
    """Whether a session's answer is wrong and nothing says so."""
    return one.level > 0.99 and not one.height.refuted


def line(name: str, found: list[Outcome]) -> str:
    """Return a row of the table."""
    ratio = np.sqrt(np.mean([(one.error / one.sd) ** 2 for one in found], axis=0))
    refuted = np.mean([one.height.refuted for one in found])
    quiet = np.mean([quiet_and_wrong(one) for one in found])
    return (
        f"{name:44s} {share(found, 0.5):5.2f} {share(found, 0.9):5.2f} {refuted:8.2f} "
        f"{quiet:6.2f}   {ratio[0]:.2f} / {ratio[1]:.2f}"
    )


def network_loss(cases: int) -> Iterator[str]:
    """Yield what the network loses against the exact posterior, in nats, at each height."""
    draw = torch.Generator().manual_seed(0)
    density = drop_posterior.train_general(draw=draw).density
    for height in HEIGHTS:
        noise = problem.constant_noise((cases,))
        release = replace(
            problem.constant_release((cases,), height=height, height_sd=5e-3),
            session=torch.arange(cases),
        )
        drops = problem.simulate_drops(noise, release, draw=torch.Generator().manual_seed(1))
        network = drop_posterior.posterior(density, drops.features, noise, release)
        ours = truncated_mixtures.log_density(network, drops.theta).numpy()
        lost = np.array([_exact(drops.rows(slice(i, i + 1))) for i in range(cases)]) - ours
        error = lost.std() / np.sqrt(cases)
        yield f"{height:.2f} m: the network loses {lost.mean():.3f} +- {error:.3f} nats a drop"


def _exact(drop: problem.Drops) -> float:
    density = posterior.posterior(drop.features, drop.noise, drop.release)
    return float(density.log_density_at(drop.theta.numpy())[0])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=60, help="of each kind")
    parser.add_argument("--drops", type=int, default=10, help="of a session")
    parser.add_argument("--cases", type=int, default=100, help="drops for the network")
    options = parser.parse_args()
    errors = [standard_error(nominal, options.sessions) for nominal in (0.5, 0.9)]
    print(f"standard errors of the shares: {errors[0]:.2f} and {errors[1]:.2f}")
    print(f"{'':44s} {'50 %':>5s} {'90 %':>5s} refuted silent   error over sd")
    for name, case in cases(options.drops):
        found = run_all(partial(outcome, case), range(options.sessions))
        print(line(name, found), flush=True)
    for row in network_loss(options.cases):
        print(row, flush=True)


if __name__ == "__main__":
    main()

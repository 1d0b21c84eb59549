"""Impacts on the MuJoCo board: how they depart from the law, and how often regions hold them.

Run by `python -m benchmarks.batting.captured_coverage [--tables N] [--impacts 200] [--seed S]`.

Each table is captured as `ricochet.tasks.systems.batting.capture_impacts` does. First the
restitution and the tangential over the normal impulse of all impacts are printed by how much they
slide. Then half of each table is learnt from, and the whole next table predicted: the share of its
impacts in 90 % regions of the law alone, and of those widened as `ricochet infer impacts` does.
"""

import argparse
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from ricochet.hardware.twins.batting import captured_impacts
from ricochet.models.systems.batting.impacts import inference
from ricochet.models.systems.batting.impacts.recorded import Impacts
from ricochet.tasks.console.progress import bar

EDGES = (0.0, 0.2, 0.5, 1.0, 2.0, np.inf)  # of sliding over normal speed before impact


def sliding(tables: Sequence[Impacts]) -> list[str]:
    """Return lines of restitution and friction by how much impacts slide."""
    rows = [
        (
            np.abs(one.contacts[:, 5] / one.contacts[:, 4]),
            one.closing(one.after)[:, 0] / -one.contacts[:, 4],
            np.abs(one.impulse[:, 1]) / one.impulse[:, 0],
        )
        for one in tables
    ]
    slip, restitution, friction = np.concatenate(rows, axis=1)
    lines = ["sliding over normal speed   share  restitution        tangential over normal impulse"]
    for low, high in pairwise(EDGES):
        here = (slip >= low) & (slip < high)
        kept, lost = restitution[here], friction[here].mean()
        spread = f"{kept.mean():.3f} +- {kept.std():.3f}"
        lines.append(f"{low:g} to {high:<20g} {here.mean():.2f}   {spread}   {lost:.2f}")
    return lines


def coverages(tables: Sequence[Impacts], seed: int) -> list[tuple[float, float, float]]:
    """Return coverage of the law alone and widened, and the widening, for each next table."""
    found, draw = [], np.random.default_rng(seed)
    for here, following in pairwise(tables):
        learnt = here.take(np.arange(len(here)) % 2 == 0)
        posterior = inference.infer(learnt, draw)
        widening = inference.widening_of(posterior, learnt, draw)
        predicted = inference.predict(posterior, following, draw, widening=widening)
        found.append((float((predicted.needed <= 1.0).mean()), predicted.coverage, widening))
    return found


def main() -> None:
    """Capture, learn, predict and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=7)
    parser.add_argument("--impacts", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    tables = []
    with bar("captured tables") as progress:
        for number in range(given.tables):
            draw = np.random.default_rng([given.seed, number])
            tables.append(captured_impacts.capture(given.impacts, draw))
            progress(number + 1, given.tables)
    print("\n".join(sliding(tables)))
    alone, widened, widening = np.array(coverages(tables, given.seed)).T
    for name, held in (("law alone", alone), ("widened", widened)):
        inside = np.mean((held >= 0.85) & (held <= 0.95))
        print(
            f"{name}: mean {held.mean():.3f}, {held.min():.3f} to {held.max():.3f},"
            f" {inside:.2f} of {len(held)} tables within 0.85 to 0.95"
        )
    print(f"widening: {widening.mean():.2f} on average")


if __name__ == "__main__":
    main()

"""A drawer followed by sound that is other than what was learnt from: does it cover, widen, say so?

Run by `python -m benchmarks.drawers.departures PACKAGE [--takes N] [--seen SECONDS]`, the folder of
a package of a simulated drawer, such as `artifacts/train/drawer/package`.

Fresh takes of 60 s, lit and seen for the first 20 s, or for SECONDS of them, of which the sound
alone is changed: its level, noise as loud as the take itself in each microphone or in all alike, a
microphone that is dead or a copy of another, silence. Printed are the share of dark frames in their
intervals of 90 %, the error over that of the middle of the stroke, how wide intervals are over the
stroke, and how the sound was taken in the end (`rehearsal.WAYS`).
"""

import argparse
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.hardware.twins.drawers.generator.takes import Setting
from ricochet.models.systems.drawers import features, hearing
from ricochet.models.systems.drawers.labels import PERIOD
from ricochet.models.systems.drawers.tracking import follower
from ricochet.models.systems.drawers.tracking.pace import Seen
from ricochet.models.systems.drawers.tracking.rehearsal import WAYS
from ricochet.tasks.registry.signatures import UNSIGNED
from ricochet.tasks.systems.drawers import packages
from ricochet.tasks.systems.drawers.packages import Drawer
from ricochet.tasks.systems.drawers.studies import recorded
from ricochet.tasks.systems.drawers.studies.recorded import Session
from ricochet.tasks.systems.drawers.validation import fresh_takes

SECONDS, LIGHT_OFF = 60.0, 20.0
SEED = 900
Change = Callable[[Float[ndarray, "channel sample"]], Float[ndarray, "channel sample"]]


def changes(draw: np.random.Generator) -> dict[str, Change]:
    """Return what is done to the sound."""

    def louder(by: float) -> Change:
        return lambda x: np.clip(by * x, -1.0, 1.0)

    def noisy(x: ndarray, *, alike: bool) -> ndarray:
        shape = x.shape[1:] if alike else x.shape
        return np.clip(x + np.sqrt((x**2).mean()) * draw.standard_normal(shape), -1.0, 1.0)

    def with_channel(x: ndarray, channel: int, values: ndarray) -> ndarray:
        changed = x.copy()
        changed[channel] = values
        return changed

    return {
        "as it is": lambda x: x,
        **{f"times {by:g}": louder(by) for by in (0.8, 0.7, 0.5, 0.3, 1.5, 2.0)},
        "noise in each": lambda x: noisy(x, alike=False),
        "noise in all alike": lambda x: noisy(x, alike=True),
        "one dead": lambda x: with_channel(x, 1, 1e-5 * draw.standard_normal(x.shape[1])),
        "one a copy": lambda x: with_channel(x, 2, x[1]),
        "silence": lambda x: 1e-4 * draw.standard_normal(x.shape),
    }


def followed(
    drawer: Drawer, session: Session, sight: list[Seen | None], change: Change
) -> tuple[float, float, float, str]:
    """Return share held, error and width relative to the stroke, and the way the sound is taken."""
    grammar, truth = drawer.hearing.grammar, session.frames.labels.position
    heard = hearing.listen(drawer.hearing, features.of_samples(change(session.take.samples)))
    found, rows = follower.begin(grammar), []
    for sound, seen in zip(heard.heard(), sight, strict=True):
        found = follower.step(found, sound, seen, grammar)
        estimate = follower.estimate(found, grammar)
        rows.append((estimate.place, estimate.low, estimate.high))
    place, low, high = np.array(rows).T
    dark = PERIOD * np.arange(1, len(truth) + 1) > LIGHT_OFF
    middle = 0.5 * (grammar.low + grammar.high)
    held = float(((truth >= low) & (truth <= high))[dark].mean())
    error = float(
        np.sqrt(((place - truth)[dark] ** 2).mean() / ((middle - truth)[dark] ** 2).mean())
    )
    width = float((high - low)[dark].mean() / (grammar.high - grammar.low))
    return held, error, width, WAYS[found.rehearsal.way]


def main() -> None:
    """Print a row for each change."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("package", type=Path, nargs="?", default="artifacts/train/drawer/package")
    parser.add_argument("--drawer", default="kitchen-small")
    parser.add_argument("--takes", type=int, default=4)
    parser.add_argument("--seen", type=float, default=LIGHT_OFF)
    given = parser.parse_args()
    if not given.package.is_dir():
        print(
            f"{given.package}: found nothing, expected a package; `ricochet train drawer` makes it"
        )
        return
    drawer = packages.read(given.package, key=UNSIGNED)
    array, place = fresh_takes.ring_of(drawer.microphones, str(given.package))
    setting = Setting(given.drawer, array=array, place=place, seconds=SECONDS, light_off=LIGHT_OFF)
    seeds = [SEED + number for number in range(given.takes)]
    made = [recorded.session(setting, seed) for seed in seeds]
    frames = round(min(given.seen, LIGHT_OFF) / PERIOD)
    pairs = zip(made, seeds, strict=True)
    sights = [recorded.sight(session, setting, seed).seen for session, seed in pairs]
    sights = [[*seen[:frames], *[None] * (len(seen) - frames)] for seen in sights]
    print(f"{'':20}{'held':>6}{'error':>7}{'width':>7}  taken")
    for name, change in changes(np.random.default_rng(0)).items():
        rows = [
            followed(drawer, session, sight, change)
            for session, sight in zip(made, sights, strict=True)
        ]
        held, error, width = np.mean([row[:3] for row in rows], axis=0)
        ways = ", ".join(f"{count} {way}" for way, count in Counter(r[3] for r in rows).items())
        print(f"{name:20}{held:6.2f}{error:7.2f}{width:7.2f}  {ways}", flush=True)


if __name__ == "__main__":
    main()

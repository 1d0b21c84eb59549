"""How bare recordings are answered: balls under stress, and sounds without any ball.

Run by `python -m benchmarks.bouncing_ball.bare_recordings [--recordings N] [--seed N]`.

Of recordings without a ball: the share that is answered without a finding, that is answered with
one, and that is refused. Of balls under stress: the share that is refused; that is useful, the
restitution at the first detected bounce within 0.01; whose 90 % interval holds the truth; that is
silent and wrong, answered without a finding of any kind though the truth is more than 0.01 off and
outside the 90 % interval; and that is as wrong, but has a finding. For comparison, the median ratio
of the best chain, and whether it is within 0.01 of the median ratio of the true bounces. Then the
same balls once more, each with its size stated (`ricochet calibrate --ball`). At last the real
ping-pong ball, where the recording is at hand (RICOCHET_REAL_DATA or ../shared/data).
"""

import argparse
import os
import pathlib
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import soundfile
from numpy.typing import NDArray

from benchmarks.bouncing_ball import recording_corpora as corpora
from benchmarks.bouncing_ball.recording_corpora import Clip
from ricochet.models.sound import alike_onsets, onsets
from ricochet.models.systems.bouncing_ball.air import COMMON_BALLS, Size
from ricochet.models.systems.bouncing_ball.calibration import times_only
from ricochet.models.systems.bouncing_ball.calibration.drop_choice import NoBallError
from ricochet.models.systems.bouncing_ball.calibration.times_only import BareCalibration
from ricochet.models.systems.bouncing_ball.chains import family

NEAR = 0.01
"""Greatest error of a useful restitution."""


@dataclass(frozen=True)
class Outcome:
    """What became of a recording; errors are NaN where there is no answer."""

    refused: bool
    findings: tuple[str, ...]
    error: float = np.nan
    held: bool = False
    ratio_error: float = np.nan

    @property
    def useful(self) -> bool:
        """Tell whether the answer is within NEAR."""
        return abs(self.error) <= NEAR

    @property
    def wrong(self) -> bool:
        """Tell whether an answer is off, and its interval does not say so."""
        return not (self.refused or self.useful or self.held)

    @property
    def silent_and_wrong(self) -> bool:
        """Tell whether an answer is wrong and has no finding."""
        return self.wrong and not self.findings


def answer(clip: Clip, *, sized: bool = False) -> BareCalibration | NoBallError:
    """Return what the package says of a recording, whose ball's size may be stated."""
    try:
        return _calibrated(clip.samples[None], clip.sample_rate, clip.size if sized else None)
    except NoBallError as error:
        return error


def _calibrated(samples: NDArray[np.float64], rate: int, size: Size | None) -> BareCalibration:
    heard = onsets.detect(samples, rate)
    alike = alike_onsets.detect(samples, rate, heard)
    return times_only.calibrate_recording(heard, alike, family.drag_prior(size, 20.0))


def outcome(clip: Clip, *, sized: bool = False) -> Outcome:
    """Judge the answer."""
    found = answer(clip, sized=sized)
    if isinstance(found, NoBallError):
        return Outcome(True, ())
    names = tuple(finding.name for finding in found.findings)
    if clip.restitution is None or clip.times is None:
        return Outcome(False, names)
    at = found.at_first_bounce
    truth = clip.restitution(at.speed)
    low, high = at.region_90
    longest = max(found.ratios, key=len)
    gaps = np.diff(clip.times)
    true_ratio = float(np.median(gaps[1:] / gaps[:-1]))
    apart = float(np.median(longest)) - true_ratio
    return Outcome(False, names, at.mean - truth, low <= truth <= high, apart)


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recordings", type=int, default=20, help="recordings of each kind")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    start = time.perf_counter()
    nothing = _tried(corpora.NO_BALLS, corpora.no_ball, arguments)
    print(f"{'without a ball':22s}{'number':>8s}{'silent':>8s}{'finding':>8s}{'refused':>8s}")
    for kind, rows in _with_all(nothing).items():
        silent = np.mean([not row.refused and not row.findings for row in rows])
        warned = np.mean([not row.refused and bool(row.findings) for row in rows])
        refused = np.mean([row.refused for row in rows])
        print(f"{kind:22s}{len(rows):8d}{silent:8.3f}{warned:8.3f}{refused:8.3f}")
    balls = _tried(corpora.STRESSES, corpora.stressed, arguments)
    _print_balls("balls", balls)
    total = sum(len(rows) for rows in (*nothing.values(), *balls.values()))
    print(f"\n{(time.perf_counter() - start) / total:.2f} s a recording, making it included")
    _print_balls("size known", _tried(corpora.STRESSES, corpora.stressed, arguments, sized=True))
    _print_real(None)
    _print_real(COMMON_BALLS["ping-pong"])


def _print_balls(title: str, balls: dict[str, list[Outcome]]) -> None:
    heads = ("number", "refused", "finding", "useful", "held", "silent", "said", "ratio")
    print(f"\n{title:22s}" + "".join(f"{head:>8s}" for head in heads), "(silent, said: wrong)")
    for kind, rows in _with_all(balls).items():
        answered = [row for row in rows if not row.refused]
        shares = [
            np.mean([row.refused for row in rows]),
            np.mean([bool(row.findings) for row in rows]),
            np.mean([row.useful for row in rows]),
            np.mean([row.held for row in answered]) if answered else np.nan,
            np.mean([row.silent_and_wrong for row in rows]),
            np.mean([row.wrong and bool(row.findings) for row in rows]),
            np.mean([abs(row.ratio_error) <= NEAR for row in rows]),
        ]
        line = f"{kind:22s}{len(rows):8d}" + "".join(f"{share:8.3f}" for share in shares)
        print(line, flush=True)
    names = Counter(name for rows in balls.values() for row in rows for name in row.findings)
    wrong = Counter(
        name for rows in balls.values() for row in rows if row.wrong for name in row.findings
    )
    print("findings: " + ", ".join(f"{name} {number}" for name, number in names.items()))
    print("of wrong answers: " + ", ".join(f"{name} {number}" for name, number in wrong.items()))


def _tried(
    kinds: dict[str, Callable[..., object]],
    make: Callable[[str, np.random.Generator], Clip],
    arguments: argparse.Namespace,
    *,
    sized: bool = False,
) -> dict[str, list[Outcome]]:
    found: dict[str, list[Outcome]] = {}
    for number, kind in enumerate(kinds):
        draws = np.random.default_rng([arguments.seed, number]).spawn(arguments.recordings)
        found[kind] = [outcome(make(kind, draw), sized=sized) for draw in draws]
    return found


def _with_all(kinds: dict[str, list[Outcome]]) -> dict[str, list[Outcome]]:
    return {**kinds, "all": [row for rows in kinds.values() for row in rows]}


def _print_real(size: Size | None) -> None:
    data = pathlib.Path(os.environ.get("RICOCHET_REAL_DATA", "../shared/data"))
    path = data / "bounce_audio" / "eeps_pingpong" / "pingpong.wav"
    if not path.is_file():
        print(f"real ping-pong ball: {path} is missing")
        return
    samples, rate = soundfile.read(path, always_2d=True)
    found = _calibrated(samples.T.copy(), rate, size)
    print(f"\nsize {'not stated' if size is None else 'stated'}")
    for name, at in (("first bounce", found.at_first_bounce), ("reference", found.at_reference)):
        low, high = at.region_90
        print(
            f"real ping-pong ball, {name} at {at.speed:.2f} m/s: {at.mean:.4f}, "
            f"90 % {low:.4f} to {high:.4f}"
        )
    median, low, high = found.terminal_speed
    print(f"terminal speed if constant: {median:.1f} m/s, 90 % {low:.1f} to {high:.1f} (air: 8.6)")


if __name__ == "__main__":
    main()

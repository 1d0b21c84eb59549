"""How well chains of bounces are found in hard recordings.

Run by `python -m benchmarks.bouncing_ball.bounces`.

For each kind of recording: the share of true bounces that a chain holds (within 1 ms), the share of
the chains' onsets that are true bounces, the share of drops found whole (one chain holds at least
80 % of the bounces, 90 % of it true), chains of nothing per recording, the error of the median
interval ratio where the drop was found, and the time per second of sound. For comparison, what a
user would write first: peaks of the envelope above a threshold, all of them one chain. At last a
real ping-pong ball, where the recording is at hand (RICOCHET_REAL_DATA or ../shared/data).
"""

import argparse
import csv
import os
import pathlib
import time
import wave

import numpy as np
from scipy import signal

from ricochet.models.sound import onsets
from ricochet.models.systems.bouncing_ball.listening import bounce_chains
from tests.oracles import bounce_recordings
from tests.oracles.bounce_recordings import Recording

NEAR = 1e-3
"""Greatest error of a bounce that counts as found, s."""


def ours(recording: Recording) -> list[np.ndarray]:
    """Times of each chain found by the package."""
    found = onsets.detect(recording.samples, recording.sample_rate)
    return [chain.times for chain in bounce_chains.find_chains(found)]


def envelope_peaks(recording: Recording) -> list[np.ndarray]:
    """Peaks of the smoothed envelope above a tenth of its greatest, 30 ms apart, as one chain."""
    rate = recording.sample_rate
    envelope = np.abs(recording.samples[0])
    envelope = signal.sosfilt(signal.butter(2, 300.0, fs=rate, output="sos"), envelope)
    height, distance = 0.1 * envelope.max(), round(0.03 * rate)
    peaks, _ = signal.find_peaks(envelope, height=height, distance=distance)
    lag = 1e-3  # delay of the smoothing filter, s
    return [peaks / rate - lag] if len(peaks) >= 3 else []


def marks(recording: Recording, chains: list[np.ndarray]) -> dict[str, float]:
    """Count what was found and what was not."""
    truth = np.concatenate(recording.drops)
    given = np.concatenate([*chains, np.zeros(0)])
    hits = _near(truth, given)
    whole, errors = 0, []
    for drop in recording.drops:
        best = max(chains, key=lambda chain: _near(drop, chain).sum(), default=np.zeros(0))
        if _near(drop, best).mean() >= 0.8 and _near(best, drop).mean() >= 0.9:
            whole += 1
            errors.append(abs(_median_ratio(best) - _median_ratio(drop)))
    false = sum(_near(chain, truth).mean() < 0.5 for chain in chains)
    return {
        "bounces": len(truth),
        "hits": int(hits.sum()),
        "given": len(given),
        "true": int(_near(given, truth).sum()),
        "drops": len(recording.drops),
        "whole": whole,
        "false": int(false),
        "error": float(np.sum(errors)),
    }


def _near(these: np.ndarray, those: np.ndarray) -> np.ndarray:
    if len(those) == 0:
        return np.zeros(len(these), dtype=bool)
    return np.asarray(np.abs(these[:, None] - those).min(axis=1) < NEAR)


def _median_ratio(times: np.ndarray) -> float:
    ratios = bounce_chains.interval_ratios(times)
    return float(np.median(ratios)) if len(ratios) else float("nan")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--recordings", type=int, default=20, help="recordings of each kind")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    heads = ("recall", "precision", "drops whole", "false chains", "ratio error", "ms per s")
    print(f"{'kind':22s}{'method':10s}" + "".join(f"{head:>13s}" for head in heads))
    sums: dict[str, list[dict[str, float]]] = {}
    for kind, hazards in bounce_recordings.KINDS.items():
        draw = np.random.default_rng(arguments.seed)
        recordings = [bounce_recordings.record(hazards, draw) for _ in range(arguments.recordings)]
        for name, method in (("ricochet", ours), ("envelope", envelope_peaks)):
            start = time.perf_counter()
            answers = [method(recording) for recording in recordings]
            spent = time.perf_counter() - start
            seconds = sum(item.samples.shape[1] / item.sample_rate for item in recordings)
            pairs = zip(recordings, answers, strict=True)
            rows = [marks(recording, chains) for recording, chains in pairs]
            sums.setdefault(name, []).extend(rows)
            print(f"{kind:22s}{name:10s}" + _line(rows) + f"{1e3 * spent / seconds:13.1f}")
    for name, rows in sums.items():
        print(f"{'all (' + str(len(rows)) + ')':22s}{name:10s}" + _line(rows))
    _print_real()


def _print_real() -> None:
    """Print how a real ping-pong ball's bounces agree with its author's table."""
    data = pathlib.Path(os.environ.get("RICOCHET_REAL_DATA", "../shared/data"))
    folder = data / "bounce_audio" / "eeps_pingpong"
    if not folder.is_dir():
        print(f"real ping-pong ball: {folder} is missing")
        return
    with wave.open(str(folder / "pingpong.wav")) as file:
        rate = float(file.getframerate())
        samples = np.frombuffer(file.readframes(file.getnframes()), "<i2")[None].astype(float)
    with (folder / "30 bounces.csv").open() as table:
        marks = np.array([float(row["time"]) / 1e3 for row in csv.DictReader(table)])
    start = time.perf_counter()
    (chain, *others) = bounce_chains.find_chains(onsets.detect(samples, rate))
    spent = time.perf_counter() - start
    late = marks - chain.times[np.abs(chain.times - marks[:, None] + 2e-3).argmin(axis=1)]
    ratio = float(np.median(bounce_chains.interval_ratios(chain.times, chain.missing)))
    near = int(np.sum(np.abs(late - late.mean()) < 3e-3))
    print(
        f"real ping-pong ball: {len(chain.times)} bounces, {len(others)} other chains, median "
        f"ratio {ratio:.4f}, {spent:.3f} s; its author's marks come {1e3 * late.mean():.2f} ms "
        f"late, {near} of {len(marks)} within 3 ms of that"
    )


def _line(rows: list[dict[str, float]]) -> str:
    total = {key: sum(row[key] for row in rows) for key in rows[0]}
    return (
        f"{total['hits'] / total['bounces']:13.3f}{total['true'] / max(total['given'], 1):13.3f}"
        f"{total['whole'] / total['drops']:13.3f}{total['false'] / len(rows):13.3f}"
        f"{total['error'] / max(total['whole'], 1):13.5f}"
    )


if __name__ == "__main__":
    main()

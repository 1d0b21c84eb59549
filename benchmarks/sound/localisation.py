"""Errors of localisation by each estimator and by the weighed hypotheses, with the bound.

Impacts all over a 0.55 m table, three microphones 0.0762 m above it, 44.1 kHz. The signal-to-noise
ratio is the mean power of the direct click over the time that holds 99 % of its energy, averaged
over the microphones, over the background's power (`models.sound.impact_synthesis`). The Cramer-Rao
bound is that of the direct sound for the click's spectrum, the noise and the geometry, with unknown
emission time: J_m = sum (dx_m/dt)^2 / s^2 for each arrival, (G' J G)^-1 for the place.

Run `python -m benchmarks.sound.localisation [--impacts N] [--snr DB]`.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy import ndarray
from scipy import special

from ricochet.models.sound import delays, impact_synthesis, localisation, multilateration
from ricochet.models.sound.arrays import Microphones
from ricochet.models.sound.impact_synthesis import Background, Click
from ricochet.models.sound.room_acoustics import Room

RATE = 44100.0
HALF = 0.275  # m
MICROPHONES = Microphones(
    np.array([[-0.30, -0.25, 0.0762], [0.25, -0.30, 0.0762], [0.0, 0.32, 0.0762]]), RATE
)
ASIDE = 0.15 / np.sqrt(2.0)  # m from both walls: 15 cm from the corner
SCENES: dict[str, Room | None] = {
    "free field": None,
    "room, RT60 0.30 s": Room(reverberation_time=0.30),
    "room, RT60 0.40 s": Room(reverberation_time=0.40),
    "15 cm from a corner": Room(origin=(0.30 + ASIDE, 0.25 + ASIDE, 0.75)),
}
INSIDE = -2 * np.log(0.1)  # squared distance on the 90 % ellipse


@dataclass(frozen=True)
class Found:
    """One answer: error, squared error over the stated covariance, and whether it was rejected."""

    error: ndarray
    covariance: ndarray
    rejected: bool


def largest_sample(
    samples: ndarray, arrival: float, *, microphones: Microphones
) -> delays.Arrivals:
    """Take each channel's largest sample as its arrival: the peak times of a quick recipe."""
    start = round((arrival - 0.5e-3) * RATE)
    piece = np.abs(samples[:, start : start + round(4e-3 * RATE)])
    times = (start + piece.argmax(axis=1)) / RATE
    return delays.Arrivals(times, np.full(len(times), 1 / (np.sqrt(12.0) * RATE)))


def correlated(whitening: float) -> Callable[..., delays.Arrivals]:
    """Correlation over 20 ms, of the sound itself or, whitened, of its phases alone."""

    def estimate(samples: ndarray, arrival: float, *, microphones: Microphones) -> delays.Arrivals:
        spectra = delays.window_spectra(samples, arrival, microphones=microphones, window=0.02)
        return delays.correlate(spectra, arrival, microphones=microphones, whitening=whitening)

    return estimate


ESTIMATORS: dict[str, Callable[..., delays.Arrivals]] = {
    "largest sample": largest_sample,
    "first arrival": lambda *a, **k: delays.first_arrivals(*a, **k)[0],
    "plain correlation, 20 ms": correlated(0.0),
    "phase correlation, 20 ms": correlated(1.0),
}


def render(place: ndarray, room: Room | None, snr: float, draw: np.random.Generator) -> ndarray:
    """One impact at 50 ms."""
    return impact_synthesis.render(
        np.array([0.05]),
        np.array([[*place, 0.0]]),
        np.full(1, 0.1),
        microphones=MICROPHONES,
        duration=0.1,
        draw=draw,
        room=room,
        noise=Background(snr=snr),
    )


def by_estimator(estimator: Callable[..., delays.Arrivals]) -> Callable[..., Found]:
    """One estimator's delays and the first solution of the hyperbolas, with no judgement."""
    region = multilateration.surroundings(MICROPHONES)

    def find(samples: ndarray, arrival: float, place: ndarray) -> Found:
        found = estimator(samples, arrival, microphones=MICROPHONES)
        sd = np.where(np.isfinite(found.sd), found.sd, 1.0)
        fixes = multilateration.solve(found.times, sd, microphones=MICROPHONES, region=region)
        if not fixes:
            return Found(np.full(2, np.nan), np.eye(2), True)
        return Found(fixes[0].position - place, fixes[0].covariance[:2, :2], False)

    return find


def by_hypotheses(samples: ndarray, arrival: float, place: ndarray) -> Found:
    """The localiser."""
    found = localisation.locate(samples, arrival, microphones=MICROPHONES)
    return Found(found.position - place, found.covariance, found.outlier)


def bound(places: ndarray, snr: float) -> ndarray:
    """Least covariance of each place, m^2."""
    still = impact_synthesis.waveform(Click(), np.zeros(()), sample_rate=RATE)
    omega = 2 * np.pi * np.fft.rfftfreq(len(still), 1 / RATE)
    change = np.fft.irfft(1j * omega * np.fft.rfft(still), len(still))
    travel, _ = multilateration.gradients(places, microphones=MICROPHONES)
    distances = travel * MICROPHONES.speed_of_sound
    levels = [
        impact_synthesis.noise_level(snr, np.ones(1), row[None], click=Click(), sample_rate=RATE)
        for row in distances
    ]
    sd = np.array(levels)[:, None] * distances / np.sqrt(np.sum(change**2))
    return multilateration.bound(places, sd, microphones=MICROPHONES)[:, :2, :2]


def mean_size(covariances: ndarray) -> float:
    """Mean length of Gaussian errors: sqrt(2 a / pi) E(1 - b / a) for variances a >= b."""
    values = np.linalg.eigvalsh(covariances)
    ratio = special.ellipe(1 - values[:, 0] / values[:, 1])
    return float(np.mean(np.sqrt(2 * values[:, 1] / np.pi) * ratio))


def row(name: str, found: list[Found], seconds: float) -> str:
    """One line of the table."""
    kept = [one for one in found if not one.rejected]
    size = 1e3 * np.array([np.linalg.norm(one.error) for one in kept])
    inside = [one.error @ np.linalg.solve(one.covariance, one.error) < INSIDE for one in kept]
    return (
        f"  {name:26s}{size.mean():9.3f}{np.median(size):9.3f}{np.percentile(size, 95):9.3f}"
        f"{100 * (1 - len(kept) / len(found)):9.1f}{100 * np.mean(size > 50):9.1f}"
        f"{100 * np.mean(inside):9.0f}{1e3 * seconds / len(found):9.1f}"
    )


def compare(name: str, room: Room | None, *, impacts: int, snr: float) -> None:
    """Print one scene's part of the table."""
    draw = np.random.default_rng(20)
    places = draw.uniform(-HALF, HALF, (impacts, 2))
    least = bound(places, snr)
    root = 1e3 * np.median(np.sqrt(np.trace(least, axis1=1, axis2=2)))
    print(f"{name}, {snr:g} dB, {impacts} impacts")
    print(f"  {'Cramer-Rao bound':26s}{1e3 * mean_size(least):9.3f}   (median RMSE {root:.3f})")
    travel, _ = multilateration.gradients(places, microphones=MICROPHONES)
    recordings = [render(place, room, snr, draw) for place in places]
    arrivals = 0.05 + travel.min(axis=1) + draw.normal(0.0, 5e-5, impacts)
    methods = {label: by_estimator(estimator) for label, estimator in ESTIMATORS.items()}
    for label, find in (methods | {"weighed hypotheses": by_hypotheses}).items():
        begun = time.process_time()
        found = [find(*case) for case in zip(recordings, arrivals, places, strict=True)]
        print(row(label, found, time.process_time() - begun))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--impacts", type=int, default=300)
    parser.add_argument("--snr", type=float, default=20.0)
    settings = parser.parse_args()
    heads = ("mean mm", "median", "p95", "reject %", ">50mm %", "in 90 %", "cpu ms")
    print(f"  {'':26s}" + "".join(f"{head:>9s}" for head in heads))
    for name, room in SCENES.items():
        compare(name, room, impacts=settings.impacts, snr=settings.snr)


if __name__ == "__main__":
    main()

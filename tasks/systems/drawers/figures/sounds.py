"""Pictures of what drawers sound like, as Figs. 4, 5 and 7: of simulated sessions.

python -m ricochet.tasks.systems.drawers.figures.sounds FOLDER
"""

import sys
from collections.abc import Mapping
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from ricochet.hardware.twins.drawers.generator.drawers import DRAWERS
from ricochet.hardware.twins.drawers.generator.takes import Setting
from ricochet.models.inference import component_regression
from ricochet.models.sound import spectra
from ricochet.models.systems.drawers.labels import PERIOD, SAMPLE_RATE
from ricochet.models.systems.drawers.speed.paper_regressions import COMPONENTS
from ricochet.tasks.figures import style
from ricochet.tasks.systems.drawers.studies import recorded
from ricochet.tasks.systems.drawers.studies.recorded import Session

SHOWN = 30.0  # s of the spectrogram
JOINED = 8  # bins of it that are drawn as one
EIGENVALUES, EIGENVECTORS = 20, 4


def make(folder: Path) -> None:
    """Record a session of each drawer, and draw."""
    sessions = {name: recorded.session(Setting(name), 0) for name in DRAWERS}
    figures = {
        "loudness_and_pitch": loudness_and_pitch(sessions),
        "spectrogram": spectrogram(sessions["cabinet-top"]),
        "components": components(sessions["cabinet-top"]),
    }
    style.write(folder, figures)


def loudness_and_pitch(sessions: Mapping[str, Session]) -> Figure:
    """Draw loudness and pitch of frames by the speed of the drawer (Fig. 4)."""
    figure = Figure(figsize=(11.0, 4.6), layout="constrained")
    panels = figure.subplots(2, len(sessions), sharex=True, squeeze=False)
    for column, (name, session) in enumerate(sessions.items()):
        loud = 20.0 * np.log10(spectra.loudness(session.frames.power))
        pitch = 1e-3 * spectra.pitch(session.frames.power, SAMPLE_RATE)
        for axes, values in zip(panels[:, column], (loud, pitch), strict=True):
            axes.plot(
                session.frames.labels.speed, values, ".", ms=2, color=style.COLOURS[0], alpha=0.5
            )
        style.label_axes(panels[0, column], "", "" if column else "loudness / dB")
        style.label_axes(panels[1, column], "speed / (m/s)", "" if column else "pitch / kHz")
        panels[0, column].set_title(name, fontsize=10)
    return figure


def spectrogram(session: Session) -> Figure:
    """Draw the sound of a drawer above its opening (Fig. 5)."""
    figure = Figure(figsize=(10.0, 4.4), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    frames = round(SHOWN / PERIOD)
    power = session.frames.power[:frames]
    joined = power.reshape(len(power), -1, JOINED).mean(2)
    levels = 10.0 * np.log10(joined.T + spectra.QUIETEST)
    low, high = np.quantile(levels, [0.05, 0.999])
    extent = (0.0, frames * PERIOD, 0.0, 0.5e-3 * SAMPLE_RATE)
    above.imshow(
        levels,
        origin="lower",
        aspect="auto",
        extent=extent,
        vmin=low,
        vmax=high,
        cmap="magma",
        interpolation="nearest",
    )
    style.label_axes(above, "", "frequency / kHz")
    times, positions = session.take.motion.T
    shown = times <= SHOWN
    below.plot(times[shown], positions[shown], color=style.COLOURS[0])
    for time, _, end in session.take.truth.impacts:
        if time <= SHOWN:
            below.axvline(time, color=style.COLOURS[1 if end else 2], lw=0.6)
    style.label_axes(below, "time / s", "opening / m")
    return figure


def components(session: Session) -> Figure:
    """Draw eigenvalues, what each adds to the speed, and the first eigenvectors (Fig. 7)."""
    figure = Figure(figsize=(11.0, 3.4), layout="constrained")
    left, middle, right = figure.subplots(1, 3)
    amplitudes = np.sqrt(session.frames.power)
    fitted = component_regression.fit(amplitudes, session.frames.labels.speed, COMPONENTS)
    places = np.arange(1, EIGENVALUES + 1)
    values = fitted.eigenvalues[:EIGENVALUES]
    left.semilogy(places, values, "o-", ms=3, color=style.COLOURS[0])
    style.label_axes(left, "component", "eigenvalue")
    spread = np.sqrt(values) * np.abs(fitted.weights[:EIGENVALUES])
    middle.bar(places, spread, color=style.COLOURS[0])
    style.label_axes(middle, "component", "|weight| x deviation / (m/s)")
    frequency = np.arange(amplitudes.shape[1]) * 1e-3 * SAMPLE_RATE / 2 / amplitudes.shape[1]
    for number in range(EIGENVECTORS):
        vector = fitted.components[number] * np.sign(fitted.components[number].sum())
        colour = style.COLOURS[number]
        right.plot(frequency, vector + 0.25 * number, color=colour, lw=0.8, label=f"{number + 1}")
    style.label_axes(right, "frequency / kHz", "eigenvector, shifted")
    right.legend(frameon=False, fontsize=8, title="component", loc="upper right", ncols=2)
    return figure


if __name__ == "__main__":
    make(Path(sys.argv[1]))

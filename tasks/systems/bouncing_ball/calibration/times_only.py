"""Restitution from times alone: bare recordings, and sessions of fewer than three microphones.

Concentration cannot be known from times, and that is said: its draws are those of the prior.
Nothing of this is registered, since a controller needs both parameters.

    samples.npz   theta, shape (4000, 2), float64, of the restitution at the first bounce
    bounces.csv   time, speeds, height and energy kept of every bounce (`bounce_table`)
    figures/      the sound with its bounces, or ratio by bounce; restitution by speed
    details.json  the key, findings, drops and ratios
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import numpy as np
from jaxtyping import Float
from matplotlib.figure import Figure
from numpy import ndarray

from ricochet.models.core.bad_input import BadInput
from ricochet.models.sound import alike_onsets, onsets
from ricochet.models.systems.bouncing_ball import paper_prior
from ricochet.models.systems.bouncing_ball.air import Size
from ricochet.models.systems.bouncing_ball.calibration import times_only
from ricochet.models.systems.bouncing_ball.calibration.drop_choice import NoBallError
from ricochet.models.systems.bouncing_ball.calibration.drop_times import Drop
from ricochet.models.systems.bouncing_ball.calibration.times_only import (
    BareCalibration,
    Restitution,
)
from ricochet.models.systems.bouncing_ball.chains import parameters
from ricochet.tasks.recordings import audio_files, sessions
from ricochet.tasks.storage.files import write_arrays, write_bytes, write_json
from ricochet.tasks.systems.bouncing_ball.calibration import bounce_table, folders, report
from ricochet.tasks.systems.bouncing_ball.calibration.targets import (
    SCHEMA,
    CalibrationRequest,
    CalibrationTarget,
    details_header,
)

if TYPE_CHECKING:
    from ricochet.tasks.systems.bouncing_ball.calibration.detections import Detections

_TEMPERATURE = 20.0  # of the air of a bare recording, degrees Celsius: ten more are 3 % of drag


def calibrate(target: CalibrationTarget, request: CalibrationRequest) -> dict[str, Any]:
    """Calibrate from a bare recording; write all files but `result.json`, which is returned.

    `BadInput` if the recording cannot be used, or holds no ball.
    """
    (path,) = target.sources
    samples, rate = sessions.load_clip(path)
    heard = onsets.detect(samples, rate)
    alike = alike_onsets.detect(samples, rate, heard)
    try:
        found = times_only.calibrate_recording(heard, alike, _drag(request.size))
    except NoBallError as error:
        raise BadInput(str(path), f"no ball: {error}", "the bounces of a dropped ball") from error
    ball = _object(path.stem, request)
    facts = {
        "object": ball,
        "sessions": [path.name],
        "takes": {"used": len(found.drops), "rejected": []},
    }
    title = "\n".join(filter(None, [target.name, report.assumed_air(ball)]))
    figures = _by_speed_figure(found, title=title)
    figures["recording"] = _recording(found, samples, rate, title=title)
    notes = _overdriven(samples, rate)
    return _conclude(
        target, request, found, facts, figures=figures, notes=notes, channels=len(samples)
    )


def calibrate_sessions(
    target: CalibrationTarget, request: CalibrationRequest, detected: "Detections"
) -> dict[str, Any]:
    """Calibrate from the times of sessions whose rig gives no places."""
    from ricochet.tasks.systems.bouncing_ball.calibration import (
        chain_answers,
        detection_findings,
        detections,
    )

    takes = [take.detected for take in detected.takes]
    ball = chain_answers.ball_of(detected.sessions)
    found = times_only.calibrate_drops(
        [Drop(take.times, take.time_sd, take.missing) for take in takes],
        parameters.drag_prior(ball.size, ball.temperature),
    )
    facts = {
        "object": detections.object_of(detected),
        "sessions": [session.identity for session in detected.sessions],
        "takes": {"used": len(takes), "rejected": [asdict(each) for each in detected.rejected]},
    }
    figures = _by_speed_figure(found, title=target.name)
    figures["ratio-by-bounce"] = _ratios(target, found)
    notes = [asdict(finding) for finding in detection_findings.findings(detected)]
    return _conclude(target, request, found, facts, figures=figures, notes=notes)


def _drag(size: Size | None) -> tuple[float, float]:
    return parameters.drag_prior(size, _TEMPERATURE)


def _object(name: str, request: CalibrationRequest) -> dict[str, Any]:
    """Describe what was dropped; size and air only where the ball was named."""
    ball = {"ball": request.ball or name, "surface": "unknown", "drop_height": None}
    if request.size is None:
        return ball
    return {**ball, **asdict(request.size), "air_temperature": _TEMPERATURE}


def _overdriven(samples: Float[ndarray, "channel frame"], rate: int) -> list[dict[str, Any]]:
    """Say that a bare recording is clipped: its times still stand, so that it is not refused."""
    notes = []
    for channel, track in enumerate(samples):
        cut = audio_files.clipped_frames(track)
        if len(cut):
            sentence = (
                f"channel {channel} is clipped, {len(cut)} frames at full scale from "
                f"{cut[0] / rate:.2f} s on: times stand, a lower gain gives better ones"
            )
            notes.append({"name": "clipped", "sentence": sentence, "channel": channel})
    return notes


def _conclude(
    target: CalibrationTarget,
    request: CalibrationRequest,
    found: BareCalibration,
    facts: dict[str, Any],
    *,
    figures: dict[str, Figure],
    notes: Sequence[dict[str, Any]] = (),
    channels: int | None = None,
) -> dict[str, Any]:
    """Write the files and return the result.

    Args:
        notes: Findings about the sound, and what was stated.
        channels: Of a bare recording.
    """
    from ricochet.tasks.figures import style

    at, theta = found.at_first_bounce, _theta(found, seed=request.seed)
    names, unknown = paper_prior.PARAMETERS, paper_prior.PARAMETERS[1]
    low, high = np.quantile(theta[:, 1], [0.05, 0.95]).tolist()
    result = {
        "schema": SCHEMA,
        **facts,
        "parameters": list(names),
        "mean": [at.mean, float(theta[:, 1].mean())],
        "covariance": [[at.sd**2, 0.0], [0.0, float(theta[:, 1].var())]],
        "region_90": {names[0]: list(at.region_90), unknown: [low, high]},
        "restitution": _by_speed(found),
        "members": found.members,
        "samples": "samples.npz",
        "predictive_p_value": None,  # every finding has a chance of its own, in details.json
        "model": {"density": "bounce-times"},
        "registered": None,
        "unknown": [unknown],
    }
    folders.clear(target.folder)
    write_arrays(target.folder / "samples.npz", {"theta": theta})
    style.write(target.folder / "figures", figures)
    bounces = bounce_table.rows(found.drops, found.drag or 0.0)
    write_bytes(target.folder / "bounces.csv", bounce_table.text(bounces).encode())
    details = _details(target, request, found) | {"channels": channels}
    details["findings"] += notes
    write_json(target.folder / "details.json", details)
    return result


def _theta(found: BareCalibration, *, seed: int) -> Float[ndarray, "sample 2"]:
    """Pair restitutions with concentrations spread over their prior, each in an order drawn."""
    draw = np.random.default_rng(seed)
    low, high = paper_prior.LOW[1], paper_prior.HIGH[1]
    count = len(found.samples)
    spread = low + (high - low) * (np.arange(count) + 0.5) / count
    return np.column_stack([draw.permutation(found.samples), draw.permutation(spread)])


def _by_speed(found: BareCalibration) -> dict[str, Any]:
    """Return restitution at two speeds, over the speeds met, and beyond to the reference."""
    median, low, high = found.terminal_speed
    return {
        "reference_speed": found.at_reference.speed,
        "at_reference": _stated(found.at_reference),
        "at_first_bounce": _row(found.at_first_bounce),
        "band": [_row(each) for each in found.band],
        "beyond": [_row(each) for each in found.beyond],
        "terminal_speed_if_constant": {"median": median, "region_90": [low, high]},
    }


def _row(at: Restitution) -> dict[str, Any]:
    return {"speed": at.speed, **_stated(at)}


def _stated(at: Restitution) -> dict[str, Any]:
    return {"mean": at.mean, "sd": at.sd, "region_90": list(at.region_90)}


def _details(
    target: CalibrationTarget, request: CalibrationRequest, found: BareCalibration
) -> dict[str, Any]:
    return {
        **details_header(target, request),
        "findings": [asdict(finding) for finding in found.findings],
        "metrics": {
            "takes_used": float(len(found.drops)),
            "restitution_mean": found.at_first_bounce.mean,
            "restitution_sd": found.at_first_bounce.sd,
        },
        "narrowing": [],
        "drops": [
            {"times": drop.times.tolist(), "missing": list(drop.missing)} for drop in found.drops
        ],
        "evidence": [asdict(each) for each in found.evidence],
        "ratios": [ratios.tolist() for ratios in found.ratios],
        "truth": None,
    }


def _by_speed_figure(found: BareCalibration, *, title: str) -> dict[str, Figure]:
    from ricochet.tasks.systems.bouncing_ball.figures import bare_recording

    return {"restitution-by-speed": bare_recording.restitution_by_speed(found, title=title)}


def _ratios(target: CalibrationTarget, found: BareCalibration) -> Figure:
    from ricochet.tasks.systems.bouncing_ball.figures import calibration

    return calibration.ratio_by_bounce(found.ratios, title=target.name)


def _recording(
    found: BareCalibration, samples: Float[ndarray, "channel frame"], rate: int, *, title: str
) -> Figure:
    from ricochet.tasks.systems.bouncing_ball.figures import bare_recording

    loudest = samples[int(np.abs(samples).max(axis=1).argmax())]
    return bare_recording.overview(found, loudest, float(rate), title=title)

"""Restitution from times alone: bare recordings, and sessions of fewer than three microphones.

Concentration cannot be known from times, and that is said: its draws are those of the prior.
Nothing of this is registered, since a controller needs both parameters.

    samples.npz   theta, shape (4000, 2), float64
    figures/      ratio by bounce
    details.json  the key, findings, ratios of each drop
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from numpy import ndarray
from scipy import stats

from ricochet.models.core.bad_input import BadInput
from ricochet.models.sound import onsets
from ricochet.models.systems.bouncing_ball import problem
from ricochet.models.systems.bouncing_ball.calibration import times_only
from ricochet.models.systems.bouncing_ball.calibration.times_only import BareCalibration
from ricochet.models.systems.bouncing_ball.listening import bounce_chains
from ricochet.tasks.recordings import audio_files, sessions
from ricochet.tasks.storage.files import write_arrays, write_json
from ricochet.tasks.systems.bouncing_ball.calibration import detections
from ricochet.tasks.systems.bouncing_ball.calibration.detections import Detections
from ricochet.tasks.systems.bouncing_ball.calibration.targets import (
    SCHEMA,
    CalibrationRequest,
    CalibrationTarget,
    details_header,
)

SAMPLES = 4000
FEWEST = 3
"""Bounces of a drop that make a ratio."""

Times = Float[ndarray, " bounce"]


def calibrate(target: CalibrationTarget, request: CalibrationRequest) -> dict[str, Any]:
    """Calibrate from a bare recording; write all files but `result.json`, which is returned.

    `BadInput` if the recording cannot be used.
    """
    (path,) = target.sources
    samples, rate = sessions.load_clip(path)
    chains = bounce_chains.find_chains(onsets.detect(samples, rate))
    drops = [part for chain in chains for part in _whole(chain.times, chain.missing)]
    if not drops:
        most = max((len(chain.times) for chain in chains), default=0)
        raise BadInput(str(path), f"{most} bounces of one drop", f"at least {FEWEST}")
    time_sd = float(np.median(np.concatenate([chain.time_sd for chain in chains])))
    facts = {
        "object": {"ball": path.stem, "surface": "unknown", "drop_height": None},
        "sessions": [path.name],
        "takes": {"used": len(drops), "rejected": []},
    }
    return _conclude(target, request, drops, time_sd, facts, notes=_overdriven(samples, rate))


def calibrate_sessions(
    target: CalibrationTarget, request: CalibrationRequest, detected: Detections
) -> dict[str, Any]:
    """Calibrate from the times of sessions whose rig tells no places."""
    takes = [take.detected for take in detected.takes]
    chains = [part for take in takes for part in _whole(take.times, take.missing)]
    facts = {
        "object": detections.object_of(detected),
        "sessions": [session.identity for session in detected.sessions],
        "takes": {"used": len(takes), "rejected": [asdict(each) for each in detected.rejected]},
    }
    time_sd = float(np.median(np.concatenate([take.time_sd for take in takes])))
    return _conclude(target, request, chains, time_sd, facts)


def _overdriven(samples: Float[ndarray, "channel frame"], rate: int) -> list[dict[str, Any]]:
    """Say that a bare recording is clipped: its times still stand, so that it is not refused."""
    notes = []
    for channel, track in enumerate(samples):
        cut = audio_files.clipped_frames(track)
        if len(cut):
            sentence = (
                f"channel {channel} is clipped, {len(cut)} frames at full scale from "
                f"{cut[0] / rate:.2f} s on: times stand, a lower gain tells them better"
            )
            notes.append({"name": "clipped", "sentence": sentence, "channel": channel})
    return notes


def _whole(times: Times, missing: Sequence[int]) -> list[Times]:
    """Cut a chain where a bounce was missed, since no ratio is made across it."""
    parts = np.split(times, [index + 1 for index in missing])
    return [part for part in parts if len(part) >= FEWEST]


def _conclude(
    target: CalibrationTarget,
    request: CalibrationRequest,
    chains: Sequence[Times],
    time_sd: float,
    facts: dict[str, Any],
    *,
    notes: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """Infer restitution from the chains and write the files; notes are findings about the sound."""
    draw = torch.Generator().manual_seed(request.seed)
    found = times_only.listen_times(chains, time_sd, draw=draw)
    theta = _theta(found, seed=request.seed)
    names, unknown = problem.PARAMETERS, problem.PARAMETERS[1]
    low, high = np.quantile(theta[:, 1], [0.05, 0.95]).tolist()
    result = {
        "schema": SCHEMA,
        **facts,
        "parameters": list(names),
        "mean": [found.mean, float(theta[:, 1].mean())],
        "covariance": [[found.sd**2, 0.0], [0.0, float(theta[:, 1].var())]],
        "region_90": {names[0]: list(found.region_90), unknown: [low, high]},
        "samples": "samples.npz",
        "predictive_p_value": min((finding.p_value for finding in found.findings), default=None),
        "model": {"density": f"bare-recording/seed-{request.seed}"},
        "registered": None,
        "unknown": [unknown],
    }
    write_arrays(target.folder / "samples.npz", {"theta": theta})
    _draw(target, found)
    details = _details(target, request, found, len(chains))
    details["findings"] += notes
    write_json(target.folder / "details.json", details)
    return result


def _theta(found: BareCalibration, *, seed: int) -> Float[ndarray, "sample 2"]:
    """Draw restitution from a normal law inside its range, concentration from its prior."""
    draw = np.random.default_rng(seed)
    ends = (np.array(times_only.RANGE) - found.mean) / found.sd
    law = stats.truncnorm(*ends, loc=found.mean, scale=found.sd)
    restitution = law.rvs(SAMPLES, random_state=draw)
    low, high = problem.PRIOR.low[1], problem.PRIOR.high[1]
    return np.column_stack([restitution, draw.uniform(low, high, SAMPLES)])


def _details(
    target: CalibrationTarget, request: CalibrationRequest, found: BareCalibration, drops: int
) -> dict[str, Any]:
    return {
        **details_header(target, request),
        "findings": [asdict(finding) for finding in found.findings],
        "metrics": {
            "takes_used": float(drops),
            "restitution_mean": found.mean,
            "restitution_sd": found.sd,
        },
        "narrowing": [],
        "ratios": [ratios.tolist() for ratios in found.ratios],
        "truth": None,
    }


def _draw(target: CalibrationTarget, found: BareCalibration) -> None:
    from ricochet.tasks.figures import style
    from ricochet.tasks.systems.bouncing_ball.figures import calibration

    figure = calibration.ratio_by_bounce(found.ratios, title=target.name, interval=found.region_90)
    style.write(target.folder / "figures", {"ratio-by-bounce": figure})

"""What the sessions of a ball on a surface say, free of any file that is written.

sessions -> detected takes -> posterior of three bounces (the paper's model)
-> posterior of whole takes (the family of models)
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import torch

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.sound.arrival_hypotheses import Tolerances
from ricochet.models.systems.bouncing_ball.calibration import calibrate
from ricochet.models.systems.bouncing_ball.calibration.calibrate import Calibration, MeasuredDrops
from ricochet.models.systems.bouncing_ball.calibration.criticism import Finding
from ricochet.models.systems.bouncing_ball.calibration.release_height import UnknownHeightError
from ricochet.models.systems.bouncing_ball.calibration.whole_chains import FEWEST, ChainAnswer
from ricochet.tasks.systems.bouncing_ball.calibration import (
    chain_answers,
    detection_findings,
    detections,
)
from ricochet.tasks.systems.bouncing_ball.calibration.detections import Detections
from ricochet.tasks.systems.bouncing_ball.settings import Calibrate

_AIRLESS = (
    f"fewer than {FEWEST} whole takes: the answer is that of three bounces and the paper's model, "
    "which knows no air, so restitution may be too low by many of its deviations"
)


@dataclass(frozen=True)
class Answers:
    """Both answers, and what they rest on.

    Attributes:
        drops: As they were measured, with the heights of release that were settled on.
        found: What three bounces of each take say.
        chains: What whole takes say; None where too few can be used.
    """

    detected: Detections
    drops: MeasuredDrops
    found: Calibration
    chains: ChainAnswer | None

    @property
    def findings(self) -> list[dict[str, Any]]:
        """What is said of both answers."""
        before = detection_findings.findings(self.detected)
        said = [asdict(finding) for finding in (*before, *self.found.findings)]
        if self.chains is None:
            return [*said, asdict(Finding("air", _AIRLESS, 1.0))]
        return [*said, *chain_answers.findings(self.chains, self.detected, self.found)]


def detect(
    folders: Sequence[Path], *, rules: Calibrate, progress: Progress = no_progress
) -> Detections:
    """Detect the bounces of sessions; `BadInput` if too few takes can be used."""
    known = Tolerances(place_sd=rules.survey_sd, contact_sd=rules.contact_sd)
    detected = detections.detect(folders, tolerances=known, progress=progress)
    _check(folders, detected, rules.fewest_takes)
    return detected


def infer(
    detected: Detections, *, rules: Calibrate, seed: int, progress: Progress = no_progress
) -> Answers:
    """Answer from three bounces and from whole takes of rigs that tell places.

    `BadInput` if a session has no height of release and no take that tells it.
    """
    drops = detections.measured(detected, release_sd=rules.release_sd)
    try:
        found = calibrate.calibrate(drops, draw=torch.Generator().manual_seed(seed))
    except UnknownHeightError as error:
        folders = ", ".join(str(session.folder) for session in detected.sessions)
        where = f"{folders}: object.drop_height"
        raise BadInput(where, "none, nor takes that tell it", "the height of release, m") from error
    chains = chain_answers.infer(detected, found, rules=rules, seed=seed, progress=progress)
    return Answers(detected, replace(drops, release=found.release), found, chains)


def _check(folders: Sequence[Path], detected: Detections, fewest: int) -> None:
    if len(detected.takes) >= fewest:
        return
    reasons = "; ".join(f"{entry.file}: {entry.reason}" for entry in detected.rejected[:3])
    found = f"{len(detected.takes)} takes that can be used" + (f" ({reasons})" if reasons else "")
    raise BadInput(", ".join(map(str, folders)), found, f"at least {fewest}")

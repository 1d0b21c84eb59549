"""A packaged posterior measured again from its own recordings, for the gate.

Nothing the package states of itself is used: detection runs again on the takes, the exact posterior
is computed again, and sessions are simulated at it and inferred; the family is inferred again from
whole takes where the package states a contact. Only the digest of the recordings is taken from the
package, and these must be the recordings at hand.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.inference import grid_densities
from ricochet.models.inference.grid_densities import Window
from ricochet.models.sound.arrival_hypotheses import Tolerances
from ricochet.models.systems.bouncing_ball.calibration import (
    calibrate,
    family_agreement,
    posterior_agreement,
    simulation_checks,
)
from ricochet.models.systems.bouncing_ball.calibration.calibrate import Calibration, MeasuredDrops
from ricochet.models.systems.bouncing_ball.calibration.posterior_agreement import Claim
from ricochet.tasks.registry.packages import Package
from ricochet.tasks.settings import Settings
from ricochet.tasks.systems.bouncing_ball import contact_package
from ricochet.tasks.systems.bouncing_ball.calibration import (
    chain_answers,
    detections,
    family_packages,
    product_checks,
    targets,
)
from ricochet.tasks.systems.bouncing_ball.calibration.detections import Detections
from ricochet.tasks.systems.bouncing_ball.settings import Calibrate, Gate
from ricochet.tasks.systems.bouncing_ball.validation.gate import CalibrationEvidence, FamilyEvidence

ARRAYS = {
    "rows": 1,
    "low": 1,
    "high": 1,
    "log_density": 2,
    "samples": 2,
    "mean": 1,
    "covariance": 2,
}
"""Arrays of a posterior of two parameters, with their number of axes."""


def audit(
    package: Package,
    sessions: Sequence[Path],
    *,
    settings: Settings,
    seed: int = 0,
    progress: Progress = no_progress,
) -> CalibrationEvidence:
    """Measure a package again from its recordings.

    `BadInput` if the recordings are not those of the package or cannot be used, or the package
    is no posterior of a ball.
    """
    stated = claim(package)
    check_recordings(package, sessions)
    rules = settings[Calibrate]
    known = Tolerances(place_sd=rules.survey_sd, contact_sd=rules.contact_sd)
    found = detections.detect(sessions, tolerances=known, progress=progress)
    if not found.placed or len(found.takes) < rules.fewest_takes:
        count = f"{len(found.takes)} takes that can be used"
        raise BadInput(_named(sessions), count, f"at least {rules.fewest_takes}, with places")
    drops = detections.measured(found, release_sd=rules.release_sd)
    exact = calibrate.calibrate(drops, draw=torch.Generator().manual_seed(seed))
    contact = audit_contact(package, found, exact, rules=rules, seed=seed)
    evidence = _compared(stated, drops, exact, settings=settings, seed=seed, progress=progress)
    return replace(evidence, family=contact)


def audit_contact(
    package: Package, detected: Detections, exact: Calibration, *, rules: Calibrate, seed: int = 0
) -> FamilyEvidence | None:
    """Infer again the contact that a package states, from whole takes; None where it states none.

    Args:
        exact: The paper's posterior of the same takes, computed again.
    """
    if package.kind != contact_package.FAMILY:
        return None
    claimed = contact_package.contact_draws(package)
    answer = chain_answers.infer(detected, exact, rules=rules, seed=seed)
    measured = family_packages.contacts(answer, seed=seed)
    if answer is None or measured is None:
        why = "too few whole takes" if answer is None else answer.weak
        return FamilyEvidence((), why)
    points = np.unique(answer.family.theta, axis=0, return_inverse=True)[1].ravel()
    return FamilyEvidence(family_agreement.compare(claimed, measured, points))


def audit_drops(
    stated: Claim,
    drops: MeasuredDrops,
    *,
    settings: Settings,
    seed: int = 0,
    progress: Progress = no_progress,
) -> CalibrationEvidence:
    """Measure again what a package states, from the drops detected in its recordings."""
    exact = calibrate.calibrate(drops, draw=torch.Generator().manual_seed(seed))
    return _compared(stated, drops, exact, settings=settings, seed=seed, progress=progress)


def _compared(
    stated: Claim,
    drops: MeasuredDrops,
    found: Calibration,
    *,
    settings: Settings,
    seed: int,
    progress: Progress,
) -> CalibrationEvidence:
    numbers = np.random.default_rng([seed, 1])
    used = replace(drops, release=found.release).rows(np.isin(drops.names, found.used))
    product = simulation_checks.check(
        found.samples,
        used.noise,
        used.release,
        sessions=settings[Gate].sessions,
        draw=torch.Generator().manual_seed(seed + 1),
        progress=progress,
        place_all=product_checks.place_all,
    )
    agreement = posterior_agreement.compare(
        stated, found.density, draws=settings[Gate].draws, draw=numbers
    )
    return CalibrationEvidence(agreement, product, float(found.predictive_p_value))


def claim(package: Package) -> Claim:
    """Return what a package states; `BadInput` if it is no posterior of two parameters."""
    arrays = package.arrays
    if package.kind not in contact_package.KINDS or not ARRAYS.keys() <= arrays.keys():
        raise _no_posterior(package)
    paper = contact_package.of_paper(package)
    for held in (arrays, arrays | paper):
        if {name: held[name].ndim for name in ARRAYS} != ARRAYS:
            raise _no_posterior(package)
        if not all(np.isfinite(held[name]).all() for name in ARRAYS):
            raise BadInput("package", "numbers that are not finite", "finite arrays")
    if not (np.diff(arrays["rows"]) > 0.0).all() or not (arrays["high"] > arrays["low"]).all():
        raise BadInput("package", "rows or intervals out of order", "ascending ones")
    if package.kind == contact_package.FAMILY:
        contact_package.check(arrays)
        check_summary(package)
    window = Window(arrays["rows"], arrays["low"], arrays["high"])
    return Claim(
        density=grid_densities.normalise(window, arrays["log_density"]),
        **paper,
    )


def _no_posterior(package: Package) -> BadInput:
    found = f"kind {package.kind!r} with {', '.join(sorted(package.arrays))}"
    kinds = " or ".join(map(repr, contact_package.KINDS))
    return BadInput("package", found, f"kind {kinds} with {', '.join(sorted(ARRAYS))}")


def check_summary(package: Package) -> None:
    """Refuse a package of kind `family` whose samples are not those of its contact: `BadInput`.

    Where it has none of the paper's model, they are these, as packages once had them.
    """
    arrays = package.arrays
    if contact_package.THREE + "samples" not in arrays:  # then `of_paper` found none of them
        return
    own = contact_package.summary_of(contact_package.contact_draws(package))
    for name, expected in own.items():
        alike = arrays[name].shape == expected.shape
        if not (alike and np.allclose(arrays[name], expected, rtol=1e-9, atol=1e-15)):
            found = "numbers that contradict those of its contact"
            raise BadInput(f"package: {name}", found, "restitution and log10 concentration of it")


def check_recordings(package: Package, sessions: Sequence[Path]) -> None:
    """Refuse recordings whose digest is not that of those a package was learnt from."""
    if not sessions:
        raise BadInput("recordings", "none", f"those of digest {package.data_digest}")
    digests = [
        each.digest for each in targets.targets([str(folder) for folder in sessions], Path())
    ]
    if digests != [package.data_digest]:
        found = f"recordings of digest {', '.join(digests)}"
        raise BadInput(_named(sessions), found, f"those of digest {package.data_digest}")


def _named(sessions: Sequence[Path]) -> str:
    return ", ".join(map(str, sessions))

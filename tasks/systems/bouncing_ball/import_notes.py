"""What a person who imports recordings should know before a calibration, in sentences.

None of it is an error: a calibration copes, or says so much later.
"""

import difflib

from ricochet.models.systems.bouncing_ball.air import COMMON_BALLS, Size, unlike_its_name
from ricochet.models.systems.bouncing_ball.calibration import release_height
from ricochet.models.systems.bouncing_ball.calibration.whole_chains import FEWEST
from ricochet.tasks.recordings.sessions import Session
from ricochet.tasks.systems.bouncing_ball.calibration import detections
from ricochet.tasks.systems.bouncing_ball.calibration.detections import Detections
from ricochet.tasks.systems.bouncing_ball.settings import Calibrate


def notes(found: Detections, rules: Calibrate) -> list[str]:
    """Return what stands out of one imported session and its takes."""
    [session] = found.sessions
    said = [_height(found, rules), _takes(len(found.takes), rules.fewest_takes)]
    said += [_size(session), _below(session)]
    return [sentence for sentence in said if sentence]


def _height(found: Detections, rules: Calibrate) -> str:
    """Say that no height is stated, or one that the bounces put far off."""
    [session] = found.sessions
    if session.drop_height is None:
        return "no --release-height: it is inferred from the bounces, and the answer is wider"
    if not found.placed:
        return ""
    drops = detections.measured(found, release_sd=rules.release_sd)
    settled = release_height.settle(drops.times, drops.positions, drops.noise, drops.release)
    [height] = settled[1]
    if not height.far:
        return ""
    return (
        f"--release-height {session.drop_height:g}: the bounces tell {height.from_takes:.2g} m "
        "(in metres, from the surface to the ball's lowest point)"
    )


def _takes(usable: int, fewest: int) -> str:
    if usable < fewest:
        return f"usable takes: {usable}; a calibration needs {fewest} (calibrate.fewest_takes)"
    if usable < FEWEST:
        return f"usable takes: {usable}; from {FEWEST} on air and speed are told apart"
    return ""


def _size(session: Session) -> str:
    if session.diameter is not None and session.mass is not None:
        return unlike_its_name(session.ball, Size(session.diameter, session.mass)) or ""
    near = difflib.get_close_matches(session.ball.lower(), COMMON_BALLS, n=1)
    meant = f"did you mean {near[0]}? Else " if near else ""
    return (
        f"the size of a ball {session.ball!r} is not known: {meant}state --diameter and --mass, "
        "or air makes the answer wide"
    )


def _below(session: Session) -> str:
    below = [each.channel for each in session.rig.microphones if each.position[2] < 0.0]
    if not below:
        return ""
    named = ", ".join(map(str, below))
    return f"microphones below the surface, which is z = 0: channel {named}; does z point up?"

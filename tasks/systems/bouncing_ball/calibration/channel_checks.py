"""Channels of a session that cannot be what is stated: refused by name, in one line."""

from collections import Counter
from collections.abc import Sequence

from ricochet.models.core.bad_input import BadInput
from ricochet.models.sound import array_errors, array_findings, array_misfit, channel_order
from ricochet.models.systems.bouncing_ball.listening import shared_errors
from ricochet.models.systems.bouncing_ball.listening.takes import DetectedTake
from ricochet.tasks.recordings.sessions import Session

FAULTY = 0.5  # share of a session's takes with one fault from which the session is refused


def check_faults(session: Session, faults: Sequence[str]) -> None:
    """Refuse a session in which one fault of a channel spoils many takes.

    Raises:
        BadInput: At least half of the takes have the fault; fewer are set aside one by one.
    """
    for fault, count in Counter(faults).most_common(1):
        if count >= FAULTY * len(session.takes):
            found = f"{fault} ({count} of {len(session.takes)} takes)"
            raise BadInput(str(session.folder), found, "one microphone in each channel")


def check_order(session: Session, takes: Sequence[DetectedTake]) -> None:
    """Refuse a session whose channels are surely in another order than its microphones.

    Raises:
        BadInput: Another order explains the arrivals or the loudness far better.
    """
    microphones = session.rig.array()
    order = channel_order.swapped(shared_errors.impacts(takes, microphones), microphones)
    if order is not None:
        where = f"{session.folder}: rig.microphones"
        raise BadInput(where, channel_order.sentence(order), "each microphone on its channel")


def check_misfit(
    session: Session, takes: Sequence[DetectedTake], usable: int, survey_sd: float
) -> None:
    """Refuse a session most of whose takes no place explains if errors of its array do.

    Args:
        survey_sd: By which each coordinate of a microphone may be off, m.

    Raises:
        BadInput: Fewer than half of the takes are usable, and the misfit of the arrivals at four
            microphones or more names an error of the array.
    """
    microphones = session.rig.array()
    channels = len(microphones.positions)
    if channels < 4 or usable > FAULTY * len(takes):
        return
    taken = shared_errors.impacts(takes, microphones)
    spread = array_errors.surveyed(survey_sd)
    errors = array_misfit.infer(taken.arrivals, taken.sd, microphones=microphones, spread=spread)
    found = array_findings.findings(
        errors.mean,
        errors.covariance,
        channels=channels,
        sample_rate=microphones.sample_rate,
        spread=spread,
        usual=array_findings.everyday(survey_sd),
    )
    if found:
        text = "; ".join(finding.text for finding in found)
        raise BadInput(f"{session.folder}: rig", text, "an array that its own arrivals agree with")

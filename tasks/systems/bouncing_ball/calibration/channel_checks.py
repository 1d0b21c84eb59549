"""Channels of a session that cannot be what is stated: refused by name, in one line."""

from collections import Counter
from collections.abc import Sequence

from ricochet.models.core.bad_input import BadInput
from ricochet.models.sound import channel_order
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

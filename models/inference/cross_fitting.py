"""Networks trained on sessions, and what they answer of sessions that they were not trained on.

Frames of one session are alike in ways that another session does not share, so that folds are whole
sessions. What is calibrated (a widening, a slope, a weight) is calibrated on `CrossFit.left_out`;
what answers later is `CrossFit.network`, trained on all (Chernozhukov et al. 2018, cross-fitting).
"""

from collections.abc import Sequence

import torch

from ricochet.models.core.progress import Progress, no_progress
from ricochet.models.inference import network_training, small_networks
from ricochet.models.inference.network_training import Training
from ricochet.models.inference.small_networks import Answer, CrossFit, Network, Session


def fit(
    sessions: Sequence[Session],
    training: Training,
    draw: torch.Generator,
    *,
    folds: int | None = None,
    progress: Progress = no_progress,
) -> CrossFit:
    """Train on all sessions, and once without each fold.

    >>> import numpy as np
    >>> one = Session(np.zeros((4, 2)), np.zeros(4), np.ones(4, bool))
    >>> fitted = fit([one, one], Training(hidden=2, members=1, epochs=1), torch.Generator())
    >>> [answer.mean.shape for answer in fitted.left_out]
    [(4,), (4,)]

    Args:
        sessions: Two at least.
        training: Size of each training.
        draw: Of the trainings.
        folds: How many; None: each session is one.

    Raises:
        ValueError: If fewer than two sessions are given.
    """
    if len(sessions) < 2:
        raise ValueError(f"{len(sessions)} sessions, expected two at least: one is left out")
    count = min(folds or len(sessions), len(sessions))
    answers: dict[int, Answer] = {}
    for out in range(count):
        kept = [each for place, each in enumerate(sessions) if place % count != out]
        network = _trained(kept, training, draw)
        for place in range(out, len(sessions), count):
            answers[place] = small_networks.answer(network, sessions[place].inputs)
        progress(out + 1, count + 1)
    network = _trained(sessions, training, draw)
    progress(count + 1, count + 1)
    return CrossFit(network, tuple(answers[place] for place in range(len(sessions))))


def _trained(sessions: Sequence[Session], training: Training, draw: torch.Generator) -> Network:
    cases = [(each.inputs[each.used], each.outputs[each.used]) for each in sessions]
    return network_training.fit_together(cases, training, draw)

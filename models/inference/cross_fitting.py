"""Networks trained on sessions, and what they answer of sessions that they were not trained on.

Frames of one session are alike in ways that another session does not share, so that folds are whole
sessions; takes of one session are a group, and are left out together. What is calibrated (a
widening, a slope, a weight) is calibrated on `CrossFit.left_out`; what answers later is
`CrossFit.network`, trained on all (Chernozhukov et al. 2018, cross-fitting).
"""

from collections.abc import Sequence

import numpy as np
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
    groups: Sequence[int] | None = None,
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
        folds: How many; None: each group is one.
        groups: Of each session, from 0 on; None: each is its own.

    Raises:
        ValueError: If fewer than two groups are given.
    """
    groups = range(len(sessions)) if groups is None else groups
    if (known := len(set(groups))) < 2:
        raise ValueError(f"{known} group of sessions, expected two at least: one is left out")
    count = min(folds or known, known)
    fold_of = [group % count for group in groups]
    answers: dict[int, Answer] = {}
    for out in range(count):
        kept = [each for each, fold in zip(sessions, fold_of, strict=True) if fold != out]
        network = _trained(kept, training, draw)
        for place, fold in enumerate(fold_of):
            if fold == out:
                answers[place] = small_networks.answer(network, sessions[place].inputs)
        progress(out + 1, count + 1)
    network = _trained(sessions, training, draw)
    progress(count + 1, count + 1)
    return CrossFit(network, tuple(answers[place] for place in range(len(sessions))))


def together(fitted: CrossFit, groups: Sequence[int]) -> CrossFit:
    """Return the answers of each group one after another, as of one session.

    >>> import numpy as np
    >>> one = Session(np.zeros((4, 2)), np.zeros(4), np.ones(4, bool))
    >>> training = Training(hidden=2, members=1, epochs=1)
    >>> fitted = fit([one] * 3, training, torch.Generator(), groups=[0, 0, 1])
    >>> [answer.mean.shape for answer in together(fitted, [0, 0, 1]).left_out]
    [(8,), (4,)]
    """
    parts: dict[int, list[Answer]] = {}
    for group, each in zip(groups, fitted.left_out, strict=True):
        parts.setdefault(group, []).append(each)
    joined = (
        Answer(
            np.concatenate([each.mean for each in parts[group]]),
            np.concatenate([each.deviation for each in parts[group]]),
        )
        for group in sorted(parts)
    )
    return CrossFit(fitted.network, tuple(joined))


def _trained(sessions: Sequence[Session], training: Training, draw: torch.Generator) -> Network:
    cases = [(each.inputs[each.used], each.outputs[each.used]) for each in sessions]
    return network_training.fit_together(cases, training, draw)

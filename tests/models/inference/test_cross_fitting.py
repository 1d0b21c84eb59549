"""Sessions left out are answered by networks that never saw them."""

import numpy as np
import pytest
import torch

from ricochet.models.inference import cross_fitting, small_networks
from ricochet.models.inference.network_training import Training
from ricochet.models.inference.small_networks import Session

SMALL = Training(hidden=8, members=1, epochs=60, batch=32)


def sessions(count: int) -> list[Session]:
    """Sessions whose outputs are each session's own number, which one input names."""
    made = []
    for number in range(count):
        inputs = np.zeros((80, count))
        inputs[:, number] = 1.0
        made.append(Session(inputs, np.full(80, float(number + 1)), np.ones(80, bool)))
    return made


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.mark.proof
def test_a_session_is_known_by_the_network_of_all_and_by_none_that_left_it_out() -> None:
    made = sessions(4)
    fitted = cross_fitting.fit(made, SMALL, generator())
    known = small_networks.answer(fitted.network, made[3].inputs).mean
    assert np.abs(known - 4.0).max() < 0.5
    assert np.abs(fitted.left_out[3].mean - 4.0).min() > 1.0


@pytest.mark.parametrize("folds", [2, 3, 9, None])
def test_every_session_is_answered_whatever_the_folds(folds: int | None) -> None:
    made = sessions(3)
    fitted = cross_fitting.fit(made, SMALL, generator(), folds=folds)
    assert [len(each.mean) for each in fitted.left_out] == [80, 80, 80]
    assert all(abs(each.mean - n - 1.0).min() > 0.3 for n, each in enumerate(fitted.left_out))


@pytest.mark.proof
def test_cases_that_are_not_used_are_answered_and_not_learnt() -> None:
    draw = np.random.default_rng(0)
    made = []
    for _ in range(3):
        inputs = draw.standard_normal((200, 1))
        used = draw.random(200) < 0.5
        made.append(Session(inputs, np.where(used, inputs[:, 0], 50.0), used))
    fitted = cross_fitting.fit(made, SMALL, generator())
    for each, session in zip(fitted.left_out, made, strict=True):
        assert np.abs(each.mean - session.inputs[:, 0]).mean() < 0.3


@pytest.mark.proof
def test_takes_of_one_session_are_left_out_together() -> None:
    made = sessions(3)
    takes = [made[0], made[1], made[1], made[2]]
    alone = cross_fitting.fit(takes, SMALL, generator())
    grouped = cross_fitting.fit(takes, SMALL, generator(), groups=[0, 1, 1, 2])
    assert np.abs(alone.left_out[1].mean - 2.0).max() < 0.5  # its twin was learnt from
    assert np.abs(grouped.left_out[1].mean - 2.0).min() > 0.5
    np.testing.assert_array_equal(grouped.left_out[1].mean, grouped.left_out[2].mean)


@pytest.mark.proof
@pytest.mark.parametrize("folds", [2, None])
def test_groups_of_one_are_sessions(folds: int | None) -> None:
    made = sessions(3)
    plain = cross_fitting.fit(made, SMALL, generator(), folds=folds)
    grouped = cross_fitting.fit(made, SMALL, generator(), folds=folds, groups=[0, 1, 2])
    for one, other in zip(plain.left_out, grouped.left_out, strict=True):
        np.testing.assert_array_equal(one.mean, other.mean)


def test_one_session_cannot_be_left_out() -> None:
    with pytest.raises(ValueError, match="1 group of sessions, expected two"):
        cross_fitting.fit(sessions(1), SMALL, generator())
    with pytest.raises(ValueError, match="1 group of sessions, expected two"):
        cross_fitting.fit(sessions(2), SMALL, generator(), groups=[0, 0])

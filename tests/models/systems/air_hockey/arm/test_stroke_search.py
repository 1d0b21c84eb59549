"""The search for run-ups: what it finds does not depend on how its work is shared out."""

import os

import numpy as np

from ricochet.models.arms import iiwa, splines
from ricochet.models.systems.air_hockey.arm import stroke_search, stroke_table
from ricochet.models.systems.air_hockey.arm.stroke_path import Limits
from ricochet.models.systems.air_hockey.arm.stroke_search import RunUps


def contacts(places: tuple[float, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Return joints at contacts along x, at places in y, and the most that they could do."""
    points = np.array([[[(0.9, y, iiwa.TIP_HEIGHT)] for y in places]])
    joints = splines.seek(np.broadcast_to(iiwa.HOME, (1, len(places), 1, 7)), points, steps=20)
    unit = stroke_table.unit_speeds(joints, np.zeros(joints.shape[:-1]))
    return joints, unit / (np.abs(unit) / Limits().joint_speed).max(-1, keepdims=True)


def search(joints: np.ndarray, speeds: np.ndarray) -> RunUps:
    draw = np.random.default_rng(0)
    return stroke_search.search(joints, speeds, limits=Limits(), draw=draw, steps=6)


def test_the_same_is_found_by_one_processor_and_by_three(monkeypatch):
    found = []
    for processors, at_once in ((1, 2000), (3, 2000), (3, 7)):
        monkeypatch.setattr(os, "cpu_count", lambda n=processors: n)
        monkeypatch.setattr(stroke_search, "_AT_ONCE", at_once)
        found.append(search(*contacts((-0.1, 0.0, 0.1))))
    for other in found[1:]:
        for name, value in vars(found[0]).items():
            np.testing.assert_array_equal(vars(other)[name], value)


def test_a_stroke_is_lowered_until_it_keeps_to_the_limits_and_no_further():
    joints, speeds = contacts((-0.1, 0.0, 0.1))
    centre = np.broadcast_to(stroke_search._START, (*joints.shape[:-1], 9)).copy()
    centre[0, :, 0, 0] = (1.0, 1.0, 0.3)
    found = stroke_search._lowered(centre, joints, speeds, Limits())
    assert (stroke_search.peak_usage(found, joints, speeds, Limits()) <= 1.0).all()
    lowered = found.share < centre[..., 0]
    assert lowered.any() and not lowered.all()
    faster = RunUps(found.share + 0.02, found.wind_up, found.duration, found.offset)
    assert (stroke_search.peak_usage(faster, joints, speeds, Limits()) > 1.0)[lowered].all()


def test_a_stroke_that_never_keeps_to_the_limits_is_none(monkeypatch):
    monkeypatch.setattr(
        stroke_search, "peak_usage", lambda found, *_: np.full(found.share.shape, 2.0)
    )
    assert not search(*contacts((0.0,))).share.any()

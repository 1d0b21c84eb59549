"""Figures of inference from motion are drawn however few joints and parameters there are."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from ricochet.models.inference.identifiability import Identifiability
from ricochet.models.inference.limits import Limits
from ricochet.models.systems.rigid_bodies import mujoco_parameters
from ricochet.tasks.systems.rigid_bodies import model_inference, motion_inference
from ricochet.tasks.systems.rigid_bodies.figures import motion_inference as figures
from ricochet.tasks.systems.rigid_bodies.model_parameters import Unknown
from ricochet.tasks.systems.rigid_bodies.motion_inference import Inferred
from ricochet.tasks.systems.rigid_bodies.motion_tables import Recorded
from tests.models.systems.rigid_bodies import swings

MODELS = {
    "hinge": (swings.rod(), "joint hinge damping", 0),
    "cart": (swings.cart(), "joint hinge damping", 1),
}
"""Models, what is unknown of them, and how many actuators they have."""


def inferred(name: str) -> Inferred:
    """Particles of one parameter that begin where the recording is."""
    model, words, inputs = MODELS[name]
    limits = Limits(torch.tensor([1e-3]).double(), torch.tensor([1.0]).double())
    place = mujoco_parameters.find(model, words)
    unknown = Unknown(("friction",), ("N m s",), (place,), limits, torch.tensor([True]))
    problem = model_inference.problem(model, unknown, 0.05)
    states = np.random.default_rng(0).normal(size=(41, 2 * model.nq))
    run = Recorded(states, 100.0, np.zeros((41, inputs)))
    shooting, rate = motion_inference.windows_of(problem, {"a.csv": run}, 0.4)
    theta = torch.from_numpy(np.random.default_rng(1).uniform(0.01, 0.1, (2, 3, 1)))
    starts = shooting.starts.expand(3, -1, -1, -1)
    posterior = SimpleNamespace(theta=theta, starts=starts)
    return Inferred(problem, posterior, shooting, Identifiability(1, [], []), rate)


@pytest.mark.parametrize("name, joints", [("hinge", 1), ("cart", 2)])
def test_each_joint_has_a_column_of_two_panels(name: str, joints: int) -> None:
    figure = figures.fit(inferred(name))
    figure.draw_without_rendering()
    titles = [axes.get_title() for axes in figure.axes]
    assert len(titles) == 2 * joints
    assert [title for title in titles if title] == ["slide / m", "hinge / rad"][2 - joints :]


def test_a_single_parameter_has_its_bar() -> None:
    figure = figures.posterior(inferred("hinge"))
    figure.draw_without_rendering()
    assert [each.get_text() for each in figure.axes[0].get_yticklabels()] == ["friction"]

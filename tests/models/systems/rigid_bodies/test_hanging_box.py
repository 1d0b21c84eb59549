"""A hanging box: the chain of nine bodies with the arm's motion prescribed, weights, balance."""

import math

import numpy as np
import pytest
import torch

from ricochet.models.arms import panda
from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.rigid_bodies import articulated_bodies, hanging_box
from ricochet.models.systems.rigid_bodies.articulated_bodies import Chain
from ricochet.models.systems.rigid_bodies.hanging_box import Box, Carrier

READY = 0.25 * math.pi * np.array((0.0, -1.0, 0.0, -3.0, 0.0, 2.0, 1.0))
DOWN = torch.tensor((0.0, 0.0, 1.0)).double()
MASS = 0.92
INERTIA = torch.tensor(
    ((0.06, 0.004, -0.002), (0.004, 0.07, 0.003), (-0.002, 0.003, 0.05))
).double()
CENTRE = torch.tensor((0.003, -0.004, 0.25)).double()
DAMPING = torch.tensor((0.02, 0.03)).double()


def box() -> Box:
    return hanging_box.of_centre(MASS, CENTRE, INERTIA, DAMPING)


def carrier_of(joints: np.ndarray, rates: np.ndarray, accelerations: np.ndarray) -> Carrier:
    moved = panda.moving(joints, rates, accelerations)
    pull = moved.acceleration + np.array((0.0, 0.0, GRAVITY))
    own = (moved.spin, moved.angular_acceleration, pull)
    return Carrier(*(torch.from_numpy(np.einsum("...ji,...j->...i", moved.turn, x)) for x in own))


def chain() -> Chain:
    """The arm with made-up bodies, and the box on two joints more."""
    fixed = np.array([panda._fixed(number) for number in range(7)])
    turns = torch.from_numpy(np.concatenate((fixed[:, :3, :3], np.tile(np.eye(3), (2, 1, 1)))))
    places = torch.from_numpy(
        np.concatenate((fixed[:, :3, 3], ((0.0, 0.0, panda.FLANGE), (0.0, 0.0, 0.0))))
    )
    axes = torch.tensor(((0.0, 0.0, 1.0),) * 7 + ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))).double()
    nil = 1e-12 * torch.eye(3).double()
    return Chain(
        axes=axes,
        places=places,
        turns=turns,
        masses=torch.tensor((3.0,) * 7 + (0.0, MASS), dtype=torch.float64),
        centres=torch.cat((0.05 * torch.ones(8, 3).double(), CENTRE[None])),
        inertias=torch.cat(
            (0.02 * torch.eye(3).double().expand(7, 3, 3), nil[None], INERTIA[None])
        ),
        damping=torch.cat((torch.zeros(7).double(), DAMPING)),
    )


def test_it_moves_as_the_last_two_joints_of_the_whole_arm() -> None:
    """Torques are found that accelerate the arm's joints as prescribed; the box then follows."""
    generator = np.random.default_rng(0)
    joints = torch.from_numpy(READY + 0.3 * generator.normal(size=7))
    angles = torch.from_numpy(0.5 * generator.normal(size=2))
    rates, wanted = (torch.from_numpy(generator.normal(size=n)) for n in (9, 7))
    own, position = chain(), torch.cat((joints, angles))
    units = torch.eye(9)[:7].double()
    found = articulated_bodies.accelerations(own, position, rates, units)
    torques = torch.zeros(9).double()
    whole = articulated_bodies.accelerations(own, position, rates, torques)
    mobility = (found - whole)[:, :7].T
    for _ in range(3):
        torques[:7] += torch.linalg.solve(mobility, wanted - whole[:7])
        whole = articulated_bodies.accelerations(own, position, rates, torques)
    torch.testing.assert_close(whole[:7], wanted, rtol=1e-10, atol=1e-10)
    carrier = carrier_of(joints.numpy(), rates[:7].numpy(), wanted.numpy())
    mine = hanging_box.accelerations(box(), angles, rates[7:], carrier)
    torch.testing.assert_close(mine, whole[7:], rtol=1e-9, atol=1e-9)


def still(steps: int) -> Carrier:
    return carrier_of(*(np.tile(each, (steps, 1)) for each in (READY, 0.0 * READY, 0.0 * READY)))


@pytest.mark.proof
def test_it_comes_to_rest_with_its_centre_below_the_joint() -> None:
    start = torch.tensor((0.3, -0.2, 0.0, 0.0)).double()
    heavy = hanging_box.of_centre(MASS, CENTRE, INERTIA, 20.0 * DAMPING)
    last = hanging_box.roll_out(heavy, start, still(8000), duration=2e-3)[-1]
    assert float(last[2:].abs().max()) < 1e-4
    down = hanging_box.points(last[:2], CENTRE[None])[0]
    torch.testing.assert_close(down / down.norm(), DOWN, rtol=0.0, atol=1e-3)


@pytest.mark.proof
def test_steps_converge_with_their_first_power() -> None:
    start = torch.tensor((0.3, -0.2, 0.5, 1.0)).double()
    ends = []
    for steps in (200, 400, 800, 6400):
        ends.append(hanging_box.roll_out(box(), start, still(steps), duration=0.4 / steps)[-1])
    errors = [float((end - ends[-1]).norm()) for end in ends[:-1]]
    assert 1.7 < errors[0] / errors[1] < 2.3
    assert 1.7 < errors[1] / errors[2] < 2.5


def test_two_equal_weights_may_change_places_and_one_at_the_joint_is_nothing() -> None:
    one, two = torch.tensor((0.1, 0.05, 0.4)).double(), torch.tensor((-0.1, -0.02, 0.4)).double()
    first = box().with_weight(0.5, one).with_weight(0.5, two)
    second = box().with_weight(0.5, two).with_weight(0.5, one)
    start = torch.tensor((0.3, -0.2, 0.5, 1.0)).double()
    motions = [hanging_box.roll_out(x, start, still(300), duration=2e-3) for x in (first, second)]
    torch.testing.assert_close(*motions)
    same = box().with_weight(0.5, 0.0 * one)
    torch.testing.assert_close(
        *(hanging_box.roll_out(x, start, still(50), duration=2e-3) for x in (box(), same))
    )


def test_boxes_in_a_batch_move_each_by_itself_and_have_derivatives() -> None:
    places = 0.1 * torch.from_numpy(np.random.default_rng(1).normal(size=(4, 3)))
    batch = Box(*(each.expand(4, *each.shape) for each in vars(box()).values()))
    start = torch.tensor((0.3, -0.2, 0.5, 1.0)).double()
    places.requires_grad_()
    moved = hanging_box.roll_out(
        batch.with_weight(0.5, places), start.expand(4, 4), still(40), duration=5e-3
    )
    for number in range(4):
        alone = hanging_box.roll_out(
            box().with_weight(0.5, places[number]), start, still(40), duration=5e-3
        )
        torch.testing.assert_close(moved[number], alone)
    (slope,) = torch.autograd.grad(moved[0, -1, 0], places)
    assert float(slope[0].abs().max()) > 0.0
    assert float(slope[1:].abs().max()) == 0.0

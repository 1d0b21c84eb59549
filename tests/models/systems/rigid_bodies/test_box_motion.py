"""Motions of boxes side by side: the box that is proved, torch's derivatives, and batches."""

import pytest
import torch
from torch import Tensor

from ricochet.models.systems.rigid_bodies import box_motion, box_parameters, hanging_box
from ricochet.models.systems.rigid_bodies.box_motion import BoxMotion
from tests.models.systems.rigid_bodies import boxes

SHORT, SUBSTEPS, COUNT = 0.01, 3, 6


def starts(count: int, seed: int = 2) -> Tensor:
    draw = torch.Generator().manual_seed(seed)
    return 0.4 * torch.randn(count, 4, generator=draw, dtype=torch.float64)


def moved(numbers: Tensor, begun: Tensor, carried: Tensor) -> BoxMotion:
    return box_motion.move(numbers, begun, carried, short=SHORT, substeps=SUBSTEPS)


def some(count: int = 4) -> tuple[Tensor, Tensor, Tensor]:
    """Numbers, starts and carriers of their own."""
    theta = boxes.parameters(count)
    return box_parameters.loaded(theta), starts(count), boxes.carried(COUNT, (count,))


def test_accelerations_are_those_of_the_hanging_box() -> None:
    theta = boxes.parameters(50)
    states, carried = starts(50), boxes.carried(1, (50,))[:, 0]
    numbers = box_parameters.loaded(theta)
    found = box_motion.accelerations(numbers.T, states[:, :2].T, states[:, 2:].T, carried.T)
    box, flange = boxes.loaded(theta), boxes.carrier(carried)
    expected = hanging_box.accelerations(box, states[:, :2], states[:, 2:], flange)
    torch.testing.assert_close(torch.stack(found, -1), expected, rtol=1e-9, atol=1e-9)


def test_motions_are_those_of_the_hanging_box_at_every_step() -> None:
    theta = boxes.parameters(4)
    numbers, begun, carried = some()
    expected = hanging_box.roll_out(
        boxes.loaded(theta), begun, boxes.carrier(carried), duration=SHORT
    )
    found = moved(numbers, begun, carried)
    torch.testing.assert_close(found.states, expected[:, SUBSTEPS - 1 :: SUBSTEPS])
    torch.testing.assert_close(found.passed[:, 1:].movedim((0, 1), (-1, -2)), expected)


def test_a_batch_moves_as_its_members_and_their_derivatives_are_the_members() -> None:
    numbers, begun, carried = some()
    whole = moved(numbers, begun, carried)
    slopes = whole.jacobian()
    for place in range(len(numbers)):
        alone = moved(numbers[place], begun[place], carried[place])
        torch.testing.assert_close(alone.states, whole.states[place])
        torch.testing.assert_close(alone.jacobian().by_start, slopes.by_start[place])
        torch.testing.assert_close(alone.jacobian().by_number, slopes.by_number[place])


def test_the_jacobian_is_torchs_of_the_motion_of_the_hanging_box() -> None:
    numbers, begun, carried = some(1)

    def states(number: Tensor, start: Tensor) -> Tensor:
        xx, yy, zz, xy, xz, yz = number[3:9]
        rows = (xx, xy, xz, xy, yy, yz, xz, yz, zz)
        inertia = torch.stack(rows).reshape(3, 3)
        box = hanging_box.Box(number[:3], inertia, number[9:])
        own = hanging_box.roll_out(box, start, boxes.carrier(carried[0]), duration=SHORT)
        return own[SUBSTEPS - 1 :: SUBSTEPS]

    by_number, by_start = torch.autograd.functional.jacobian(states, (numbers[0], begun[0]))
    found = moved(numbers, begun, carried).jacobian()
    torch.testing.assert_close(found.by_number[0], by_number, rtol=1e-8, atol=1e-10)
    torch.testing.assert_close(found.by_start[0], by_start, rtol=1e-8, atol=1e-10)


def test_the_gradient_is_the_weighted_sum_of_the_jacobian() -> None:
    motion = moved(*some())
    draw = torch.Generator().manual_seed(3)
    weights = torch.randn(motion.states.shape, generator=draw, dtype=torch.float64)
    by_start, by_number = motion.gradient(weights)
    whole = motion.jacobian()
    each = weights[..., None]
    torch.testing.assert_close(by_start, (each * whole.by_start).sum((-3, -2)))
    torch.testing.assert_close(by_number, (each * whole.by_number).sum((-3, -2)))


def test_a_heavier_box_with_as_much_more_friction_moves_alike() -> None:
    numbers, begun, carried = some()
    one, other = (moved(scale * numbers, begun, carried).states for scale in (1.0, 3.0))
    torch.testing.assert_close(one, other)


@pytest.mark.parametrize("substeps", [1, 2, 3])
def test_steps_are_short_ones_whose_states_between_are_left_out(substeps: int) -> None:
    numbers, begun, carried = some()
    every = box_motion.move(numbers, begun, carried, short=SHORT, substeps=1)
    found = box_motion.move(numbers, begun, carried, short=SHORT, substeps=substeps)
    kept = slice(substeps - 1, None, substeps)
    torch.testing.assert_close(found.states, every.states[:, kept])
    torch.testing.assert_close(found.jacobian().by_number, every.jacobian().by_number[:, kept])

"""Parameters of boxes and weights: the numbers of the box that is proved, windows, derivatives."""

import torch
from torch import Tensor

from ricochet.models.systems.rigid_bodies import box_motion, box_parameters, hanging_box
from ricochet.models.systems.rigid_bodies.box_parameters import BoxSimulator
from ricochet.models.systems.rigid_bodies.hanging_box import Box
from tests.models.systems.rigid_bodies import boxes

WINDOWS, STEPS, SUBSTEPS, SHORT = 4, 3, 2, 0.01
KINDS = (box_parameters.empty_of_both, box_parameters.loaded)


def numbers_of(box: Box) -> Tensor:
    rows, columns = (0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)
    return torch.cat((box.moment, box.inertia[..., rows, columns], box.damping), -1)


def simulator() -> BoxSimulator:
    """Two windows of an empty box, then two of the loaded one."""
    carried = boxes.carried(STEPS * SUBSTEPS, (WINDOWS,))
    return BoxSimulator(carried, KINDS, torch.tensor([0, 0, 1, 1]), SHORT, SUBSTEPS)


def starts(particles: int = 3) -> Tensor:
    draw = torch.Generator().manual_seed(4)
    return 0.3 * torch.randn(particles, WINDOWS, 4, generator=draw, dtype=torch.float64)


def test_numbers_are_those_of_the_hanging_box() -> None:
    theta = boxes.parameters(20)
    for found, box in (
        (box_parameters.of_empty(theta[:, :11]), boxes.empty(theta)),
        (box_parameters.empty_of_both(theta), boxes.empty(theta)),
        (box_parameters.loaded(theta), boxes.loaded(theta)),
    ):
        torch.testing.assert_close(found, numbers_of(box))


def test_weights_that_change_places_are_the_same_box_and_back_again_the_same_parameters() -> None:
    theta = boxes.parameters(20)
    other = box_parameters.swapped(theta)
    assert bool((other[:, 11:] != theta[:, 11:]).all())
    torch.testing.assert_close(box_parameters.loaded(other), box_parameters.loaded(theta))
    torch.testing.assert_close(box_parameters.swapped(other), theta, rtol=0.0, atol=0.0)
    places = theta[:, 11:]
    torch.testing.assert_close(box_parameters.swapped(places), other[:, 11:], rtol=0.0, atol=0.0)


def test_each_window_moves_as_the_box_that_is_in_it() -> None:
    theta, begun, simulate = boxes.parameters(3), starts(), simulator()
    found = simulate(theta[:, None], begun, steps=STEPS).states
    for particle in range(3):
        for window, kind in enumerate((*KINDS[:1] * 2, *KINDS[1:] * 2)):
            alone = box_motion.move(
                kind(theta[particle]),
                begun[particle, window],
                simulate.carried[window],
                short=SHORT,
                substeps=SUBSTEPS,
            )
            torch.testing.assert_close(found[particle, window], alone.states)


def test_fewer_windows_are_the_first_ones_and_fewer_steps_the_first_ones() -> None:
    theta, begun, simulate = boxes.parameters(3)[:, None], starts(), simulator()
    whole = simulate(theta, begun, steps=STEPS).states
    torch.testing.assert_close(simulate(theta, begun[:, :2], steps=STEPS).states, whole[:, :2])
    torch.testing.assert_close(simulate(theta, begun, steps=2).states, whole[:, :, :2])


def test_derivatives_by_parameters_are_torchs() -> None:
    theta, begun, simulate = boxes.parameters(2), starts(2), simulator()

    def states(own: Tensor, start: Tensor) -> Tensor:
        made = (boxes.empty(own),) * 2 + (boxes.loaded(own),) * 2
        rolled = [
            hanging_box.roll_out(box, each, boxes.carrier(flange), duration=SHORT)
            for box, each, flange in zip(made, start, simulate.carried, strict=True)
        ]
        return torch.stack(rolled)[:, SUBSTEPS - 1 :: SUBSTEPS]

    motion = simulate(theta[:, None], begun, steps=STEPS)
    found = motion.jacobian()
    draw = torch.Generator().manual_seed(5)
    weights = torch.randn(motion.states.shape, generator=draw, dtype=torch.float64)
    by_start, by_parameter = motion.gradient(weights)
    for particle in range(2):
        both = (theta[particle], begun[particle])
        slopes, own = torch.autograd.functional.jacobian(states, both)
        torch.testing.assert_close(found.by_parameter[particle], slopes)
        for window in range(WINDOWS):
            torch.testing.assert_close(
                found.by_start[particle, window], own[window, ..., window, :]
            )
        each = weights[particle][..., None]
        torch.testing.assert_close(by_parameter[particle], (each * slopes).sum((1, 2)))
        expected = (each[..., None] * own).sum((0, 1, 2))
        torch.testing.assert_close(by_start[particle], expected)

"""Single and multiple shooting of an oscillator: normal densities, and torch's derivatives."""

from dataclasses import dataclass, replace

import pytest
import torch

from ricochet.models.inference import multiple_shooting
from ricochet.models.inference.multiple_shooting import Shooting

STEP = 0.05


@dataclass(frozen=True)
class Derivatives:
    by_start: torch.Tensor
    by_parameter: torch.Tensor


@dataclass(frozen=True)
class Swing:
    """Motions of an oscillator with stiffness and damping, derived by torch."""

    theta: torch.Tensor
    starts: torch.Tensor
    steps: int

    @property
    def states(self) -> torch.Tensor:
        return self._rolled(self.theta, self.starts)

    def _rolled(self, theta: torch.Tensor, starts: torch.Tensor) -> torch.Tensor:
        place, speed = starts.unbind(-1)
        found = []
        for _ in range(self.steps):
            speed = speed - STEP * (theta[..., 0] * place + theta[..., 1] * speed)
            place = place + STEP * speed
            found.append(torch.stack((place, speed), -1))
        return torch.stack(found, -2)

    def gradient(self, weights: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        theta = self.theta.expand(*self.starts.shape[:-1], 2).clone().requires_grad_()
        starts = self.starts.clone().requires_grad_()
        summed = (weights * self._rolled(theta, starts)).sum()
        by_start, by_parameter = torch.autograd.grad(summed, (starts, theta))
        return by_start, by_parameter

    def jacobian(self) -> Derivatives:
        theta = self.theta.expand(*self.starts.shape[:-1], 2)
        both = torch.func.jacrev(self._rolled, (0, 1))
        by_parameter, by_start = torch.vmap(torch.vmap(both))(theta, self.starts)
        return Derivatives(by_start, by_parameter)


def observed(runs: int = 2, steps: int = 12, noise: float = 0.1) -> torch.Tensor:
    draw = torch.Generator().manual_seed(1)
    theta = torch.tensor([[4.0, 0.3]], dtype=torch.float64)
    starts = torch.randn(runs, 2, generator=draw, dtype=torch.float64)
    rolled = Swing(theta, starts, steps).states
    rolled = rolled + noise * torch.randn(rolled.shape, generator=draw, dtype=torch.float64)
    return torch.cat((starts[:, None], rolled), 1)


def shooting(windows: int, **changes) -> Shooting:
    scale = torch.tensor([0.7, 1.5], dtype=torch.float64)
    return Shooting(Swing, observed(**changes), windows, scale)


THETA = torch.tensor([[4.0, 0.3], [3.0, 0.1], [5.0, 0.0]], dtype=torch.float64)


def begun(problem: Shooting, particles: int = 3, noise: float = 0.2) -> torch.Tensor:
    draw = torch.Generator().manual_seed(2)
    free = problem.starts.expand(particles, *problem.starts.shape)
    return free + noise * torch.randn(free.shape, generator=draw, dtype=torch.float64)


def test_one_window_is_the_normal_density_of_the_whole_motion() -> None:
    problem = shooting(1)
    shot = problem.at(THETA, begun(problem, noise=0.0))
    found = multiple_shooting.log_likelihoods(shot.residuals, 0.4)
    motions = Swing(THETA[:, None], problem.observed[None, :, 0], 12).states
    law = torch.distributions.Normal(motions / problem.scale, 0.4)
    expected = law.log_prob(problem.observed[:, 1:] / problem.scale).sum((2, 3))
    torch.testing.assert_close(found, expected)
    assert shot.defects.numel() == 0
    assert bool((shot.offsets == 0.0).all())


@pytest.mark.parametrize("windows", [2, 3, 12])
def test_windows_without_defects_are_the_whole_motion(windows: int) -> None:
    whole, parts = shooting(1), shooting(windows)
    first = begun(whole)
    once = whole.at(THETA, first).motion.states.unflatten(1, (2, 1))[:, :, 0]
    shot = parts.at(THETA, torch.cat((first, once[:, :, parts.steps - 1 : -1 : parts.steps]), 2))
    assert float(shot.defects.abs().max()) < 1e-12
    torch.testing.assert_close(
        multiple_shooting.log_likelihoods(shot.residuals, 0.4),
        multiple_shooting.log_likelihoods(whole.at(THETA, first).residuals, 0.4),
    )


@pytest.mark.parametrize("windows", [1, 3])
def test_what_is_pulled_back_is_what_torch_finds(windows: int) -> None:
    problem = shooting(windows)
    theta, starts = THETA.clone().requires_grad_(), begun(problem).requires_grad_()
    shot = problem.at(theta, starts)
    draw = torch.Generator().manual_seed(3)
    weights = [
        torch.randn(each.shape, generator=draw, dtype=torch.float64)
        for each in (shot.residuals, shot.defects)
    ]
    summed = (weights[0] * shot.residuals).sum() + (weights[1] * shot.defects).sum()
    expected = torch.autograd.grad(summed, (theta, starts), allow_unused=True)
    found = problem.at(THETA, begun(problem)).pulled_back(*weights)
    torch.testing.assert_close(found[0], expected[0])
    torch.testing.assert_close(found[1], expected[1])


def test_the_jacobian_is_that_of_the_residuals() -> None:
    problem = shooting(3)
    theta, starts = THETA, begun(problem)

    def residuals(theta: torch.Tensor, starts: torch.Tensor) -> torch.Tensor:
        return problem.at(theta[None], starts[None]).residuals[0]

    both = torch.func.jacrev(residuals, (0, 1))
    by_parameter, by_start = torch.vmap(both)(theta, starts)
    found = problem.at(theta, starts).jacobian()
    torch.testing.assert_close(found[0], -by_parameter)
    for run in range(2):
        for window in range(3):
            own = by_start[:, run, window, ..., run, window, :]
            torch.testing.assert_close(found[1][:, run, window], -own)


def test_scales_of_the_states_are_units() -> None:
    """States in other units, with the scale in the same: nothing changes."""
    problem = shooting(3)
    unit = torch.tensor([1e3, 1e3], dtype=torch.float64)
    other = Shooting(Swing, unit * problem.observed, 3, unit * problem.scale)
    one, same = problem.at(THETA, begun(problem)), other.at(THETA, unit * begun(problem))
    torch.testing.assert_close(one.residuals, same.residuals)
    torch.testing.assert_close(one.defects, same.defects)


def test_a_mixture_lets_each_trajectory_have_parameters_of_its_own() -> None:
    each = torch.tensor([[-3.0, -5.0], [-700.0, -2.0]], dtype=torch.float64)
    together, weights = multiple_shooting.of_all(each, mixture=True)
    torch.testing.assert_close(together[0], torch.log(torch.exp(each[0]).sum()))
    torch.testing.assert_close(weights.sum(1), torch.ones(2, dtype=torch.float64))
    product, ones = multiple_shooting.of_all(each, mixture=False)
    torch.testing.assert_close(product, each.sum(1))
    assert bool((ones == 1.0).all())


@pytest.mark.parametrize("windows", [0, 5, 24])
def test_windows_that_leave_steps_over_are_refused(windows: int) -> None:
    with pytest.raises(ValueError, match="windows must divide the 12 steps"):
        shooting(windows)


@pytest.mark.parametrize("windows", [1, 3])
def test_of_states_that_are_not_observed_there_are_defects_alone(windows: int) -> None:
    """Residuals, offsets and what is pulled back are those of all states, the others' left out."""
    whole = shooting(windows)
    part = replace(whole, seen=1)
    assert (part.observable, whole.observable) == (1, 2)
    one, all_of_it = part.at(THETA, begun(part)), whole.at(THETA, begun(whole))
    torch.testing.assert_close(one.residuals, all_of_it.residuals[..., :1])
    torch.testing.assert_close(one.offsets, all_of_it.offsets[..., :1])
    torch.testing.assert_close(one.defects, all_of_it.defects)
    draw = torch.Generator().manual_seed(3)
    weights = [
        torch.randn(each.shape, generator=draw, dtype=torch.float64)
        for each in (one.residuals, one.defects)
    ]
    expected = all_of_it.pulled_back(torch.nn.functional.pad(weights[0], (0, 1)), weights[1])
    for found, each in zip(one.pulled_back(*weights), expected, strict=True):
        torch.testing.assert_close(found, each)


def test_values_of_states_that_are_not_observed_are_never_compared() -> None:
    part = replace(shooting(3), seen=1)
    other = part.observed + torch.tensor([0.0, 5.0], dtype=torch.float64)
    one, same = (each.at(THETA, begun(part)) for each in (part, replace(part, observed=other)))
    torch.testing.assert_close(one.residuals, same.residuals)
    torch.testing.assert_close(one.offsets, same.offsets)
    torch.testing.assert_close(one.defects, same.defects)


@pytest.mark.parametrize("seen", [0, 3, -1])
def test_states_that_are_not_there_cannot_be_seen(seen: int) -> None:
    with pytest.raises(ValueError, match=f"seen must be 1 to 2 states, not {seen}"):
        replace(shooting(3), seen=seen)

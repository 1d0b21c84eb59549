"""Posteriors of throws, all but linear: those of grids, of departures, and of a symmetry."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
import torch
from torch import Tensor

from ricochet.models.inference import linear_newton, residual_whiteness, stein_newton, throws
from ricochet.models.inference.gauss_newton import Schedule
from ricochet.models.inference.limits import Limits, Shares
from ricochet.models.inference.linear_newton import Settings
from ricochet.models.inference.multiple_shooting import Shooting
from ricochet.models.inference.stein_newton import Posterior

FAR = Shares(Limits(torch.full((2,), -9.0).double(), torch.full((2,), 9.0).double()))
QUICK = Settings(
    particles=100,
    schedule=Schedule(widest=0.05, tightest=0.003, quick=0.5, steps=20),
    settling=4,
    rounds=6,
)
"""Of motions that are linear, moves forget at once where particles were."""
LONG = replace(QUICK, settling=80)
"""Strong departures are found from slight ones by small steps, of starts and deviations in turn."""


def thrown(noise: float = 0.05, windows: int = 6, steps: int = 24) -> Shooting:
    draw = np.random.default_rng(1)
    return throws.observed(draw, windows=windows, steps=steps, noise=noise)


def gusty(delta: float, noise: float = 0.05, windows: int = 6, steps: int = 4) -> Shooting:
    """Throws whose states are displaced between windows, by deviations over the scale."""
    draw, scale = np.random.default_rng(3), torch.tensor([0.8, 1.6]).double()
    theta = torch.tensor([throws.TRUTH]).double()
    states = [torch.from_numpy(draw.normal(size=(2, 1, 2)))]
    for _ in range(windows):
        begun = states[-1][:, -1] + delta * scale * torch.from_numpy(draw.normal(size=(2, 2)))
        states.append(throws.Throw(theta, begun, steps).states)
    whole = torch.cat(states, 1)
    seen = whole + noise * scale * torch.from_numpy(draw.normal(size=whole.shape))
    return Shooting(throws.Throw, seen, windows, scale)


@dataclass(frozen=True)
class Cut:
    """The same coordinates, of a prior that ends within them."""

    limits: Limits

    @property
    def shares(self) -> Shares:
        return Shares(self.limits)

    @property
    def precision(self) -> Tensor:
        return FAR.precision

    @property
    def free(self) -> Tensor:
        return FAR.free

    def parameters(self, x: Tensor) -> Tensor:
        return FAR.parameters(x)

    def of(self, theta: Tensor) -> Tensor:
        return FAR.of(theta)

    def slopes(self, x: Tensor) -> Tensor:
        return FAR.slopes(x)

    def log_prior(self, x: Tensor) -> tuple[Tensor, Tensor]:
        theta, (value, gradient) = FAR.parameters(x), FAR.log_prior(x)
        inside = ((theta > self.limits.low) & (theta < self.limits.high)).all(-1)
        return torch.where(inside, value, -torch.inf), gradient


def infer(shooting: Shooting, *, seed: int = 0, **options) -> Posterior:
    options = {"settings": QUICK, **options}
    coordinates = options.pop("coordinates", FAR)
    draw = np.random.default_rng(seed)
    return linear_newton.infer(shooting, coordinates, draw, fitting=FAR, **options)


def agree(one: Posterior, other: Posterior, draws: float) -> None:
    """Means within five standard errors of so many draws, and widths within five of theirs."""
    first, second = one.theta.flatten(0, 1), other.theta.flatten(0, 1)
    error = first.std(0) * np.sqrt(2.0 / draws)
    assert bool(((first.mean(0) - second.mean(0)).abs() < 5.0 * error).all())
    width = torch.log(first.std(0) / second.std(0)).abs()
    assert float(width.max()) < 5.0 * np.sqrt(1.0 / draws)


@pytest.mark.proof
def test_the_posterior_is_that_of_moves_of_all_starts() -> None:
    """Departures inferred by both: 100 particles of six rounds are 100 draws or more."""
    shooting = gusty(0.3)
    mine = infer(shooting, settings=LONG)
    settings = stein_newton.Settings(particles=100, settling=80, rounds=6)
    other = stein_newton.infer(shooting, FAR, np.random.default_rng(1), settings=settings)
    assert other.white < residual_whiteness.WHITE  # else departures are held at next to none
    agree(mine, other, 100)
    assert float(mine.mixing.max()) < 1.1 and mine.accepted > 0.9


@pytest.mark.slow
def test_truth_and_noise_are_found() -> None:
    found = infer(thrown())
    theta = found.theta.flatten(0, 1)
    away = (theta.mean(0) - torch.tensor(throws.TRUTH)) / theta.std(0)
    assert float(away.abs().max()) < 4.0
    sigma = found.sigma.flatten(0, 1)
    expected = 0.05 * torch.tensor([0.8, 1.6]).double()
    assert float(((sigma.mean(0) - expected) / sigma.std(0)).abs().max()) < 4.0
    assert found.theta.shape == (6, 100, 2) and found.delta.shape == (6, 100, 2)
    assert found.starts.shape == (100, 2, 6, 2)


@pytest.mark.proof
def test_where_the_equations_do_not_hold_it_is_wider_and_says_by_how_much() -> None:
    held, broken = (infer(gusty(by), settings=LONG) for by in (0.0, 0.3))
    assert bool((broken.theta.flatten(0, 1).std(0) > 2.0 * held.theta.flatten(0, 1).std(0)).all())
    away = broken.theta.flatten(0, 1).mean(0) - torch.tensor(throws.TRUTH)
    assert float((away.abs() / broken.theta.flatten(0, 1).std(0)).max()) < 4.0
    assert bool((broken.delta.mean((0, 1)) > 3.0 * held.delta.mean((0, 1))).all())
    delta = broken.delta.flatten(0, 1) / torch.tensor([0.8, 1.6]).double()
    assert bool(((delta.log().mean(0) - np.log(0.3)).abs() < 3.0 * delta.log().std(0)).all())


@pytest.mark.proof
def test_limits_that_cut_the_posterior_keep_the_rest_of_it() -> None:
    """Without the limits, particles beyond them are left out: the same law."""
    shooting = thrown()
    free = infer(shooting, settings=replace(QUICK, particles=250))
    theta = free.theta.flatten(0, 1)
    middle = theta.median(0).values
    low, high = torch.full((2,), -9.0).double(), torch.full((2,), 9.0).double()
    low[0] = middle[0]
    cut = infer(shooting, coordinates=Cut(Limits(low, high)))
    assert bool((cut.theta >= low).all())
    rest = replace(free, theta=theta[theta[:, 0] > middle[0]][None])
    agree(cut, rest, 100)


@pytest.mark.proof
def test_a_symmetry_gives_both_of_what_is_alike_half_each() -> None:
    """600 particles take it by chance: of a share of 1/2 three standard errors are 0.061."""

    def other(theta: Tensor) -> Tensor:
        return theta + torch.tensor([100.0, 0.0]).double()

    found, plain = infer(thrown(), symmetry=other), infer(thrown())
    taken = found.theta[..., 0] > 50.0
    assert abs(float(taken.double().mean()) - 0.5) < 0.061
    assert not bool((plain.theta[..., 0] > 50.0).any())
    back = torch.where(taken[..., None], found.theta - other(torch.zeros(2).double()), found.theta)
    torch.testing.assert_close(back, plain.theta)


@pytest.mark.proof
def test_one_throw_and_progress_to_the_end() -> None:
    said: list[tuple[int, int]] = []
    shooting = thrown()
    one = replace(shooting, observed=shooting.observed[:1])
    settings = replace(QUICK, rounds=2)
    found = infer(one, settings=settings, progress=lambda *each: said.append(each))
    shares = [done / count for done, count in said]
    assert shares == sorted(shares) and shares[-1] == 1.0
    assert float(found.theta[..., 0].std()) > float(infer(shooting).theta[..., 0].std())

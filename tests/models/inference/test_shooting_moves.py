"""Moves of particles: normal laws, gamma laws, and grids of a density that is neither."""

from typing import Any

import numpy as np
import pytest
import torch
from scipy import stats

from ricochet.models.inference import shooting_moves, throws
from ricochet.models.inference.limits import Limits, Shares
from ricochet.models.inference.multiple_shooting import Shooting
from ricochet.models.inference.shooting_density import Noise, ShootingDensity, Unknowns
from ricochet.models.inference.shooting_moves import Chain
from tests.models.inference.test_multiple_shooting import shooting

SHARES = Shares(Limits(torch.full((2,), -20.0).double(), torch.full((2,), 20.0).double()))


def thrown(**options: Any) -> Shooting:
    """Two throws."""
    return throws.observed(np.random.default_rng(1), **options)


def begun(density: ShootingDensity, particles: int, centre: tuple[float, float]) -> Unknowns:
    """Particles about a place, more widely than any posterior here."""
    draw = np.random.default_rng(0)
    theta = torch.tensor(centre).double() + 0.3 * torch.from_numpy(draw.normal(size=(particles, 2)))
    z = density.shooting.starts / density.shooting.scale
    wide = 0.1 * torch.from_numpy(draw.normal(size=(particles, *z.shape)))
    return Unknowns(density.coordinates.of(theta), z + wide)


def noise(particles: int, sigma: float, delta: float) -> Noise:
    return Noise(*(torch.full((particles, 2), each).double() for each in (sigma, delta)))


def run(density: ShootingDensity, chain: Chain, rounds: int, **options: Any) -> Chain:
    generator = np.random.default_rng(1)
    chain = shooting_moves.moved(density, chain, rounds, generator, adapt=True, **options)
    return shooting_moves.moved(density, chain, rounds, generator, **options)


def agrees(draws: np.ndarray, mean: np.ndarray, covariance: np.ndarray) -> None:
    """Mean and covariance of independent draws are those of a law, as far as their number tells."""
    count, size = draws.shape
    whitened = np.linalg.solve(np.linalg.cholesky(covariance), (draws - mean).T)
    assert count * np.square(whitened.mean(1)).sum() < stats.chi2.ppf(1.0 - 1e-4, size)
    spread = np.linalg.eigvalsh(np.cov(whitened))
    assert np.abs(spread - 1.0).max() < 5.0 * np.sqrt((size + 1.0) / count)


@pytest.mark.proof
@pytest.mark.parametrize("windows", [1, 4])
def test_the_posterior_of_linear_motions_is_the_normal_law_that_it_is(windows: int) -> None:
    density = ShootingDensity(thrown(windows=windows), SHARES)
    start, law = begun(density, 1000, (-2.0, 0.5)), noise(1000, 0.05, 0.02)
    centre = start[torch.tensor([0])]
    here = density.expanded(centre, density.at(centre), law[torch.tensor([0])])
    prior = torch.diag(SHARES.precision)
    exact = type(here.metric)(here.metric.shared - prior, here.metric.across, here.metric.own)
    dx, _ = exact.solve(here.by_x, here.by_z)
    found = run(density, Chain(start, law, 0.8), 8)
    covariance = torch.linalg.inv(exact.marginal()[0]).numpy()
    agrees(found.unknowns.x.numpy(), (centre.x + dx)[0].numpy(), covariance)


@pytest.mark.proof
def test_an_oscillator_has_the_posterior_of_a_grid() -> None:
    """Twelve noisy states: far from normal. Starts are integrated out, in which it is normal."""
    shares = Shares(Limits(torch.tensor([0.0, -2.0]).double(), torch.tensor([12.0, 4.0]).double()))
    density = ShootingDensity(shooting(3, runs=1, noise=0.2), shares)
    cells = torch.cartesian_prod(*(torch.linspace(0.0025, 0.9975, 200).double() for _ in range(2)))
    z = (density.shooting.starts / density.shooting.scale).expand(len(cells), 1, 3, 2)
    at, law = Unknowns(cells, z), noise(len(cells), 0.3, 0.1)
    here = density.expanded(at, density.at(at), law)
    step = torch.linalg.solve(here.metric.own, here.by_z[..., None])[..., 0]
    best = at.moved(torch.zeros_like(cells), step)
    log = density.value(best, density.at(best), law) - 0.5 * torch.logdet(here.metric.own[:, 0])
    weights = torch.softmax(log, 0).numpy()
    mean = weights @ cells.numpy()
    covariance = np.cov(cells.numpy().T, aweights=weights, bias=True)
    start = begun(density, 1000, (4.0, 0.5))
    found = run(density, Chain(start, noise(1000, 0.3, 0.1), 0.5), 12)
    agrees(found.unknowns.x.numpy(), mean, covariance)


@pytest.mark.proof
def test_noise_that_is_inferred_widens_the_law_as_the_integral_over_it_does() -> None:
    density = ShootingDensity(thrown(windows=1, runs=1, steps=6), SHARES)
    centre = begun(density, 1, (-2.0, 0.5))
    each = np.exp(np.linspace(np.log(0.01), np.log(0.6), 60))
    means, covariances, logs = [], [], []
    for sigma in np.array(np.meshgrid(each, each)).reshape(2, -1).T:
        law = Noise(torch.from_numpy(sigma)[None], torch.ones(1, 2).double())
        here = density.expanded(centre, density.at(centre), law)
        shared = here.metric.shared - torch.diag(SHARES.precision)
        exact = type(here.metric)(shared, here.metric.across, here.metric.own)
        dx, dz = exact.solve(here.by_x, here.by_z)
        best = centre.moved(dx, dz)
        logs.append(density.value(best, density.at(best), law) - 0.5 * exact.log_determinant())
        means.append(best.x[0].numpy())
        covariances.append(torch.linalg.inv(exact.marginal()[0]).numpy())
    weights = torch.softmax(torch.cat(logs), 0).numpy()
    mean = weights @ np.array(means)
    away = np.array(means) - mean
    covariance = np.einsum("k,kij->ij", weights, np.array(covariances))
    covariance += np.einsum("k,ki,kj->ij", weights, away, away)
    start = begun(density, 1500, (-2.0, 0.5))
    least = torch.full((2,), 1e-3).double()
    found = run(density, Chain(start, noise(1500, 0.05, 1.0), 0.5), 30, least=least)
    agrees(found.unknowns.x.numpy(), mean, covariance)


def test_noise_given_motions_has_gamma_laws_and_no_defect_is_below_the_least() -> None:
    density = ShootingDensity(thrown(windows=4), SHARES)
    one = begun(density, 1, (-2.0, 0.5))
    many = one[torch.zeros(4000, dtype=torch.long)]
    shot, least = density.at(many), torch.tensor([0.2, 0.02]).double()
    found = shooting_moves.noise_of(density, shot, least, np.random.default_rng(2))
    seen = shot.residuals[0].square().sum((0, 1, 2)) + shot.offsets[0].square().sum(0)
    defects = shot.defects[0].square().sum((0, 1))
    for state in range(2):
        law = stats.gamma(0.5 * density.counts[0], scale=2.0 / float(seen[state]))
        assert stats.kstest(found.sigma[:, state] ** -2.0, law.cdf).pvalue > 1e-4
        law = stats.gamma(0.5 * density.counts[1], scale=2.0 / float(defects[state]))
        most = law.cdf(float(least[state]) ** -2.0)
        below = law.cdf(found.delta[:, state] ** -2.0) / most
        assert stats.kstest(below, "uniform").pvalue > 1e-4
        assert float(found.delta[:, state].min()) >= float(least[state]) * (1.0 - 1e-12)


def test_of_defects_that_vanish_the_deviation_is_about_the_least() -> None:
    """Precisions up to 1 / least^2 have a density of the power 3 - 1 then, for six defects."""
    density = ShootingDensity(thrown(windows=4), SHARES)
    many = begun(density, 1, (-2.0, 0.5))[torch.zeros(4000, dtype=torch.long)]
    shot = density.at(many)
    shot.defects[:] = 0.0
    least = torch.tensor([0.2, 0.02]).double()
    found = shooting_moves.noise_of(density, shot, least, np.random.default_rng(3))
    share = (least / found.delta) ** density.counts[1]
    for state in range(2):
        assert stats.kstest(share[:, state], "uniform").pvalue > 1e-4


def test_one_window_has_no_defects_whose_deviation_could_be_drawn() -> None:
    density = ShootingDensity(thrown(windows=1), SHARES)
    one = begun(density, 1, (-2.0, 0.5))
    least = torch.tensor([0.2, 0.02]).double()
    drawn = shooting_moves.noise_of(density, density.at(one), least, np.random.default_rng(4))
    torch.testing.assert_close(drawn.delta[0], least)

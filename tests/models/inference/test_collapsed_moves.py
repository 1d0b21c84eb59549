"""Starts integrated out of throws: normal laws in closed form, and moves that keep a law."""

import numpy as np
import torch
from scipy import stats
from torch import Tensor

from ricochet.models.inference import collapsed_moves, throws
from ricochet.models.inference.collapsed_moves import Collapsed
from ricochet.models.inference.limits import Limits, Logistic, Shares
from ricochet.models.inference.shooting_density import Noise, ShootingDensity, Unknowns
from ricochet.models.inference.throws import Throw

NEAR = Limits(torch.tensor([-2.3, 0.35]).double(), torch.tensor([-2.02, 0.75]).double())
FAR = Limits(torch.full((2,), -9.0).double(), torch.full((2,), 9.0).double())


def density(limits: Limits = FAR, *, windows: int = 3, logistic: bool = False) -> ShootingDensity:
    coordinates = Logistic(limits) if logistic else Shares(limits)
    return ShootingDensity(throws.observed(np.random.default_rng(1), windows=windows), coordinates)


def noise(particles: int, sigma: float = 0.05, delta: float = 0.02) -> Noise:
    each = torch.ones(particles, 2).double() * torch.tensor([1.0, 1.3]).double()
    return Noise(sigma * each, delta * each)


def at(own: ShootingDensity, x: Tensor) -> Unknowns:
    """Starts where they were observed."""
    starts = own.shooting.starts / own.shooting.scale
    return Unknowns(x, starts.expand(len(x), -1, -1, -1).clone())


def places(count: int) -> Tensor:
    return torch.from_numpy(np.random.default_rng(2).uniform(0.3, 0.7, (count, 2)))


def marginal(own: ShootingDensity, theta: Tensor, law: Noise) -> Tensor:
    """Return log p(observed | theta) of one place: normal laws of all observations together.

    A throw is linear: what was observed is M z_0 + sum of A_w d_w + c(theta) + noise, the first
    start of no law at all, which is integrated over too.
    """
    shooting, total = own.shooting, 0.0
    steps, scale = shooting.observed.shape[1] - 1, shooting.scale
    sigma, delta = law.sigma[0] * scale, law.delta[0] * scale

    def states(begin: int, start: Tensor, by: Tensor) -> Tensor:
        """Of all instants from a beginning on; nothing before."""
        found = torch.zeros(steps + 1, 2).double()
        found[begin] = start
        if begin < steps:
            found[begin + 1 :] = Throw(by[None], start[None], steps - begin).states[0]
        return found

    units, none = torch.eye(2).double(), torch.zeros(2).double()
    moved = states(0, none, theta)
    free = torch.stack([states(0, unit, none) for unit in units], -1).flatten(0, 1)
    covariance = torch.diag((sigma**2).expand(steps + 1, 2).flatten())
    for window in range(1, shooting.windows):
        begin = window * shooting.steps
        push = torch.stack([states(begin, unit, none) for unit in units], -1)
        push[begin] = 0.0  # what is observed where windows meet ends the window before
        push = push.flatten(0, 1)
        covariance = covariance + push @ torch.diag(delta**2) @ push.T
    inverse = torch.linalg.inv(covariance)
    left = free.T @ inverse @ free
    for run in shooting.observed:
        away = (run - moved).flatten()
        pull = free.T @ inverse @ away
        square = away @ inverse @ away - pull @ torch.linalg.solve(left, pull)
        total = total - 0.5 * (square + torch.logdet(covariance) + torch.logdet(left))
    return total


def test_the_density_is_that_of_all_observations_together_in_closed_form() -> None:
    for windows in (1, 3, 6):
        own, x = density(windows=windows), places(5)
        found = collapsed_moves.collapsed(own, at(own, x), noise(5), steps=1)
        theta = own.coordinates.parameters(x)
        expected = torch.stack([marginal(own, each, noise(1)) for each in theta])
        away = found.value - expected
        torch.testing.assert_close(away, away[:1].expand_as(away), rtol=0.0, atol=1e-6)
        assert float(expected.max() - expected.min()) > 10.0


def test_of_noise_too_it_is_the_closed_form() -> None:
    """Other deviations shift the closed form by as much, normal constants included."""
    own, x = density(), places(1)
    theta = own.coordinates.parameters(x)[0]
    laws = [noise(1), noise(1, 0.1), noise(1, 0.05, 0.2)]
    found = [collapsed_moves.collapsed(own, at(own, x), law).value for law in laws]
    expected = [marginal(own, theta, law) for law in laws]
    for one in (1, 2):
        torch.testing.assert_close((found[one] - found[0])[0], expected[one] - expected[0])


def test_gradient_and_metric_are_those_of_the_value() -> None:
    own, x = density(), places(3)

    def value(where: Tensor) -> Tensor:
        return collapsed_moves.collapsed(own, at(own, where), noise(3)).value

    found = collapsed_moves.collapsed(own, at(own, x), noise(3))
    step = 1e-4 * torch.eye(2).double()
    ahead, behind = (torch.stack([value(x + s * each) for each in step], -1) for s in (1, -1))
    torch.testing.assert_close(found.gradient, (ahead - behind) / 2e-4, rtol=1e-5, atol=1e-3)
    bend = -(ahead + behind - 2.0 * found.value[:, None]) / 1e-8
    metric = found.factor @ found.factor.mT - torch.diag(own.coordinates.precision)
    torch.testing.assert_close(metric.diagonal(dim1=1, dim2=2), bend, rtol=1e-3, atol=1.0)


def test_where_starts_begin_does_not_matter_and_particles_do_not_know_of_each_other() -> None:
    own, x = density(), places(4)
    whole = collapsed_moves.collapsed(own, at(own, x), noise(4), steps=1)
    other = at(own, x)
    away = collapsed_moves.collapsed(own, Unknowns(x, other.z + 0.7), noise(4), steps=1)
    torch.testing.assert_close(away.value, whole.value)
    torch.testing.assert_close(away.unknowns.z, whole.unknowns.z)
    alone = collapsed_moves.collapsed(own, at(own, x[2:3]), noise(1), steps=1)
    torch.testing.assert_close(alone.value, whole.value[2:3])
    torch.testing.assert_close(alone.factor, whole.factor[2:3])


def test_places_without_a_motion_have_no_density_and_a_metric_all_the_same() -> None:
    own, x = density(), places(3)
    x[1] = torch.nan
    found = collapsed_moves.collapsed(own, at(own, x), noise(3))
    assert torch.isneginf(found.value).tolist() == [False, True, False]
    assert bool(torch.isfinite(found.factor).all())
    assert not bool(found.gradient[1].any())


def test_what_is_replaced_is_replaced_whole() -> None:
    own = density()
    one, other = (
        collapsed_moves.collapsed(own, at(own, places(3) + by), noise(3)) for by in (0.0, 0.01)
    )
    taken = torch.tensor([True, False, True])
    found = one.replaced(taken, other)
    for name in ("value", "gradient", "factor", "own"):
        mine, theirs = getattr(one, name), getattr(other, name)
        for place, from_other in enumerate(taken):
            expected = (theirs if from_other else mine)[place]
            torch.testing.assert_close(getattr(found, name)[place], expected)
    torch.testing.assert_close(found.unknowns.x[0], other.unknowns.x[0])
    torch.testing.assert_close(found.unknowns.z[1], one.unknowns.z[1])


def test_starts_that_are_drawn_have_the_covariance_that_is_left() -> None:
    """20 000 draws of 12 starts in two groups of 6: of whitened draws the squares of means times
    the number are chi^2 of 6, and eigenvalues of the covariance within 5 sqrt(7 / 20 000)."""
    own = density()
    x = places(1).expand(20_000, 2)
    one = collapsed_moves.collapsed(own, at(own, x[:1]), noise(1))
    many = Collapsed(
        Unknowns(x, one.unknowns.z.expand(20_000, -1, -1, -1)),
        *(each.expand(20_000, *each.shape[1:]) for each in (one.value, one.gradient)),
        *(each.expand(20_000, *each.shape[1:]) for each in (one.factor, one.own)),
    )
    drawn = collapsed_moves.drawn(many, np.random.default_rng(0))
    torch.testing.assert_close(drawn.x, x)
    here = own.expanded(one.unknowns, own.at(one.unknowns), noise(1))
    away = (drawn.z - one.unknowns.z).flatten(2)
    for group in range(2):
        root = torch.linalg.cholesky(here.metric.own[0, group])
        white = away[:, group] @ root
        assert 20_000 * float(white.mean(0).square().sum()) < stats.chi2.ppf(1.0 - 1e-4, 6)
        spread = torch.linalg.eigvalsh(torch.cov(white.T))
        assert float((spread - 1.0).abs().max()) < 5.0 * np.sqrt(7.0 / 20_000)


def on_a_grid(own: ShootingDensity, law: Noise, count: int = 100) -> tuple[Tensor, Tensor]:
    """Return cells of the shares, and log densities there."""
    middle = (torch.arange(count).double() + 0.5) / count
    cells = torch.cartesian_prod(middle, middle)
    each = Noise(*(one.expand(len(cells), 2) for one in (law.sigma, law.delta)))
    return cells, collapsed_moves.collapsed(own, at(own, cells), each, steps=1).value


def exact(cells: Tensor, weights: Tensor, count: int, seed: int) -> Tensor:
    """Return draws from a density that is constant in each cell."""
    draw = np.random.default_rng(seed)
    chosen = draw.choice(len(cells), count, p=weights.numpy())
    width = 1.0 / round(len(cells) ** 0.5)
    return cells[chosen] + width * torch.from_numpy(draw.uniform(-0.5, 0.5, (count, 2)))


def test_moves_keep_a_posterior_that_limits_cut_off() -> None:
    """From 1500 exact draws: each coordinate and a product of both stay the same by Kolmogorov and
    Smirnov, at a chance of 1e-4 for each of three; all but few have moved. By moves about a place
    that is not the best, of a law that is wider than the density, four in five are kept."""
    own = density(NEAR)
    law = noise(1)
    cells, log = on_a_grid(own, law)
    weights = torch.softmax(log, 0)
    mean = weights @ cells
    deviation = (weights @ (cells - mean) ** 2).sqrt()
    assert bool(((mean - 2.0 * deviation < 0.0) | (mean + 2.0 * deviation > 1.0)).any())
    begun, other = (exact(cells, weights, 1500, seed) for seed in (3, 4))
    each = Noise(*(one.expand(1500, 2) for one in (law.sigma, law.delta)))
    here = collapsed_moves.collapsed(own, at(own, begun), each)
    place = collapsed_moves.collapsed(own, at(own, torch.full((1500, 2), 0.45).double()), each)
    wide = collapsed_moves.normal(own.coordinates, place)
    wide = collapsed_moves.Normal(wide.place, wide.gradient, 0.8 * wide.precision, wide.factor)
    moved, accepted = collapsed_moves.moved(own, here, wide, each, np.random.default_rng(5))
    assert 0.5 < accepted < 0.99
    x = moved.unknowns.x
    assert float((x != begun).any(1).double().mean()) == accepted
    assert bool(((x > 0.0) & (x < 1.0)).all())
    away, apart = (x - mean) / deviation, (other - mean) / deviation
    for column in range(2):
        assert stats.ks_2samp(away[:, column], apart[:, column]).pvalue > 1e-4
    assert stats.ks_2samp(away.prod(1), apart.prod(1)).pvalue > 1e-4
    alike = torch.corrcoef(torch.stack((away[:, 0], ((begun - mean) / deviation)[:, 0])))[0, 1]
    assert abs(float(alike)) < 0.7


def test_by_the_density_itself_of_linear_motions_every_move_is_accepted() -> None:
    own, x = density(), places(200)
    here = collapsed_moves.collapsed(own, at(own, x), noise(200))
    law = collapsed_moves.normal(own.coordinates, here)
    draw = np.random.default_rng(6)
    moved, accepted = collapsed_moves.moved(own, here, law, noise(200), draw)
    assert accepted == 1.0
    assert bool((moved.unknowns.x != x).any(1).all())


def test_the_normal_law_of_linear_motions_is_the_density_less_the_prior() -> None:
    for logistic in (False, True):
        own = density(logistic=logistic)
        x = places(1) if not logistic else torch.tensor([[-0.4, 0.1]]).double()
        there = collapsed_moves.collapsed(own, at(own, x), noise(1))
        law = collapsed_moves.normal(own.coordinates, there)
        assert float(law.log_density(x)) == 0.0
        step = 1e-6 * torch.eye(2).double()
        slope = [float(law.log_density(x + each)) / 1e-6 for each in step]
        expected = there.gradient - own.coordinates.log_prior(x)[1]
        np.testing.assert_allclose(slope, expected[0], rtol=1e-2)


def test_wandering_keeps_to_the_limits_and_reaches_all_between_them() -> None:
    """By a law that tells nothing, 2000 particles from one place are spread evenly: Kolmogorov and
    Smirnov at a chance of 1e-4. In 400 moves of up to 1.7 deviations they forget where they began.
    """
    shares = Shares(FAR)
    begun = torch.full((2000, 2), 0.9).double()
    factor = torch.diag(shares.precision.sqrt()).expand(2000, 2, 2)
    law = collapsed_moves.Normal(begun, torch.zeros_like(begun), torch.zeros_like(factor), factor)
    x = collapsed_moves.wandered(shares, law, begun, np.random.default_rng(7))
    assert bool(((x > 0.0) & (x < 1.0)).all())
    for column in range(2):
        assert stats.kstest(x[:, column].numpy(), "uniform").pvalue > 1e-4


def test_noise_is_drawn_by_the_law_that_a_grid_of_it_has() -> None:
    """Parameters held, starts and noise in turn: after 30 rounds sigma of 1500 particles is spread
    as the integral over starts says, delta given: Kolmogorov and Smirnov at a chance of 1e-4."""
    own = ShootingDensity(
        throws.observed(np.random.default_rng(1), windows=1, runs=1, steps=6), Shares(FAR)
    )
    x = own.coordinates.of(torch.tensor([throws.TRUTH]).double())
    each = torch.from_numpy(np.exp(np.linspace(np.log(0.005), np.log(0.6), 121)))
    grid = torch.cartesian_prod(each, each)
    law = Noise(grid, torch.ones_like(grid))
    log = collapsed_moves.collapsed(own, at(own, x.expand(len(grid), 2)), law).value
    # of precisions a prior 1 / lambda, thus even in the logarithm of sigma
    weights = torch.softmax(log, 0).reshape(121, 121)
    draw, count = np.random.default_rng(8), 1500
    here_at, now = at(own, x.expand(count, 2)), Noise(*(torch.full((count, 2), 0.1).double(),) * 2)
    least = torch.full((2,), 1e-3).double()
    for _ in range(30):
        here = collapsed_moves.collapsed(own, here_at, now, steps=1)
        now = collapsed_moves.noise_of(own, here, least, draw)
    for state in range(2):
        share = weights.sum(1 - state).cumsum(0)
        found = np.interp(
            now.sigma[:, state].log(), each.log(), share - 0.5 * weights.sum(1 - state)
        )
        assert stats.kstest(found, "uniform").pvalue > 1e-4


def test_a_round_of_cheap_moves_is_the_same_backwards() -> None:
    """What the chance of staying assumes: moves as likely as their way back."""
    backwards = collapsed_moves.SCALES[::-1]
    assert backwards == collapsed_moves.SCALES
    assert collapsed_moves.WANDERED % len(collapsed_moves.SCALES) == 0

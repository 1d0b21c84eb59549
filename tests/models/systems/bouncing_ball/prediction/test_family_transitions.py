"""The family's next bounce against simulated contacts and flights, its density, the network's."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from ricochet.models.systems.bouncing_ball import (
    contact,
    contact_draws,
    contact_table,
    flight,
)
from ricochet.models.systems.bouncing_ball.balls import BALLS, REAL_PING_PONG
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws
from ricochet.models.systems.bouncing_ball.contact_table import ContactTable
from ricochet.models.systems.bouncing_ball.prediction import (
    family_transitions,
    transition_density,
)
from ricochet.models.systems.bouncing_ball.prediction.lookahead import NextBounces
from ricochet.models.systems.bouncing_ball.prediction.transition_density import Flights
from tests.models.systems.bouncing_ball.test_contact_table import family
from tests.oracles import next_bounce

TIME, DISTANCE = 0.33, 0.16


def drawn(table: ContactTable, count: int, seed: int = 0) -> NextBounces:
    """Next bounces after one pair of bounces, a row."""
    found = family_transitions.sample(
        table, np.array([TIME]), np.array([DISTANCE]), count, np.random.default_rng(seed)
    )
    return NextBounces(found.time[0], found.along[0], found.across[0])


def density(table: ContactTable, after: NextBounces) -> np.ndarray:
    level = np.ones_like(after.time)
    return family_transitions.log_density(table, TIME * level, DISTANCE * level, after)


def pairs(theta: tuple[float, float], sd: tuple[float, float], count: int) -> torch.Tensor:
    draw = torch.Generator().manual_seed(1)
    noise = torch.randn((count, 2), generator=draw, dtype=torch.float64)
    return torch.tensor(theta).double() + torch.tensor(sd).double() * noise


def simulated(draws: ContactDraws, before: torch.Tensor) -> tuple[np.ndarray, np.ndarray]:
    """Fly, bounce and fly with each draw: the first flight, and (time, along, across) after it."""
    first = flight.fly(before, drag=draws.drag)
    seed = torch.Generator().manual_seed(4)
    exits = contact.bounce(first.impact, draws.contact, law=draws.law, draw=seed)
    after = flight.fly(exits, drag=draws.drag)
    last = torch.stack((first.duration, first.displacement[:, 0]), -1)
    return last.numpy(), torch.cat((after.duration[:, None], after.displacement), -1).numpy()


def test_samples_are_those_of_flights_and_contacts_that_are_followed() -> None:
    """40,000 next bounces after flights of one draw; five standard errors of a difference, and for
    the first order of the drag half a millimetre, and as much of the time's 0.3 s."""
    count = 40_000
    draws = family().rows(torch.zeros(count, dtype=torch.long))
    before = torch.tensor([0.5, 0.0, 1.6], dtype=torch.float64).expand(count, 3)
    last, after = simulated(draws, before)
    found = family_transitions.sample(
        contact_table.tabulate(draws.rows(torch.tensor([0]))),
        last[:1, 0], last[:1, 1], count, np.random.default_rng(0),
    )  # fmt: skip
    ours = np.column_stack((found.time[0], found.along[0], found.across[0]))
    sd = after.std(0)
    allowed = 5.0 * sd * math.sqrt(2.0 / count) + 5e-4
    assert (np.abs(ours.mean(0) - after.mean(0)) < allowed).all()
    assert (np.abs(ours.std(0) - sd) < 5.0 * sd * math.sqrt(10.0 / 4 / count) + 5e-4).all()


def bulk_error(table: ContactTable, after: NextBounces) -> tuple[np.ndarray, np.ndarray]:
    """Return means of g / q less one, and their standard errors: 0 if q is the samples' density.

    g is normal about one of three samples, and half as wide as all of them on each axis.
    """
    triples = np.column_stack((after.time, after.distance, after.turn))
    log_q, width = density(table, after), 0.5 * triples.std(0)
    rows = []
    for centre in triples[np.argsort(log_q)[[-1, -2000, -6000]]]:
        z = (triples - centre) / width
        log_g = -0.5 * (z**2).sum(1) - np.log(width * math.sqrt(2.0 * math.pi)).sum()
        ratio = np.exp(log_g - log_q)
        rows.append((ratio.mean() - 1.0, ratio.std() / math.sqrt(len(ratio))))
    errors, standard = np.array(rows).T
    assert (standard < 0.03).all()
    return errors, standard


CURVED = replace(REAL_PING_PONG, viscoelastic=True)


@pytest.mark.parametrize("draws", [family(), family(1), REAL_PING_PONG.nature, CURVED.nature])
def test_the_density_is_that_of_the_samples(draws: ContactDraws) -> None:
    """Four standard errors, and 2 % as the density reads to first order what the sampler flies."""
    table = contact_table.tabulate(draws)
    errors, standard = bulk_error(table, drawn(table, 20_000))
    assert (np.abs(errors) < 4.0 * standard + 0.02).all()


@pytest.mark.proof
def test_pairs_have_the_density_of_other_draws_of_their_posterior() -> None:
    """No scatter: 1000 draws with their kernel, whose variance is 5 % of the speeds', stand for
    the posterior, of which they miss 3 % in places: three times that, and four standard errors."""
    several = pairs((0.75, 1.8), (0.05, 0.1), 21_000)
    known, others = (
        contact_table.tabulate(contact_draws.of_pairs(part))
        for part in (several[:1000], several[1000:])
    )
    errors, standard = bulk_error(known, drawn(others, 20_000))
    assert (np.abs(errors) < 4.0 * standard + 0.09).all()


def test_a_certain_speed_has_no_density() -> None:
    table = contact_table.tabulate(BALLS["tennis"].nature)
    with pytest.raises(ValueError, match="certain"):
        density(table, drawn(table, 3))


def test_a_turn_to_the_other_side_is_as_likely() -> None:
    table = contact_table.tabulate(family())
    after = drawn(table, 20)
    other = NextBounces(after.time, after.along, -after.across)
    np.testing.assert_allclose(density(table, other), density(table, after), rtol=1e-12)


def test_slower_and_smaller_flights_have_the_same_law_in_their_own_units() -> None:
    """Times x s, distances x s^2 and drags / s^2 leave all ratios, if restitution is constant."""
    scaled = 0.7
    draws = contact_draws.of_pairs(pairs((0.85, 1.8), (0.01, 0.1), 50))
    air = torch.linspace(0.0, 0.2, 50, dtype=torch.float64)
    one, other = (
        contact_table.tabulate(ContactDraws(draws.contact, draws.viscoelastic, drag))
        for drag in (air, air / scaled**2)
    )
    rows = []
    for table, s in ((one, 1.0), (other, scaled)):
        last = np.array([s * TIME]), np.array([s * s * DISTANCE])
        rows.append(family_transitions.sample(table, *last, 30, np.random.default_rng(3)))
    np.testing.assert_allclose(rows[1].time, scaled * rows[0].time, rtol=1e-12)
    np.testing.assert_allclose(rows[1].distance, scaled**2 * rows[0].distance, rtol=1e-12)
    logs = [
        family_transitions.log_density(
            table,
            np.full(30, s * TIME),
            np.full(30, s * s * DISTANCE),
            NextBounces(found.time[0], found.along[0], found.across[0]),
        )
        for (table, s), found in zip(((one, 1.0), (other, scaled)), rows, strict=True)
    ]
    # per s and per m: a factor of s in time and s^2 in distance
    np.testing.assert_allclose(logs[1], logs[0] - 3.0 * math.log(scaled), rtol=1e-9)


def test_parents_are_drawn_apart_and_a_batch_equals_its_members() -> None:
    table = contact_table.tabulate(family())
    last = np.array([0.2, 0.4]), np.array([0.0, 0.3])
    found = family_transitions.sample(table, *last, 2000, np.random.default_rng(5))
    assert found.time.shape == (2, 2000)
    assert found.time[0].max() < found.time[1].min()
    after = NextBounces(*(each[:, 0] for each in (found.time, found.along, found.across)))
    together = family_transitions.log_density(table, *last, after)
    for i in range(2):
        part = slice(i, i + 1)
        one = NextBounces(after.time[part], after.along[part], after.across[part])
        alone = family_transitions.log_density(table, last[0][part], last[1][part], one)
        assert alone[0] == pytest.approx(together[i], rel=1e-12)


def test_after_a_wrong_detection_samples_are_finite_all_the_same() -> None:
    table = contact_table.tabulate(family())
    last = np.array([0.002, 0.3]), np.array([0.5, 30.0])
    found = family_transitions.sample(table, *last, 500, np.random.default_rng(5))
    assert all(np.isfinite(each).all() for each in (found.time, found.along, found.across))
    assert (found.time > 0.0).all()


@pytest.mark.proof
@pytest.mark.parametrize("ball", ["ping-pong", "moon ball"])
def test_the_trained_density_of_pairs_is_this_one(ball: str) -> None:
    """2000 next bounces of a posterior as a poor rig leaves it: the network's log density is the
    law's but for what its training misses, which is a mean of 0 to 0.1 nats."""
    theta = pairs(BALLS[ball].theta, (0.002, 0.05), 6000)
    draw = torch.Generator().manual_seed(3)
    transition = transition_density.train(theta[:4000], draw=draw)
    last, after = transition_density.simulate(theta[4000:], 2000, draw=draw)
    chosen = (last.distance > 0.02) & (last.distance < 0.5)
    last, after = (
        Flights(*(x[chosen] for x in (f.time, f.distance, f.turn))) for f in (last, after)
    )
    network = next_bounce.log_density(transition, last, after).numpy()
    table = contact_table.tabulate(contact_draws.of_pairs(theta[:4000]))
    along, across = (after.distance * each(after.turn) for each in (torch.cos, torch.sin))
    ours = family_transitions.log_density(
        table,
        last.time.numpy(),
        last.distance.numpy(),
        NextBounces(*(each.numpy() for each in (after.time, along, across))),
    )
    apart = ours - network
    error = apart.std() / math.sqrt(len(apart))
    assert len(apart) > 500
    assert -3.0 * error < apart.mean() < 0.1 + 3.0 * error, (apart.mean(), error)

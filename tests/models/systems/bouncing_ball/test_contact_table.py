"""The table against the laws that it tabulates, and its bounces against those of `contact`."""

import subprocess
import sys

import numpy as np
import pytest
import torch

from ricochet.models.systems.bouncing_ball import contact as contacts
from ricochet.models.systems.bouncing_ball import contact_draws, contact_table
from ricochet.models.systems.bouncing_ball.contact import Contact
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws


def family(count: int = 40) -> ContactDraws:
    """Draws of a ball of which everything is uncertain, every other one viscoelastic."""
    draw = np.random.default_rng(0)
    columns = (
        draw.normal(0.85, 0.01, count), 10.0 ** draw.normal(2.5, 0.1, count),
        draw.normal(0.02, 0.005, count), draw.uniform(0.0, 0.1, count),
        draw.uniform(0.0, 0.1, count), draw.uniform(0.05, 0.2, count),
        draw.uniform(0.005, 0.02, count), draw.uniform(0.1, 0.15, count),
    )  # fmt: skip
    *contact, drag = map(torch.from_numpy, columns)
    return ContactDraws(Contact(*contact), torch.arange(count) % 2 == 1, drag)


def test_the_table_gives_each_draws_restitution() -> None:
    draws = family()
    table = contact_table.tabulate(draws)
    speeds = np.linspace(0.1, 6.0, 200)
    expected = draws.restitution(torch.from_numpy(speeds[:, None])).numpy()
    found = contact_table.restitution(table, np.arange(len(table)), speeds[:, None])
    # the chord of E between nodes h = 4 / 128 apart in y = sqrt(w): h^2 / 8 = 1.2e-4 times its
    # curvature, that of 0.13 y^0.4 where y is at least 0.32, which is 0.2
    np.testing.assert_allclose(found, expected, atol=3e-5)


def test_a_table_in_parts_is_that_of_all_together(monkeypatch) -> None:
    whole = contact_table.tabulate(family())
    monkeypatch.setattr(contact_table, "_TOGETHER", 7)
    parts = contact_table.tabulate(family())
    np.testing.assert_allclose(parts.restitution, whole.restitution, rtol=1e-14)


@pytest.mark.slow
def test_the_most_draws_of_a_package_take_little_beside_their_table() -> None:
    """A child's peak: the table is 103 MB, and held once."""
    code = (
        "import torch\n"
        "from pathlib import Path\n"
        "from ricochet.models.systems.bouncing_ball import contact_draws, contact_table\n"
        "status = Path('/proc/self/status')\n"
        "def peak(): return int(status.read_text().split('VmHWM:')[1].split()[0])\n"
        "plain = contact_draws.of_pairs(torch.tensor([[0.8, 3.0]]).repeat(100_000, 1))\n"
        "curved = torch.ones(100_000, dtype=torch.bool)\n"
        "draws = contact_draws.ContactDraws(plain.contact, curved, plain.drag)\n"
        "contact_table.tabulate(draws.rows(slice(1000)))\n"
        "before = peak()\n"
        "contact_table.tabulate(draws)\n"
        "print(peak() - before)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) < 250_000


def test_a_pairs_restitution_is_itself() -> None:
    theta = torch.tensor([[0.81, 3.0], [0.79, 2.0]], dtype=torch.float64)
    table = contact_table.tabulate(contact_draws.of_pairs(theta))
    assert table.restitution.shape == (2, 1) and table.airless
    found = contact_table.restitution(table, np.array([1, 0]), np.array([0.5, 40.0]))
    np.testing.assert_array_equal(found, [0.79, 0.81])


def test_bounces_have_the_law_of_the_contacts() -> None:
    """Means and covariances of 200,000 exits of one draw, five standard errors of a difference."""
    draws, count = family().rows(torch.tensor([1])), 200_000
    impact = torch.tensor([0.8, 0.3, -1.7], dtype=torch.float64).expand(count, 3)
    ours = contact_table.bounce(
        contact_table.tabulate(draws),
        np.zeros(count, int),
        impact.T.numpy(),
        draw=np.random.default_rng(1),
    ).T
    theirs = contacts.bounce(
        impact, draws.contact, law=draws.law, draw=torch.Generator().manual_seed(1)
    ).numpy()
    sd = theirs.std(0)
    assert (np.abs(ours.mean(0) - theirs.mean(0)) < 5.0 * sd * np.sqrt(2.0 / count)).all()
    # fourth moments of the two-component law: kurtosis below 12
    apart = np.abs(np.cov(ours.T) - np.cov(theirs.T)) / np.outer(sd, sd)
    assert (apart < 5.0 * np.sqrt(2.0 * 12.0 / count)).all()
    assert (ours[:, 2] > 0.0).all()


def test_rows_may_come_in_any_order_and_a_mirrored_ball_bounces_mirrored() -> None:
    draws = family()
    table = contact_table.tabulate(draws)
    order = torch.arange(39, -1, -1)
    turned = contact_table.tabulate(draws.rows(order))
    np.testing.assert_array_equal(turned.restitution, table.restitution[order.numpy()])
    rows, impact = np.arange(40), np.random.default_rng(2).uniform(0.3, 1.5, (3, 40))
    one = contact_table.bounce(table, rows, impact, draw=np.random.default_rng(3))
    other = contact_table.bounce(
        table, rows, impact * [[1.0], [1.0], [-1.0]], draw=np.random.default_rng(3)
    )
    np.testing.assert_array_equal(one, other)


def test_the_spread_is_the_variance_of_both_components() -> None:
    """Angles off a vertical exit, per axis; 200,000 draws of kurtosis below 12: 1.7 % at five
    standard errors, and the arc for its sine, a twentieth of the wide one's variance."""
    draws = family().rows(torch.tensor([0]))
    table = contact_table.tabulate(draws)
    down = np.tile([[0.0], [0.0], [-1.0]], 200_000)
    exits = contact_table.bounce(table, np.zeros(200_000, int), down, draw=np.random.default_rng(1))
    found = (exits[:2] / np.sqrt((exits**2).sum(0))).var()
    assert abs(found / table.spread[0] - 1.0) < 0.05


def test_the_spread_of_any_direction_is_that_of_all() -> None:
    theta = torch.tensor([[0.8, -3.0], [0.8, 0.0], [0.8, 2.0]], dtype=torch.float64)
    spread = contact_table.tabulate(contact_draws.of_pairs(theta)).spread
    np.testing.assert_allclose(spread, [1.0, 1.0, 0.01])

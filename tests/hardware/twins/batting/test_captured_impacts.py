"""Captured impacts: Newton's balance, surfaces that move, what stands alone, and what is learnt."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.hardware.twins.batting import board, captured_impacts
from ricochet.hardware.twins.batting.captured_impacts import EXACT, Camera
from ricochet.hardware.twins.batting.touches import Instant, Step, Touch
from ricochet.models.systems.batting.impact_law import Law
from ricochet.models.systems.batting.impacts import balance, inference, recorded, screening
from ricochet.models.systems.batting.impacts.recorded import Impacts
from ricochet.models.systems.batting.shapes import seven_shapes
from ricochet.models.systems.batting.table import Table

COUNT = 80


@pytest.fixture(scope="module")
def exact() -> Impacts:
    return captured_impacts.capture(COUNT, np.random.default_rng(0), camera=EXACT)


def touch(begun: float, *, surface: int = 3, speed: float = -1.0, long: float = 2e-3) -> Touch:
    """Return a contact below a disc of radius 0.45 that turns at 2 rad/s."""
    down, up = np.array((0.0, -0.45)), np.array((0.0, 1.0))
    steps = tuple(
        Step(surface, begun + part * long, 1.0, down, up, np.zeros(2)) for part in (0.0, 0.5, 1.0)
    )
    return Touch(
        Instant(begun, np.array((0.3, speed, 2.0)), 0.5),
        Instant(begun + long, np.array((0.1, 0.9, 1.0)), 0.5),
        steps,
    )


def test_what_stands_alone_is_taken() -> None:
    kept = captured_impacts.alone([touch(1.0), touch(1.3), touch(1.9)], 3.0)
    assert [each.before.time for each in kept] == [1.0, 1.3, 1.9]


def test_what_does_not_is_left() -> None:
    corner = touch(0.5)
    both = (corner.steps[0], replace(corner.steps[1], surface=0), corner.steps[2])
    turned = touch(1.0)
    near = [touch(1.5), touch(1.54)]
    others = [touch(2.0, speed=-0.05), touch(2.4, long=0.02), touch(2.97)]
    found = captured_impacts.alone(
        [
            replace(corner, steps=both),
            replace(turned, after=replace(turned.after, rate=0.6)),
            *near,
            *others,
        ],
        3.0,
    )
    assert found == []


def test_velocities_of_a_row_are_those_at_the_middle_of_the_contact() -> None:
    row = captured_impacts.row(touch(1.0), 0)
    np.testing.assert_allclose(row.before, [[0.3, -1.0 - 1e-3, 2.0]])
    np.testing.assert_allclose(row.after, [[0.1, 0.9 + 1e-3, 1.0]])
    np.testing.assert_allclose(row.contact, [[0.0, -0.45]])
    assert row.inertia[0] == pytest.approx(Table().mass * 0.45**2 / 2.0)


def test_errors_of_the_camera_are_as_wide_as_stated() -> None:
    table = recorded.simulate(Law(), seven_shapes(), 2000, np.random.default_rng(0))
    camera = Camera(0.01, 0.03, 0.004)
    seen = captured_impacts.seen(table, camera, np.random.default_rng(1))
    for got, was, deviations in (
        (seen.before, table.before, (0.01, 0.01, 0.03)),
        (seen.after, table.after, (0.01, 0.01, 0.03)),
        (seen.contact, table.contact, (0.004, 0.004)),
    ):
        # Four standard errors of a deviation of 2000 numbers: 4 / sqrt(4000)
        np.testing.assert_allclose((got - was).std(0), deviations, rtol=0.064)
    np.testing.assert_array_equal(seen.normal, table.normal)
    np.testing.assert_array_equal(
        captured_impacts.seen(table, EXACT, np.random.default_rng(1)).after, table.after
    )


@pytest.mark.proof
def test_each_captured_row_balances_and_is_an_impact(exact: Impacts) -> None:
    """What a contact's place moves while it lasts is millimetres, of half a metre."""
    found = balance.of(exact)
    assert found.residual_share < 0.01 and found.residual.max() < 0.02
    assert balance.misfit(exact, found) == []
    for seed in range(20):
        seen = captured_impacts.seen(exact, Camera(), np.random.default_rng(seed))
        assert balance.misfit(seen, balance.of(seen)) == []
    assert not any(screening.no_body(exact) + screening.no_impact(exact))
    assert (exact.closing(exact.after)[:, 0] > 0.0).all()
    np.testing.assert_allclose(np.hypot(*exact.normal.T), 1.0)


@pytest.mark.proof
def test_contacts_are_on_the_outline_and_surfaces_move_as_walls_and_bat_do(exact: Impacts) -> None:
    distance, known = np.hypot(*exact.contact.T), seven_shapes()
    assert distance.min() > 0.35 and distance.max() < known.radius.max()
    moves = np.hypot(*exact.surface.T) > 0.0
    assert 0.2 < moves.mean() < 0.8
    walls = np.abs(exact.normal[~moves]).max(1)
    np.testing.assert_allclose(walls, 1.0, atol=1e-6)
    # The bat's surface goes across its line through the origin, at most as fast as its end.
    along = np.stack([exact.normal[:, 1], -exact.normal[:, 0]], axis=1)
    assert np.abs((exact.surface * along).sum(1)[moves]).max() < 0.05
    assert np.hypot(*exact.surface.T).max() < 2.0 * 2.0 * Table().width


@pytest.mark.proof
def test_restitution_and_friction_of_impacts_are_those_of_the_contacts(exact: Impacts) -> None:
    """Where contacts slide little; where they slide, the impulse is on the edge of the cone."""
    contacts, impulse = exact.contacts, exact.impulse
    fall, rise = -contacts[:, 4], exact.closing(exact.after)[:, 0]
    straight = np.abs(contacts[:, 5]) < 0.2 * fall
    assert np.median((rise / fall)[straight]) == pytest.approx(0.9, abs=0.01)
    ratio = np.abs(impulse[:, 1]) / impulse[:, 0]
    assert ratio.max() == pytest.approx(board.Nature().friction, abs=0.01)


@pytest.mark.proof
def test_a_law_that_is_learnt_from_them_predicts_others(exact: Impacts) -> None:
    draw = np.random.default_rng(2)
    seen, learnt = captured_impacts.seen(exact, Camera(), draw), np.arange(COUNT) % 2 == 0
    posterior = inference.infer(seen.take(learnt), draw)
    predicted = inference.predict(posterior, seen.take(~learnt), draw)
    # 40 impacts: three standard errors of 0.047, and what is learnt from 40 is not sure either
    assert 0.7 <= predicted.coverage <= 1.0
    assert predicted.rms < 0.3 * predicted.observed.std()

"""Angular momentum about the contact is kept; velocities that do not belong together change it."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.systems.batting.impact_law import Law
from ricochet.models.systems.batting.impacts import balance, momenta, recorded
from ricochet.models.systems.batting.impacts.recorded import Impacts
from tests.models.systems.batting.tables import LAW, mirrored, table, turned

CAMERA = (0.01, 0.02, 0.002)  # of the twin board, m/s, rad/s, m


def after(impacts: Impacts, factor: float) -> Impacts:
    return replace(impacts, after=factor * impacts.after)


def before(impacts: Impacts, factor: float) -> Impacts:
    return replace(impacts, before=factor * impacts.before)


def slid(impacts: Impacts) -> Impacts:
    """Return velocities after 20 ms of friction on a table."""
    speed = np.hypot(*impacts.after[:, :2].T)[:, None]
    moved = impacts.after[:, :2] * np.maximum(1.0 - 0.06 / speed, 0.0)
    spin = impacts.after[:, 2:]
    spin = np.sign(spin) * np.maximum(np.abs(spin) - 0.5, 0.0)
    return replace(impacts, after=np.hstack([moved, spin]))


def half(impacts: Impacts) -> Impacts:
    some = np.where(np.arange(len(impacts)) < len(impacts) // 2, 0.9, 1.0)
    return replace(impacts, after=some[:, None] * impacts.after)


def measured(impacts: Impacts, seed: int, scale: float = 1.0) -> Impacts:
    draw, count = np.random.default_rng([seed, 1]), len(impacts)
    velocity, spin, place = scale * np.array(CAMERA)
    errors = draw.normal(size=(2, count, 3)) * np.array((velocity, velocity, spin))
    return replace(
        impacts,
        before=impacts.before + errors[0],
        after=impacts.after + errors[1],
        contact=impacts.contact + place * draw.normal(size=(count, 2)),
    )


def again(impacts: Impacts, seed: int) -> Impacts:
    """Return what the law makes of other velocities before."""
    draw = np.random.default_rng([seed, 2])
    found = impacts.take(impacts.closing(impacts.before)[:, 0] < 0.0)
    noise = draw.normal(size=(len(found), 2))
    return recorded.struck(found, recorded.impulses(LAW, found.contacts, noise))


def one_disc(seed: int) -> Impacts:
    """Return impacts of one disc with a floor: a radius and an inertia would explain anything."""
    impacts, up = table(seed), np.array((0.0, 1.0))
    falling = impacts.before.copy()
    falling[:, 1] = -np.abs(falling[:, 1])
    disc = replace(
        impacts,
        normal=0.0 * impacts.normal + up,
        contact=0.0 * impacts.contact - 0.4 * up,
        inertia=0.08 * impacts.mass,
        surface=0.0 * impacts.surface,
        before=falling,
    )
    return again(disc, seed)


def struck_at_rest(seed: int) -> Impacts:
    """Return impacts of a bat that moves with bodies that hardly do: no momentum to compare."""
    impacts = table(seed)
    return again(replace(impacts, before=0.0 * impacts.before, surface=2.0 * impacts.normal), seed)


@pytest.mark.parametrize("law", [Law(), Law(0.2, -0.5, 0.05, 0.0, 0.3, 0.3)])
def test_it_is_kept_whatever_the_law_and_the_axes(law: Law) -> None:
    impacts = table(0, law=law)
    for each in (impacts, turned(impacts, 0.7), mirrored(impacts)):
        first, last = (momenta.about_contacts(each, x) for x in (each.before, each.after))
        np.testing.assert_allclose(last, first, atol=1e-12)
        assert momenta.of(each).kept


@pytest.mark.parametrize("make", [table, one_disc, struck_at_rest])
@pytest.mark.parametrize("scale", [0.0, 1.0, 10.0])
def test_tables_with_the_errors_of_a_camera_say_nothing(
    make: Callable[[int], Impacts], scale: float
) -> None:
    for seed in range(20):
        impacts = measured(make(seed), seed, scale)
        assert momenta.of(impacts).kept
        assert not any("momentum" in x for x in balance.misfit(impacts, balance.of(impacts)))


@pytest.mark.parametrize("errors", [(0.002, 0.05), (0.05, 0.002)])
def test_velocities_of_which_one_is_measured_far_better_say_nothing(
    errors: tuple[float, float],
) -> None:
    """Errors of l alone, or of l' alone, turn a line through their points; it is known how far."""
    for seed in range(20):
        impacts, draw = table(seed, 3000), np.random.default_rng(seed)
        first, last = (x * draw.normal(size=(3000, 3)) for x in errors)
        given = replace(impacts, before=impacts.before + first, after=impacts.after + last)
        assert momenta.of(given).kept


@pytest.mark.parametrize(
    "spoil",
    [
        lambda x: replace(x, inertia=1.03 * x.inertia),
        lambda x: replace(x, inertia=1.5 * x.inertia),
        lambda x: replace(x, mass=0.9 * x.mass),
        lambda x: replace(x, contact=x.contact + np.array((0.005, -0.003))),
        lambda x: replace(
            x, inertia=0.97 * x.inertia, contact=x.contact + np.array((0.005, 0.005))
        ),
    ],
)
def test_what_is_wrong_otherwise_is_not_called_so(spoil: Callable[[Impacts], Impacts]) -> None:
    for seed in range(20):
        assert momenta.of(measured(spoil(table(seed)), seed)).kept


@pytest.mark.parametrize("make", [table, one_disc])
@pytest.mark.parametrize("scale", [0.0, 1.0, 3.0])
@pytest.mark.parametrize(
    ("spoil", "factor"),
    [
        (lambda x: after(x, 0.97), 0.97),
        (lambda x: after(x, 0.95), 0.95),
        (lambda x: after(x, 0.5), 0.5),
        (lambda x: after(x, 1.04), 1.04),
        (lambda x: before(x, 1.05), 1.0 / 1.05),
    ],
)
def test_another_frame_rate_is_said_and_its_factor_is_recovered(
    make: Callable[[int], Impacts],
    scale: float,
    spoil: Callable[[Impacts], Impacts],
    factor: float,
) -> None:
    for seed in range(5):
        found = momenta.of(spoil(measured(make(seed), seed, scale)))
        assert not found.kept
        # Errors of 0.05 m/s of momenta of 1 m/s, 300 of them: four standard errors at three
        # times the camera's are 0.012
        assert found.ratio == pytest.approx(factor, abs=0.004 * scale + 1e-9)


@pytest.mark.parametrize("scale", [0.0, 1.0])
@pytest.mark.parametrize("spoil", [slid, half])
def test_a_moment_late_or_half_of_the_rows_is_said(
    spoil: Callable[[Impacts], Impacts], scale: float
) -> None:
    for seed in range(20):
        found = momenta.of(measured(spoil(table(seed)), seed, scale))
        assert not found.kept and 0.9 < found.ratio < 0.98
        low, high = found.quarters
        assert low < found.ratio + 0.02 and high > low + 0.03


def test_a_line_names_the_ratio_and_the_inertia_is_judged_without_it() -> None:
    impacts = after(table(1), 0.9)
    (line,) = balance.misfit(impacts, balance.of(impacts))
    assert "is 0.900 times as large after" in line and "one frame rate" in line
    both = replace(impacts, inertia=1.2 * impacts.inertia)
    assert len(balance.misfit(both, balance.of(both))) == 2


def test_what_breaks_the_balance_is_named_too() -> None:
    impacts = after(table(1), 0.5)
    found = balance.of(impacts)
    (line,) = balance.misfit(impacts, found)
    assert not found.holds and line.startswith("Newton's balance fails")
    assert "is 0.500 times as large after" in line


def test_less_than_restitution_is_known_to_is_not_said() -> None:
    assert momenta.of(after(table(1), 0.999)).kept


def test_bodies_without_momentum_about_the_contact_cannot_show_it() -> None:
    """A drop that does not turn: velocities after that are too small are a smaller restitution."""
    impacts = table(3)
    straight = replace(
        impacts,
        contact=-0.3 * impacts.normal,
        before=np.hstack([-impacts.normal, np.zeros((300, 1))]),
        surface=0.0 * impacts.surface,
    )
    assert momenta.of(after(again(straight, 3), 0.9)).kept

"""The simulator of the family: the paper's law inside it, and what each departure does."""

import math

import pytest
import torch

from ricochet.models.core.constants import GRAVITY
from ricochet.models.systems.bouncing_ball import contact, family_simulator, simulator
from ricochet.models.systems.bouncing_ball.family_simulator import Surroundings

HEIGHT = 0.26


def _plain(count: int, restitution: float = 0.8) -> contact.Contact:
    value = torch.full((count,), restitution, dtype=torch.float64)
    return contact.plain(value, torch.full_like(value, math.inf))


def _starts(count: int) -> torch.Tensor:
    draw = torch.Generator().manual_seed(5)
    return family_simulator.start_velocities((count,), horizontal_sd=0.1, draw=draw)


def _drag(value: float) -> Surroundings:
    return Surroundings(drag=torch.tensor(value, dtype=torch.float64))


def test_without_departures_it_is_the_papers_simulator() -> None:
    starts = _starts(20)
    draw = torch.Generator().manual_seed(0)
    ours = family_simulator.simulate(_plain(20), starts, drop_height=HEIGHT, bounces=6, draw=draw)
    theirs = simulator.simulate(
        torch.full((20,), 0.8, dtype=torch.float64),
        torch.full((20,), math.inf, dtype=torch.float64),
        start_velocity=starts, drop_height=HEIGHT, bounces=6, draw=draw,
    )  # fmt: skip
    torch.testing.assert_close(ours.times, theirs.times, rtol=1e-7, atol=0)
    torch.testing.assert_close(ours.positions, theirs.positions, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("tilt", [0.05, -0.2])
def test_a_tilted_surface_is_that_of_the_papers_simulator(tilt: float) -> None:
    draw = torch.Generator().manual_seed(0)
    around = Surroundings(tilt=torch.tensor([tilt, 0.0], dtype=torch.float64))
    still = torch.zeros((1, 3), dtype=torch.float64)
    tilted = torch.tensor([[0.0, 0.0, 0.0]], dtype=torch.float64)
    ours = family_simulator.simulate(
        _plain(1), still, drop_height=HEIGHT, around=around, bounces=4, draw=draw
    )
    theirs = simulator.simulate(
        torch.full((1,), 0.8, dtype=torch.float64),
        torch.full((1,), math.inf, dtype=torch.float64),
        start_velocity=tilted, drop_height=HEIGHT, bounces=4, tilt=tilt, draw=draw,
    )  # fmt: skip
    torch.testing.assert_close(ours.times, theirs.times, rtol=1e-7, atol=0)
    along = theirs.positions[..., 0] / math.cos(tilt)  # of the surface, from the world's x
    torch.testing.assert_close(ours.positions[..., 0], along, rtol=1e-6, atol=1e-8)


def test_drag_makes_the_ratio_of_flights_rise_as_the_ball_slows() -> None:
    """To first order a flight that starts at w loses k w^2 / g twice: once at each end's half."""
    draw = torch.Generator().manual_seed(0)
    still = torch.zeros((1, 3), dtype=torch.float64)
    found = family_simulator.simulate(
        _plain(1, 0.9), still, drop_height=0.3, around=_drag(0.13), bounces=12, draw=draw
    )
    ratios = (found.times.diff()[0, 1:] / found.times.diff()[0, :-1]).numpy()
    assert (ratios[1:] > ratios[:-1]).all() and ratios[-1] < 0.9
    w = GRAVITY * found.times.diff()[0, :-1].numpy() / 2
    # impact speed w / sqrt(1 + k w^2 / g); a flight's time is shorter than 2 w / g by k w^2 / 6 g
    first = 0.9 * (1 - 0.13 * w**2 / (2 * GRAVITY) + 0.13 * w**2 * (1 - 0.81) / (6 * GRAVITY))
    assert abs(ratios - first).max() < 2e-3


def test_heavier_balls_feel_less_of_the_air() -> None:
    last = []
    for drag in (0.13, 0.02, 0.002):
        draw = torch.Generator().manual_seed(0)
        still = torch.zeros((1, 3), dtype=torch.float64)
        found = family_simulator.simulate(
            _plain(1), still, drop_height=0.5, around=_drag(drag), bounces=4, draw=draw
        )
        last.append(float(found.times[0, -1]))
    assert last == sorted(last)


def test_a_batch_equals_its_members_without_redraw() -> None:
    starts, around = _starts(5), _drag(0.1)
    draw = torch.Generator().manual_seed(0)
    together = family_simulator.simulate(
        _plain(5), starts, drop_height=HEIGHT, around=around, draw=draw
    )
    for index in range(5):
        alone = family_simulator.simulate(
            _plain(1), starts[index : index + 1], drop_height=HEIGHT, around=around, draw=draw
        )
        torch.testing.assert_close(together.times[index], alone.times[0], rtol=1e-12, atol=0)


@pytest.mark.parametrize("words", [{"bounces": 0}, {"drop_height": 0.0}])
def test_no_bounce_and_no_height_are_refused(words: dict) -> None:
    with pytest.raises(ValueError, match=next(iter(words))):
        family_simulator.simulate(
            _plain(1), _starts(1), **{"drop_height": HEIGHT} | words, draw=torch.Generator()
        )


def _units(takes: int, **other: float) -> dict[str, torch.Tensor]:
    values = {"restitution": 0.8, "concentration": math.inf, "slope": 0.0, "tangential_loss": 0.0}
    values |= {"tail_share": 0.0, "tail_ratio": 1.0, "scatter": 0.0, "take_scatter": 0.0} | other
    return {name: torch.full((takes,), value).double() for name, value in values.items()}


def test_restitution_scatters_from_take_to_take_and_stays_within_a_take() -> None:
    draw = torch.Generator().manual_seed(1)
    ball = family_simulator.contact_by_take(_units(4000, take_scatter=0.02), draw=draw)
    # standard error of a mean of 4000: 0.016 / 63; of their standard deviation: 1.1 %
    assert float(ball.restitution.mean()) == pytest.approx(0.8, abs=3 * 2.6e-4)
    assert float(ball.restitution.std()) == pytest.approx(0.016, rel=0.035)
    still = torch.zeros((4000, 3), dtype=torch.float64)
    found = family_simulator.simulate(ball, still, drop_height=HEIGHT, bounces=4, draw=draw)
    intervals = found.times.diff()
    ratios = intervals[:, 1:] / intervals[:, :-1]
    torch.testing.assert_close(ratios, ball.restitution[:, None].expand(-1, 2))


def test_without_scatter_every_take_has_the_contact_of_the_ball() -> None:
    units = _units(3, slope=0.02) | {"drag": torch.ones(3).double()}
    ball = family_simulator.contact_by_take(units, draw=torch.Generator())
    for name, value in vars(ball).items():
        assert torch.equal(value, units[name])

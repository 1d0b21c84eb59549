"""The closed form of a ball bouncing off an incline into a cup."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from ricochet.models.systems.bouncing_ball import mujoco_simulator, simulator
from ricochet.models.systems.bouncing_ball.balls import Ball
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws
from ricochet.models.systems.bouncing_ball.prediction import cup_geometry
from ricochet.models.systems.bouncing_ball.prediction.cup_geometry import Scene
from ricochet.models.systems.bouncing_ball.simulator import Bounces
from tests.oracles import cup_steps

SCENE = Scene(
    tilt=0.187, length=0.55, width=0.55, cup_distance=0.218, rim_radius=0.06, rim_height=0.10
)
HEIGHT = 0.4
RADIUS = 0.02


def _drops(count: int, seed: int) -> torch.Tensor:
    low, high = torch.tensor([-0.6, -0.3]).double(), torch.tensor([0.05, 0.3]).double()
    draw = torch.Generator().manual_seed(seed)
    return low + (high - low) * torch.rand(count, 2, generator=draw, dtype=torch.float64)


def _contacts(count: int, concentration: float, seed: int, bounces: int = 4) -> Bounces:
    return simulator.simulate(
        torch.full((count,), 0.85, dtype=torch.float64),
        torch.tensor(concentration),
        bounces=bounces,
        drop_height=HEIGHT,
        horizontal_sd=0.0,
        tilt=SCENE.tilt,
        draw=torch.Generator().manual_seed(seed),
    )


def _simulate(restitution: float, drops: torch.Tensor, scene: Scene = SCENE, **changes):
    arguments = {"ball_radius": RADIUS, "drop_height": HEIGHT, "concentration": 300.0} | changes
    concentration = torch.tensor(arguments.pop("concentration")).double()
    draw = torch.Generator().manual_seed(arguments.pop("seed", 1))
    e = torch.tensor(restitution).double()
    return cup_geometry.simulate(e, concentration, drops, scene=scene, draw=draw, **arguments)


@pytest.mark.proof
@pytest.mark.parametrize("concentration", [pytest.param(20.0, marks=pytest.mark.slow), 1000.0])
def test_the_closed_form_agrees_with_small_steps(concentration: float) -> None:
    """2000 drops, half of them where a single bounce may reach the cup."""
    contacts, drops = _contacts(2000, concentration, 3), _drops(2000, 4)
    near = torch.tensor([-0.187, 0.0]).double() + 0.04 * torch.randn(
        1000, 2, generator=torch.Generator().manual_seed(5), dtype=torch.float64
    )
    drops = torch.cat((drops[:1000], near))
    slow = cup_steps.enters(
        drops.numpy(),
        contacts.velocities.numpy(),
        ball_radius=RADIUS,
        drop_height=HEIGHT,
        scene=SCENE,
    )
    # A step of 0.1 ms at 3 m/s misplaces a contact by 0.3 mm, and what follows by some of it: drops
    # whose outcome a move of 1 mm changes are left out.
    moves = 1e-3 * torch.tensor([[0, 0], [1, 0], [-1, 0], [0, 1], [0, -1]]).double()
    answers = [
        cup_geometry.enters(contacts, drops + move, ball_radius=RADIUS, scene=SCENE).numpy()
        for move in moves
    ]
    decided = np.ptp(np.stack(answers).astype(int), axis=0) == 0
    assert decided.mean() > 0.95 and answers[0][decided].sum() > 20
    np.testing.assert_array_equal(slow[decided], answers[0][decided])


def test_without_noise_the_ball_lands_as_far_beside_the_axis_as_it_was_dropped() -> None:
    x = cup_geometry.aim(0.85, ball_radius=RADIUS, drop_height=HEIGHT, scene=SCENE)
    clear = SCENE.rim_radius - RADIUS
    y = torch.tensor([0.0, 0.99 * clear, 1.01 * clear, -0.99 * clear, -1.01 * clear]).double()
    found = _simulate(0.85, torch.stack((x + 0.0 * y, y), -1), concentration=math.inf)
    assert found.tolist() == [True, True, False, True, False]


@pytest.mark.parametrize("radius", [0.0, 0.0335])
def test_the_aim_solves_the_projectile_equations(radius: float) -> None:
    """The flight from the contact, written out anew, is over the axis when it falls to the rim."""
    x = cup_geometry.aim(0.8, ball_radius=radius, drop_height=HEIGHT, scene=SCENE)
    b, g = SCENE.tilt, SCENE.gravity
    n, v = np.array([math.sin(b), math.cos(b)]), np.array([0.0, -math.sqrt(2 * g * HEIGHT)])
    u = v - 1.8 * (v @ n) * n
    z = (radius - x * math.sin(b)) / math.cos(b)
    t = (SCENE.cup_distance - x) / u[0]
    assert z + u[1] * t - 0.5 * g * t * t == pytest.approx(SCENE.rim_height, abs=1e-12)
    assert u[1] - g * t < 0.0


DOWNHILL = np.array([math.cos(SCENE.tilt), 0.0, -math.sin(SCENE.tilt)])
NORMAL = np.array([math.sin(SCENE.tilt), 0.0, math.cos(SCENE.tilt)])


def _thrown(*hops: tuple[float, tuple[float, float], float]) -> bool:
    """Let a ball touch the incline at `along`, then fly so that it is at `target` after `time`.

    Each hop is (along, target, time): along is measured downhill from the foot, and the target is
    a place (x, y) at the rim's height. The hops need not follow from each other.
    """
    centres = [along * DOWNHILL + RADIUS * NORMAL for along, _, _ in hops]
    targets = [np.array([*target, SCENE.rim_height]) for _, target, _ in hops]
    pull = np.array([0.0, 0.0, 0.5 * SCENE.gravity])
    velocities = [
        (target - centre) / time + pull * time
        for centre, target, (_, _, time) in zip(centres, targets, hops, strict=True)
    ]
    contacts = Bounces(
        torch.zeros(len(hops)).double(),
        torch.from_numpy(np.array(centres) - centres[0]),
        torch.from_numpy(np.array(velocities)),
    )
    drop = torch.from_numpy(centres[0][:2])
    return bool(cup_geometry.enters(contacts, drop, ball_radius=RADIUS, scene=SCENE))


INTO = (SCENE.cup_distance, 0.0)
BESIDE = (SCENE.cup_distance, 0.3)


@pytest.mark.parametrize(("beside", "inside"), [(0.039, True), (0.041, False)])
def test_the_centre_must_pass_the_rim_a_radius_inside_it(beside: float, inside: bool) -> None:
    for x, y in ((beside, 0.0), (-beside, 0.0), (0.0, beside), (0.6 * beside, -0.8 * beside)):
        assert _thrown((-0.1, (INTO[0] + x, y), 0.35)) is inside


@pytest.mark.parametrize(
    ("along", "inside"),
    [(-0.0005, True), (0.0005, False), (-0.5495, True), (-0.5505, False)],
)
def test_the_ball_must_touch_the_incline_between_its_ends(along: float, inside: bool) -> None:
    assert _thrown((along, INTO, 0.35)) is inside


def test_a_ball_that_has_missed_the_incline_once_does_not_come_back() -> None:
    assert _thrown((-0.2, BESIDE, 0.35), (-0.1, INTO, 0.35))
    assert not _thrown((-0.2, BESIDE, 0.35), (0.05, BESIDE, 0.35), (-0.1, INTO, 0.35))


def test_a_ball_that_rises_past_the_rim_beside_the_cup_has_hit_its_wall() -> None:
    """It climbs through the rim's height at t1 and falls through it at t2, a length apart."""
    height = (-0.1 * DOWNHILL + RADIUS * NORMAL)[2]
    run = INTO[0] - (-0.1 * DOWNHILL + RADIUS * NORMAL)[0]
    product = 2.0 * (SCENE.rim_height - height) / SCENE.gravity  # t1 t2
    for apart, inside in ((0.079, False), (0.081, True)):  # R + r = 0.08
        time = math.sqrt(product / (1.0 - apart / run))
        assert _thrown((-0.1, INTO, time)) is inside


def test_a_flight_is_not_followed_back_before_its_contact() -> None:
    assert not _thrown((-0.1, INTO, -0.05))


def test_a_mirror_image_has_the_same_outcome() -> None:
    contacts, drops = _contacts(3000, 100.0, 6), _drops(3000, 7)
    flip = torch.tensor([1.0, -1.0, 1.0]).double()
    mirrored = Bounces(contacts.times, contacts.positions * flip, contacts.velocities * flip)
    here = cup_geometry.enters(contacts, drops, ball_radius=RADIUS, scene=SCENE)
    there = cup_geometry.enters(mirrored, drops * flip[:2], ball_radius=RADIUS, scene=SCENE)
    assert here.any() and torch.equal(here, there)


def test_twice_the_size_of_everything_changes_nothing() -> None:
    """Lengths doubled with gravity kept only slow the flights: powers of two leave no rounding."""
    drops = _drops(5000, 8)
    double = Scene(
        SCENE.tilt, *(2.0 * v for v in list(vars(SCENE).values())[1:6]), gravity=2.0 * SCENE.gravity
    )
    here = _simulate(0.85, drops)
    there = _simulate(0.85, 2.0 * drops, double, ball_radius=2 * RADIUS, drop_height=2 * HEIGHT)
    assert here.any() and torch.equal(here, there)


def test_a_wider_incline_and_a_slimmer_ball_lose_no_ball() -> None:
    contacts, drops = _contacts(5000, 30.0, 9), _drops(5000, 10)
    found = cup_geometry.enters(contacts, drops, ball_radius=RADIUS, scene=SCENE)
    wider = replace(SCENE, length=0.7, width=0.8)
    more = cup_geometry.enters(contacts, drops, ball_radius=RADIUS, scene=wider)
    assert found.any() and not bool((found & ~more).any())
    assert int(more.sum()) > int(found.sum())


def test_a_batch_equals_its_members() -> None:
    contacts, drops = _contacts(40, 1000.0, 11), _drops(40, 12) * 0.2 + torch.tensor([-0.13, 0.0])
    together = cup_geometry.enters(contacts, drops, ball_radius=RADIUS, scene=SCENE)
    alone = [
        bool(
            cup_geometry.enters(
                Bounces(contacts.times[i], contacts.positions[i], contacts.velocities[i]),
                drops[i],
                ball_radius=RADIUS,
                scene=SCENE,
            )
        )
        for i in range(40)
    ]
    assert together.tolist() == alone and 0 < sum(alone) < 40


def test_a_ball_may_arrive_after_several_bounces() -> None:
    """Dropped from high up the incline without noise, some position lands in with its second."""
    x = torch.linspace(-0.54, -0.30, 241, dtype=torch.float64)
    drops = torch.stack((x, 0.0 * x), -1)
    low = replace(SCENE, rim_height=0.06)
    one = _simulate(0.7, drops, low, concentration=math.inf, bounces=1)
    two = _simulate(0.7, drops, low, concentration=math.inf, bounces=2)
    assert not one.any() and two.any()


def test_a_drop_beyond_the_foot_is_a_miss() -> None:
    """A low rim would be reached from beyond the foot, were there an incline."""
    near = replace(SCENE, cup_distance=0.35)
    x = torch.tensor([[-0.01, 0.0], [0.01, 0.0]]).double()
    there = cup_geometry.aim(0.85, ball_radius=RADIUS, drop_height=HEIGHT, scene=near)
    assert abs(there) < 0.1
    shifted = replace(near, cup_distance=0.35 - there)  # now the aim is close to the foot
    found = _simulate(0.85, x, shifted, concentration=math.inf)
    assert found.tolist() == [True, False]


@pytest.mark.parametrize("case", [(0.85, 10.0**3.5), (0.72, 1e3)])
def test_mujoco_s_ball_goes_in_as_often(case: tuple[float, float]) -> None:
    """100 drops through MuJoCo against 20,000: within 3.5 standard errors of the 100."""
    x = cup_geometry.aim(case[0], ball_radius=RADIUS, drop_height=HEIGHT, scene=SCENE) + 0.03
    drop = torch.tensor([x, 0.01]).double()
    contacts = mujoco_simulator.simulate(
        *case,
        drops=100,
        bounces=2,
        drop_height=HEIGHT,
        horizontal_sd=0.0,
        tilt=SCENE.tilt,
        draw=np.random.default_rng(13),
    )
    there = cup_geometry.enters(contacts, drop, ball_radius=RADIUS, scene=SCENE).double().mean()
    here = _simulate(case[0], drop.expand(20000, 2), concentration=case[1], seed=14)
    chance = float(here.double().mean())
    assert 0.1 < chance < 0.95
    assert abs(float(there) - chance) < 3.5 * math.sqrt(chance * (1 - chance) / 100)


def test_a_ball_wider_than_the_cup_is_refused() -> None:
    with pytest.raises(ValueError, match="ball_radius"):
        _simulate(0.85, _drops(1, 1), ball_radius=0.06)


def test_an_aim_that_no_ball_reaches_is_refused() -> None:
    with pytest.raises(ValueError, match="does not reach the rim"):
        cup_geometry.aim(0.3, ball_radius=RADIUS, drop_height=0.1, scene=SCENE)


def _family(count: int, drag: float) -> tuple[ContactDraws, torch.Tensor]:
    """A ball that scatters and loses speed, and drops about where it may reach the cup."""
    ball = Ball("", 0.85, 2.5, RADIUS, viscoelastic=True, tangential_loss=0.05, drag=drag)
    draw = torch.Generator().manual_seed(5)
    noise = torch.randn(count, 2, generator=draw, dtype=torch.float64)
    return ball.nature, torch.tensor([-0.187, 0.0]).double() + 0.04 * noise


def _family_inside(draws: ContactDraws, drops: torch.Tensor, scene: Scene = SCENE) -> torch.Tensor:
    return cup_geometry.simulate_family(
        draws, drops, ball_radius=RADIUS, drop_height=HEIGHT, scene=scene,
        draw=torch.Generator().manual_seed(1),
    )  # fmt: skip


def test_a_ball_without_departures_enters_as_the_papers() -> None:
    """20,000 drops through the family's simulator and through the closed form, other draws."""
    _, drops = _family(20_000, 0.0)
    hardly = Ball("", 0.85, 2.5, RADIUS, drag=1e-9).nature
    plain = Ball("", 0.85, 2.5, RADIUS).nature
    one, other = (_family_inside(each, drops).double() for each in (hardly, plain))
    # four standard errors of a difference of two shares of 20,000
    assert 0.1 < one.mean() < 0.9
    assert abs(one.mean() - other.mean()) < 4.0 * math.sqrt(2.0 * 0.25 / 20_000)


def test_in_air_a_ball_passes_the_rim_where_small_steps_do() -> None:
    """1000 flights from the incline through the rim, each followed by Euler's rule in 0.1 ms."""
    nature, drops = _family(1000, 0.132)
    draw = torch.Generator().manual_seed(2)
    centre = torch.cat((drops, torch.full((1000, 1), 0.06, dtype=torch.float64)), -1)
    low, high = torch.tensor([0.6, -0.1, 1.0]), torch.tensor([1.4, 0.1, 2.2])
    velocity = low + (high - low) * torch.rand(1000, 3, generator=draw, dtype=torch.float64)
    answers = []
    for move in (0.0, 1e-3, -1e-3):
        wider = replace(SCENE, rim_radius=SCENE.rim_radius + move)
        rim = cup_geometry._dragged(centre, velocity, wider, nature.drag.expand(1000))
        answers.append(cup_geometry._passes_rim(rim, RADIUS, wider).numpy())
    slow, place, speed = np.zeros(1000, bool), centre.numpy().copy(), velocity.numpy().copy()
    lip = np.zeros(1000, bool)
    for _ in range(6000):
        before = place[:, 2].copy()
        place += 1e-4 * speed
        length = np.linalg.norm(speed, axis=1, keepdims=True)
        speed += 1e-4 * ([0.0, 0.0, -9.81] - 0.132 * length * speed)
        away = np.hypot(place[:, 0] - SCENE.cup_distance, place[:, 1])
        lip |= (
            (before < SCENE.rim_height)
            & (place[:, 2] >= SCENE.rim_height)
            & (away < SCENE.rim_radius + RADIUS)
        )
        falls = (before > SCENE.rim_height) & (place[:, 2] <= SCENE.rim_height)
        slow |= falls & (away <= SCENE.rim_radius - RADIUS)
    decided = np.ptp(np.stack(answers).astype(int), axis=0) == 0
    assert decided.mean() > 0.9 and answers[0].sum() > 20
    np.testing.assert_array_equal((slow & ~lip)[decided], answers[0][decided])


def test_air_takes_balls_that_just_came_through() -> None:
    """At the drop from which the ball without air comes down on the axis, air brings it short."""
    nature, _ = _family(1, 0.0)
    sure = replace(nature, contact=replace(nature.contact, concentration=torch.tensor([math.inf])))
    x = cup_geometry.aim(0.85, ball_radius=RADIUS, drop_height=HEIGHT, scene=SCENE)
    grid = torch.stack((x + torch.linspace(-0.1, 0.1, 401), torch.zeros(401)), -1).double()
    middles = []
    for drag in (0.0, 0.132):
        inside = _family_inside(replace(sure, drag=torch.tensor([drag]).double()), grid)
        middles.append(float(grid[inside, 0].mean()))
    assert 0.005 < middles[1] - middles[0] < 0.08

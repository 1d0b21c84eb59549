"""The posterior played in MuJoCo is the posterior: closed forms, and draws of our own simulator."""

import ast
import math
from pathlib import Path

import mujoco
import numpy as np
import pytest
import torch
from scipy import stats

from ricochet.models.systems.bouncing_ball import (
    contact,
    family_simulator,
    mujoco_playback,
    viscoelastic_restitution,
)
from ricochet.models.systems.bouncing_ball.contact import Contact as Contacts
from ricochet.models.systems.bouncing_ball.contact_draws import ContactDraws
from ricochet.models.systems.bouncing_ball.family_simulator import Surroundings
from ricochet.models.systems.bouncing_ball.mujoco_playback import Contact, Draws, Player

HEIGHT, RADIUS, GRAVITY = 0.26, 0.02, 9.81
SCENE = """<mujoco><option timestep="{step}" integrator="RK4"/>
<worldbody><geom name="surface" {surface}/>
<body name="ball" pos="0 0 {height}"><freejoint/><geom name="ball" size="0.02" mass="0.0027"/>
</body></worldbody><contact>{pair}</contact></mujoco>"""
PAIR = '<pair geom1="ball" geom2="surface" margin="-1000"/>'
PLANE, EXACT = 'type="plane" size="1 1 0.01"', 1e12


def built(surface: str = PLANE, pair: str = PAIR, step: float = 0.01) -> mujoco.MjModel:
    text = SCENE.format(step=step, surface=surface, pair=pair, height=HEIGHT + RADIUS)
    return mujoco.MjModel.from_xml_string(text)


def first_bounces(player: Player, data: mujoco.MjData, count: int) -> np.ndarray:
    """Return rows of time, place and exit velocity."""
    rows = []
    while len(rows) < count and data.time < 3.0:
        bounce = player.step()
        if bounce is not None:
            rows.append([bounce.time, *bounce.place, *bounce.velocity])
    return np.array(rows)


def test_a_ball_without_noise_bounces_at_the_times_of_the_closed_form():
    model = built()
    data = mujoco.MjData(model)
    player = Player(model, data, Contact(0.8, EXACT), draw=np.random.default_rng(0))
    found = first_bounces(player, data, 6)
    fall = math.sqrt(2.0 * HEIGHT / GRAVITY)
    expected = fall * (1.0 + 2.0 * np.cumsum([0.0, *0.8 ** np.arange(1, 6)]))
    np.testing.assert_allclose(found[:, 0], expected, atol=1e-6)
    np.testing.assert_allclose(found[:, 6], GRAVITY * fall * 0.8 ** np.arange(1, 7), atol=1e-5)


def test_the_surface_may_be_tilted_and_moved_by_hand():
    """On a wall that comes at w the ball leaves at the speed (1 + e) w + e v."""
    surface = 'type="box" size="0.5 0.5 0.1" pos="0 0 -0.1"'
    text = SCENE.format(step=0.001, surface=surface, pair=PAIR, height=HEIGHT + RADIUS)
    geom = f'<geom name="surface" {surface}/>'
    lift = f'<body name="table"><joint name="lift" type="slide" axis="0 0 1"/>{geom}</body>'
    model = mujoco.MjModel.from_xml_string(
        text.replace(geom, lift).replace("<option", '<option gravity="0 0 0"')
    )
    data = mujoco.MjData(model)
    data.qvel[model.joint("lift").dofadr[0]] = 0.5
    data.qvel[model.body("ball").dofadr[0] + 2] = -1.0
    player = Player(model, data, Contact(0.8, EXACT), draw=np.random.default_rng(0))
    [bounce] = first_bounces(player, data, 1)
    assert bounce[6] == pytest.approx(1.8 * 0.5 + 0.8 * 1.0, abs=1e-6)


def test_directions_are_von_mises_fisher_about_the_mirror_direction():
    draw, mean, concentration = np.random.default_rng(1), np.array([0.3, -0.4, 1.2]), 40.0
    drawn = np.array(
        [mujoco_playback.redirected(mean, concentration, draw=draw) for _ in range(1000)]
    )
    np.testing.assert_allclose(np.linalg.norm(drawn, axis=1), 1.3, rtol=1e-12)
    fall = 1.0 - drawn @ mean / 1.3**2
    law = stats.truncexpon(b=2.0 * concentration, scale=1.0 / concentration)
    assert stats.kstest(fall, law.cdf).pvalue > 1e-3  # a right law fails at one seed in a thousand


def test_a_ball_comes_to_rest_on_the_surface_and_slides():
    model = built()
    data = mujoco.MjData(model)
    data.qvel[0] = 0.2
    player = Player(model, data, Contact(0.6, EXACT), draw=np.random.default_rng(0))
    while data.time < 3.0:
        player.step()
    assert data.qpos[2] == pytest.approx(RADIUS, abs=1e-4)
    np.testing.assert_allclose(data.qvel[:3], (0.2, 0.0, 0.0), atol=1e-4)


@pytest.mark.parametrize(
    "pair, ball, said",
    [
        ("", "ball", "include contact.xml"),
        ('<pair geom1="ball" geom2="surface"/>', "ball", "include contact.xml"),
        (PAIR, "puck", "no geom is named 'puck'"),
        (PAIR, "surface", "without a free joint"),
    ],
)
def test_models_in_which_it_cannot_play_are_refused(pair, ball, said):
    model = built(pair=pair)
    with pytest.raises(ValueError, match=said):
        Player(
            model,
            mujoco.MjData(model),
            Contact(0.8, 1e3),
            draw=np.random.default_rng(0),
            ball=ball,
        )


@pytest.mark.parametrize(
    "pair", ['<exclude body1="world" body2="ball"/>', PAIR], ids=["excluded", "pair"]
)
def test_mujoco_leaves_the_contact_alone(pair):
    model = built(pair=pair)
    data = mujoco.MjData(model)
    while data.time < 1.0:
        mujoco.mj_step(model, data)
    assert data.qpos[2] == pytest.approx(HEIGHT + RADIUS - 0.5 * GRAVITY, rel=0.03)


def test_it_needs_numpy_and_mujoco_alone():
    tree = ast.parse(Path(mujoco_playback.__file__).read_text())
    names = {
        (node.module or "").split(".")[0] if isinstance(node, ast.ImportFrom) else alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    assert names == {"math", "dataclasses", "pathlib", "mujoco", "numpy"}


@pytest.mark.parametrize("viscoelastic", [False, True])
def test_restitution_by_speed_is_that_of_the_family(viscoelastic):
    columns = dict.fromkeys(mujoco_playback.COLUMNS, np.zeros(2)) | {
        "restitution": np.array([0.62, 0.93]),
        "slope": np.array([0.02, 0.0]),
        "viscoelastic": np.full(2, float(viscoelastic)),
    }
    law = contact.viscoelastic if viscoelastic else contact.linear
    for number, speed in ((0, 0.3), (0, 4.0), (1, 1.0)):
        row = (torch.tensor(columns[name][number]) for name in ("restitution", "slope"))
        expected = float(law(*row, torch.tensor(speed, dtype=torch.float64)))
        found = Draws(columns).contact(number).restitution_at(speed)
        assert found == pytest.approx(expected, abs=1e-6)
    same = (contact.REFERENCE_SPEED, contact.LOWEST, contact.HIGHEST)
    held = mujoco_playback.REFERENCE_SPEED, mujoco_playback.LOWEST, mujoco_playback.HIGHEST
    assert held == same
    assert mujoco_playback.compact(0.2) == pytest.approx(viscoelastic_restitution.compact(0.2))


def posterior(count: int) -> ContactDraws:
    """A posterior with everything in it: speed, air, loss, wide redirections and scatter."""
    draw = np.random.default_rng(5)
    columns = (
        draw.normal(0.85, 0.02, count), 10.0 ** draw.normal(2.5, 0.2, count),
        np.full(count, 0.02), draw.normal(0.2, 0.02, count), np.full(count, 0.1),
        np.full(count, 0.1), np.full(count, 0.01),
    )  # fmt: skip
    drag = torch.from_numpy(draw.uniform(0.05, 0.15, count))
    return ContactDraws(
        Contacts(*map(torch.from_numpy, columns)), torch.arange(count) % 2 == 0, drag
    )


def played(draws: ContactDraws, drops: int) -> np.ndarray:
    columns = {name: column.numpy() for name, column in vars(draws.contact).items()}
    columns |= {"drag": draws.drag.numpy(), "viscoelastic": draws.viscoelastic.numpy()}
    held, draw, model = Draws(columns), np.random.default_rng(6), built()
    data = mujoco.MjData(model)
    player, rows = Player(model, data, held.sample(draw), draw=draw), []
    for _ in range(drops):
        mujoco.mj_resetData(model, data)
        data.qvel[:2] = 0.1 * draw.standard_normal(2)
        player.contact = held.sample(draw)
        rows.append(first_bounces(player, data, 3))
    return np.array(rows)


def simulated(draws: ContactDraws, drops: int) -> np.ndarray:
    draw = torch.Generator().manual_seed(7)
    some = draws.rows(torch.randint(len(draws.drag), (drops,), generator=draw).numpy())
    starts = family_simulator.start_velocities((drops,), horizontal_sd=0.1, draw=draw)
    found = family_simulator.simulate(
        some.contact, starts, drop_height=HEIGHT, law=some.law,
        around=Surroundings(some.drag), draw=draw,
    )  # fmt: skip
    return torch.cat((found.times[..., None], found.positions, found.velocities), -1).numpy()


def features(rows: np.ndarray) -> dict[str, np.ndarray]:
    """Return what tells restitution (times, heights of the arcs) and redirection (angles)."""
    times, places, exits = rows[..., 0], rows[..., 1:3], rows[..., 4:7]
    first, second = np.diff(places, axis=1).transpose(1, 0, 2)
    turn = np.arctan2(
        first[:, 0] * second[:, 1] - first[:, 1] * second[:, 0], (first * second).sum(1)
    )
    return {
        "fall": times[:, 0],
        "first flight": times[:, 1] - times[:, 0],
        "second flight": times[:, 2] - times[:, 1],
        "apex after the third bounce": exits[:, 2, 2] ** 2 / (2.0 * GRAVITY),
        "first distance": np.hypot(*first.T),
        "angle of the first exit": np.arctan2(np.hypot(*exits[:, 0, :2].T), exits[:, 0, 2]),
        "turn": turn,
    }


def compare(rows: np.ndarray, draws: ContactDraws) -> None:
    """Two-sample Kolmogorov tests: all together refuse a right player at one seed in a thousand."""
    found, expected = features(rows), features(simulated(draws, 4 * len(rows)))
    chances = {name: stats.ks_2samp(found[name], expected[name]).pvalue for name in found}
    assert min(chances.values()) > 1e-3 / len(chances), chances


def test_a_few_dozen_balls_bounce_as_in_our_simulator():
    draws = posterior(500)
    compare(played(draws, 60), draws)


@pytest.mark.slow
def test_the_comparison_would_notice_a_small_error():
    """A restitution that is off by a third of the posterior's deviation is seen in 1000 balls."""
    draws = posterior(500)
    columns = vars(draws.contact) | {"restitution": draws.contact.restitution + 0.007}
    wrong = ContactDraws(Contacts(**columns), draws.viscoelastic, draws.drag)
    found, expected = features(simulated(wrong, 1000)), features(simulated(draws, 4000))
    chances = [stats.ks_2samp(found[name], expected[name]).pvalue for name in found]
    assert min(chances) < 1e-3 / len(chances)

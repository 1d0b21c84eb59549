"""Strips and films show the puck and the mallet where they were, with and without EGL."""

import errno
import os
from itertools import pairwise
from pathlib import Path

import mujoco
import numpy as np
import pytest
from PIL import Image, ImageSequence

from ricochet.models.arms import iiwa
from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.air_hockey import simulator
from ricochet.models.systems.air_hockey.simulator import CALM, Episode
from ricochet.tasks.figures import scenes
from ricochet.tasks.figures.style import to_png
from ricochet.tasks.systems.air_hockey.figures import episodes

HOLD = np.stack((iiwa.HOME, np.zeros(7)))


@pytest.fixture(scope="module")
def episode() -> Episode:
    """A puck that crosses the table along y = 0.2 while the base turns a little."""
    draw = np.random.default_rng(0)
    world, puck = simulator.build(), np.array((-0.6, 0.2, 1.5, 0.0))
    begun, _ = simulator.reset(world, puck=puck, disturbance=CALM, draw=draw)
    turn = np.array((0.02, 0, 0, 0, 0, 0, 0))
    for number in range(1, 41):
        held = HOLD + np.stack((min(number, 20) * turn, (number < 20) * 50.0 * turn))
        simulator.step(begun, held)
    return begun


def red(picture: np.ndarray) -> np.ndarray:
    """Return rows and columns of the puck's colour."""
    r, g, b = (picture[..., channel].astype(int) for channel in range(3))
    return np.stack(np.nonzero((r > 120) & (r > 3 * g) & (r > 3 * b)))


def test_the_puck_is_drawn_where_it_was(episode: Episode) -> None:
    """Seen from above, 2.6 m high with 34 degrees over 240 rows: 151 pixels a metre."""
    times = (0.02, 0.3, 0.8)
    pictures = episodes.render(episode, times, cameras=("above",))
    if pictures is None:
        pytest.skip("no EGL here")
    for picture, when in zip(pictures[:, 0], times, strict=True):
        x, y = episode.trace[round(1e3 * when) - 1][:2]
        down, across = red(picture).mean(axis=1)
        assert across == pytest.approx(210.0 + 151.0 * (x + 0.27), abs=4.0)
        assert down == pytest.approx(120.0 - 151.0 * y, abs=4.0)


def test_arm_and_mallet_are_put_where_they_were(episode: Episode) -> None:
    """The mallet of the record against that of the observed joints, but for its offset."""
    data = mujoco.MjData(episode.world.model)
    for when in (0.1, 0.31, 0.8):
        episodes._pose(episode, data, when)
        recorded = episode.trace[round(1e3 * when) - 1][6:9]
        np.testing.assert_allclose(data.geom("mallet").xpos, recorded, atol=4e-3)


@pytest.mark.parametrize("egl", [True, False])
def test_a_strip_has_a_column_an_instant(
    episode: Episode, egl: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = 1
    if not egl:
        monkeypatch.setattr(scenes, "context", lambda size: None)
    elif scenes.context(episodes.SIZE) is None:
        pytest.skip("no EGL here")
    else:
        rows = 2
    figure = episodes.strip(episode, title="a glide", count=3)
    assert len(figure.axes) == 3 * rows
    assert to_png(figure)[:4] == b"\x89PNG"


@pytest.mark.parametrize("egl", [True, False])
def test_a_film_lasts_as_long_as_it_should(
    episode: Episode, egl: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """0.8 s in steps of 0.1 s, twice as slowly; from picture to picture the puck moves on."""
    if not egl:
        monkeypatch.setattr(scenes, "context", lambda size: None)
    episodes.film(episode, tmp_path / "glide.gif", every=5)
    with Image.open(tmp_path / "glide.gif") as film:
        pictures = []
        for frame in ImageSequence.Iterator(film):
            assert frame.info["duration"] == 200
            pictures.append(np.asarray(frame.convert("RGB")).astype(int))
    assert len(pictures) == 9
    for before, after in pairwise(pictures):
        assert (np.abs(after - before).max(axis=-1) > 40).sum() > 20


def test_an_episode_without_steps_has_no_strip() -> None:
    draw = np.random.default_rng(0)
    begun, _ = simulator.reset(simulator.build(), puck=np.zeros(4), disturbance=CALM, draw=draw)
    with pytest.raises(ValueError, match="found no step in it"):
        episodes.strip(begun, title="nothing")


def test_a_film_that_cannot_be_written_leaves_the_old_one(episode, tmp_path, monkeypatch) -> None:
    path = tmp_path / "glide.gif"
    path.write_bytes(b"old")
    monkeypatch.setattr(episodes, "render", lambda *_, **__: None)

    def full(_handle):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BadInput, match="no space left"):
        episodes.film(episode, path, every=50)
    assert path.read_bytes() == b"old" and len(list(tmp_path.iterdir())) == 1

"""Modes found again in records whose law is known, whatever the instant of sampling."""

from dataclasses import replace

import numpy as np
import pytest

from models.core.hockey_table import Table
from models.inference import contact_modes
from models.inference.contact_modes import Recording
from models.probability import puck_modes

TABLE = Table()
STEP = 0.0005  # s, of the oracle
EVERY = 40
DRAG, AIRFLOW = 0.5, 0.07
WALL, WALL_SD = np.diag((-0.75, 0.84)), np.array((0.03, 0.02))
MALLET, MALLET_SD = np.array([[-0.45, 0, 1.45, 0], [0, 0.8, 0, 0.2]]), np.array((0.02, 0.04))


def contact(law, known, against, spread, draw):
    noise = puck_modes.sizes(against) * spread * draw.standard_normal(against.shape)
    return known @ law.T + noise


def record(episodes: int, draw: np.random.Generator, steps: int = 50) -> Recording:
    """Play pucks and gliding mallets in small steps, with sudden contacts."""
    place = np.column_stack((draw.uniform(-0.4, 0.4, episodes), draw.uniform(-0.3, 0.3, episodes)))
    fast = (np.arange(episodes) % 2)[:, None]
    speed = draw.normal(0.0, 1.0, (episodes, 2)) * np.where(fast, 1.5, 0.15)
    airflow = AIRFLOW * draw.standard_normal((episodes, 2))
    angle = draw.uniform(-1.0, 1.0, episodes)
    along = np.stack((np.cos(angle), np.sin(angle)), -1)
    glide = draw.uniform(0.4, 1.5, episodes)[:, None] * along
    aside = along[:, ::-1] * (-1.0, 1.0) * draw.uniform(-0.03, 0.03, (episodes, 1))
    mallet = place - 0.3 * along + aside
    mallet[1::2] = np.nan
    rows = []
    for k in range(steps * EVERY):
        if k % EVERY == 0:
            rows.append((place.copy(), speed.copy(), mallet.copy(), glide.copy()))
        push = airflow - DRAG * speed
        place = place + STEP * speed + 0.5 * STEP**2 * push
        speed, mallet = speed + STEP * push * (1.0 - 0.5 * STEP * DRAG), mallet + STEP * glide
        for axis, limit in enumerate((TABLE.wall_x, TABLE.wall_y)):
            hit = (np.abs(place[:, axis]) > limit) & (place[:, axis] * speed[:, axis] > 0.0)
            if not hit.any():
                continue
            normal = np.zeros((hit.sum(), 2))
            normal[:, axis] = np.sign(place[hit, axis])
            frame = puck_modes.frames(normal)
            known = np.einsum("bij,bj->bi", frame, speed[hit])
            after = contact(WALL, known, known, WALL_SD, draw)
            speed[hit] = np.einsum("bji,bj->bi", frame, after)
        apart = place - mallet
        far = np.linalg.norm(apart, axis=-1)
        closing = ((glide - speed) * apart).sum(-1)
        hit = (far < TABLE.contact_radius) & (closing > 0.0)
        if not hit.any():
            continue
        frame = puck_modes.frames(apart[hit] / far[hit, None])
        puck, other = (np.einsum("bij,bj->bi", frame, v[hit]) for v in (speed, glide))
        after = contact(MALLET, np.hstack((puck, other)), other - puck, MALLET_SD, draw)
        speed[hit] = np.einsum("bji,bj->bi", frame, after)
        mallet[hit] = np.nan  # taken away, so that no wall sends the puck back to it
    parts = [np.stack(part, axis=1) for part in zip(*rows, strict=True)]
    lost = np.isnan(parts[2]).any(-1)
    for before in np.flatnonzero(lost[:, -1] & ~lost[:, 0]):  # it glides on in the record
        first = int(lost[before].argmax())
        later = 0.02 * np.arange(1, steps - first + 1)[:, None]
        parts[2][before, first:] = parts[2][before, first - 1] + later * glide[before]
        parts[2][before, first + 2 :] = np.nan
    return Recording(*parts)


RECORDING = record(160, np.random.default_rng(3))
FITTED = contact_modes.fit(RECORDING, TABLE)


def test_the_law_of_a_record_is_found_again():
    """About 80 strikes and 100 banks: three errors of each number (of w / U, in U's metric).

    An sd is known to 1 / sqrt(2 N) of itself, 8 %; a t-density's fit loses little of that. A
    number of the matrix to sd / sqrt(N) / (spread of its input by U, at least 0.3).
    """
    np.testing.assert_allclose(np.diag(FITTED.floating.matrix), np.exp(-DRAG * 0.02), atol=2e-5)
    np.testing.assert_allclose(np.diag(FITTED.wall.matrix), (-0.75, 0.84), atol=0.03)
    np.testing.assert_allclose(np.sqrt(np.diag(FITTED.wall.covariance)), WALL_SD, rtol=0.3)
    np.testing.assert_allclose(FITTED.mallet.matrix, MALLET, atol=0.06)
    np.testing.assert_allclose(np.sqrt(np.diag(FITTED.mallet.covariance)), MALLET_SD, rtol=0.3)
    # 160 episodes of two axes tell an sd to 1 / sqrt(640) = 4 %.
    assert pytest.approx(AIRFLOW, rel=0.12) == FITTED.airflow_sd
    assert FITTED.delay < 1e-3


def test_every_contact_is_found_and_floating_holds_none():
    assigned = contact_modes.assign(RECORDING, TABLE, drag=np.array((DRAG, DRAG)))
    assert len(assigned.strikes.touch) > 50  # of 80; others graze, or are at a wall
    assert len(assigned.banks.touch) > 80
    speed = RECORDING.puck_velocity
    kick = np.linalg.norm(speed[:, 1:] - np.exp(-DRAG * 0.02) * speed[:, :-1], axis=-1)
    assert kick[assigned.floating].max() < 0.02
    lasting = assigned.strikes.stop - assigned.strikes.start
    assert (lasting == 1).mean() > 0.9  # two where a sample fell into the touch's own step


def test_a_mirrored_record_tells_the_same():
    """Not so the order of episodes, nor x for -x."""
    for sign in ((1.0, -1.0), (-1.0, 1.0)):
        parts = (RECORDING.puck, RECORDING.puck_velocity)
        parts += (RECORDING.mallet, RECORDING.mallet_velocity)
        mirrored = Recording(*(part[::-1] * sign for part in parts))
        other = puck_modes.to_arrays(contact_modes.fit(mirrored, TABLE))
        for name, array in puck_modes.to_arrays(FITTED).items():
            np.testing.assert_allclose(other[name], array, atol=1e-9)


def soft(phase: float, steps: int = 22) -> Recording:
    """A mallet pushes a resting puck by a spring with friction for 18 ms, sampled at a phase."""
    dt, rows = 1e-4, []
    place, speed, mallet, glide = np.zeros(2), np.zeros(2), np.array((-0.3, 0.02)), 1.2
    for k in range(int((steps * 0.02 + phase) / dt)):
        if k >= round(phase / dt) and (k - round(phase / dt)) % round(0.02 / dt) == 0:
            rows.append((place.copy(), speed.copy(), mallet.copy(), np.array((glide, 0.0))))
        apart = place - mallet
        near = TABLE.contact_radius - np.linalg.norm(apart)
        normal = apart / np.linalg.norm(apart)
        closing = (np.array((glide, 0.0)) - speed) @ normal
        push = max(0.0, 30000.0 * near + 80.0 * closing) if near > 0.0 else 0.0
        slip = (np.array((glide, 0.0)) - speed) - closing * normal
        speed = speed + dt * (push * normal + 20.0 * (near > 0.0) * slip)
        place, mallet = place + dt * speed, mallet + dt * np.array((glide, 0.0))
    return Recording(*(np.stack(part)[None] for part in zip(*rows, strict=True)))


def test_a_soft_contact_is_one_datum_whatever_the_phase_of_sampling():
    found = []
    for phase in np.arange(0.0, 0.02, 0.005):
        strikes = contact_modes.assign(soft(phase), TABLE, drag=np.zeros(2)).strikes
        assert len(strikes.touch) == 1
        found.append(np.concatenate((strikes.normal[0], strikes.before[0], strikes.after[0])))
    np.testing.assert_allclose(found, np.broadcast_to(found[0], (4, 8)), atol=2e-3)
    assert found[0][6] > 1.2 * 1.2  # the spring gives back: faster than the mallet


def test_delay_of_a_soft_contact_is_within_it():
    strikes = contact_modes.assign(soft(0.005), TABLE, drag=np.zeros(2)).strikes
    assert 0.003 < contact_modes.fit_delay(strikes) < 0.015


def test_a_record_without_strikes_is_refused():
    alone = replace(RECORDING, mallet=np.full_like(RECORDING.mallet, np.nan))
    with pytest.raises(ValueError, match="strikes"):
        contact_modes.fit(alone, TABLE)

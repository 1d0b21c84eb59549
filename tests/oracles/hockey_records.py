"""Records of pucks and mallets whose law is known, played in small steps."""

import numpy as np

from ricochet.models.systems.air_hockey.puck import contact_frames
from ricochet.models.systems.air_hockey.puck.segmentation import Recording
from ricochet.models.systems.air_hockey.table import Table

TABLE = Table()
STEP = 0.0005  # s, of the oracle
EVERY = 40
DRAG, AIRFLOW = 0.5, 0.07
WALL, WALL_SD = np.diag((-0.75, 0.84)), np.array((0.03, 0.02))
MALLET, MALLET_SD = np.array([[-0.45, 0, 1.45, 0], [0, 0.8, 0, 0.2]]), np.array((0.02, 0.04))


def contact(law, known, against, spread, draw):
    noise = contact_frames.sizes(against) * spread * draw.standard_normal(against.shape)
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
            frame = contact_frames.frames(normal)
            known = np.einsum("bij,bj->bi", frame, speed[hit])
            after = contact(WALL, known, known, WALL_SD, draw)
            speed[hit] = np.einsum("bji,bj->bi", frame, after)
        apart = place - mallet
        far = np.linalg.norm(apart, axis=-1)
        closing = ((glide - speed) * apart).sum(-1)
        hit = (far < TABLE.contact_radius) & (closing > 0.0)
        if not hit.any():
            continue
        frame = contact_frames.frames(apart[hit] / far[hit, None])
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

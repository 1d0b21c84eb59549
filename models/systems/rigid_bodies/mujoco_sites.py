r"""Positions of a model's joints from places of its sites in the world.

At each frame Gauss-Newton's steps, from the frame before, make sum_i |p_i - site_i(q)|^2 least,
with MuJoCo's derivatives of the sites. The first frame is tried from many places.

Source: MuJoCo's mj_jacSite; least squares: Levenberg 1944.
"""

from collections.abc import Sequence

import mujoco
import numpy as np
from jaxtyping import Float, Int
from numpy import ndarray
from scipy.stats import qmc

from ricochet.models.systems.rigid_bodies.mujoco_motion import SLIDE

STARTS = 128
"""Places from which the first frame is tried."""
_STEPS, _NEAR, _DAMPING = 50, 1e-10, 1e-6
_UNTOLD = 1e-6


def positions(
    model: mujoco.MjModel, sites: Sequence[str], places: Float[ndarray, "frame site 3"]
) -> tuple[Float[ndarray, "frame joint"], float]:
    """Return the joints' positions, rad or m, and the root mean square of what is missed, m.

    Raises:
        ValueError: If the sites leave a joint open.
    """
    data = mujoco.MjData(model)
    numbers = np.array([model.site(name).id for name in sites])
    first = min(
        (_fitted(model, data, numbers, places[0], start) for start in _starts(model)),
        key=lambda found: found[1],
    )[0]
    found, missed = np.empty((len(places), model.nq)), np.empty(len(places))
    for frame, seen in enumerate(places):
        before = found[frame - 1] if frame else first
        found[frame], missed[frame] = _fitted(model, data, numbers, seen, before)
    _check(model, data, numbers, found[len(found) // 2])
    return found, float(np.sqrt(missed.mean()))


def _starts(model: mujoco.MjModel) -> list[Float[ndarray, " joint"]]:
    """Return the model's own positions, and a Sobol sequence over turns, or over its limits."""
    slides = model.jnt_type == SLIDE
    reach = np.where(slides, model.stat.extent, np.pi)
    limited = model.jnt_limited.astype(bool)
    low = np.where(limited, model.jnt_range[:, 0], -reach)
    high = np.where(limited, model.jnt_range[:, 1], reach)
    share = qmc.Sobol(model.nq, scramble=False).random(STARTS)
    return [model.qpos0.copy(), *(low + share * (high - low))]


def _fitted(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    sites: Int[ndarray, " site"],
    seen: Float[ndarray, "site 3"],
    start: Float[ndarray, " joint"],
) -> tuple[Float[ndarray, " joint"], float]:
    """Return the positions at which sites are nearest, and their mean square distance."""
    at, damping = start, _DAMPING
    off, jacobian = _off(model, data, sites, seen, at)
    for _ in range(_STEPS):
        gram = jacobian.T @ jacobian
        gram += damping * (np.trace(gram) / len(gram) + _NEAR) * np.eye(len(gram))
        step = np.linalg.solve(gram, jacobian.T @ off)
        left, slopes = _off(model, data, sites, seen, at + step)
        if left @ left <= off @ off:
            at, off, jacobian, damping = at + step, left, slopes, max(0.1 * damping, _DAMPING)
        else:
            damping *= 10.0
        if np.abs(step).max() < _NEAR or damping > 1e6:
            break
    return at, float(off @ off) / len(sites)


def _off(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    sites: Int[ndarray, " site"],
    seen: Float[ndarray, "site 3"],
    at: Float[ndarray, " joint"],
) -> tuple[Float[ndarray, " number"], Float[ndarray, "number joint"]]:
    """Return seen places less those of the sites, and the derivatives of the latter."""
    data.qpos[:] = at
    mujoco.mj_kinematics(model, data)
    mujoco.mj_comPos(model, data)
    slopes = np.zeros((len(sites), 3, model.nv))
    for place, site in zip(slopes, sites, strict=True):
        mujoco.mj_jacSite(model, data, place, None, int(site))
    return (seen - data.site_xpos[sites]).ravel(), slopes.reshape(-1, model.nv)


def _check(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    sites: Int[ndarray, " site"],
    at: Float[ndarray, " joint"],
) -> None:
    """Refuse sites that leave a joint open."""
    slopes = _off(model, data, sites, np.zeros((len(sites), 3)), at)[1]
    _, sizes, directions = np.linalg.svd(slopes)
    if len(sizes) < model.nv or sizes[-1] < _UNTOLD * sizes[0]:
        name = model.joint(int(np.abs(directions[-1]).argmax())).name
        raise ValueError(f"sites that leave joint {name} open, expected sites on what it moves")

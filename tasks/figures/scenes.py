"""Pictures of MuJoCo scenes without a window (EGL, on the processor where there is no card)."""

from collections.abc import Callable, Sequence
from typing import Any

import mujoco
import numpy as np
from jaxtyping import Float, UInt8
from numpy import ndarray

PURPLE = np.array((0.75, 0.05, 0.75, 1.0), np.float32)
"""Colour of trails, RGBA."""

Place = Callable[[mujoco.MjData, int], Float[ndarray, "point 3"]]
"""Puts the scene as in a frame, by its number, and returns the trail until then, m."""


def render(
    model: mujoco.MjModel,
    frames: int,
    place: Place,
    *,
    cameras: Sequence[str],
    size: tuple[int, int],
    bead: float,
    parts: int = 600,
) -> UInt8[ndarray, "frame camera down across 3"] | None:
    """Draw frames with the fixed cameras of a scene; None where EGL is not to be had.

    Args:
        size: Pixels of one picture, across and down.
        bead: Radius of the trail's spheres, m.
        parts: Parts of one picture at most, the trail's included.
    """
    surface = context(size)
    if surface is None:
        return None
    surface.make_current()
    try:
        across, down = size
        pictures = np.zeros((frames, len(cameras), down, across, 3), np.uint8)
        target = mujoco.MjrContext(model, mujoco.mjtFontScale.mjFONTSCALE_100.value)
        mujoco.mjr_setBuffer(mujoco.mjtFramebuffer.mjFB_OFFSCREEN.value, target)
        scene, data = mujoco.MjvScene(model, parts), mujoco.MjData(model)
        whole = mujoco.MjrRect(0, 0, across, down)
        for i in range(frames):
            trail = place(data, i)
            for j, name in enumerate(cameras):
                _look(model, data, scene, name)
                _add(scene, trail, bead)
                mujoco.mjr_render(whole, scene, target)
                mujoco.mjr_readPixels(pictures[i, j], None, whole, target)
        target.free()
        return pictures[:, :, ::-1]
    finally:
        surface.free()


def context(size: tuple[int, int]) -> Any:
    """Return a context to draw in without a window, of so many pixels across and down, or None."""
    try:
        from mujoco.egl import GLContext

        return GLContext(*size)
    except (ImportError, AttributeError, RuntimeError, OSError):
        return None


def _look(model: mujoco.MjModel, data: mujoco.MjData, scene: mujoco.MjvScene, name: str) -> None:
    """Fill the scene as a fixed camera sees it."""
    camera = mujoco.MjvCamera()
    camera.type = mujoco.mjtCamera.mjCAMERA_FIXED
    camera.fixedcamid = model.camera(name).id
    every = mujoco.mjtCatBit.mjCAT_ALL.value
    mujoco.mjv_updateScene(model, data, mujoco.MjvOption(), None, camera, every, scene)


def _add(scene: mujoco.MjvScene, trail: Float[ndarray, "point 3"], bead: float) -> None:
    """Add a small sphere at each point of a trail, at the last ones if there is no room for all."""
    room = scene.maxgeom - scene.ngeom
    for point in trail[-room:] if room else ():
        mujoco.mjv_initGeom(
            scene.geoms[scene.ngeom],
            mujoco.mjtGeom.mjGEOM_SPHERE,
            np.full(3, bead),
            point,
            np.eye(3).ravel(),
            PURPLE,
        )
        scene.ngeom += 1

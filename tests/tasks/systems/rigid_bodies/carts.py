"""Recordings of a simulated cart on a spring, and of its sites."""

from pathlib import Path

import mujoco
import numpy as np

from tests.models.systems.rigid_bodies import swings

RATE = 100.0
NOISE = 5e-4
PARAMETERS = """
mass: {of: body cart mass, low: 0.5, high: 3, unit: kg}
stiffness: {of: joint slide stiffness, low: 5, high: 100, unit: N/m}
friction: {of: joint hinge damping, low: 1e-3, high: 1, unit: N m s, logarithmic: true}
"""
TRUTH = {"mass": 1.2, "stiffness": 40.0, "friction": 0.01}


def moved(seed: int, seconds: float, noise: float = NOISE) -> dict[str, np.ndarray]:
    """Columns of a cart that is pushed to and fro, seen with errors of half a millimetre."""
    draw, model = np.random.default_rng(seed), swings.cart()
    data, found = mujoco.MjData(model), []
    data.qpos[:] = draw.uniform(-0.1, 0.1), draw.uniform(-1.0, 1.0)
    for frame in range(round(seconds * RATE) + 1):
        push = 3.0 * np.sin(7.0 * frame / RATE + seed)
        mujoco.mj_kinematics(model, data)
        places = (data.site("tip").xpos, data.site("front").xpos)
        seen = np.concatenate((data.qpos, *places))
        found.append((frame / RATE, *(seen + noise * draw.normal(size=8)), push))
        data.ctrl[:] = push
        for _ in range(2):
            mujoco.mj_step(model, data)
    names = ("time", "slide", "hinge", "tip_x", "tip_y", "tip_z")
    names = (*names, "front_x", "front_y", "front_z", "push")
    return dict(zip(names, np.array(found).T, strict=True))


JOINTS = ("time", "slide", "hinge", "push")
SITES = ("time", "tip_x", "tip_y", "tip_z", "front_x", "front_y", "front_z", "push")


def written(file: Path, columns: dict[str, np.ndarray], names: tuple[str, ...] = JOINTS) -> Path:
    """Write some columns."""
    rows = np.stack([columns[name] for name in names], 1)
    lines = [",".join(names), *(",".join(f"{x:.9g}" for x in row) for row in rows)]
    file.write_text("\n".join(lines))
    return file


def model_in(folder: Path) -> Path:
    """Write the model and its parameters."""
    (folder / "cart.yaml").write_text(PARAMETERS)
    (folder / "cart.xml").write_text(swings.CART)
    return folder / "cart.xml"


def late(count: int, at: float) -> str:
    """Return the cart, with geoms that touch others of the world once it is at a place, m."""
    option = (
        '<option timestep="0.005" iterations="100" noslip_iterations="100" solver="PGS" '
        'tolerance="0" noslip_tolerance="0" cone="elliptic"/>'
    )
    text = swings.CART.replace('<option timestep="0.005"/>', option)
    text = text.replace("<mujoco>", '<mujoco><size memory="60M"/>')

    def geoms(x: float) -> str:
        return "".join(
            f'<geom size=".3" pos="{x:g} {1e-4 * each:g} 0" mass="0"/>' for each in range(count)
        )

    place = text.index("</body>", text.index('name="tip"')) + len("</body>")
    text = text[:place] + geoms(0.0) + text[place:]
    place = text.rindex("</worldbody>")
    return text[:place] + geoms(at) + text[place:]

"""The laboratory as a MuJoCo scene: table, cup, microphones, a ball to show, and the arm.

The table's surface is z = 0 and its middle the origin. A tilted table turns about the y axis and
descends towards -x, away from the robot; the cup then stands at the level of its foot, the
distance of section 4.3 of Matl et al. (STReSSD; 8.6 inches) from it.
"""

import math
from collections.abc import Sequence
from pathlib import Path

import mujoco

from ricochet.models.systems.bouncing_ball.tracking.workspace import CUP_DISTANCE, HALF_TABLE

_SCENE = Path(__file__).with_name("laboratory.xml")

Place = tuple[float, float, float]


def build(
    *,
    tilt: float = 0.0,
    microphones: Sequence[Place] = (),
    ball_radius: float = 0.02,
    cup_distance: float = CUP_DISTANCE,
) -> mujoco.MjModel:
    """Load the scene, its joints those of the arm, and put its movable parts in place.

    Args:
        tilt: Angle by which the table descends towards -x, rad.
        microphones: Up to three places, m; the scene's own when empty.
        cup_distance: From the foot of the table to the cup's axis along the floor, m.

    Raises:
        ValueError: There are more than three microphones.
    """
    if len(microphones) > 3:
        raise ValueError(f"microphones: the scene has three, got {len(microphones)}")
    scene = mujoco.MjSpec.from_file(str(_SCENE))
    scene.body("table").quat = [math.cos(0.5 * tilt), 0.0, -math.sin(0.5 * tilt), 0.0]
    foot = -HALF_TABLE * math.cos(tilt), -HALF_TABLE * math.sin(tilt)
    scene.body("cup").pos = [foot[0] - cup_distance, 0.0, foot[1]]
    for channel, place in enumerate(microphones):
        scene.body(f"microphone_{channel}").pos = list(place)
    scene.geom("ball").size = [ball_radius, 0.0, 0.0]
    return scene.compile()

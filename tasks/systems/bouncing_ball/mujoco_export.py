"""A posterior as files that anybody's MuJoCo model can use, with numpy and mujoco alone.

contact.xml        ball and its pair with a geom named `surface`, to be included in a model
scene.xml          a table and that ball: a model to try it in
contact_player.py  plays draws: `models.systems.bouncing_ball.mujoco_playback`, as it stands
draws.npz          the draws, a column for each parameter of the contact
README.txt         how they go together
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ricochet.models.systems.bouncing_ball import mujoco_playback
from ricochet.models.systems.bouncing_ball.air import COMMON_BALLS, Size
from ricochet.tasks.registry.packages import Package
from ricochet.tasks.storage.files import write_arrays, write_bytes
from ricochet.tasks.systems.bouncing_ball import contact_package

SCHEMA = "ricochet.export/1"
FILES = ("contact.xml", "scene.xml", "contact_player.py", "draws.npz", "README.txt")
UNSTATED = Size(0.04, 0.0027)
"""Of a ball whose size nothing says; the law of the contact does not depend on it."""

_CONTACT = """\
<mujoco>
  <!-- {name}: include this file, name the geom on which the ball bounces "surface", and step the
       model with contact_player.py. The pair's margin leaves the contact to that file. -->
  <worldbody>
    <body name="ball" pos="0 0 {height:g}">
      <freejoint name="ball"/>
      <geom name="ball" type="sphere" size="{radius:g}" mass="{mass:g}" rgba="1 0.6 0.1 1"/>
    </body>
  </worldbody>
  <contact>
    <pair name="ball on surface" geom1="ball" geom2="surface" margin="-1000"/>
  </contact>
</mujoco>
"""
_SCENE = """\
<mujoco model="ball on a table">
  <option timestep="0.002" integrator="RK4"/>
  <include file="contact.xml"/>
  <worldbody>
    <light pos="0 0 2"/>
    <geom name="surface" type="plane" size="1 1 0.01" rgba="0.8 0.7 0.5 1"/>
  </worldbody>
</mujoco>
"""
_READ = """\
{name}: a posterior of the contact of a ball with a surface, {draws} draws.

    import mujoco, numpy as np
    from contact_player import Draws, Player

    model = mujoco.MjModel.from_xml_path("scene.xml")    # or yours, with contact.xml included
    data = mujoco.MjData(model)
    generator = np.random.default_rng(0)
    draws = Draws.load("draws.npz")
    player = Player(model, data, draws.sample(generator), draw=generator)
    while data.time < 2.0:
        bounce = player.step()                           # instead of mujoco.mj_step(model, data)
        if bounce:
            print(bounce.time, bounce.velocity)

For each episode set player.contact = draws.sample(generator). Size of the ball: {size}.
contact_player.py says which law is played and what is left out.
"""


@dataclass(frozen=True)
class Exported:
    """Where the files are, and how many draws they hold."""

    name: str
    draws: int
    folder: Path

    def to_json(self) -> Mapping[str, Any]:
        """Return it as JSON can hold it."""
        return {"schema": SCHEMA, "name": self.name, "draws": self.draws, "files": list(FILES)}

    @property
    def line(self) -> str:
        """What was written, in a line."""
        what = f"{self.draws} draws, contact_player.py, contact.xml and scene.xml"
        return f"{self.name}: {what} in {self.folder}; README.txt shows their use"


def export(package: Package, name: str, folder: Path) -> Exported:
    """Write a package of kind `family` or `grid`; `BadInput` if it is of another one."""
    draws = contact_package.contact_draws(package)
    arrays = contact_package.arrays_of(draws)
    columns = {
        column: np.asarray(arrays[contact_package.PREFIX + column], dtype=np.float64)
        for column in mujoco_playback.COLUMNS
    }
    size, said = _size_of(name)
    numbers = {"height": 0.26 + 0.5 * size.diameter, "radius": 0.5 * size.diameter}
    texts = {
        "contact.xml": _CONTACT.format(name=name, mass=size.mass, **numbers),
        "scene.xml": _SCENE,
        "contact_player.py": Path(mujoco_playback.__file__).read_text(),
        "README.txt": _READ.format(name=name, draws=len(columns["drag"]), size=said),
    }
    for file, text in texts.items():
        write_bytes(folder / file, text.encode())
    write_arrays(folder / "draws.npz", columns)
    return Exported(name, len(columns["drag"]), folder)


def _size_of(name: str) -> tuple[Size, str]:
    """Return the size of the sport's ball that a name begins with, and how it is known."""
    for ball, size in COMMON_BALLS.items():
        if name.startswith(f"{ball}-"):
            return size, f"that of the rules of {ball}"
    return UNSTATED, "not known, 40 mm and 2.7 g; change it in contact.xml"

"""A model whose steps are long only where it was recorded is refused before a fit."""

from pathlib import Path

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.systems.rigid_bodies import model_files, model_pace
from tests.models.systems.rigid_bodies import swings


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


def test_a_model_that_touches_where_it_was_recorded_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "cart.xml"
    file.write_text(late(20, 3.0))
    model = model_files.read(file)
    still, there = np.zeros((400, 2 * model.nq)), np.zeros((400, 2 * model.nq))
    there[:, 0] = 3.0
    model_pace.check(file, model, [still])
    with pytest.raises(BadInput, match=r"steps of 0\.\d+ s where it was recorded"):
        model_pace.check(file, model, [still, there])

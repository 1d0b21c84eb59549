"""Fig. 8 has a panel of the camera alone, of the paper's fusion and of ours."""

from pathlib import Path

import pytest

from ricochet.hardware.twins.drawers.generator.takes import Setting
from ricochet.tasks.systems.drawers.figures import fusion


@pytest.mark.proof
def test_the_picture_is_drawn_of_a_session_that_was_not_learnt_from(tmp_path: Path) -> None:
    fusion.make(tmp_path, Setting("kitchen-small", seconds=20.0, light_off=10.0), sessions=3)
    assert (tmp_path / "fusion.png").stat().st_size > 20_000

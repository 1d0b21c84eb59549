"""Packages of batting: read as written, without compiled code, refused where they mean nothing."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.batting.belief import first_flight
from ricochet.models.systems.batting.impact_law import Contact, impulse
from ricochet.models.systems.batting.table import LARGEST_ANGLE, Table
from ricochet.tasks.registry import packages as registry
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.batting import packages
from ricochet.tasks.systems.batting.kinds import BATTER
from ricochet.tasks.systems.batting.packages import READER
from tests.tasks.systems.batting import batters

MADE = batters.batter()
ARRAYS = packages._arrays(MADE)
INPUTS = packages.inputs(7)


def changed(name: str, place: tuple, value: float) -> dict[str, np.ndarray]:
    array = ARRAYS[name].copy()
    array[place] = value
    return {name: array}


def of_table(**values: float) -> dict[str, np.ndarray]:
    return {"table": np.array(Table()._replace(**values), float)}


def test_what_is_read_is_what_was_written(tmp_path: Path) -> None:
    found = packages.read(batters.written(tmp_path / "package"))
    assert (found.law, found.table, found.settings) == (MADE.law, MADE.table, MADE.settings)
    np.testing.assert_array_equal(found.theta, MADE.theta)
    for one, other in zip(found.shapes, MADE.shapes, strict=True):
        np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-9)


def test_the_self_test_is_of_the_law_and_the_camera() -> None:
    found = packages.evaluate(ARRAYS, INPUTS)
    contact = Contact(*map(float, INPUTS["contacts"][3]))
    np.testing.assert_allclose(found["impulses"][3], impulse(MADE.law, contact))
    assert (found["impulses"][:, 0] > 0.0).all()
    assert (found["screen"][:, 0] < found["screen"][:, 1]).all()


HOSTILE = {
    "a draw that is no number": changed("samples", (3, 1), np.nan),
    "a restitution of -3": changed("samples", (3, 0), -3.0),
    "noise above one": changed("samples", (0, 4), 1.5),
    "few draws": {"samples": ARRAYS["samples"][:50]},
    "draws of another law": {"samples": np.ones((400, 4))},
    "single precision": {"samples": ARRAYS["samples"].astype(np.float32)},
    "another mean": changed("mean", (0,), 0.2),
    "a covariance that is negative": changed("covariance", (1, 1), -1.0),
    "a covariance of another size": {"covariance": np.eye(3)},
    "a law of other coefficients": changed("law", (0,), 0.5),
    "a law that is surer than its draws": changed("law", (4,), 0.01),
    "a law without noise": changed("law", (5,), 0.0),
    "a law of wild noise": changed("law", (5,), 0.9),
    "a law with noise of its own": changed("law", (3,), 1e-3),
    "a law that is too short": {"law": ARRAYS["law"][:4]},
    "a concave shape": changed("cosines", (2, 3), 0.4),
    "a shape without size": changed("cosines", (0, 0), 0.0),
    "a shape that is not about its centre": changed("cosines", (1, 1), 0.2),
    "no shape": {"cosines": np.zeros((0, 5)), "sines": np.zeros((0, 5))},
    "sines of other shapes": {"sines": ARRAYS["sines"][:3]},
    "a shape for each of 200": {name: np.tile(ARRAYS[name], (29, 1)) for name in
                                ("cosines", "sines")},
    "a camera on the table": of_table(camera_x=2.0),
    "a goal beyond the wall": of_table(goal_x=12.0),
    "gravity up the slope": of_table(gravity=-1.0),
    "gravity of no slope on earth": of_table(gravity=11.0),
    "no mass": of_table(mass=0.0),
    "a table without room": of_table(width=0.5, goal_x=0.2),
    "a bat that reaches the upper wall": of_table(width=17.4),
    "a table as wide as 99 of its heights": of_table(width=990.0),
    "a camera without noise": of_table(screen_noise=0.0),
    "a camera that sees nothing": of_table(screen_noise=5.0),
    "half a particle": changed("filter", (3,), 1000.5),
    "no particle": changed("filter", (3,), 0.0),
    "10^9 particles": changed("filter", (3,), 1e9),
    "a million particles of what is new": changed("filter", (1,), 1e6),
    "a kernel wider than the cloud": changed("filter", (4,), 3.0),
}  # fmt: skip


@pytest.mark.parametrize("angle", [-LARGEST_ANGLE, LARGEST_ANGLE])
def test_the_widest_table_and_the_largest_shapes_leave_room_at_every_angle(angle: float) -> None:
    height = packages.ROOM * float(MADE.shapes.radius.max())
    wide = {"width": 1.732 * height, "height": height, "goal_x": 0.5 * height, "gravity": 1.0}
    table = of_table(**wide, goal_y=0.5 * height, camera_y=0.5 * height)
    world = packages._batter(ARRAYS | table).world(np.random.default_rng(0), 2)
    found = first_flight.uniform(1000, angle, world, np.random.default_rng(1))
    assert first_flight.clear_of_all(found.states, found.kinds, angle, world).all()


@pytest.mark.parametrize("arrays", HOSTILE.values(), ids=HOSTILE)
def test_arrays_that_mean_nothing_are_refused(tmp_path: Path, arrays) -> None:
    with pytest.raises(ValueError, match=r"\S") as caught:
        packages.evaluate(ARRAYS | arrays, INPUTS)
    assert "\n" not in str(caught.value)
    made = batters.package(tmp_path / "sound")
    with pytest.raises((BadInput, ValueError)):
        registry.write_package(
            tmp_path / "package", replace(made, arrays=ARRAYS | arrays), reader=READER
        )
    assert not (tmp_path / "package").exists()


@settings(max_examples=300, deadline=None)
@given(
    st.sampled_from(sorted(set(ARRAYS) - {"filter"})),
    st.integers(0, 10**6),
    st.one_of(
        st.sampled_from([np.nan, np.inf, -np.inf, 1e308, -1e308]),
        st.floats(2.0, 1e6).map(lambda x: 1e3 * x),
    ),
)
def test_a_number_that_was_put_in_is_noticed(name: str, place: int, value: float) -> None:
    array = ARRAYS[name].copy()
    array.flat[place % array.size] = value
    with pytest.raises(ValueError, match=r"\S"):
        packages.evaluate(ARRAYS | {name: array}, INPUTS)


def test_another_kind_is_refused(tmp_path: Path) -> None:
    made = batters.package(tmp_path / "sound")
    with pytest.raises(BadInput, match="kind grid"):
        packages.from_package(replace(made, kind="grid"), where="here")


@pytest.mark.parametrize("high", [0.0, -1.0, 1e9, "x", None, True])
def test_bounds_that_are_none_are_refused(tmp_path: Path, high) -> None:
    made = batters.package(tmp_path / "sound")
    friction = replace(made.parameters[2], high=high)
    wrong = replace(made, parameters=(*made.parameters[:2], friction, *made.parameters[3:]))
    with pytest.raises(BadInput, match="here: found"):
        packages.from_package(wrong, where="here")


def test_names_are_of_this_kind_alone_and_bad_ones_are_refused() -> None:
    assert catalogue.kind_of("batting-board") is BATTER
    for name in ("batting-", "batting-A", "batting-a/b", "batting-" + "a" * 60, "batting--"):
        with pytest.raises(BadInput, match="small letters, digits and hyphens"):
            BATTER.refuse(name)
    BATTER.refuse("batting-board-2")


def test_reading_needs_no_compiler_and_no_server(tmp_path: Path) -> None:
    """A robot reads a package, and its controller, with numpy alone; of a plan few swings here."""
    batters.written(tmp_path / "package")
    code = (
        "import sys\n"
        "for each in ('numba', 'scipy', 'torch', 'mlflow', 'prefect', 'mujoco'):\n"
        "    sys.modules[each] = None\n"
        "import importlib.util\n"
        "real = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda n, p=None: None if n == 'numba' else real(n, p)\n"
        "import numpy as np\n"
        "from ricochet.models.systems.batting.planning import rate, swings\n"
        "from ricochet.tasks.systems.batting import agents\n"
        "from ricochet.tasks.systems.batting.studies import rows\n"
        "swings.RATES = swings.RATES[::4]\n"
        "rate.FIRST_LOOK, rate.FINALISTS, rows.SCENARIOS = 2, 1, 3\n"
        f"agent = agents.load({str(tmp_path / 'package')!r})\n"
        "agent.settings = agent.settings.__class__(200, 100, 1, 100)\n"
        "agent.see(0.0, np.array([0.05, 0.1]), 0.0)\n"
        "agent.see(0.05, np.array([0.05, 0.1]), 0.0)\n"
        "print(agent.target(0.07), agent.faults)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    angle, faults = done.stdout.split(" ", 1)
    assert abs(float(angle)) <= 0.53 and faults.strip() == "[]"

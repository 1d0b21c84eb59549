"""A shooting package gives back what was written, runs nothing and plays on its own table alone."""

import hashlib
import json
import pickle
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from ricochet.models.arms import iiwa
from ricochet.models.core import compiled
from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.air_hockey.interface import JOINTS
from ricochet.models.systems.air_hockey.shots import energy_network, objective
from ricochet.models.systems.air_hockey.table import Table
from ricochet.tasks.registry import packages
from ricochet.tasks.registry.kinds import SCHEMA
from ricochet.tasks.storage import limits
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.policies import agents, policy_checks
from ricochet.tasks.systems.air_hockey.policies import packages as energy_packages
from ricochet.tasks.systems.air_hockey.policies.packages import READER, Shooter
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from tests.oracles import hockey_modes
from tests.tasks.systems.air_hockey import shooters

ROOT = Path(__file__).resolve().parents[5]
FILES = ("shooting.json", *READER.content)


@pytest.fixture
def written(tmp_path):
    shooters.write(tmp_path / "package")
    return tmp_path / "package"


def change(folder, name, content):
    """Replace a file and forge its digest, as an attacker would."""
    (folder / name).write_bytes(content)
    manifest = json.loads((folder / "shooting.json").read_text())
    manifest["files"][name] = hashlib.sha256(content).hexdigest()
    (folder / "shooting.json").write_text(json.dumps(manifest))


def test_a_package_that_is_read_shoots_as_it_was_written(written) -> None:
    made, found = shooters.shooter(), energy_packages.read(written)
    draw = np.random.default_rng(1)
    states = objective.draw_states(50, airflow_sd=0.07, draw=draw)
    angles = objective.draw_angles(50, 1, draw=draw)[:, 0]
    both = (made, found)
    first, second = (energy_network.evaluate(each.energy, states, angles) for each in both)
    np.testing.assert_array_equal(first, second)
    one, other = (objective.evaluate(each.conditions(aim=0.002), states, angles) for each in both)
    np.testing.assert_array_equal(one.goal, other.goal)
    np.testing.assert_array_equal(one.speed, other.speed)
    assert found.setting == made.setting and found.name == "shooting-balanced"
    np.testing.assert_array_equal(found.low, made.low)


def test_the_manifest_names_units_and_bounds(written) -> None:
    manifest = json.loads((written / "shooting.json").read_text())
    assert manifest["schema"] == "ricochet.shooting/2"
    assert [entry["name"] for entry in manifest["parameters"]] == list(energy_packages.INPUTS)
    assert manifest["parameters"][0] == {"name": "x", "unit": "m", "low": -0.75, "high": -0.15}
    assert manifest["settings"]["setting"]["least_goal"] == 0.5


def test_a_package_of_another_table_is_refused(tmp_path) -> None:
    wide = replace(shooters.shooter(), table=Table(half_width=0.521))
    facts = {"checks": {}, "key": "k", "git_commit": "unknown", "settings": {}}
    energy_packages.write(wide, tmp_path / "wide", **facts)
    with pytest.raises(BadInput, match=r"table\.half_width: found 0\.521, expected 0\.519"):
        energy_packages.read(tmp_path / "wide")
    assert energy_packages.read(tmp_path / "wide", table=wide.table).table == wide.table


@pytest.mark.parametrize("name", FILES[1:])
def test_a_pickle_in_place_of_a_file_is_refused(written, name) -> None:
    change(written, name, pickle.dumps({"a": 1}))
    with pytest.raises(BadInput):
        energy_packages.read(written)


@pytest.mark.parametrize("name", FILES)
def test_a_flipped_bit_is_refused(written, name) -> None:
    content = bytearray((written / name).read_bytes())
    content[len(content) // 2] ^= 1
    (written / name).write_bytes(content)
    with pytest.raises(BadInput):
        energy_packages.read(written)


def arrays_without(name):
    return lambda arrays: {key: value for key, value in arrays.items() if key != name}


def arrays_with(name, value):
    return lambda arrays: arrays | {name: np.asarray(value(arrays[name]))}


@pytest.mark.wrong_types
@pytest.mark.parametrize(
    "spoil",
    [
        arrays_without("energy.last"),
        arrays_without("modes.wall.matrix"),
        arrays_without("strokes.speeds"),
        arrays_with("energy.first", lambda a: a * np.nan),
        arrays_with("energy.second", lambda a: a[:, :3].copy()),
        arrays_with("strokes.speeds", lambda a: a[:2].copy()),
        arrays_with("modes.floating.covariance", lambda a: -a - 1.0),
    ],
)
def test_arrays_that_are_no_policy_are_refused(written, spoil) -> None:
    """Even where every digest fits."""
    arrays = safetensors.numpy.load((written / FILES[1]).read_bytes())
    change(written, FILES[1], safetensors.numpy.save(spoil(arrays)))
    with pytest.raises(BadInput):
        energy_packages.read(written)


def test_a_network_too_wide_for_the_period_is_refused(written, monkeypatch) -> None:
    """One of 3,900 units filled the 64 MiB of a package, and had the arm wait 85 ms a step."""
    monkeypatch.setattr(limits, "UNITS", len(energy_packages.read(written).energy.last) - 1)
    with pytest.raises(BadInput, match="energy: found 8 units, expected at most 7 in a layer"):
        energy_packages.read(written)


def of_mode(name: str, **values: np.ndarray) -> Shooter:
    made = replace(shooters.shooter(), modes=hockey_modes.TWO_WAYS)
    if name.startswith("rebounds"):
        rebounds = list(made.modes.rebounds)
        place = int(name[-1])
        law = replace(rebounds[place].law, **values)
        rebounds[place] = replace(rebounds[place], law=law)
        return replace(made, modes=replace(made.modes, rebounds=tuple(rebounds)))
    law = replace(getattr(made.modes, name), **values)
    return replace(made, modes=replace(made.modes, **{name: law}))


@pytest.mark.parametrize(
    ("name", "values", "words"),
    [
        ("floating", {"matrix": 1.06 * np.eye(2)}, "becomes 1.06 times as fast, expected 1.05"),
        ("floating", {"matrix": np.full((2, 2), -100.0)}, "becomes 200 times as fast"),
        ("floating", {"matrix": np.array([[1.0, 1.0], [0.0, 1.0]])}, "becomes 1.618 times"),
        ("floating", {"offset": np.array([0.0, -1.1])}, "becomes faster by 1.1 m/s, expected 1"),
        ("wall", {"matrix": np.diag([-1.6, 1.0])}, "becomes 1.6 times as fast, expected 1.5"),
        ("wall", {"offset": np.array([100.0, 0.0])}, "becomes faster by 100 m/s"),
        ("mallet", {"matrix": np.full((2, 4), 3.0)}, "becomes 8.485 times as fast, expected 5"),
        ("rebounds.1", {"matrix": np.diag([-80.0, 1.0])}, "becomes 80 times as fast, expected 1.5"),
        ("rebounds.0", {"offset": np.array([0.0, 90.0])}, "becomes faster by 90 m/s"),
        ("floating", {"matrix": -1.04 * np.eye(2)}, "turns back, expected one that keeps"),
        ("floating", {"matrix": np.diag([-0.01, 0.99])}, "turns back"),
        ("wall", {"matrix": np.eye(2)}, "goes on through the wall, expected one turned back at 1"),
        ("wall", {"matrix": np.diag([-0.7, 0.8]), "offset": np.array([0.71, 0.0])}, "goes on"),
        ("wall", {"matrix": np.array([[-0.7, 0.71], [0.0, 0.8]])}, "goes on through the wall"),
        ("rebounds.1", {"matrix": np.diag([0.1, 0.9]), "offset": -0.9 * np.ones(2)}, "goes on"),
    ],
)
def test_a_law_that_throws_the_puck_about_is_refused(name, values, words) -> None:
    """By such a law a puck goes from wall to wall, and each prediction follows every bank."""
    with pytest.raises(BadInput, match=rf"modes\.{name}: found a puck that {words}"):
        policy_checks.check(of_mode(name, **values), "here")


@pytest.mark.parametrize(
    ("name", "matrix"),
    [
        ("floating", np.diag([1.049, 1.0])),
        ("wall", np.diag([-1.49, 0.9])),
        ("rebounds.0", np.diag([-1.49, 0.9])),
        ("rebounds.1", np.diag([-0.91, 0.9])),
        ("mallet", np.array([[-1.0, 0.0, 2.0, 0.0], [0.0, 1.0, 0.0, 1.0]])),
    ],
)
def test_a_law_that_was_learnt_from_little_is_read(name, matrix) -> None:
    policy_checks.check(of_mode(name, matrix=matrix, offset=np.array([0.9, -0.9])), "here")


def test_a_delay_longer_than_any_contact_is_refused() -> None:
    made = shooters.shooter()
    longest = policy_checks.LONGEST_CONTACT
    policy_checks.check(replace(made, modes=replace(made.modes, delay=longest)), "here")
    with pytest.raises(BadInput, match=r"modes\.delay: found 100 s, expected 0\.1 s at most"):
        policy_checks.check(replace(made, modes=replace(made.modes, delay=100.0)), "here")


def test_a_posterior_is_no_policy_and_a_policy_no_posterior(written, tmp_path, package) -> None:
    packages.write_package(tmp_path / "posterior", package, reader=GRID)
    with pytest.raises(BadInput, match=r"only shooting\.json"):
        energy_packages.read(tmp_path / "posterior")
    with pytest.raises(BadInput, match=r"only posterior\.json"):
        packages.read_package(written, reader=GRID)


def test_the_kind_of_a_package_follows_from_its_name() -> None:
    assert catalogue.kind_of("shooting-cautious").load_reader() is READER
    assert catalogue.kind_of("ping-pong-table").load_reader() is GRID
    assert catalogue.kind_of("ball-density").load_reader().schema == SCHEMA
    with pytest.raises(BadInput, match=r"found an unknown name, expected .*<ball>-<surface>"):
        catalogue.kind_of("shooting-")


def test_an_agent_from_a_folder_moves_within_its_limits(written) -> None:
    agent = agents.load(written)
    seen = np.zeros(23)
    seen[:3], seen[JOINTS] = (1.0, 0.1, 0.0), iiwa.HOME
    command = agent.draw_action(seen)
    assert command.shape == (2, 7) and np.isfinite(command).all()


def test_an_agent_that_cannot_keep_up_warns(written, monkeypatch) -> None:
    monkeypatch.setattr(compiled, "available", lambda: False)
    with pytest.warns(RuntimeWarning, match="numba is not installed"):
        agents.load(written)


def test_a_source_that_is_neither_package_nor_name_is_refused(tmp_path) -> None:
    with pytest.raises(BadInput, match="no package"):
        agents.load(tmp_path / "nothing")


def test_an_unknown_setting_is_refused_with_the_known_names() -> None:
    known = "shooting-cautious, shooting-balanced, shooting-aggressive"
    with pytest.raises(BadInput, match=f"shooting-foo: found no such setting, expected .* {known}"):
        agents.load("shooting-foo")
    for name in ("shooting-balanced", "ping-pong-table", "ball-density"):
        catalogue.kind_of(name)


def test_a_controller_reads_a_package_without_training_or_registry(written) -> None:
    """Numpy and safetensors alone: neither torch, mujoco, mlflow nor prefect are imported."""
    program = (
        "import sys; from pathlib import Path;"
        "from ricochet.tasks.systems.air_hockey.policies import packages;"
        f"packages.read(Path({str(written)!r}));"
        "print([n for n in ('torch', 'mujoco', 'mlflow', 'prefect') if n in sys.modules])"
    )
    answer = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert answer.stdout.strip() == "[]"


def test_a_list_shows_the_scores_of_a_policy(written) -> None:
    found = packages.read_package(written, reader=READER)
    scored = replace(found, checks={"regret_share": 0.0123, "agreement": 0.96, "other": "x"})
    said = {each.name: each.text for each in READER.describe(scored)}
    assert said == {"share of the best objective lost": "0.0123", "modes that agree": "0.96"}
    assert READER.describe(replace(found, checks={})) == ()

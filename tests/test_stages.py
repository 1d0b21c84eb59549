"""What a result is made of decides whether it is current: its stage's deps and its key follow it.

Edits are made in a temporary copy of the layers.
"""

import functools
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from ricochet.tasks.storage import provenance
from ricochet.tasks.storage.provenance import ROOT, import_closure
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.policies import train, training_data
from ricochet.tasks.systems.bouncing_ball.calibration import density, targets
from ricochet.tasks.systems.bouncing_ball.calibration.targets import (
    CalibrationRequest,
    CalibrationTarget,
)
from ricochet.tasks.systems.bouncing_ball.settings import Density
from ricochet.tasks.systems.bouncing_ball.studies import inference
from ricochet.tasks.training.steps import TrainingRequest

STAGES = {
    name: stage.get("do", stage)
    for name, stage in yaml.safe_load((ROOT / "dvc.yaml").read_text())["stages"].items()
}
Edit = Callable[..., Path]
LAYERS = ("models", "hardware", "tasks", "flows")
BALL_KEYS = {"density", "calibrate", "times only"}
HOCKEY_KEYS = {"modes", "strokes", "targets", "energy", "figures"}
LIKELIHOOD = "models/systems/bouncing_ball/calibration/likelihood.py"


def code(stage: str) -> list[str]:
    """Return the code that a stage depends on."""
    return [dep for dep in STAGES[stage]["deps"] if dep.startswith(LAYERS)]


@functools.cache
def used(stage: str) -> frozenset[str]:
    """Return the files that a stage's maker and all its imports consist of."""
    return import_closure(STAGES[stage]["meta"]["maker"])


def holds(dep: str, path: str) -> bool:
    return path == dep or path.startswith(f"{dep}/")


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_depends_on_every_file_that_decides_its_result(stage: str) -> None:
    files = used(stage)
    missing = {path for path in files if not any(holds(dep, path) for dep in code(stage))}
    assert missing == set()


@pytest.mark.parametrize("stage", STAGES)
def test_a_stage_depends_on_no_code_that_it_does_not_use(stage: str) -> None:
    files = used(stage)
    idle = {dep for dep in code(stage) if not any(holds(dep, path) for path in files)}
    assert idle == set()


@pytest.mark.parametrize("stage", STAGES)
def test_no_maker_chooses_modules_by_name(stage: str) -> None:
    """What is imported by a name that is put together at run time is in no closure."""
    files = used(stage)
    assert [path for path in files if b"import_module(" in (ROOT / path).read_bytes()] == []
    assert "tasks/systems/catalogue.py" not in files


@pytest.fixture(scope="module")
def layers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place, compiled = tmp_path_factory.mktemp("layers"), shutil.ignore_patterns("__pycache__")
    for layer in LAYERS:
        shutil.copytree(ROOT / layer, place / layer, ignore=compiled)
    return place


@pytest.fixture
def edit(layers: Path) -> Iterator[Edit]:
    """Edit files of the copy, until the test ends."""
    before: dict[Path, bytes] = {}

    def add(*paths: str) -> Path:
        for path in paths:
            before[layers / path] = (layers / path).read_bytes()
            (layers / path).write_bytes(before[layers / path] + b"\n")
        provenance.code_digest.cache_clear()
        return layers

    yield add
    for path, content in before.items():
        path.write_bytes(content)
    provenance.code_digest.cache_clear()


def keys(root: Path) -> dict[str, str]:
    """Return the project's own keys of every kind of result, with the code under a root."""
    given, out = catalogue.load_settings(), Path("out")
    request = CalibrationRequest(given, out, seed=0)
    training = TrainingRequest(given, out, seed=0)
    with pytest.MonkeyPatch.context() as patch:
        for module in (density, targets, training_data, train):
            patch.setattr(module, "code_digest", lambda name: provenance.code_digest(name, root))
        return {
            "density": density.key(given[Density], 0),
            "calibrate": targets.key(CalibrationTarget("a-b", (), out, "digest"), request),
            "times only": targets.key(
                CalibrationTarget("clip", (), out, "digest", bare=True), request
            ),
            "modes": training_data.modes_key(training),
            "strokes": training_data.strokes_key(training),
            "targets": training_data.targets_key(training),
            "energy": training_data.packages_key(training),
            "figures": train._drawn_key(training),
        }


@functools.cache
def current() -> dict[str, str]:
    """Return the keys with the code as it is."""
    return keys(ROOT)


def outdated(edit: Edit, *paths: str) -> set[str]:
    """Return the keys that are no longer current once files are edited."""
    after = keys(edit(*paths))
    return {name for name, key in current().items() if key != after[name]}


def stages_of(*paths: str) -> set[str]:
    """Return the stages that DVC repeats once one of the files is edited."""
    return {name for name in STAGES for p in paths if any(holds(dep, p) for dep in code(name))}


def system(name: str) -> list[str]:
    folders = (ROOT / "models" / "systems" / name, ROOT / "tasks" / "systems" / name)
    files = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return [str(path.relative_to(ROOT)) for path in files if path.suffix in (".py", ".xml")]


def test_a_copy_has_the_keys_of_the_original(layers: Path) -> None:
    assert keys(layers) == current()


def test_an_installed_package_has_the_digests_of_the_repository(
    layers: Path, tmp_path: Path
) -> None:
    """A wheel has the layers under `ricochet`; -S keeps the editable install from coming first."""
    (tmp_path / "ricochet").symlink_to(layers)
    lines = (
        "import sys; from ricochet.tasks.storage import provenance",
        "print(provenance.ROOT, provenance.code_digest(sys.argv[1]))",
    )
    maker = STAGES["energy"]["meta"]["maker"]
    command = [sys.executable, "-S", "-c", "\n".join(lines), maker]
    said = subprocess.check_output(command, text=True, env={"PYTHONPATH": str(tmp_path)})
    assert said.split() == [str(layers), provenance.code_digest(maker)]


def test_no_edit_of_air_hockey_outdates_a_result_of_the_ball(edit: Edit) -> None:
    edited = system("air_hockey")
    assert outdated(edit, *edited) == HOCKEY_KEYS
    assert stages_of(*edited) == {"energy"}


def test_no_edit_of_the_ball_outdates_a_result_of_air_hockey(edit: Edit) -> None:
    edited = system("bouncing_ball")
    assert outdated(edit, *edited) == BALL_KEYS
    assert stages_of(*edited) == {"density", "calibrate"}


def test_an_edit_of_the_balls_likelihood_outdates_its_posteriors_alone(
    edit: Edit,
) -> None:
    """The density network is trained without the likelihood; DVC, by folders, trains it again."""
    found = outdated(edit, LIKELIHOOD)
    assert {"calibrate"} <= found <= BALL_KEYS - {"density"}
    assert "energy" not in stages_of(LIKELIHOOD)


@pytest.mark.parametrize(
    ("edited", "expected"),
    [
        ("models/systems/air_hockey/shots/energy_training.py", {"energy", "figures"}),
        ("models/systems/air_hockey/air_hockey.xml", HOCKEY_KEYS),
        ("tasks/systems/air_hockey/figures/training.py", {"figures"}),
        ("models/inference/mixture_density_networks.py", {"density", "calibrate"}),
    ],
)
def test_an_edit_outdates_what_was_made_with_it(
    edit: Edit, edited: str, expected: set[str]
) -> None:
    assert outdated(edit, edited) == expected


def test_edits_of_what_makes_no_result_outdate_none(edit: Edit) -> None:
    idle = ("tasks/registry/promotion.py", "tasks/recordings/recorder.py")
    assert outdated(edit, *idle, "hardware/robots/simulated.py", "flows/nightly.py") == set()


def test_a_study_goes_on_from_its_journal_while_its_own_code_is_the_same(
    edit: Edit,
) -> None:
    def journal(root: Path) -> str:
        return provenance.code_digest(inference.__name__, root)

    assert journal(edit("tasks/systems/air_hockey/policies/energy.py")) == journal(ROOT)
    assert journal(edit(LIKELIHOOD)) != journal(ROOT)

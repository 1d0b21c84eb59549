"""From sessions to a registered, validated package of a drawer, at a small size."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from ricochet.flows.command_line import train_verbs
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.console.progress import bar
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.drawers import packages, train
from ricochet.tasks.systems.drawers.validation import fresh_takes, play
from ricochet.tasks.systems.drawers.validation.fresh_takes import RecordedTakes, SimulatedTakes
from ricochet.tasks.training import steps
from ricochet.tasks.training.steps import TrainingRequest

SMALL = ["drawer_learning.recorded=4", "drawers.seconds=24", "drawers.light_off=12"]


def request(out: Path, *more: str) -> TrainingRequest:
    return TrainingRequest(catalogue.load_settings(None, [*SMALL, *more]), out, 0)


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> TrainingRequest:
    made = request(tmp_path_factory.mktemp("drawer"))
    procedure = catalogue.training("drawer").load()
    steps.run(procedure, made, lambda step: steps.take(step, bar))
    return made


@pytest.mark.proof
def test_a_training_is_complete_once(trained: TrainingRequest) -> None:
    assert train.is_complete(trained)
    result = json.loads(json.dumps(train.describe(trained)))
    assert result["schema"] == "ricochet.drawer-calibration/1"
    assert len(result["takes"]["held_out"]) == 1 and len(result["takes"]["learnt_from"]) == 3
    assert set(train.metrics(result)) == {"drawer-kitchen-small"}
    assert not train.is_complete(request(trained.out, "drawer_learning.recorded=5"))
    assert (trained.out / "followed.png").stat().st_size > 5000
    assert any("90 % intervals" in line for line in train.lines(result, trained.out))


@pytest.mark.proof
def test_named_sessions_are_learnt_from_as_recorded_ones_are(
    trained: TrainingRequest, tmp_path: Path
) -> None:
    (folder,) = train.folders_of(trained)
    named = request(tmp_path, f"drawer_learning.recordings=[{json.dumps(str(folder))}]")
    train.recorded(named)
    train.learn(named)
    ours, theirs = (train.describe(each) for each in (trained, named))
    assert ours == theirs


@pytest.mark.proof
def test_a_track_that_was_corrected_is_learnt_from_anew(
    trained: TrainingRequest, tmp_path: Path
) -> None:
    (folder,) = train.folders_of(trained)
    copied = Path(shutil.copytree(folder, tmp_path / folder.name))
    named = request(tmp_path, f"drawer_learning.recordings=[{json.dumps(str(copied))}]")
    before = train.key_of(named)
    track = copied / "motion-0001.csv"
    track.write_text(track.read_text().replace("0.1", "0.2", 1))
    assert train.key_of(named) != before


@pytest.mark.proof
def test_a_package_follows_fresh_takes_and_an_arm_follows_it(trained: TrainingRequest) -> None:
    drawer = packages.read(trained.out / train.PACKAGE)
    takes = [*SimulatedTakes("kitchen-small", 3, 5, 24.0, 12.0).of(drawer)]
    again = next(iter(SimulatedTakes("kitchen-small", 3, 5, 24.0, 12.0).of(drawer)))
    np.testing.assert_array_equal(takes[0].frames.power, again.frames.power)
    tried = [play.attempt(drawer, take) for take in takes]
    assert max(each.touching for each in tried) <= 0.02
    # Three takes may teach nothing; what follows is then no worse than who waits in the middle.
    errors = np.array([(each.dark_error, each.middle_error) for each in tried]).mean(0)
    near = np.array([(each.near, each.middle_near) for each in tried]).mean(0)
    assert errors[0] < 1.05 * errors[1]
    assert near[0] > near[1] - 0.05


@pytest.mark.proof
def test_takes_of_its_sessions_are_what_it_was_tried_on(trained: TrainingRequest) -> None:
    drawer = packages.read(trained.out / train.PACKAGE)
    result = train.describe(trained)
    recorded = RecordedTakes(tuple(train.folders_of(trained)), "kitchen-small")
    held = [each for each in recorded.of(drawer) if each.name in result["takes"]["held_out"]]
    found = play.follow(drawer, held[0])
    assert found.dark_held == pytest.approx(result["dark_coverage_90"]["value"], abs=1e-4)
    stated = result["position_rmse"]["light_off"]["ours"]["value"]
    assert found.dark_error == pytest.approx(stated, abs=1e-4)


def test_a_session_that_is_not_there_is_refused(tmp_path: Path) -> None:
    named = request(tmp_path, 'drawer_learning.recordings=["nowhere"]')
    with pytest.raises(BadInput, match="nowhere"):
        train.recorded(named)
    assert not train.is_complete(named)


def test_microphones_of_no_simulated_ring_are_refused() -> None:
    with pytest.raises(BadInput, match="no simulated ring"):
        fresh_takes.ring_of(np.zeros((4, 3)), "drawer-desk")


def test_a_drawer_that_is_not_simulated_is_refused() -> None:
    with pytest.raises(BadInput, match="kitchen-small"):
        fresh_takes.refuse_drawer("desk", "drawer-desk")


def test_trainings_say_which_package_to_validate() -> None:
    assert catalogue.training("drawer").then.format(name="drawer-desk").endswith("drawer-desk")
    assert {verb.words[1] for verb in train_verbs.verbs()} >= {"drawer", "batting"}

"""The rows of the table: who shoots in each, made by processes that import nothing heavy."""

import subprocess
import sys

import pytest

from models.controllers.aims import EnergyAim, ExhaustiveAim, NominalAim
from models.planners import shots
from models.systems.puck_prediction import NOMINAL
from tasks import settings, shooting_rows
from tests.tasks import shooters

POLICIES = {s.name: shooters.shooter(setting=i) for i, s in enumerate(shots.SETTINGS)}


@pytest.mark.parametrize("row", shooting_rows.ROWS)
def test_each_row_has_its_aim_and_the_setting_it_is_named_after(row: str) -> None:
    aim = shooting_rows.agent(row, POLICIES, settings.load())._with.aim
    kinds = {"conventional": NominalAim, **dict.fromkeys(shooting_rows.EXPERTS, ExhaustiveAim)}
    assert isinstance(aim, kinds.get(row, EnergyAim))
    if row in shooting_rows.EXPERTS:
        assert aim.setting == POLICIES[shooting_rows.EXPERTS[row]].setting


def test_the_conventional_row_knows_nothing_that_was_learnt() -> None:
    """Neither airflow nor doubt of a contact, in the filter and in the aim."""
    known = shooting_rows.agent("conventional", POLICIES, settings.load())._with
    assert isinstance(known.aim, NominalAim)
    assert known.modes is known.aim.conditions.modes is NOMINAL
    assert NOMINAL.airflow_sd == 0.0
    assert not NOMINAL.wall.covariance.any() and not NOMINAL.mallet.covariance.any()
    assert not known.aim.conditions.covariance.any()


def test_a_process_that_shoots_imports_neither_torch_nor_matplotlib() -> None:
    """They take three seconds, and each row starts processes of its own."""
    said = "import sys, tasks.shooting_rows, tasks.shooting_trials; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert not {"torch", "matplotlib", "mlflow"} & set(found.stdout.split())

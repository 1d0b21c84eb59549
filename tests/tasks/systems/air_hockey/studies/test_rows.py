"""The rows of the table: who shoots in each, made by processes that import nothing heavy."""

import subprocess
import sys

import pytest

from ricochet.models.systems.air_hockey.puck.prediction_checks import NOMINAL
from ricochet.models.systems.air_hockey.shots import objective
from ricochet.models.systems.air_hockey.shots.angle_policies import (
    ExhaustivePolicy,
    NominalPolicy,
)
from ricochet.models.systems.air_hockey.shots.checked_policy import CheckedPolicy
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.studies import rows
from tests.tasks.systems.air_hockey import shooters

POLICIES = {s.name: shooters.shooter(setting=i) for i, s in enumerate(objective.SETTINGS)}


@pytest.mark.parametrize("row", rows.ROWS)
def test_each_row_has_its_aim_and_the_setting_it_is_named_after(row: str) -> None:
    policy = rows.agent(row, POLICIES, catalogue.load_settings())._context.policy
    kinds = {"conventional": NominalPolicy, **dict.fromkeys(rows.EXPERTS, ExhaustivePolicy)}
    assert isinstance(policy, kinds.get(row, CheckedPolicy))
    if row in rows.EXPERTS:
        assert policy.setting == POLICIES[rows.EXPERTS[row]].setting


def test_the_conventional_row_knows_nothing_that_was_learnt() -> None:
    """Neither airflow nor uncertainty of a contact, in the filter and in the policy."""
    known = rows.agent("conventional", POLICIES, catalogue.load_settings())._context
    assert isinstance(known.policy, NominalPolicy)
    assert known.modes is known.policy.conditions.modes is NOMINAL
    assert NOMINAL.airflow_sd == 0.0
    assert not NOMINAL.wall.covariance.any() and not NOMINAL.mallet.covariance.any()
    assert not known.policy.conditions.covariance.any()


@pytest.mark.slow
def test_a_process_that_shoots_imports_neither_torch_nor_matplotlib() -> None:
    """They take three seconds, and each row starts processes of its own."""
    modules = "studies.rows", "validation.trials"
    said = "".join(f"import ricochet.tasks.systems.air_hockey.{each}; " for each in modules)
    said += "import sys; print(*sys.modules)"
    found = subprocess.run([sys.executable, "-c", said], capture_output=True, text=True, check=True)
    assert not {"torch", "matplotlib", "mlflow"} & set(found.stdout.split())

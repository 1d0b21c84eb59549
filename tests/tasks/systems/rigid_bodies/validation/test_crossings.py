"""Crossings: the same moments for both, stored and read again as they were."""

import json
from pathlib import Path

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.rigid_bodies.settings import PendulumGate
from ricochet.tasks.systems.rigid_bodies.validation import crossings, results
from ricochet.tasks.validation.contenders import Contenders
from tests.models.systems.rigid_bodies import rods
from tests.tasks.systems.rigid_bodies import posteriors


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    file = posteriors.recorded(tmp_path_factory.mktemp("films"), 0.6)
    return [posteriors.package(rods.draws(count), [file]) for count in (20, 40)]


def crossed(packages, *roles: str) -> results.CrossingResult:
    settings = catalogue.load_settings().changed(PendulumGate, crossings=20, futures=20)
    found = Contenders(
        "pendulum-lab",
        {role: str(number) for number, role in enumerate(roles)},
        dict(zip(roles, packages, strict=False)),
    )
    return crossings.cross(settings[PendulumGate], found, 3, Path())


@pytest.mark.proof
def test_both_decide_before_the_same_pendulums_which_are_drawn_of_both(packages) -> None:
    found = crossed(packages, "candidate", "champion")
    both = [found.moments[role] for role in ("candidate", "champion")]
    assert [m.plays for m in both[0]] == 10 * ["candidate", "champion"]
    assert [m.touched for m in both[0]] == [m.touched for m in both[1]]
    assert 0 < sum(m.touched for m in both[0]) < 20
    assert 0 < sum(m.passes for m in both[0]) < 20
    again = results.from_json(json.loads(json.dumps(results.to_json(found))), "here")
    assert again == found == crossed(packages, "candidate", "champion")
    alone = crossed(packages, "candidate")
    assert alone.champion is None and {m.plays for m in alone.moments["candidate"]} == {"candidate"}
    assert results.from_json(results.to_json(alone), "here") == alone


def content(**changed) -> dict:
    rows = [[0.1, True, False, "candidate"], [0.9, False, True, "candidate"]]
    found = {
        "schema": results.SCHEMA, "name": "pendulum-lab", "candidate": "2", "champion": "1",
        "seed": 0, "moments": {"candidate": rows, "champion": rows},
    }  # fmt: skip
    return found | changed


@pytest.mark.parametrize(
    "changed",
    [
        {"schema": "ricochet.shots/1"},
        {"champion": None},
        {"moments": {"candidate": [[0.1, 1, False, "candidate"]], "champion": None}},
        {"moments": {"candidate": [[0.1, True, False, "candidate"]],
                     "champion": [[0.1, True, True, "candidate"]]}},
    ],
)  # fmt: skip
def test_what_is_no_pair_of_the_same_moments_is_refused(changed) -> None:
    assert results.from_json(content(), "here").free("candidate") == (True,)
    with pytest.raises(BadInput):
        results.from_json(content(**changed), "here")

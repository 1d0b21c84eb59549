"""What is measured again distinguishes a sound package from one that was sharpened."""

import functools
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.batting.impacts import inference
from ricochet.tasks.registry.packages import Package, read_package
from ricochet.tasks.storage.files import sha256
from ricochet.tasks.systems.batting import impact_files, infer_impacts, packages
from ricochet.tasks.systems.batting.packages import Batter
from ricochet.tasks.systems.batting.settings import BattingGate
from ricochet.tasks.systems.batting.validation import gate, play, validation
from tests.tasks.systems.batting import batters
from tests.tasks.systems.batting.impact_tables import written

FEW = BattingGate(flights=10, trials=8, seconds=1.0, chance=0.02)


@pytest.fixture(autouse=True)
def no_flights(monkeypatch):
    found = play.Flight(0.1, 0.9, True, np.zeros(0))
    monkeypatch.setattr(play, "follow_flights", lambda *_, **__: [found] * 10)


@functools.cache
def sound_batter(content: bytes) -> Batter:
    """Return what is learnt from half of a table; all tests have the same."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "impacts.csv"
        file.write_bytes(content)
        table = impact_files.read(file)
    rows = table.impacts.take(~infer_impacts.held_out(table.rows - 2, 0.5))
    draw = np.random.default_rng(0)
    posterior = inference.infer(rows, draw)
    return infer_impacts.batter_of(posterior, rows, draw)


def learnt(
    folder: Path, narrower: float = 1.0, off: float = 0.0, quieter: float = 1.0, **of_table: float
) -> tuple[Package, Path]:
    """Return a package of a table: its draws nearer to their mean, off, or quieter."""
    file = written(folder, 200)
    found = sound_batter(file.read_bytes())
    mean = found.theta.mean(0)
    theta = mean + (found.theta - mean) / narrower
    theta[:, 0] -= off
    theta[:, 3:] /= quieter
    right = found.law
    law = right._replace(
        restitution=float(theta[:, 0].mean()),
        normal_share=right.normal_share / quieter,
        tangential_share=right.tangential_share / quieter,
    )
    made = replace(found, theta=theta, law=law, table=found.table._replace(**of_table))
    place = batters.written(folder / "package", made, sha256(file))
    return read_package(place, reader=packages.READER), file


def refused(package: Package, file: Path) -> set[str]:
    found = validation.audit(package, file, FEW, seed=1, workers=1)
    return {check.name for check in gate.judge_evidence(found) if not check.passed}


def test_a_sound_package_passes(tmp_path: Path) -> None:
    assert refused(*learnt(tmp_path)) == set()


def test_a_posterior_that_was_sharpened_is_refused(tmp_path: Path) -> None:
    assert "posterior" in refused(*learnt(tmp_path, narrower=1.5))


@pytest.mark.parametrize("changes", [{"quieter": 2.0}, {"off": 0.2}])
def test_a_law_that_is_sharp_and_wrong_is_refused_by_the_impacts_too(tmp_path, changes) -> None:
    assert {"posterior", "impacts at 90 %"} <= refused(*learnt(tmp_path, **changes))


def test_what_is_believed_of_another_table_is_refused(tmp_path: Path) -> None:
    package, file = learnt(tmp_path, gravity=0.3)
    with pytest.raises(BadInput, match=r"gravity: found 0\.3, expected 1, that of the board"):
        validation.audit(package, file, FEW, workers=1)


@pytest.mark.parametrize("settings", [None, {}, {"hold_out": "x"}, {"hold_out": True}, []])
def test_a_package_that_does_not_say_what_was_held_out_is_refused(tmp_path, settings) -> None:
    package, file = learnt(tmp_path)
    with pytest.raises(BadInput, match="hold_out: found"):
        validation.audit(replace(package, settings=settings), file, FEW, workers=1)


def test_another_table_of_impacts_is_refused(tmp_path: Path) -> None:
    package, file = learnt(tmp_path)
    file.write_text(file.read_text() + "\n")
    with pytest.raises(BadInput, match="sha256"):
        validation.audit(package, file, FEW)

"""What is measured again tells a sound package from one that was sharpened."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.batting.impacts import inference
from ricochet.models.systems.batting.impacts.believed_law import believed_law
from ricochet.tasks.registry.packages import Package, read_package
from ricochet.tasks.storage.files import sha256
from ricochet.tasks.systems.batting import impact_files, infer_impacts, packages
from ricochet.tasks.systems.batting.settings import BattingGate
from ricochet.tasks.systems.batting.validation import gate, play, validation
from tests.tasks.systems.batting import batters
from tests.tasks.systems.batting.impact_tables import written

FEW = BattingGate(flights=10, trials=5, seconds=1.0, chance=0.02)


@pytest.fixture(autouse=True)
def no_flights(monkeypatch):
    found = play.Flight(0.1, 0.9, True, np.zeros(0))
    monkeypatch.setattr(play, "follow_flights", lambda *_, **__: [found] * 10)


def learnt(folder: Path, narrower: float = 1.0) -> tuple[Package, Path]:
    """Return a package of a table, its draws nearer to their mean by a factor."""
    file = written(folder, 200)
    table = impact_files.read(file)
    rows = table.impacts.take(~infer_impacts.held_out(table.rows - 2, 0.5))
    draw = np.random.default_rng(0)
    posterior = inference.infer(rows, draw)
    law = believed_law(posterior, rows, draw)
    mean = posterior.theta.mean(0)
    made = replace(
        infer_impacts.batter_of(posterior, rows, draw),
        theta=mean + (posterior.theta - mean) / narrower,
        law=law,
    )
    place = batters.written(folder / "package", made, sha256(file))
    return read_package(place, reader=packages.READER), file


def refused(package: Package, file: Path) -> set[str]:
    found = validation.audit(package, file, FEW, seed=1, workers=1)
    return {check.name for check in gate.judge_evidence(found) if not check.passed}


def test_a_sound_package_passes(tmp_path: Path) -> None:
    assert refused(*learnt(tmp_path)) == set()


def test_a_posterior_that_was_sharpened_is_refused(tmp_path: Path) -> None:
    assert "posterior" in refused(*learnt(tmp_path, narrower=2.0))


def test_another_table_is_refused(tmp_path: Path) -> None:
    package, file = learnt(tmp_path)
    file.write_text(file.read_text() + "\n")
    with pytest.raises(BadInput, match="sha256"):
        validation.audit(package, file, FEW)

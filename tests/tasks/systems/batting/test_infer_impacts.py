"""`ricochet infer impacts`: a simulated table comes back, and a doubtful one says so."""

import json
from pathlib import Path

import numpy as np
import pytest

from ricochet.flows import cli
from ricochet.flows import infer as flows
from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.batting.impact_law import Law
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.systems.batting import agents, impact_files, infer_impacts, publish, sample
from ricochet.tasks.systems.batting.sample import TRUTH
from ricochet.tasks.validation.judge import recordings_of
from tests.tasks.systems.batting.impact_tables import (
    cells,
    result_of,
    rewritten,
    spoilt,
    written,
)


@pytest.mark.slow
def test_a_simulated_table_comes_back(tmp_path: Path) -> None:
    file = sample.make(tmp_path)
    result = result_of(file, tmp_path / "out")
    assert json.loads(json.dumps(result)) == result
    assert (result["impacts"], result["used"], result["rejected"]) == (300, 150, [])
    away = np.array(result["mean"]) - TRUTH[:3]
    squared = away @ np.linalg.solve(np.array(result["covariance"]), away)
    assert squared < 16.3  # chi square of three: one table in a thousand
    np.testing.assert_allclose(result["impulse_noise"], TRUTH[4:], rtol=0.3)
    assert result["balance"]["residual_share"] < 1e-6 and result["misfit"] == []
    # 150 held-out impacts: three standard errors of 0.0245
    assert result["held_out"]["coverage_90"] == pytest.approx(0.9, abs=0.075)
    assert result["held_out"]["impacts"] == 150
    samples = np.load(tmp_path / "out" / "samples.npz")
    np.testing.assert_allclose(samples["theta"].mean(0), result["mean"])
    np.testing.assert_allclose(samples["noise"].mean(0), result["impulse_noise"])
    assert (tmp_path / "out" / "posterior.png").stat().st_size > 10_000
    assert (tmp_path / "out" / "held_out.png").stat().st_size > 10_000


@pytest.mark.usefixtures("without_pictures")
def test_without_rows_held_out_all_are_learnt_from(tmp_path: Path) -> None:
    result = result_of(written(tmp_path), tmp_path, hold_out=0.0)
    assert result["used"] == 120 and result["held_out"] is None
    assert not (tmp_path / "held_out.png").exists()
    assert any("learnt from 120 of 120 rows" in line for line in infer_impacts.lines(result))


@pytest.mark.parametrize("share", [0.0, 0.1, 0.25, 0.5, 0.9])
def test_a_share_of_the_rows_is_held_out_evenly(share: float) -> None:
    held = infer_impacts.held_out(np.arange(200), share)
    assert held.sum() == round(200 * share)
    assert abs(held[:100].sum() - held[100:].sum()) <= 1
    if share == 0.5:
        assert not held[::2].any() and held[1::2].all()


@pytest.mark.slow
def test_the_same_table_and_seed_give_the_same_result(tmp_path: Path) -> None:
    file = written(tmp_path)
    first, again = (result_of(file, tmp_path / name) for name in "ab")
    assert first == again != result_of(file, tmp_path / "c", seed=1)


@pytest.mark.usefixtures("without_pictures")
@pytest.mark.parametrize(
    ("columns", "words"),
    [
        (("contact_x",), "x of contacts"),
        (("vx", "vx_after", "surface_vx"), "x of velocities"),
        (("spin", "spin_after"), "spin seems to have the other sign"),
    ],
)
def test_a_mirrored_axis_is_one_line_and_the_run_goes_on(
    tmp_path: Path, columns: tuple[str, ...], words: str
) -> None:
    result = result_of(spoilt(tmp_path, dict.fromkeys(columns, np.negative), 300), tmp_path)
    assert result["balance"]["residual_share"] > 0.5
    (line,) = (each for each in result["misfit"] if "balance" in each)
    assert words in line
    assert f"misfit: {line}" in infer_impacts.lines(result)


@pytest.mark.usefixtures("without_pictures")
def test_rows_far_from_the_law_are_rejected_as_such(tmp_path: Path) -> None:
    file = written(tmp_path)
    rows = file.read_text().splitlines()
    cells = [float(cell) for cell in rows[3].split(",")]
    mass, inertia, r_x, r_y, n_x, n_y = cells[:6]
    cells[11] += 30.0 * n_x  # a blow along the normal, and the spin that it gives
    cells[12] += 30.0 * n_y
    cells[13] += 30.0 * mass * (r_x * n_y - r_y * n_x) / inertia
    rows[3] = ",".join(map(repr, cells))
    file.write_text("\n".join(rows))
    result = result_of(file, tmp_path, hold_out=0.0)
    (rejected,) = result["rejected"]
    assert rejected["row"] == 4 and rejected["reason"].startswith("far from the law")
    assert result["used"] == 119


@pytest.mark.slow
def test_the_verb_answers_on_the_terminal_and_in_a_file(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = written(tmp_path)
    words = ["infer", "impacts", str(file), "--out", str(tmp_path / "out"), "--hold-out", "0.25"]
    assert cli.main([*words, "--set", "impacts.particles=200"]) == 0
    said = capsys.readouterr()
    assert "restitution" in said.out and "learnt from 90 of 120 rows" in said.out
    assert "loading tables of impacts" in said.err
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["registered"] is None and result["seed"] == 0
    assert cli.main([*words, "--set", "impacts.particles=200", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == result


@pytest.mark.parametrize("text", ["2", "-0.1", "half", "nan"])
def test_a_share_that_is_none_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(["infer", "impacts", "a.csv", f"--hold-out={text}"])
    assert end.value.code == 2
    assert "expected a number from 0 to 0.9" in capsys.readouterr().err


def test_bad_input_is_one_line_and_exit_two_and_leaves_no_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = spoilt(tmp_path, {"contact_x": lambda x: 1e3 * x, "contact_y": lambda x: 1e3 * x})
    assert cli.main(["infer", "impacts", str(file), "--out", str(tmp_path / "out")]) == 2
    last = capsys.readouterr().err.splitlines()[-1]
    assert last.startswith(f"{file}: found contacts")
    assert not (tmp_path / "out").exists()


def test_an_option_of_motions_is_not_taken(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["infer", "impacts", "a.csv", "--rate", "4"])
    assert "found --rate, which it does not take" in capsys.readouterr().err


@pytest.mark.usefixtures("without_pictures")
def test_an_inference_is_registered_and_its_package_plays(tracker, tmp_path: Path) -> None:
    file = written(tmp_path)
    result = result_of(file, tmp_path / "out", name="batting-lab")
    first, again = (
        publish.publish_batter(tracker, "batting-lab", tmp_path / "out", result) for _ in range(2)
    )
    assert first == again
    assert first.result == {"registered": {"name": "batting-lab", "version": "1"}}
    assert agents.load(tmp_path / "out" / "package").world.law == Law(**result["law"])
    run = tracker.client.get_run(first.run_id)
    assert run.data.metrics["held_out_coverage_90"] == result["held_out"]["coverage_90"]
    assert recordings_of(tracker, Registered("batting-lab", "1")) == [file]


def test_velocities_after_of_another_frame_rate_are_said(tmp_path: Path) -> None:
    late = ("vx_after", "vy_after", "spin_after")
    table = impact_files.read(spoilt(tmp_path, dict.fromkeys(late, lambda x: 0.97 * x), 300))
    (line,) = table.misfit
    assert "is 0.970 times as large after impacts as before them" in line
    assert table.balance.holds


@pytest.fixture
def reversed_surface(tmp_path: Path) -> Path:
    """A table of which the law explains so little that no controller can use it."""
    file = sample.make(tmp_path)
    values = cells(file)
    place = impact_files.COLUMNS.index("surface_vx")
    values[:, place : place + 2] *= -1.0
    return rewritten(file, values)


@pytest.mark.slow
def test_what_no_controller_can_use_has_a_result_without_a_package(
    reversed_surface: Path, tmp_path: Path
) -> None:
    out, lab = tmp_path / "out", tmp_path / "lab"
    lab.mkdir()
    result_of(written(lab, 60), out)
    assert (out / "package").is_dir()
    result = result_of(reversed_surface, out)
    assert result["withheld"].startswith("no package: ") and not (out / "package").exists()
    assert (out / "samples.npz").is_file()
    said = infer_impacts.lines(result)
    assert said[-1] == result["withheld"]
    assert any("surface's velocity seems to have the other sign" in line for line in said)


@pytest.mark.slow
def test_what_is_withheld_is_not_registered_and_its_result_is_kept(
    reversed_surface: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(flows, "compute", flows.compute.fn)
    monkeypatch.setattr(flows, "record", None)
    out, few = tmp_path / "out", ["impacts.particles=200"]
    asked = {"out": str(out), "overrides": few}
    with pytest.raises(BadInput, match=r"no package.* expected a package to register") as refused:
        flows.infer.fn("impacts", [str(reversed_surface)], "lab", **asked)
    assert "\n" not in str(refused.value)
    result = json.loads((out / "result.json").read_text())
    assert result["withheld"] in str(refused.value) and result["registered"] is None

"""The study of the shaken box, at its smallest: judgements, rows, pictures."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.mixture  # noqa: F401  (its import draws random numbers)
import torch

from ricochet.models.core.progress import no_progress
from ricochet.models.systems.rigid_bodies import box_parameters, box_shooting
from ricochet.models.systems.rigid_bodies.box_parameters import WEIGHTS_HIGH
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.interface import StudyRequest
from ricochet.tasks.systems.rigid_bodies.figures import box as figures
from ricochet.tasks.systems.rigid_bodies.studies import box as study
from ricochet.tasks.systems.rigid_bodies.studies import (
    box_fits,
    box_judge,
    box_placements,
    box_rows,
    box_search,
    likelihood_free,
    methods,
)
from ricochet.tasks.systems.rigid_bodies.studies.box import Plan
from ricochet.tasks.systems.rigid_bodies.studies.box_judge import Law
from ricochet.tasks.systems.rigid_bodies.studies.box_placements import OURS, PAPER, Placement
from ricochet.tasks.systems.rigid_bodies.studies.box_rows import Job

SEED = 3


@pytest.fixture(scope="module")
def placement() -> Placement:
    return box_placements.placement(OURS, SEED)


def true_box() -> torch.Tensor:
    """Numbers of the empty box."""
    truth = box_placements.TRUTH
    theta = (*truth.inertia, *truth.centre, *truth.friction)
    return box_parameters.of_empty(torch.tensor(theta).double())


def law(places: np.ndarray) -> Law:
    """The true box with weights at places."""
    own = torch.from_numpy(places)
    return Law(places, box_parameters.with_weights(true_box().expand(len(own), -1), own))


def about(centre: np.ndarray, by: float, count: int, draw: np.random.Generator) -> np.ndarray:
    """Draws about weights, named at random."""
    found = centre + by * draw.normal(size=(count, 4))
    swap = draw.uniform(size=(count, 1)) < 0.5
    return np.where(swap, np.roll(found, 2, axis=1), found)


def test_of_exact_laws_nine_in_ten_have_the_truth_inside_and_both_orders_have_half() -> None:
    """300 laws of 200 draws: three standard errors of a share of 0.9 are 0.052, and regions of 200
    draws hold 0.01 less; of all 60 000 orders 0.006."""
    draw, centre = np.random.default_rng(0), np.array([0.09, 0.03, -0.07, -0.05])
    inside, shares = [], []
    still = Placement(centre, *(np.zeros((1, 1)),) * 4)
    for _ in range(300):
        truth = centre + 5e-3 * draw.normal(size=4)
        own = about(centre, 5e-3, 200, draw)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(box_judge, "log_p_obs", lambda *_: 0.0)
            found = box_judge.numbers(
                Law(own, torch.zeros(200, 11).double()), replace(still, places=truth), draw
            )
        inside.append(found["inside_90"])
        shares.append(found["order_share"])
        assert found["sd_mm"] == pytest.approx(5.0, rel=0.2)
    assert abs(np.mean(inside) - 0.9) < 0.062
    assert abs(np.mean(shares) - 0.5) < 0.006


@pytest.mark.slow
def test_judgements_do_not_depend_on_which_weight_is_named_first(placement: Placement) -> None:
    draw = np.random.default_rng(1)
    own = about(placement.places, 0.01, 20, draw)
    swapped = replace(placement, places=np.roll(placement.places, 2))
    renamed = [law(own), law(np.roll(own, 2, axis=1)), law(own)]
    at = [placement, placement, swapped]
    one, other, same = (
        box_judge.numbers(each, where, draw) for each, where in zip(renamed, at, strict=True)
    )
    for name in (
        "inside_90",
        "sum_error_mm",
        "weight_error_mm",
        "sd_mm",
        "log_p_obs",
        "order_share",
    ):
        assert one[name] == pytest.approx(other[name]) == pytest.approx(same[name])


@pytest.mark.slow
def test_errors_are_those_of_the_mean_in_millimetres(placement: Placement) -> None:
    shift = np.array([0.003, 0.0, 0.0, 0.004])
    own = placement.places + shift + 1e-6 * np.random.default_rng(2).normal(size=(40, 4))
    found = box_judge.numbers(law(own), placement, np.random.default_rng(0))
    assert found["sum_error_mm"] == pytest.approx(5.0, abs=0.01)
    assert found["weight_error_mm"] == pytest.approx(4.0, abs=0.01)
    assert found["inside_90"] == 0.0


@pytest.mark.slow
def test_a_further_recording_is_likelier_by_the_truth_than_by_other_places(placement) -> None:
    draw = np.random.default_rng(4)
    truth = law(placement.places[None])
    given = box_judge.log_p_obs(truth, placement, draw)
    for away in (0.02, -0.02):
        other = law(placement.places[None] + np.array([away, 0.0, away, 0.0]))
        assert box_judge.log_p_obs(other, placement, draw) < given - 1.0
    both = Law(
        np.repeat(truth.places, 2, 0), truth.numbers.expand(2, -1)
    )  # the same draw twice says the same
    assert box_judge.log_p_obs(both, placement, draw) == pytest.approx(given)


@pytest.mark.slow
def test_departures_spread_what_is_predicted_and_none_are_none(placement: Placement) -> None:
    own, draw = law(np.repeat(placement.places[None], 30, 0)), np.random.default_rng(5)
    none = replace(own, departures=torch.zeros(30, 4).double())
    wide = replace(own, departures=1e-2 * torch.ones(30, 4).double())
    whole, same, spread = (
        box_judge.rolled(each, placement.further, draw) for each in (own, none, wide)
    )
    torch.testing.assert_close(whole, same)
    assert float(whole.std(0).max()) < 1e-12 < 1e-3 < float(spread[:, -1, :2].std(0).min())


@pytest.mark.slow
def test_placements_hide_weights_within_the_limits_and_are_the_same_for_both_motions() -> None:
    ours, paper = (box_placements.placement(motion, SEED) for motion in (OURS, PAPER))
    np.testing.assert_array_equal(ours.places, paper.places)
    assert (np.abs(ours.places) <= WEIGHTS_HIGH).all()
    assert ours.loaded.shape == ours.empty.shape == (len(ours.joints), 4)
    assert not np.array_equal(ours.places, box_placements.placement(OURS, SEED + 1).places)
    other = box_placements.placement.__wrapped__(OURS, SEED)
    np.testing.assert_array_equal(other.loaded, ours.loaded)


@pytest.mark.slow
def test_the_first_phase_finds_a_box_within_the_limits_that_moves_as_the_true_one() -> None:
    found = box_placements.first_phase(OURS, SEED)
    joints = box_placements.joints_of(OURS)
    moved = box_shooting.from_rest(torch.stack((found, true_box())), joints, box_placements.RATE)
    away = (moved[0] - moved[1])[:, :2].square().mean(0).sqrt()
    assert bool((away < 0.1 * moved[1][:, :2].std(0)).all())


@pytest.mark.parametrize("scale", [0.6, 1.0, 1.7])
def test_a_box_beyond_the_limits_is_brought_within_them_and_moves_alike(scale: float) -> None:
    """An empty box times any number moves as itself: of all such boxes some are within."""
    truth, limits = box_placements.TRUTH, box_shooting.limits(weights=False)
    theta = torch.tensor((*truth.inertia, *truth.centre, *truth.friction)).double()
    mass, about_joint = box_parameters.MASS, box_parameters.about
    inertia = theta[:6] + mass * about_joint(theta[6:9])
    centre = scale * theta[6:9]
    parts = (scale * inertia - mass * about_joint(centre), centre, scale * theta[9:])
    found = box_placements._within(torch.cat(parts), limits)
    assert bool(((found > limits.low) & (found < limits.high)).all())
    numbers, own = box_parameters.of_empty(found), box_parameters.of_empty(theta)
    torch.testing.assert_close(numbers / numbers[2], own / own[2], rtol=1e-6, atol=1e-8)


@pytest.fixture
def known(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first phase's answer without its fit."""
    monkeypatch.setattr(box_placements, "first_phase", lambda *_: true_box())


@pytest.mark.proof
def test_least_squares_finds_the_weights_or_an_order_of_them_within_the_limits(
    placement: Placement,
) -> None:
    pytest.importorskip("absl", reason="of the extra `compare`")
    problem = box_rows.problem_of(placement, true_box(), "ss", 1.0)
    drawn = box_fits.least_squares(problem, 30, np.random.default_rng(0)).numpy()
    assert drawn.shape == (30, 4)
    assert (np.abs(drawn) <= np.array(WEIGHTS_HIGH) + 1e-12).all()
    found = box_judge.numbers(law(drawn), placement, np.random.default_rng(0))
    assert found["sum_error_mm"] < 20.0


def checked(found: box_rows.Found, count: int = 1) -> list[np.ndarray]:
    """Rows as they should be; return their places."""
    assert len(found) == count
    for one in found:
        assert set(one) == {*box_judge.NUMBERS, "places"}
        assert all(np.isfinite(one[name]) for name in box_judge.NUMBERS)
    assert json.loads(json.dumps(found)) == found
    return [np.array(one["places"]) for one in found]


@pytest.mark.slow
@pytest.mark.usefixtures("known")
def test_the_prior_is_all_over_the_limits_and_the_truth_is_inside() -> None:
    """100 draws of each of four: the deviation is 2 high / sqrt(12) but for 3 / sqrt(200)."""
    (places,) = checked(box_rows.work(Job(box_rows.PRIOR, OURS, SEED)))
    width = 2.0 * np.array(WEIGHTS_HIGH) / np.sqrt(12.0)
    np.testing.assert_allclose(places.std(0), width, rtol=0.22)


@pytest.mark.slow
@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("row", ["svgd-ss", "csvgd-ms", "sgld-ss", "cem-ms"])
def test_rows_of_each_kind_say_where_the_weights_are(row: str) -> None:
    (places,) = checked(box_rows.work(Job(row, OURS, SEED, seconds=0.3)))
    assert places.shape == (100, 4)
    assert (np.abs(places) <= np.array(WEIGHTS_HIGH) + 1e-6).all()


@pytest.mark.proof
@pytest.mark.usefixtures("known")
def test_a_density_is_learnt_once_and_asked_for_all_placements() -> None:
    row, seeds = likelihood_free.NAMES[0], (SEED, SEED + 1)
    job = Job(row, OURS, SEED, simulations=200, others=seeds)
    places = checked(box_rows.work(job), 2)
    assert not np.array_equal(*places)


@pytest.mark.proof
def test_ours_finds_the_sum_of_the_weights_places() -> None:
    """Few rounds: the sum, which tells most, within a centimetre; both orders are there."""
    job = Job(box_rows.OURS, OURS, SEED, particles=8, rounds=6, discrepancy=5e-4)
    found = box_rows.work(job)
    checked(found)
    assert found[0]["sum_error_mm"] < 10.0
    assert 0.1 < found[0]["order_share"] < 0.9


def test_simulations_that_are_learnt_from_are_of_all_places_and_err_as_methods_assume() -> None:
    """25 x 580 angles: three standard errors of the deviation of errors are 1.2 %."""
    joints, draw = box_placements.joints_of(PAPER), np.random.default_rng(6)
    found = box_rows.simulate(joints, true_box(), 25, draw)
    places = box_rows.limits().low + found.theta * (box_rows.limits().high - box_rows.limits().low)
    numbers = box_parameters.with_weights(true_box().expand(25, -1), places)
    moved = box_shooting.from_rest(numbers, joints, box_placements.RATE)
    assert found.states.shape == moved.shape
    away = (found.states - moved)[..., :2]
    assert float(away.std()) == pytest.approx(box_judge.SIGMA, rel=0.012)


def test_a_plan_has_every_row_of_every_placement_once() -> None:
    plan = Plan((4, 5), 1.0, 8, 16, 1e-3, 200, likelihood_free.NAMES[:2])
    jobs = plan.jobs()
    assert len(set(jobs)) == len(jobs)
    covered = [(job.row, job.motion, seed) for job in jobs for seed in (job.others or (job.seed,))]
    rows = (*study.present(), box_rows.OURS, box_rows.PRIOR, *plan.learnt)
    wanted = [(row, motion, seed) for row in rows for motion in (PAPER, OURS) for seed in (4, 5)]
    assert sorted(covered) == sorted(wanted)
    assert set(box_rows.SETTINGS) == set(box_rows.names()) == set(box_rows.BEGUN)
    ours = [job for job in jobs if job.row == box_rows.OURS]
    assert {(job.particles, job.rounds, job.discrepancy) for job in ours} == {(16, 8, 1e-3)}


def test_settings_are_within_the_ranges_that_are_searched() -> None:
    for row, chosen in box_rows.SETTINGS.items():
        ranges = {
            **methods.METHODS[row.rsplit("-", 1)[0]].ranges,
            box_rows.SIGMA: box_search.SIGMAS,
        }
        assert set(chosen) == set(ranges)
        assert all(low <= chosen[name] <= high for name, (low, high) in ranges.items())


def test_searches_look_at_boxes_that_move_as_the_equations_say_and_at_other_weights() -> None:
    at, empty = box_search.simulated(OURS)
    numbers = box_parameters.with_weights(empty, torch.from_numpy(at.places))
    moved = box_shooting.from_rest(numbers[None], at.joints, box_placements.RATE)[0]
    away = at.loaded[:, :2] - moved[:, :2].numpy()
    assert away.std() == pytest.approx(box_judge.SIGMA, rel=0.1)
    assert not np.allclose(at.places, box_search.simulated(PAPER)[0].places)


def numbers(**changed: float) -> dict[str, Any]:
    return {**dict.fromkeys(box_judge.NUMBERS, 1.0), "places": [[0.0] * 4], **changed}


def test_a_summary_has_medians_and_how_often_both_orders_are_there() -> None:
    found = study._summary(
        [
            numbers(order_share=0.5, sd_mm=1.0, inside_90=1.0, sum_error_mm=2.0),
            numbers(order_share=0.4, sd_mm=2.0, inside_90=1.0, sum_error_mm=9.0),
            numbers(order_share=0.0, sd_mm=9.0, inside_90=0.0, sum_error_mm=1.0),
        ]
    )
    assert found["placements"] == 3
    assert found["both_orders"] == pytest.approx(2.0 / 3.0)
    assert found["inside_90"] == pytest.approx(2.0 / 3.0)
    assert found["order_shares"] == pytest.approx([0.3, 0.7])
    assert found["median"]["sd_mm"] == 2.0
    assert found["worst"]["sum_error_mm"] == 9.0


def test_pictures_have_a_panel_a_row_and_a_point_a_placement() -> None:
    laws = {f"row {number}": np.full((7, 4), 0.01) for number in range(6)}
    drawn = figures.places(laws, np.array([0.1, 0.05, -0.1, 0.02]))
    shown = [axes for axes in drawn.axes if axes.get_visible()]
    assert [axes.get_title() for axes in shown] == list(laws)
    first, second, stars = shown[0].lines
    assert len(first.get_xdata()) == len(second.get_xdata()) == 7
    np.testing.assert_allclose(stars.get_xydata(), [[100.0, 50.0], [-100.0, 20.0]])
    each = {motion: {"one": [numbers()] * 3, "two": [numbers()] * 3} for motion in (PAPER, OURS)}
    compared = figures.errors(each)
    assert all(len(axes.lines) == 4 for axes in compared.axes)
    assert [label.get_text() for label in compared.axes[0].get_yticklabels()] == ["one", "two"]


@pytest.mark.proof
def test_the_study_has_its_rows_and_pictures(tmp_path: Path, monkeypatch) -> None:
    plan = Plan((SEED,), 0.2, 2, 8, 1e-3, 100, likelihood_free.NAMES[:1])
    kept = ("svgd-ss", "csvgd-ms")
    monkeypatch.setattr(study, "present", lambda: kept)
    monkeypatch.setattr(study, "_plan", lambda _: plan)
    monkeypatch.setattr(study, "_PLANNED", 2)
    monkeypatch.setattr(box_fits, "_MOST", 1)
    request = StudyRequest(catalogue.load_settings(), tmp_path, no_progress, quick=True)
    result = study.run(request)
    rows = {*kept, *plan.learnt, box_rows.OURS, box_rows.PRIOR}
    for motion in (PAPER, OURS):
        assert set(result["motions"][motion]["rows"]) == rows == set(result["each"][motion])
        assert result["motions"][motion]["planned_sd_mm"] > 0.0
    assert result["deviation_ratio"] > 0.0
    assert json.loads(json.dumps(result)) == result
    for name in ("places_paper", "places_ours", "errors"):
        assert (tmp_path / f"{name}.png").stat().st_size > 5_000
    assert not list(tmp_path.glob("*.journal"))


def test_a_quick_plan_is_small_and_a_count_wins(tmp_path: Path) -> None:
    settings = catalogue.load_settings()
    quick = StudyRequest(settings, tmp_path, no_progress, quick=True)
    assert len(study._plan(quick).seeds) == study.QUICK_PLACEMENTS
    assert len(study._plan(replace(quick, count=3)).seeds) == 3
    whole = study._plan(replace(quick, quick=False, seed=7))
    assert whole.seeds == tuple(range(7, 27))
    assert len(whole.learnt) == len(likelihood_free.NAMES)


def test_rows_whose_packages_are_missing_are_left_out_and_named(monkeypatch) -> None:
    monkeypatch.setattr(box_fits, "present", lambda: False)
    assert box_rows.SYSID not in study.present()
    assert "compare" in study.absent()[box_rows.SYSID]
    monkeypatch.setattr(box_fits, "present", lambda: True)
    assert box_rows.SYSID in study.present()

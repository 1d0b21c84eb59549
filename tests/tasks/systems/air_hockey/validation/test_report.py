"""A shooting validation in MLflow: found again for the same champion, summed up as in Table I."""

from ricochet.tasks.registry import runs
from ricochet.tasks.systems.air_hockey.figures import validation
from ricochet.tasks.systems.air_hockey.validation import report, results
from ricochet.tasks.systems.air_hockey.validation.gate import PolicyEvidence
from ricochet.tasks.systems.air_hockey.validation.results import ShootingResult, Shot
from ricochet.tasks.systems.air_hockey.validation.validation import VALIDATION
from ricochet.tasks.validation import record
from ricochet.tasks.validation.contenders import Contenders

NAME = "shooting-aggressive"
FOUND = PolicyEvidence(
    regret=0.01, regret_error=0.004, best=0.9, agreement=0.95, states=300, beta=0.5
)
GOAL, BANKED, MISS = Shot(True, 1.0, 0, 0), Shot(True, 2.0, 2, 0), Shot(False, 0.0, 5, 1)


def result(champion: str | None) -> ShootingResult:
    shots = {"candidate": (GOAL, BANKED, MISS, MISS)}
    if champion is not None:
        shots["champion"] = (MISS, MISS, GOAL, GOAL)
    return ShootingResult(NAME, "2", champion, 7, {"airflow": 0.1}, shots)


def test_speed_and_banks_are_those_of_the_goals() -> None:
    row = report.summary(result(None))["candidate"]
    assert row == {
        "score": 0.5,
        "speed_mean": 1.5,
        "speed_sd": 0.5,
        "banks_mean": 1.0,
        "violations": 2.0,
    }


def test_a_policy_that_never_scores_is_summed_up_too() -> None:
    shots = {"candidate": (MISS, MISS)}
    row = report.summary(ShootingResult(NAME, "2", None, 7, {}, shots))["candidate"]
    assert (row["score"], row["speed_mean"], row["banks_mean"]) == (0.0, 0.0, 0.0)


def test_the_figure_shows_each_role_with_its_interval() -> None:
    figure = validation.comparison(result("1"))
    left, right = figure.axes
    assert [tick.get_text() for tick in left.get_xticklabels()] == ["candidate", "champion"]
    assert [text.get_text() for text in left.texts] == ["0.5", "0.5"]
    assert [line.get_xdata().tolist() for line in right.lines] == [[1.0, 2.0], [1.0, 1.0]]


def test_a_validation_is_found_again_against_the_same_champion_alone(
    tmp_path, empty_store, without_pictures
) -> None:
    tracker = runs.connect(store=empty_store)  # of its own: versions are counted
    tracker.client.create_registered_model(NAME)
    for _ in range(2):
        tracker.client.create_model_version(NAME, source=tmp_path.as_uri())
    found = result("1")
    verdict = VALIDATION.judge(FOUND, found)
    made, files = VALIDATION.report(Contenders(NAME, {}, {}), FOUND, found), tmp_path / "none"
    run = record.publish(tracker, made, verdict, files=files)
    again = record.publish(tracker, made, verdict, files=files)
    assert again.run_id == run.run_id and again.finished
    read = results.from_json
    assert record.find(tracker, NAME, "2", "1", read=read) == (run.run_id, found)
    assert record.find(tracker, NAME, "2", None, read=read) is None
    data = tracker.client.get_run(run.run_id).data
    assert data.metrics["candidate/score"] == 0.5
    assert "Refused by the gate" in data.tags["mlflow.note.content"]
    said = tracker.client.get_model_version(NAME, "2").description
    assert run.run_id in said and "300 states" in said

"""What a kill lost, left over or changed is found; two runs of the same differ in nothing."""

from collections import Counter
from pathlib import Path

import pytest

from benchmarks import random_kills
from ricochet.tasks.registry import runs as tracking
from tests.stores import copied

FILES = {
    "artifacts/train/steps.safetensors": b"weights",
    "artifacts/published/ab/cd": b"an object",
    "artifacts/calibrate/result.json": b"12:00",
    ".dvc/cache/ab/cd": b"an object",
    "data/sample/take.flac": b"sound",
}


@pytest.fixture
def checkouts(tmp_path, migrated_store):
    """Two checkouts that were written at different times, with one version each."""
    roots = tmp_path / "a", tmp_path / "b"
    for root in roots:
        for name, content in FILES.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(content)
        copied(migrated_store, root / "artifacts" / "mlflow")
        client = tracking.connect(store=root / "artifacts" / "mlflow").client
        run = client.create_run(client.create_experiment("calibrate"), run_name="ball")
        client.set_terminated(run.info.run_id)
        client.create_registered_model("ball")
        client.create_model_version("ball", source=f"runs:/{run.info.run_id}/package")
    (roots[1] / "artifacts" / "calibrate" / "result.json").write_bytes(b"13:00")
    return roots


def differences(roots):
    return random_kills.differences(*map(random_kills.outcome, roots))


def test_each_difference_is_a_line(checkouts):
    assert differences(checkouts) == []
    _, changed = checkouts
    (changed / "data" / "sample" / "take.flac").write_bytes(b"other sound")
    (changed / "artifacts" / "published" / "ab" / "cd").unlink()
    (changed / "artifacts" / "calibrate" / ".result.json.part").write_bytes(b"half")
    assert sorted(differences(checkouts)) == [
        "left over: .result.json.part",
        "left over: take.flac",
        "lost: cd",
        "lost: take.flac",
    ]


def test_a_capture_that_had_begun_owes_what_was_complete(checkouts):
    whole, killed = checkouts
    for root, names in ((whole, ["new/new/{}"]), (killed, ["new/.new.partial/{}"])):
        for number in range(2 if root is whole else 1):
            path = root / names[0].format(f"take-{number}.flac")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"sound %d" % number)
    (killed / "new" / ".new.partial" / "plan.json").write_text("{}")
    expected = random_kills.outcome(whole)
    assert random_kills.owed(whole, expected) is expected
    due = random_kills.owed(killed, expected)
    sealed = (killed / "new" / ".new.partial").rename(killed / "new" / "new")
    (sealed / "plan.json").unlink()

    def found():
        return random_kills.differences(due, random_kills.outcome(killed), interrupted=True)

    assert found() == []
    (sealed / "take-1.flac").write_bytes(b"sou")  # what there was of it
    assert found() == []
    (sealed / "take-0.flac").unlink()
    assert found() == ["lost: new/take-0.flac"]
    (sealed / "take-2.flac").write_bytes(b"of nobody")
    assert found() == ["lost: new/take-0.flac", "left over: new/take-2.flac"]


def test_runs_and_versions_that_differ_are_lines(checkouts):
    client = tracking.connect(store=checkouts[1] / "artifacts" / "mlflow").client
    run = client.create_run(
        client.get_experiment_by_name("calibrate").experiment_id, run_name="again"
    )
    client.create_model_version("ball", source=f"runs:/{run.info.run_id}/package")
    found = differences(checkouts)
    assert [line.partition(":")[0] for line in found] == ["runs", "versions"]
    assert "RUNNING" in found[0]


@pytest.mark.parametrize(
    ("begun", "takes", "said", "lost"),
    [
        (True, [], random_kills.EMPTY, []),
        (True, [], "", []),
        (True, [], "no more", ["no more"]),
        (True, ["new/take-00.flac"], random_kills.EMPTY, [random_kills.EMPTY]),
        (False, [], random_kills.EMPTY, [random_kills.EMPTY]),
    ],
)
def test_a_capture_that_was_begun_without_a_take_says_so(monkeypatch, begun, takes, said, lost):
    whole, found = (Counter(), [], []), (Counter((name, "") for name in takes), [], [])
    due = (Counter(), [], []) if begun else whole
    for name, answer in {"killed": True, "owed": due, "ended": said, "outcome": found}.items():
        monkeypatch.setattr(random_kills, name, lambda *_, answer=answer: answer)
    monkeypatch.setattr(random_kills, "fresh", lambda *_: None)
    capture = random_kills.COMMANDS[0]
    assert random_kills.one_kill(Path(), Path(), capture, 1.0, whole) == (True, lost)

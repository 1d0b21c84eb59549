"""What no manifest can name is left out of a backup, and said; the rest comes back."""

import json

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.backups import backup, manifests, restore
from ricochet.tasks.storage import limits
from tests.tasks.backups.states import tree

LONG = "/".join(["n" * 200] * 6)


@pytest.mark.parametrize("name", ["a\nb", "\x1b[2J", "caf\udce9", LONG])
def test_a_file_that_no_manifest_can_name_is_left_out_and_the_rest_comes_back(
    state, tmp_path, name
):
    before, folder = tree(state), state / "mlflow" / "artifacts" / "0"
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text("in nobody's way")
    made = backup.make(tmp_path / "monday")
    assert [*made.left_out.values()] == [1] and all(map(str.isprintable, made.left_out))
    done = restore.put_back(tmp_path / "monday", tmp_path / "new")
    assert done.counts == made.counts
    packages_of = {path for path in before if path.startswith("mlflow/artifacts")}
    assert packages_of and packages_of <= tree(tmp_path / "new").keys()


def test_a_manifest_may_be_larger_than_other_texts(state, tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "TEXT", 1000)
    made = backup.make(tmp_path / "monday")
    assert (tmp_path / "monday" / manifests.MANIFEST).stat().st_size > limits.TEXT
    assert restore.put_back(tmp_path / "monday", tmp_path / "new").counts == made.counts


def test_whoever_writes_very_many_files_takes_no_room_of_others(state, tmp_path, monkeypatch):
    spoilt = state / "mlflow" / "artifacts" / "1" / "run"
    for number in range(100):
        path = spoilt / str(number % 7) / f"{number:0100d}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    others = len(manifests.split(tree(state))[0]) - 100
    monkeypatch.setattr(limits, "MANIFEST", 2**16 + 100 * 300)
    made = backup.make(tmp_path / "monday")
    assert made.left_out == {"mlflow/artifacts/1/run": 100}
    restore.put_back(tmp_path / "monday", tmp_path / "new")
    assert others > 5 and len(manifests.split(tree(tmp_path / "new"))[0]) >= others


def test_what_is_left_out_is_said_in_few_words(monkeypatch):
    names = [f"a/b/c/{number}/\n" for number in range(1000)]
    held, left = manifests.split([*names, "a/b/c/7/x\0", "fine"])
    assert held == ["fine"] and sum(left.values()) == 1001
    assert len(left) == 21 and left["a/b/c/7"] == 2 and left["others"] == 980
    monkeypatch.setattr(limits, "MANIFEST", 0)
    assert manifests.split(["fine"]) == ([], {".": 1})


def test_a_backup_that_fails_leaves_nothing_behind(state, tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "MANIFEST", 100)  # of which its own databases take more
    with pytest.raises(BadInput, match="at most 100 bytes"):
        backup.make(tmp_path / "kept" / "monday")
    assert [*(tmp_path / "kept").iterdir()] == []


def test_a_manifest_is_no_larger_than_its_estimate(state, tmp_path):
    made = backup.make(tmp_path / "monday")
    written = (tmp_path / "monday" / manifests.MANIFEST).stat().st_size
    most = len(str(2**53)) + 64  # of a size and a digest
    assert written < manifests.room_for(made.files) + len(made.state) + 1000
    assert len(json.dumps({"f": {"size": 0, "sha256": ""}}, indent=2)) + most + 12 < 200


@pytest.mark.parametrize(
    "place", ["mlflow/artifacts/1/{}/a", "mlflow/artifacts/1/{}", "mlflow/artifacts/{}"]
)
def test_whoever_writes_very_many_runs_takes_no_room_of_other_experiments(monkeypatch, place):
    """Each of one short name: a run of sixty files had most, and was left out first."""
    monkeypatch.setattr(limits, "MANIFEST", 2**16 + 3000 * 340)
    many = [place.format(f"{number:032x}") for number in range(20_000)]
    honest = [f"mlflow/artifacts/2/{number:032x}/{k}" for number in range(10) for k in range(60)]
    others = ["mlflow.db", *(f"published/files/{number}" for number in range(100))]
    held, left = manifests.split([*many, *honest, *others])
    assert {*honest, *others} <= {*held} and len({*held} & {*many}) < 4000
    assert sum(left.values()) == len(many) - len({*held} & {*many})

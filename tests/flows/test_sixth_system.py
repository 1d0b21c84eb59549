"""A further system is one folder, one word in the list of systems and one section of params.yaml.

The program is copied to a temporary folder and `tests/flows/coin` becomes a system of that copy;
then every verb serves it, through the real command line, and no other file is touched.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkouts import ROOT, copy_program, python_path
from tests.flows.verbs import in_one_process
from tests.stores import copied

# all of them share one copy of the program, and one process that runs its verbs
pytestmark = pytest.mark.slow
COIN = Path(__file__).parent / "coin"
SECTION = "\ncoin:\n  flips: 400\n  bias: 0.2\n"
SHARED = (
    "tests/tasks/systems/test_catalogue.py",
    "tests/tasks/test_settings.py",
    "tests/flows/test_nightly.py",
    "tests/flows/test_nightly_faults.py",
)
NIGHT = ("nightly.drops=1", "capture.duration=1.1", "nightly.shooting=false")  # little to do


@pytest.fixture(scope="module")
def copy(tmp_path_factory, migrated_store, prefect_api):
    """A copy of the program with the coin."""
    root = tmp_path_factory.mktemp("copy") / "program"
    copy_program(root)
    compiled = shutil.ignore_patterns("__pycache__")
    shutil.copytree(COIN, root / "tasks" / "systems" / "coin", ignore=compiled)
    catalogue = root / "tasks" / "systems" / "catalogue.py"
    text, count = re.subn(r"(?m)^(SYSTEMS = .*)\)$", r'\1, "coin")', catalogue.read_text())
    assert count == 1
    catalogue.write_text(text)
    with (root / "params.yaml").open("a") as file:
        file.write(SECTION)
    copied(migrated_store, root / "artifacts" / "mlflow")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PREFECT_API_URL", prefect_api)
        yield root


@pytest.fixture(scope="module")
def ricochet(copy):
    with in_one_process(copy, artifacts=copy / "artifacts") as run:
        yield run


def result(root, *folders):
    return json.loads(root.joinpath("artifacts", *folders, "result.json").read_text())


@pytest.mark.proof
def test_the_command_line_lists_a_further_system(ricochet):
    assert "flip a coin" in ricochet("train", "--help").stdout
    assert "share of heads" in ricochet("study", "--help").stdout
    assert "--flips N" in ricochet("study", "coin", "--help").stdout
    assert "ricochet validate coin-fair" in ricochet("validate", "--help").stdout
    unknown = ricochet("train", "dice", status=2).stderr
    assert "expected one of density, energy, batting, drawer, coin" in unknown


@pytest.mark.proof
def test_a_training_that_searches_nothing_has_no_trials(ricochet):
    refused = ricochet("train", "coin", "--trials", "3", status=2).stderr
    assert refused.startswith("ricochet train coin: found --trials, which it does not take")


@pytest.mark.proof
def test_a_study_counts_what_its_own_option_says(copy, ricochet):
    ricochet("study", "coin", "--quick", "--seed", "3")
    assert result(copy, "study", "coin")["flips"] == 10
    ricochet("study", "coin", "--quick", "--flips", "25")
    assert result(copy, "study", "coin")["flips"] == 25
    refused = ricochet("study", "cup", "--flips", "25", status=2).stderr
    assert refused.startswith("ricochet study cup: found --flips, which it does not take")


@pytest.mark.proof
@pytest.mark.parametrize("verb", [("capture", "--session", "a"), ("calibrate", "artifacts/new/a")])
def test_names_of_a_further_system_cannot_be_taken_by_recordings(copy, ricochet, verb):
    named = ("--set", "capture.ball=coin", "--set", "capture.surface=fair", "--no-publish")
    if verb[0] == "calibrate":
        small = ("--set", "capture.drops=1", "--set", "capture.duration=1.1", "--no-publish")
        ricochet("capture", "--session", "a", "--out", "artifacts/new", *small)
        manifest = copy / "artifacts" / "new" / "a" / "session.json"
        session = json.loads(manifest.read_text())
        session["object"] |= {"ball": "coin", "surface": "fair"}
        manifest.write_text(json.dumps(session))
        named = ("--no-publish",)
    refused = ricochet(*verb, *named, status=2).stderr
    *announced, refused = refused.splitlines()
    assert refused.startswith("coin-fair: found a name of the packages of `ricochet train coin`")
    assert all(line.endswith("...") for line in announced)


@pytest.mark.proof
def test_a_further_system_is_trained_validated_promoted_and_has_its_part_of_the_night(
    copy, ricochet
):
    """Promoted by its validation, refused without one, promoted at night, rolled back, again."""
    trained = ricochet("train", "coin")
    assert trained.stdout.startswith("heads 0.")
    assert result(copy, "train", "coin")["registered"] == {"coin-fair": "1"}
    again = ricochet("train", "coin")
    assert again.stdout == trained.stdout and not result(copy, "train", "coin")["trained"]

    dry = ricochet("validate", "coin-fair", "--no-publish").stdout
    assert "\ncoin-fair version 1: not promoted; not recorded\nnext: ricochet validate" in dry
    assert result(copy, "validate")["gate"]["passed"] and result(copy, "validate")["run"] is None

    validated = ricochet("validate", "coin-fair").stdout
    assert "coin-fair version 1: promoted to champion" in validated

    ricochet("train", "coin", "--seed", "1")
    assert result(copy, "train", "coin")["registered"] == {"coin-fair": "2"}
    earlier = ricochet("train", "coin").stdout  # found again, and not the candidate
    assert earlier.endswith("registered as coin-fair, version 1 (candidate is version 2)\n")
    refused = ricochet("promote", "coin-fair", "2", status=2)
    assert "refused: validation: found none" in refused.stdout

    strict = ricochet("validate", "coin-fair", "--set", "coin.bias=1e-6").stdout
    assert strict.startswith("refused: bias: found ")
    assert "version 2: not promoted; http://127.0.0.1:5000/#/models/coin-fair/versions/2" in strict

    words = [word for setting in NIGHT for word in ("--set", setting)]
    night = ricochet("nightly", "--session", "tonight", "--seed", "1", *words, status=1)
    found = result(copy, "nightly")
    assert found["coin"] == {"coin-fair": "promoted"} and found["state"] == "recorded"
    assert [line.partition(":")[0] for line in found["failures"]] == ["publish", "calibrate"]
    assert "\nricochet failed: IncompleteNightError: publish: " in night.stderr

    back = ricochet("rollback", "coin-fair").stdout
    assert back.startswith("coin-fair: champion 1, previous none\nnext: ")
    ricochet("promote", "coin-fair", "2", status=2)  # rolled back
    promoted = ricochet("promote", "coin-fair", "2", "--again").stdout
    assert "coin-fair: champion 2, previous 1\n" in promoted
    found = ricochet("doctor", status=1).stdout  # there are no recordings in this copy
    assert "found: data" in found and "coin" not in found


@pytest.mark.proof
def test_no_shared_test_must_be_edited_for_a_further_system(copy):
    compiled = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "tests", copy / "tests", ignore=compiled)
    shutil.copy(ROOT / "pyproject.toml", copy)
    found = subprocess.run(
        [sys.executable, "-m", "pytest", "-v", f"--basetemp={copy / 'tmp'}", *SHARED],
        cwd=copy,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": python_path(copy)},
    )
    assert found.returncode == 0, found.stdout
    assert "[Coin] PASSED" in found.stdout and "[coin-<kind>] PASSED" in found.stdout


@pytest.mark.proof
def test_nothing_but_one_word_and_one_section_was_changed(copy):
    """What the other tests show holds for the program as it is."""
    changed = []
    for layer in ("flows", "tasks", "hardware", "models"):
        for path in sorted((ROOT / layer).rglob("*.py")):
            place = path.relative_to(ROOT)
            if (copy / place).read_bytes() != path.read_bytes():
                changed.append(str(place))
    assert changed == ["tasks/systems/catalogue.py"]
    before, after = ((root / changed[0]).read_text() for root in (ROOT, copy))
    assert after.replace(', "coin"', "") == before

"""Promotion and rollback: `previous` first, logged, undone by one word, twice as once."""

import dataclasses
import json

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import packages, promotion, promotion_log, runs
from ricochet.tasks.registry import versions as registry
from ricochet.tasks.registry.manifests import OlderSchemaError
from ricochet.tasks.registry.promotion import TAGS
from ricochet.tasks.registry.promotion_log import DONE, DROPPED, PROMOTE, ROLLBACK, AliasPair, Entry
from ricochet.tasks.registry.verdicts import Check, Verdict
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
from tests import grid_packages

PASSED = Verdict((Check("all", True, "well", "well"),))
REFUSED = Verdict((Check("coverage at 90 %", False, "0.44", "0.9"),))


def three(tracker, name, place):
    """Return three registered versions of a name."""
    found = []
    for number in range(3):
        folder = place / f"package-{number}"
        made = dataclasses.replace(grid_packages.made(), name=name, checks={"n": number})
        packages.write_package(folder, made, reader=GRID)
        run = runs.open_run(tracker, "promotion", f"{name}-{number}", name=name, tags={})
        found.append(
            registry.register(tracker, name, folder, kind=POSTERIOR, run_id=run.run_id, tags={})
        )
    return found


@pytest.fixture(scope="module")
def registered(tracker, tmp_path_factory):
    """Three versions, and their tags as they were registered."""
    found = three(tracker, "ball-promoted", tmp_path_factory.mktemp("promoted"))
    return found, [tags_of(tracker, each) for each in found]


@pytest.fixture
def versions(tracker, registered):
    """Three registered versions, of which nobody has said anything yet, nor will have."""
    found, tags = registered
    yield found
    name = found[0].name
    for alias in tracker.client.get_registered_model(name).aliases:
        tracker.client.delete_registered_model_alias(name, alias)
    for version, before in zip(found, tags, strict=True):
        for key in tags_of(tracker, version).keys() - before.keys():
            tracker.client.delete_model_version_tag(name, version.version, key)
        assert tags_of(tracker, version) == before
    assert tracker.client.get_registered_model(name).aliases == {}


def tags_of(tracker, version):
    return dict(tracker.client.get_model_version(version.name, version.version).tags)


@pytest.fixture
def log(tmp_path, monkeypatch):
    """The log, in a folder of outputs of this test's own."""
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tmp_path))
    return promotion_log.place()


def promote(tracker, version, verdict=PASSED, **words):
    return promotion.promote(
        tracker,
        version,
        kind=POSTERIOR,
        verdict=verdict,
        against=words.pop("against", promotion.present(tracker, version.name).champion),
        validation="run",
        reason="a test",
        **words,
    )


def roll_back(tracker, version):
    return promotion.rollback(tracker, version.name, kind=POSTERIOR, reason="a test")


def test_a_promotion_moves_previous_and_champion_and_is_logged(tracker, versions, log):
    first, second, _ = versions
    assert promote(tracker, first).pair == AliasPair("1", None)
    assert promote(tracker, second).pair == AliasPair("2", "1")
    assert promotion.present(tracker, first.name) == AliasPair("2", "1")
    done = promotion_log.last_done(promotion_log.read())
    assert (done.before, done.after) == (AliasPair("1", None), AliasPair("2", "1"))
    assert (done.validation, done.reason, done.action) == ("run", "a test", PROMOTE)
    assert done.commit and done.when.endswith("+00:00")
    assert [entry.step for entry in promotion_log.read()] == ["begun", "done"] * 2


@pytest.mark.slow
def test_promoting_twice_changes_nothing(tracker, versions, log):
    promote(tracker, versions[0])
    before = log.read_bytes()
    assert not promote(tracker, versions[0]).changed
    assert log.read_bytes() == before


def test_what_the_gate_refuses_moves_nothing_and_says_why(tracker, log):
    with pytest.raises(BadInput, match=r"1 checks failed; coverage at 90 %: found 0\.44"):
        promote(tracker, Registered("ball-refused", "1"), REFUSED)
    assert not log.exists()


@pytest.mark.slow
def test_a_version_that_is_not_there_moves_nothing(tracker, versions, log):
    with pytest.raises(BadInput, match="nothing in the registry"):
        promote(tracker, Registered(versions[0].name, "9"))
    assert not log.exists()


@pytest.mark.slow
def test_a_package_damaged_in_the_store_is_never_champion(tracker, log, tmp_path):
    first, second, _ = three(tracker, "ball-damaged", tmp_path / "made")
    promote(tracker, first)
    run_id = tracker.client.get_model_version(second.name, second.version).run_id
    (tmp_path / "checks.json").write_text("{}")
    tracker.client.log_artifact(run_id, str(tmp_path / "checks.json"), registry.FOLDER)
    with pytest.raises(BadInput, match="sha256"):
        promote(tracker, second)
    assert promotion.present(tracker, first.name) == AliasPair("1", None)


@pytest.mark.slow
def test_a_rollback_restores_the_logged_pair_and_twice_changes_nothing(tracker, versions, log):
    for version in versions:
        promote(tracker, version)
    assert roll_back(tracker, versions[0]).pair == AliasPair("2", "1")
    before = log.read_bytes()
    assert not roll_back(tracker, versions[0]).changed
    assert log.read_bytes() == before
    assert promotion.present(tracker, versions[0].name) == AliasPair("2", "1")


@pytest.mark.slow
def test_the_first_promotion_can_be_undone(tracker, versions, log):
    promote(tracker, versions[0])
    assert roll_back(tracker, versions[0]).pair == AliasPair(None, None)
    assert promotion.present(tracker, versions[0].name) == AliasPair(None, None)
    with pytest.raises(
        BadInput, match=r"found rolled back on 20.* because 'a test', expected .* --again"
    ):
        promote(tracker, versions[0])
    assert promotion.present(tracker, versions[0].name) == AliasPair(None, None)
    assert promote(tracker, versions[0], again=True).pair == AliasPair("1", None)
    assert not promote(tracker, versions[0]).changed


def test_nothing_promoted_is_nothing_to_undo(tracker, log):
    with pytest.raises(BadInput, match="no promotion"):
        promotion.rollback(tracker, "ball-never", kind=POSTERIOR, reason="a test")


def begin(tracker, name, before, after):
    where = promotion_log.address(tracker.uri)
    begun = Entry(PROMOTE, name, before, after, "run", "a test", where)
    tracker.client.set_model_version_tag(name, after.champion, TAGS[PROMOTE], begun.seal)
    return promotion_log.append(begun)


@pytest.mark.slow
def test_a_promotion_that_never_moved_champion_is_dropped(tracker, versions, log):
    first, second, _ = versions
    for version in (first, second):
        promote(tracker, version)
    begin(tracker, first.name, AliasPair("2", "1"), AliasPair("3", "2"))
    tracker.client.set_registered_model_alias(first.name, "previous", "2")
    assert promotion.settle(tracker, first.name).step == DROPPED
    assert promotion.present(tracker, first.name) == AliasPair("2", "1")
    assert promotion.settle(tracker, first.name) is None


@pytest.mark.slow
def test_a_promotion_that_moved_champion_is_done(tracker, versions, log):
    first, *_ = versions
    promote(tracker, first)
    begin(tracker, first.name, AliasPair("1", None), AliasPair("2", "1"))
    for alias, version in (("previous", "1"), ("champion", "2")):
        tracker.client.set_registered_model_alias(first.name, alias, version)
    assert promotion.settle(tracker, first.name).step == DONE
    assert roll_back(tracker, first).pair == AliasPair("1", None)


@pytest.mark.slow
def test_a_log_that_cannot_be_written_moves_nothing(tracker, versions, log):
    log.parent.mkdir()
    log.mkdir()
    with pytest.raises((BadInput, OSError)):
        promote(tracker, versions[0])
    assert promotion.present(tracker, versions[0].name) == AliasPair(None, None)


def elsewhere(tracker, name, before, after, *steps, action=PROMOTE):
    """Leave in the log what another said that answered at the registry's address."""
    where = promotion_log.address(tracker.uri)
    entry = Entry(action, name, AliasPair(*before), AliasPair(*after), "run", "a test", where)
    begun = promotion_log.append(entry)
    for step in steps:
        promotion_log.settle(begun, step)


@pytest.mark.slow
def test_a_promotion_that_another_server_said_is_done_decides_nothing_of_a_rollback(
    tracker, versions, log
):
    first, second, _ = versions
    for version in (first, second):
        promote(tracker, version)
    elsewhere(tracker, first.name, ("1", "3"), ("2", "1"), DONE)
    assert roll_back(tracker, first).pair == AliasPair("1", None)


@pytest.mark.slow
@pytest.mark.parametrize("said", [("1", None), ("2", "3"), ("3", "2")])
def test_what_was_judged_at_another_server_is_judged_here_before_it_is_champion(
    tracker, versions, log, said
):
    """Neither completed by its own promotion, nor settled, nor does it hide what is so."""
    first, second, third = versions
    promote(tracker, first)
    elsewhere(tracker, first.name, said, ("3", said[0]))
    assert promotion.finish(tracker, third, kind=POSTERIOR) is None
    assert promotion.settle(tracker, first.name) is None
    assert promotion.present(tracker, first.name) == AliasPair("1", None)
    begin(tracker, first.name, AliasPair("1", None), AliasPair("2", "1"))
    elsewhere(tracker, first.name, said, ("3", said[0]))
    assert promotion.finish(tracker, second, kind=POSTERIOR).pair == AliasPair("2", "1")


@pytest.mark.slow
def test_what_another_server_said_neither_rolls_a_version_back_nor_puts_it_back(
    tracker, versions, log
):
    first, second, third = versions
    for version in (first, second):
        promote(tracker, version)
    roll_back(tracker, first)
    elsewhere(tracker, first.name, ("1", None), ("2", "1"), DONE)
    with pytest.raises(BadInput, match="rolled back on"):
        promote(tracker, second)
    elsewhere(tracker, first.name, ("3", "1"), ("1", None), DONE, action=ROLLBACK)
    assert promote(tracker, third).pair == AliasPair("3", "1")


@pytest.mark.slow
def test_a_promotion_by_another_machine_is_not_undone_by_this_ones_log(
    tracker, versions, log, tmp_path, monkeypatch
):
    for version in versions[:2]:
        promote(tracker, version)
    with monkeypatch.context() as other:
        other.setenv("RICOCHET_ARTIFACTS", str(tmp_path / "other"))
        promote(tracker, versions[2])
        with pytest.raises(BadInput, match="expected champion"):
            other.setenv("RICOCHET_ARTIFACTS", str(tmp_path))
            roll_back(tracker, versions[0])
        other.setenv("RICOCHET_ARTIFACTS", str(tmp_path / "other"))
        assert roll_back(tracker, versions[0]).pair == AliasPair("2", "1")


@pytest.mark.slow
@pytest.mark.parametrize("moved", [(), ("previous",), ("previous", "champion")])
def test_what_a_crash_interrupted_is_completed(tracker, versions, log, moved):
    first, second, _ = versions
    promote(tracker, first)
    begin(tracker, first.name, AliasPair("1", None), AliasPair("2", "1"))
    for alias in moved:
        version = {"previous": "1", "champion": "2"}[alias]
        tracker.client.set_registered_model_alias(first.name, alias, version)
    assert promotion.finish(tracker, second, kind=POSTERIOR).pair == AliasPair("2", "1")
    assert promotion.present(tracker, first.name) == AliasPair("2", "1")
    assert promotion_log.read()[-1].step == DONE


@pytest.mark.slow
def test_aliases_that_no_step_leaves_are_left_as_they_are(tracker, versions, log):
    """Moved by hand since."""
    first, second, third = versions
    for version in (first, second):
        promote(tracker, version)
    begin(tracker, first.name, AliasPair("1", None), AliasPair("3", "1"))
    assert promotion.settle(tracker, first.name).step == DROPPED
    assert promotion.present(tracker, first.name) == AliasPair("2", "1")
    begin(tracker, first.name, AliasPair("1", None), AliasPair("3", "1"))
    assert promotion.finish(tracker, third, kind=POSTERIOR) is None
    assert promotion.present(tracker, first.name) == AliasPair("2", "1")


@pytest.mark.slow
def test_a_version_that_was_judged_against_another_champion_is_judged_again(tracker, versions, log):
    first, second, third = versions
    for version in (first, second):
        promote(tracker, version)
    for judged in ("1", None):
        with pytest.raises(BadInput, match=f"found champion 2 by now, expected {judged or 'none'}"):
            promote(tracker, third, against=judged)
    assert promotion.present(tracker, first.name) == AliasPair("2", "1")
    assert promotion_log.read()[-1].step == DONE


@pytest.mark.slow
def test_what_was_moved_by_hand_is_not_undone(tracker, versions, log):
    first, second, _ = versions
    for version in (first, second):
        promote(tracker, version)
    tracker.client.set_registered_model_alias(first.name, "champion", "3")
    with pytest.raises(BadInput, match="found champion 3 and previous 1, expected champion 2"):
        roll_back(tracker, first)
    assert promotion.present(tracker, first.name) == AliasPair("3", "1")


def test_a_champion_of_an_older_schema_can_be_replaced(tracker, versions, log, monkeypatch):
    """No controller can read it, and nothing was compared with it."""
    first, second, third = versions
    promote(tracker, first)
    load = registry.load

    def older(tracker, registered, *, kind):
        if registered.version == "1":
            raise OlderSchemaError("it", "schema ricochet.posterior/1", "a newer one")
        return load(tracker, registered, kind=kind)

    monkeypatch.setattr(registry, "load", older)
    assert promotion.comparable(tracker, first.name, "1", POSTERIOR) is None
    promote(tracker, second, against=None)
    assert promotion.present(tracker, first.name) == AliasPair("2", "1")
    with pytest.raises(BadInput, match="champion 2 by now"):
        promote(tracker, third, against=None)


def test_a_line_with_the_identity_of_another_decides_nothing(tracker, versions, log):
    """Who may write the log alone says that another version was champion before."""
    first, second, _ = versions
    promote(tracker, first)
    promote(tracker, second)
    done = promotion_log.last_done(promotion_log.read())
    promotion_log.append(dataclasses.replace(done, before=AliasPair("3", None)))
    assert roll_back(tracker, second).pair == AliasPair("1", None)


@pytest.mark.parametrize("steps", [("begun",), ("begun", "done"), ("done",)])
def test_lines_that_stand_in_the_log_again_decide_nothing(tracker, versions, log, steps):
    """Who may write the log alone repeats a promotion that was rolled back."""
    first, second, _ = versions
    promote(tracker, first)
    promote(tracker, second)
    lines = [json.loads(line) for line in log.read_bytes().splitlines()]
    again = [line for line in lines if line["to"] == "2" and line["step"] in steps]
    roll_back(tracker, second)
    with log.open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in again)
    assert len(again) == len(steps)
    with pytest.raises(BadInput, match="rolled back on"):
        promote(tracker, second)
    assert promotion.settle(tracker, first.name) is None
    assert not roll_back(tracker, second).changed
    assert promotion.present(tracker, first.name) == AliasPair("1", None)

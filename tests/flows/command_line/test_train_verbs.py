"""What `train` says: the version that it registered, or the file that it wrote instead."""

import argparse
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ricochet.flows.command_line import train_verbs
from ricochet.flows.command_line.verb import Call
from ricochet.tasks.registry import versions
from ricochet.tasks.systems.air_hockey.settings import Hockey
from ricochet.tasks.training.steps import Procedure, Training, TrainingRequest, Writing


def refused() -> Any:
    raise AssertionError("a training was loaded")


def training(written: list[tuple[TrainingRequest, Path]]) -> Training:
    def write(request: TrainingRequest, file: Path) -> str:
        written.append((request, file))
        return f"{file}: to be played"

    writing = Writing("strokes", "strokes", lambda: write)
    return Training("energy", "energy", "learn", "learn", refused, writings=(writing,))


def parsed(one: Training, *words: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    train_verbs._train_verb(one).add_options(parser)
    return parser.parse_args(words)


def test_a_file_is_written_and_nothing_is_trained() -> None:
    written: list[tuple[TrainingRequest, Path]] = []
    lines: list[str] = []
    one = training(written)
    given = parsed(one, "--write-strokes", "new/strokes.npz")
    facts = {**vars(given), "params": None, "overrides": ["hockey.episodes=7"]}
    call = Call(cast(Any, SimpleNamespace(**facts)), cast(Any, {}), Path(), 3, True, lines.append)
    assert train_verbs.train(one, call) == {"strokes": "new/strokes.npz"}
    ((request, file),) = written
    assert (request.settings[Hockey].episodes, request.seed) == (7, 3)
    assert lines == [f"{file}: to be played"]


def test_only_trainings_that_write_have_the_option() -> None:
    assert parsed(training([])).write_strokes is None
    plain = Training("density", "density", "learn", "learn", refused)
    with pytest.raises(SystemExit):
        parsed(plain, "--write-strokes", "x.npz")


def said_of(
    monkeypatch: pytest.MonkeyPatch,
    registered: dict[str, str],
    candidates: dict[str, str],
    then: str = "ricochet validate {name}",
) -> list[str]:
    """Return what is said of a training that was found again in the registry."""
    names = [registered["name"]] if "name" in registered else list(registered)
    procedure = cast(
        Procedure,
        SimpleNamespace(
            packages=lambda request: dict.fromkeys(names),
            lines=lambda result, out: (),
            metrics=lambda result: {},
        ),
    )
    found = {"registered": registered}
    for name in ("write_metrics", "write_result"):
        monkeypatch.setattr(train_verbs, name, lambda *_: None)
    monkeypatch.setattr(train_verbs, "_already_registered", lambda *_: found)
    monkeypatch.setattr(versions, "candidates", lambda asked: candidates)
    one = Training("energy", "energy", "learn", "learn", lambda: procedure, then=then)
    given = {**vars(parsed(one)), "params": None, "overrides": []}
    lines: list[str] = []
    call = Call(cast(Any, SimpleNamespace(**given)), cast(Any, {}), Path(), 0, True, lines.append)
    assert train_verbs.train(one, call) == found
    return lines


def test_an_earlier_version_that_was_found_again_is_not_said_to_be_the_candidate(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Settings A, then B, then A again: `validate` would have tried B's."""
    made = {"batting-board": "1"}
    assert said_of(monkeypatch, made, {"batting-board": "1"}) == [
        "registered as batting-board, version 1, alias candidate",
        "next: ricochet validate batting-board",
    ]
    assert said_of(monkeypatch, made, {"batting-board": "2"}) == [
        "registered as batting-board, version 1 (candidate is version 2)",
        "next: ricochet promote batting-board 1   (`validate` tries the candidate, 2)",
    ]
    assert said_of(monkeypatch, made, {}) == [
        "registered as batting-board, version 1",
        "next: ricochet validate batting-board",
    ]


def test_what_follows_is_of_the_package_that_it_names(monkeypatch: pytest.MonkeyPatch) -> None:
    both = {"shooting-bold": "1", "shooting-cautious": "3"}
    candidates, then = {**both, "shooting-bold": "2"}, "ricochet validate shooting-cautious"
    *_, after = said_of(monkeypatch, both, candidates, then)
    assert after == f"next: {then}"
    *_, after = said_of(monkeypatch, both, both | {"shooting-cautious": "4"}, then)
    assert after.startswith("next: ricochet promote shooting-cautious 3   (")


def test_the_only_package_may_be_named_beside_its_version(monkeypatch: pytest.MonkeyPatch) -> None:
    made, found = {"name": "ball-density", "version": "1"}, {"ball-density": "2"}
    assert said_of(monkeypatch, made, found, "ricochet calibrate") == [
        "registered as ball-density, version 1 (candidate is version 2)",
        "next: ricochet calibrate",
    ]

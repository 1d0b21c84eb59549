"""A training may write a file instead: a line, no training, no servers."""

import argparse
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from ricochet.flows.command_line import train_verbs
from ricochet.flows.command_line.verb import Call
from ricochet.tasks.systems.air_hockey.settings import Hockey
from ricochet.tasks.training.steps import Training, TrainingRequest, Writing


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

"""The recordings of a package: no others, and the parts of them that it was not learnt from."""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.systems.rigid_bodies.motion_tables import Recorded
from ricochet.tasks.systems.rigid_bodies.validation import recordings
from ricochet.tasks.systems.rigid_bodies.validation.recordings import Learnt
from tests.models.systems.rigid_bodies import rods
from tests.tasks.systems.rigid_bodies import posteriors


def test_the_recordings_of_a_package_are_read(tmp_path) -> None:
    files = [posteriors.recorded(tmp_path, 0.6, seed) for seed in (0, 1)]
    found = recordings.read(posteriors.package(rods.draws(20), files), files)
    assert list(found) == [str(file) for file in files]
    assert all(len(run.states) == 241 and run.rate == 400.0 for run in found.values())


def test_recordings_that_changed_are_others_or_are_away_are_refused_in_one_line(tmp_path) -> None:
    files = [posteriors.recorded(tmp_path, 0.6, seed) for seed in (0, 1)]
    package = posteriors.package(rods.draws(20), files)
    other = [*files[:1], posteriors.recorded(tmp_path, 0.6, 2)]
    refused = {"none": [], "no such file": [*files[:1], tmp_path / "gone.csv"]}
    refused |= {"recordings of digest": other, "csv: found recordings of digest": files[::-1]}
    for found, given in refused.items():
        with pytest.raises(BadInput, match=found) as caught:
            recordings.read(package, given)
        assert "\n" not in str(caught.value) and package.data_digest in str(caught.value)
    files[1].write_text(files[1].read_text().replace("0", "1", 1))
    with pytest.raises(BadInput, match=f"expected those of digest {package.data_digest}"):
        recordings.read(package, files)


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"rate": 400.0, "pendulum": {"span": 1.0, "instants": [0.0]}},
        {"rate": 400.0, "pendulum": {"span": "x", "instants": [0.0], "particles": 10}},
        {"rate": 400.0, "pendulum": {"span": 1.0, "instants": [0.0], "particles": 7}},
        {"rate": 400.0, "pendulum": {"span": 1.0, "instants": [0.0], "particles": 0}},
    ],
)
def test_a_package_that_does_not_say_how_it_was_learnt_is_refused(tmp_path, settings) -> None:
    package = posteriors.package(rods.draws(20), [posteriors.recorded(tmp_path, 0.6)])
    with pytest.raises(BadInput, match="package: settings"):
        recordings.learnt(replace(package, settings=settings))


def test_held_out_places_share_no_frame_with_what_was_learnt_nor_with_each_other() -> None:
    states = np.random.default_rng(0).normal(size=(2001, 4))
    of = Learnt(400.0, 1.0, (0.0, 2.0), 10)
    (held,) = recordings.held_out({"a": Recorded(states, 400.0)}, of, watched=0.1, ahead=0.5)
    taken = np.zeros(2001, dtype=int)
    for begin in (0, 800):
        taken[begin : begin + 401] += 1
    for now in held.now:
        taken[now - 40 : now + 201] += 1
    assert taken.max() == 1
    assert len(held.now) == 1 + 3  # of 389 frames between the pieces one, of 789 after them three

"""An overconfident posterior of a pendulum is refused, the honest one accepted; by real inference.

The overconfident one is the honest package squeezed about its mean to a quarter of the covariance,
its manifest, digests and self-test as good as those of the honest one.
"""

from dataclasses import replace

import numpy as np
import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import packages
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.rigid_bodies import motion_files, particle_packages, pendulum_inference
from ricochet.tasks.systems.rigid_bodies.settings import PendulumGate
from ricochet.tasks.systems.rigid_bodies.validation import coverage, gate, validation
from tests.tasks.systems.rigid_bodies import posteriors

PARTICLES = 12


@pytest.fixture(scope="module")
def recording(tmp_path_factory):
    return posteriors.recorded(tmp_path_factory.mktemp("films"), 8.0)


@pytest.fixture(scope="module")
def honest(recording):
    runs = {str(recording): motion_files.read(recording, 400.0)}
    found = pendulum_inference.infer(
        runs, np.random.default_rng(0), span=0.5, instants=(0.0,), particles=PARTICLES
    )
    return posteriors.package(pendulum_inference.draws_of(found), [recording], PARTICLES)


@pytest.mark.proof
def test_an_honest_posterior_passes_and_the_same_squeezed_does_not(
    honest, recording, tmp_path, monkeypatch
) -> None:
    """What is inferred again is the same for both: of the recording, and of three motions."""
    settings = catalogue.load_settings().changed(
        PendulumGate, particles=PARTICLES, trials=3, trial_particles=PARTICLES, futures=100
    )
    again, infer = [], coverage.infer_again

    def once(*given, **words):
        again.append(again[0] if again else infer(*given, **words))
        return again[0]

    monkeypatch.setattr(coverage, "infer_again", once)
    narrow = posteriors.squeezed(honest, 4.0)
    for number, (package, refused) in enumerate(((honest, set()), (narrow, {"again, all widths"}))):
        packages.write_package(tmp_path / str(number), package, reader=particle_packages.READER)
        read = packages.read_package(tmp_path / str(number), reader=particle_packages.READER)
        found = validation.audit(read, [recording], settings[PendulumGate])
        failed = [check for check in gate.judge_evidence(found) if not check.passed]
        names = {check.name for check in failed}
        assert names >= refused and (refused or not names), [check.line for check in failed]


@pytest.mark.proof
def test_recordings_that_hold_nothing_else_than_was_learnt_are_refused(honest, tmp_path) -> None:
    file = posteriors.recorded(tmp_path, 0.6)
    settings = catalogue.load_settings()[PendulumGate]
    digest = posteriors.package(particle_packages.draws_of(honest), [file]).data_digest
    with pytest.raises(BadInput, match="found 0 pieces that were not learnt from"):
        validation.audit(replace(honest, data_digest=digest), [file], settings)

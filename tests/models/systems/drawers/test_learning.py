"""Learning from sessions: groups are left out together, levels are those of the sound as taken."""

from dataclasses import replace

import pytest
import torch

from ricochet.hardware.twins.drawers.generator.takes import Setting
from ricochet.models.inference.network_training import Training
from ricochet.models.systems.drawers import learning
from ricochet.models.systems.drawers.belief import weighing
from ricochet.models.systems.drawers.learning import Size
from ricochet.tasks.systems.drawers.studies import recorded
from tests.models.systems.drawers.belief.test_weighing import HIGH, LOW, session

SMALL = Training(hidden=24, members=2, epochs=12, decay=0.05, jitter=0.3)
GRAMMAR = replace(weighing.FIRST, low=LOW, high=HIGH, weight=1.0, widening=1.0)


@pytest.mark.proof
def test_a_recording_given_twice_is_no_further_session_where_groups_say_so() -> None:
    setting = Setting("kitchen-large", array="ring-4", seconds=24.0, light_off=8.0)
    made = [recorded.session(setting, seed).frames for seed in range(2)]
    takes = [(each.features, each.labels) for each in made for _ in range(2)]
    size = Size(SMALL, SMALL, SMALL)
    alone, grouped = (
        learning.fit(takes, torch.Generator().manual_seed(0), groups=groups, size=size)
        for groups in (None, [0, 0, 1, 1])
    )
    moving = slice(1, None)  # classes of speed: at rest both know as much
    assert (grouped.speed.widening[moving] > 1.05 * alone.speed.widening[moving]).all()
    known = [each.place.widening / each.place.slope for each in (alone, grouped)]
    assert known[1] > 1.05 * known[0]


@pytest.mark.proof
def test_levels_are_those_of_sound_that_is_taken_at_all() -> None:
    """The session's sound is silence: nothing is learnt of intervals from it."""
    known = session(0, 0.0, 600)
    silent = [replace(each, speed=0.005, place_deviation=float("inf")) for each in known.heard]
    assert learning._used(silent, known.labels, GRAMMAR) is None
    assert learning._with_level(GRAMMAR, [(silent, known.labels, 0)]) == GRAMMAR
    both = [(silent, known.labels, 0), (list(known.heard), known.labels, 1)]
    alone = [(list(known.heard), known.labels, 1)]
    found = learning._with_level(GRAMMAR, both)
    assert found == learning._with_level(GRAMMAR, alone) != GRAMMAR

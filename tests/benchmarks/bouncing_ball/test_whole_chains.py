"""What `benchmarks.bouncing_ball.whole_chains` counts, on a small session."""

import numpy as np
import pytest

from benchmarks.bouncing_ball import whole_chains
from ricochet.models.systems.bouncing_ball import air
from tests.oracles.simulated_chains import Case, session


@pytest.mark.proof
def test_an_answer_comes_with_what_it_cost() -> None:
    takes = session(Case(6, 5, units={"drag": air.drag(whole_chains.BALL)}), 2)
    answer, spent, tried = whole_chains.answered(takes)
    pair = answer.family.pair
    # three deviations of each number, and what 50 draws leave open
    assert (np.abs(pair.mean(0) - whole_chains.TRUTH) < 3.5 * pair.std(0)).all()
    assert spent > 0.0 and tried > len(takes)

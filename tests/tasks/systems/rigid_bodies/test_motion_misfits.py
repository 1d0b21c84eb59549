"""What makes a posterior doubtful is said, and nothing where it is sound."""

from dataclasses import replace
from typing import Any

import pytest
import torch

from ricochet.models.inference.stein_newton import Posterior
from ricochet.tasks.systems.rigid_bodies import motion_misfits

FITS = torch.full((4,), 0.05).double()
SOUND = Posterior(
    theta=torch.zeros(2, 4, 3).double(),
    starts=torch.zeros(4, 1, 1, 2).double(),
    sigma=torch.full((2, 4, 2), 0.1).double(),
    delta=torch.full((2, 4, 2), 0.01).double(),
    fits=FITS,
    white=0.5,
    mixing=torch.tensor([1.02, 1.1]).double(),
    accepted=0.5,
)


def test_of_a_sound_posterior_nothing_is_said() -> None:
    assert motion_misfits.of(SOUND, "columns swapped") == []


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"white": 1e-9}, "the equations do not hold exactly"),
        ({"delta": torch.full((2, 4, 2), 0.2).double()}, "depart from the equations by 2 of"),
        ({"fits": 10.0 * FITS}, "misses by 0.50 of the states' deviations: columns swapped"),
        (
            {"fits": FITS * torch.tensor([1.0, 2.0, 3.0, 4.0]).double()},
            "25% of the starts came to the best fit",
        ),
        ({"mixing": torch.tensor([1.0, 1.4]).double()}, "particles have not mixed (1.40"),
        ({"mixing": torch.tensor([1.0, torch.inf]).double()}, "particles did not move at all"),
    ],
)
def test_each_doubt_is_said_alone(changed: dict[str, Any], words: str) -> None:
    (said,) = motion_misfits.of(replace(SOUND, **changed), "columns swapped")
    assert words in said

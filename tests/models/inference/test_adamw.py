"""Our AdamW against torch's, step by step."""

import itertools

import pytest
import torch

from ricochet.models.inference.adamw import AdamW, rate


def _loss(variables: list[torch.Tensor]) -> torch.Tensor:
    a, b = variables
    return ((a @ b - 1.0) ** 2).sum() + (a**4).sum()


def _start() -> list[torch.Tensor]:
    draw = torch.Generator().manual_seed(1)
    return [torch.randn(shape, generator=draw).requires_grad_() for shape in ((3, 4), (4, 2))]


@pytest.mark.slow
def test_the_steps_are_those_of_torch() -> None:
    ours, theirs, steps = _start(), _start(), 50
    optimiser = AdamW(ours, peak=0.05, decay=0.1, steps=steps)
    peer = torch.optim.AdamW(theirs, lr=0.05, weight_decay=0.1)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        peer, max_lr=0.05, total_steps=steps, pct_start=0.1, cycle_momentum=False
    )
    for _ in range(steps):
        optimiser.descend(_loss(ours), clip=5.0)
        peer.zero_grad()
        _loss(theirs).backward()
        torch.nn.utils.clip_grad_norm_(theirs, 5.0)
        peer.step()
        schedule.step()
    for one, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("steps", [1, 7, 10, 1500])
def test_the_rate_rises_to_its_peak_and_falls(steps: int) -> None:
    rates = [rate(step, steps) for step in range(steps)]
    top = rates.index(max(rates))
    assert max(rates) <= 1.0
    assert all(b > a for a, b in itertools.pairwise(rates[: top + 1]))
    assert all(b < a for a, b in itertools.pairwise(rates[top:]))


def test_a_step_lessens_the_loss() -> None:
    variables = _start()
    before = _loss(variables).item()
    AdamW(variables, peak=0.01, decay=0.0, steps=10).descend(_loss(variables), clip=5.0)
    assert _loss(variables).item() < before

"""AdamW under one cosine of learning rates.

The first `torch.optim.AdamW` of a process loads torch's compiler: 3 to 15 s, against one second
that a small network trains for. This calls the same fused kernel; nothing else uses private torch.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor

_WARM_UP = 0.1  # share of the steps over which the rate rises
_FIRST, _LAST = 1 / 25, 1 / 25e4  # rate at the start and at the end, in peaks


def rate(step: int, steps: int) -> float:
    """Return a step's share of the peak learning rate: half a cosine up, half a cosine down.

    >>> [round(rate(step, 41), 3) for step in (0, 3, 20, 40)]
    [0.04, 0.998, 0.566, 0.0]
    """
    top = max(_WARM_UP * steps - 1, 1.0)
    if step < top:
        return _FIRST + (1 - _FIRST) * 0.5 * (1 - math.cos(math.pi * step / top))
    done = (step - top) / max(steps - 1 - top, 1.0)
    return _LAST + (1 - _LAST) * 0.5 * (1 + math.cos(math.pi * min(done, 1.0)))


class AdamW:
    """Adam with decoupled weight decay (Loshchilov and Hutter, 2019), on the CPU."""

    def __init__(self, variables: list[Tensor], *, peak: float, decay: float, steps: int) -> None:
        """Start at rest with variables to optimise in place, for a schedule of so many steps."""
        self._variables, self._peak, self._decay, self._steps = variables, peak, decay, steps
        self._means = [torch.zeros_like(each) for each in variables]
        self._squares = [torch.zeros_like(each) for each in variables]
        self._counts = [torch.zeros((), dtype=torch.float32) for _ in variables]
        self._step = 0

    def descend(self, loss: Float[Tensor, ""], *, clip: float) -> None:
        """Take one step down the gradient of a loss, its norm clipped."""
        gradients = list(torch.autograd.grad(loss, self._variables))
        norm = math.sqrt(sum(float((each**2).sum()) for each in gradients))
        shrink = min(1.0, clip / (norm + 1e-6))
        with torch.no_grad():
            torch._fused_adamw_(
                self._variables,
                [each * shrink for each in gradients],
                self._means,
                self._squares,
                [],
                self._counts_after(),
                lr=self._peak * rate(self._step, self._steps),
                beta1=0.9,
                beta2=0.999,
                weight_decay=self._decay,
                eps=1e-8,
                amsgrad=False,
                maximize=False,
            )
        self._step += 1

    def _counts_after(self) -> list[Tensor]:
        for each in self._counts:
            each += 1
        return self._counts

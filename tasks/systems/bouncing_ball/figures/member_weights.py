"""The weights of a family's members in words, for reports and figures."""

from collections.abc import Mapping

_MOST, _LEAST = 3, 0.005


def listed(weights: Mapping[str, float]) -> str:
    """Return the heaviest members with their weights, at most three, and none that rounds to none.

    >>> listed({"constant": 0.05, "constant without loss": 0.94, "linear": 0.004})
    'constant without loss 0.94, constant 0.05'
    """
    heaviest = sorted(weights, key=lambda name: -weights[name])[:_MOST]
    return ", ".join(f"{name} {weights[name]:.2f}" for name in heaviest if weights[name] > _LEAST)

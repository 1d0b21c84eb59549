"""How sure intervals are: they hold what they are about nine times of ten."""

LEVEL = 0.9
NORMAL = 1.645
"""Deviations of the normal law in half an interval of LEVEL."""

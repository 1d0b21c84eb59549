"""What is learnt of impacts: coefficients of the law, shares of the noise, and their limits."""

PARAMETERS = ("restitution", "tangential_restitution", "friction")
NOISE = ("normal_share", "tangential_share")
FRICTION_LIMIT = 2.0
"""Largest friction of the prior, unless another is stated."""

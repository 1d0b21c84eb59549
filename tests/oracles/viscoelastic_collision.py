"""The collision of a viscoelastic sphere, integrated: x'' = -x^1.5 - b x' sqrt(x), x'(0) = 1.

It ends when the force returns to zero: nothing pulls the sphere back (Schwager and Poeschel 2008).
"""

import numpy as np
from scipy.integrate import solve_ivp


def restitution(dissipation: float) -> float:
    """Return the exit speed for a dimensionless dissipation b."""

    def rates(time: float, state: np.ndarray) -> list[float]:
        depth = max(state[0], 0.0)
        return [state[1], -(depth**1.5) - dissipation * state[1] * np.sqrt(depth)]

    def force(time: float, state: np.ndarray) -> float:
        return float(dissipation * state[1] + state[0]) if time > 1e-9 else 1.0

    force.terminal, force.direction = True, -1
    found = solve_ivp(rates, (0.0, 50.0), [0.0, 1.0], events=force, rtol=1e-10, atol=1e-13)
    return float(-found.y_events[0][-1][1])

"""A flight through air, integrated to twelve digits."""

import numpy as np
from scipy.integrate import solve_ivp


def flight(
    velocity: np.ndarray, height: float, drag: float, pull: tuple[float, float], gravity: float
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return duration, displacement along the plane and velocity on arrival."""
    force = np.array([*pull, -gravity])

    def rates(time: float, state: np.ndarray) -> np.ndarray:
        speed = np.linalg.norm(state[3:])
        return np.concatenate((state[3:], force - drag * speed * state[3:]))

    def landed(time: float, state: np.ndarray) -> float:
        return float(state[2]) if time > 1e-6 else 1.0

    landed.terminal, landed.direction = True, -1
    start = np.array([0.0, 0.0, height, *velocity])
    found = solve_ivp(
        rates, (0.0, 9.0), start, events=landed, rtol=1e-12, atol=1e-14, first_step=1e-5
    )
    last = found.y_events[0][-1]
    return float(found.t_events[0][-1]), last[:2], last[3:]

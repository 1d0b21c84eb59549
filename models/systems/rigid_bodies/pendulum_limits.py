"""Names, units and limits of the eleven parameters of a double pendulum; numpy alone.

Limits: Heiden et al., Fig. 7a. What the parameters are: `pendulum_parameters`.
"""

import numpy as np

PARAMETERS = (
    "mass_1", "inertia_1", "centre_x_1", "centre_y_1", "friction_1", "length",
    "mass_2", "inertia_2", "centre_x_2", "centre_y_2", "friction_2",
)  # fmt: skip
UNITS = (
    "kg", "kg m^2", "m", "m", "N m s/rad", "m",
    "kg", "kg m^2", "m", "m", "N m s/rad",
)  # fmt: skip
LOW = np.array((0.05, 0.002, -0.2, -0.2, 0.0, 0.08, 0.05, 0.002, -0.2, -0.2, 0.0))
HIGH = np.array((0.5, 1.0, 0.2, 0.2, 0.5, 0.3, 0.5, 1.0, 0.2, 0.2, 0.5))

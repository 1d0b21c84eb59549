"""The mirror y -> -y of the iiwa14: it turns the signs of the joints about the links' own axes."""

import numpy as np

MIRROR = np.array((-1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0))

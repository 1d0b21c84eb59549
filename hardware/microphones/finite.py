"""Samples that are not numbers: found, counted, and replaced by silence that is said."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from numpy import ndarray


@dataclass(frozen=True)
class NotFinite:
    """Samples of a channel that are NaN or infinite: the first frame, and how many there are."""

    channel: int
    first: int
    samples: int

    def __str__(self) -> str:
        """Say it in a line."""
        plural = "s" if self.samples > 1 else ""
        return (
            f"{self.samples} sample{plural} of channel {self.channel} not finite, "
            f"the first at frame {self.first}"
        )


def without(
    samples: Float[ndarray, "channel frame"], *, begin: int = 0
) -> tuple[Float[ndarray, "channel frame"], tuple[NotFinite, ...]]:
    """Return samples with 0 for each that is not finite, and where those are.

    Args:
        samples: Full scale 1.
        begin: Frame of the stream at which they begin.

    >>> samples, found = without(np.array([[0.5, np.nan, np.inf], [0.1, 0.2, 0.3]]))
    >>> samples.tolist()
    [[0.5, 0.0, 0.0], [0.1, 0.2, 0.3]]
    >>> [str(each) for each in found]
    ['2 samples of channel 0 not finite, the first at frame 1']
    """
    good = np.isfinite(samples)
    if good.all():
        return samples, ()
    found = tuple(
        NotFinite(channel, begin + int(np.argmin(row)), int((~row).sum()))
        for channel, row in enumerate(good)
        if not row.all()
    )
    return np.where(good, samples, samples.dtype.type(0.0)), found

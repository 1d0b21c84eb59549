"""A recording that is written while it is recorded, and can be read at any moment.

Its header is written first, with a length of zero, and put right at the end. libsndfile takes a
length of zero for what it is, a recorder that was ended, and reads to the end of the file.
"""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

import numpy as np
import soundfile
from jaxtyping import Float32
from numpy import ndarray

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage.files import output_folder


class GrowingFile:
    """A WAV file of 32 bit floats, to be used in a `with` block."""

    def __init__(self, path: Path, *, channels: int, sample_rate: int) -> None:
        """Open the file; `BadInput` if its place cannot be written.

        Args:
            sample_rate: Hz.
        """
        self._path = path
        output_folder(path.parent)
        with self._refusals():
            self._file = soundfile.SoundFile(
                path, "w", sample_rate, channels, "FLOAT", format="WAV"
            )

    def __enter__(self) -> "GrowingFile":
        """Return the file itself."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Put the header right and close."""
        self._file.close()

    def add(self, samples: Float32[ndarray, "channel frame"]) -> None:
        """Append samples, full scale 1, and hand them to the system; `BadInput` if it is full."""
        with self._refusals():
            self._file.write(np.ascontiguousarray(samples.T))
            self._file.flush()

    @contextlib.contextmanager
    def _refusals(self) -> Iterator[None]:
        try:
            yield
        except soundfile.LibsndfileError as error:
            expected = "a place that can be written, with free space"
            raise BadInput(str(self._path), error.error_string, expected) from error

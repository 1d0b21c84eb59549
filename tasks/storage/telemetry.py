"""What a robot did, as MCAP: channels of JSON messages with their schemas, usable after a crash.

    with Telemetry(path, channels) as log:
        log.write("arm", time=0.25, joints=[...], paddle=[0.3, 0.0, 0.2])

A message goes into a chunk that is written whole, at the latest `FLUSH` seconds of the record or
`CHUNK` bytes after the one before, and forced to the disk. A file whose process was killed lacks
its summary; Foxglove and `mcap recover` take every complete chunk of it. Times are seconds in the
stream's clock, never negative.
"""

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from mcap.writer import CompressionType, Writer

from ricochet.tasks.storage.files import writing

FLUSH = 0.5
"""Longest stretch of the record that a crash may lose, s."""
CHUNK = 2**18
"""Size of a chunk, bytes, before compression."""
NUMBER: Mapping[str, Any] = {"type": "number"}
TEXT: Mapping[str, Any] = {"type": "string"}
Channels = Mapping[str, Mapping[str, Any]]
"""Names of channels, and the JSON schema of each of their fields."""


def numbers(count: int) -> dict[str, Any]:
    """Return the JSON schema of a list of so many numbers."""
    return {"type": "array", "items": NUMBER, "minItems": count, "maxItems": count}


class Telemetry:
    """A file of messages being written; one writer."""

    def __init__(self, path: Path, channels: Channels) -> None:
        """Open the file, replacing an older one, and name its channels."""
        self._path, self._fields = path, {name: set(fields) for name, fields in channels.items()}
        self._flushed: float | None = None
        with writing(path):
            path.unlink(missing_ok=True)  # a link would lead to another's
            self._file = path.open("xb")
        self._writer = Writer(self._file, chunk_size=CHUNK, compression=CompressionType.ZSTD)
        self._writer.start(profile="", library="ricochet")
        self._numbers = {name: self._register(name, fields) for name, fields in channels.items()}

    def __enter__(self) -> Self:
        """Return itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Complete the file."""
        self.close()

    def write(self, channel: str, *, time: float, **fields: object) -> None:
        """Add a message with exactly the fields of its channel; time in s of the stream's clock.

        Raises:
            ValueError: If the channel is unknown, a field is missing or unknown, a number is not
                finite, or the time is negative.
            BadInput: If the disk is full.
        """
        if channel not in self._fields or set(fields) != self._fields[channel]:
            wanted = sorted(self._fields.get(channel, self._fields))
            raise ValueError(f"{channel}: got {sorted(fields)}, expected {wanted}")
        if not (math.isfinite(time) and time >= 0.0):
            raise ValueError(f"time must be finite and not negative, got {time}")
        stamp, content = round(time * 1e9), json.dumps(fields, allow_nan=False).encode()
        with writing(self._path):
            self._writer.add_message(self._numbers[channel], stamp, content, stamp)
            if self._flushed is None:
                self._flushed = time
            if time - self._flushed >= FLUSH:
                self.flush()
                self._flushed = time

    def flush(self) -> None:
        """Write the chunk in progress and force it to the disk."""
        self._writer.flush()  # type: ignore[no-untyped-call]
        self._file.flush()
        os.fsync(self._file.fileno())

    def close(self) -> None:
        """Complete the file with its summary; twice does nothing further."""
        if self._file.closed:
            return
        try:
            with writing(self._path):
                self._writer.finish()  # type: ignore[no-untyped-call]
                self._file.flush()
                os.fsync(self._file.fileno())
        finally:
            self._file.close()

    def _register(self, name: str, fields: Mapping[str, Any]) -> int:
        schema = {"type": "object", "properties": dict(fields), "required": list(fields)}
        number = self._writer.register_schema(
            name=f"ricochet.{name}", encoding="jsonschema", data=json.dumps(schema).encode()
        )
        return int(
            self._writer.register_channel(topic=name, message_encoding="json", schema_id=number)
        )

"""Messages of an MCAP file, also of one that a crash cut short."""

import json
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import zstandard
from mcap.exceptions import McapError
from mcap.records import Channel, Message
from mcap.stream_reader import StreamReader


@dataclass(frozen=True)
class Entry:
    """One message: its channel, its time (s) and its fields."""

    channel: str
    time: float
    fields: dict[str, Any]


def read(path: Path) -> tuple[Entry, ...]:
    """Read the messages of a file's complete chunks, in written order."""
    return tuple(_entries(path.read_bytes()))


def _entries(content: bytes) -> Iterator[Entry]:
    channels: dict[int, str] = {}
    try:
        for record in StreamReader(BytesIO(content), validate_crcs=True).records:
            if isinstance(record, Channel):
                channels[record.id] = record.topic
            elif isinstance(record, Message):
                fields = dict(json.loads(record.data))
                yield Entry(channels[record.channel_id], record.log_time * 1e-9, fields)
    except (McapError, EOFError, ValueError, KeyError, struct.error, zstandard.ZstdError):
        return  # cut short: what came before is whole

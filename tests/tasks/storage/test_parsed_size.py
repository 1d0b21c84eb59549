"""What JSON takes is no more than is counted before, and not much less."""

import json
import tracemalloc
from typing import Any

import pytest

from ricochet.tasks.storage.parsed_size import most_memory

COUNT = 20_000
SHAPES: dict[str, Any] = {
    "empty lists": [[]] * COUNT,
    "empty objects": [{}] * COUNT,
    "numbers": [0.123456789] * COUNT,
    "pairs": [[1.5, 2.5]] * COUNT,
    "objects of one entry": [{"a": 1}] * COUNT,
    "objects in objects": [{"a": {"b": [1.5]}}] * COUNT,
    "different keys": {f"{number:x}": 300 for number in range(COUNT)},
    "as many as widen the table": {f"{number:x}": 1 for number in range(43_691)},
    "keys of lists": {f"{number:x}": [] for number in range(COUNT)},
    "texts": [f"{number:x}" for number in range(COUNT)],
    "one wide letter in each text": ["\U0001f600" + "a" * 100] * 200,
    "letters of two bytes": ["é" * 10] * COUNT,
}


@pytest.mark.parametrize("escaped", [True, False])
@pytest.mark.parametrize("shape", SHAPES)
def test_it_is_never_less_than_is_taken(shape: str, escaped: bool) -> None:
    text = json.dumps(SHAPES[shape], ensure_ascii=escaped, separators=(",", ":")).encode()
    tracemalloc.start()
    kept = json.loads(text)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept
    assert most <= most_memory(text) <= 6 * most

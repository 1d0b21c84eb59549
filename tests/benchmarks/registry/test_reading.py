"""Reading a package takes no more memory than is promised, and a hostile one is refused."""

from pathlib import Path

import pytest

from benchmarks.registry import reading
from tests.crash.whole_packages import KINDS

EACH_TIME = ("batting", "particles")
"""The others take longer; the benchmark itself reads all."""
LARGE = {"shooting": 4 * 2**20}
"""Bytes that the largest has at least, and where its network may not have so many: 9 MiB."""
MOST_KINDS = [
    pytest.param(kind, marks=() if kind in EACH_TIME else pytest.mark.proof) for kind in KINDS
]


@pytest.mark.slow
@pytest.mark.parametrize("kind", MOST_KINDS)
def test_reading_takes_at_most_three_times_a_package_beside_it(kind: str, tmp_path: Path) -> None:
    """Bytes grow most where they become numbers: 9 to 54 times where types are not looked at."""
    whole, bad = reading.of_kind(kind, tmp_path, ("as bytes",))
    assert not reading.not_as_promised(whole, bad)
    largest = max(each.size for each in whole)
    assert largest > LARGE.get(kind, 9 * 2**20), "no large one was read"
    assert not any("expected at most 67108864 bytes" in each.answer for each in bad)

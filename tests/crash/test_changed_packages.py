"""Whatever becomes of the arrays of a package, of any kind, it is read or refused in one line.

Everything is made good again as far as it can be: digests, and the outputs of the self-test. One
that is still read gives no output without bound, soon and in little memory.
"""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import packages
from tests.crash import hostile_packages, whole_packages
from tests.crash.hostile_packages import Case
from tests.crash.measured import answered

MOST = 300_000_000
"""Bytes that a small package may take."""
EXTREME = (0.0, -1.0, 1.0, 5e-324, 1e-300, 1e6, -1e6, 1e308, -1e308, np.inf, np.nan)
TYPES = (np.float32, np.float16, np.int64, np.int8, np.uint8, np.bool_)


WAYS = ("one number", "all numbers", "scaled", "shape", "rows", "type", "order")


@dataclass(frozen=True)
class Change:
    """What becomes of one array.

    Attributes:
        of_inputs: Whether it is one of the inputs of the self-test, where there are any.
        name, place: Which array, and which of its numbers, as shares.
        choice: Which of the shapes or rows.
    """

    of_inputs: bool
    name: float
    way: str
    value: float
    kind: type
    choice: int
    place: float


SHARES = st.floats(0.0, 1.0, exclude_max=True)
CHANGES = st.builds(
    Change,
    of_inputs=st.sampled_from((False, False, False, True)),
    name=SHARES,
    way=st.sampled_from(WAYS),
    value=st.sampled_from(EXTREME) | st.floats(width=32),
    kind=st.sampled_from(TYPES),
    choice=st.integers(0, 11),
    place=SHARES,
)


def changed(array: np.ndarray, change: Change) -> np.ndarray:
    """Return an array that is another: in its numbers, its shape, its order or its type."""
    if change.way == "type":
        return array.astype(change.kind)
    if change.way == "shape":
        shapes = (array[None], array[..., None], array.reshape(-1), array.T.copy())
        return shapes[change.choice % 4]
    if change.way == "rows" and array.ndim:
        return (array[:0], array[:1], np.concatenate([array, array]))[change.choice % 3]
    if change.way == "order" and array.ndim:
        return array[::-1].copy()
    if array.dtype.kind != "f":
        return np.zeros_like(array)
    if change.way == "all numbers":
        return np.full_like(array, change.value)
    if change.way == "scaled":
        return (array * change.value).astype(array.dtype)
    found = array.copy()
    if found.size:
        found.flat[int(change.place * found.size)] = change.value
    return found


@pytest.fixture(scope="module", params=whole_packages.KINDS)
def sound(request, tmp_path_factory):
    """A sound package of each kind, its reader, and a folder."""
    place = tmp_path_factory.mktemp(request.param)
    reader = whole_packages.READERS[request.param]
    found = whole_packages.made(request.param, place / "made")
    packages.write_package(place / "sound", found, reader=reader)
    packages.read_package(place / "sound", reader=reader)  # all is loaded from now on
    return found, reader, place


@pytest.mark.proof
@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(changes=st.lists(CHANGES, min_size=1, max_size=3))
def test_a_changed_package_is_read_or_refused(sound, changes) -> None:
    package, reader, place = sound
    arrays, inputs = dict(package.arrays), dict(package.inputs)
    with np.errstate(all="ignore"):
        for change in changes:
            table = inputs if inputs and change.of_inputs else arrays
            name = sorted(table)[int(change.name * len(table))]
            table[name] = changed(table[name], change)
    folder = place / f"case-{np.random.default_rng().integers(2**62)}"
    made = replace(package, arrays=arrays, inputs=inputs)
    hostile_packages.forge(folder, Case("changed", made), package, reader)
    answer = answered("it", lambda: packages.read_package(folder, reader=reader), most=MOST)
    assert answer.fault in ("", "taken"), answer
    if answer.fault == "taken":
        assert answer.grown <= MOST
        found = packages.read_package(folder, reader=reader)
        for prefix, evaluate in packages._outputs(reader):
            with np.errstate(all="ignore"):  # as when it is read
                outputs = evaluate(found.arrays, found.inputs)
            assert prefix and not any((np.isnan(x) | (x == np.inf)).any() for x in outputs.values())


@pytest.mark.proof
def test_changes_in_figures(sound, capsys):
    package, _, place = sound
    tried = len(list(place.glob("case-*")))
    if not tried:
        pytest.skip("no change was tried in this process")
    with capsys.disabled():
        print(f"\n{package.kind}: {tried} changed packages, each read or refused")  # noqa: T201
    assert tried >= 150


def test_one_that_is_not_changed_is_read(sound) -> None:
    package, reader, place = sound
    hostile_packages.forge(place / "same", Case("same", package), package, reader)
    assert packages.read_package(place / "same", reader=reader).kind == package.kind
    with pytest.raises(BadInput):
        packages.read_package(place / "none", reader=reader)

"""Ten thousand files of sound and manifests with random damage; hypothesis for settings and tables.

`python -m pytest tests/crash/test_mutated_inputs.py -m "slow or not slow" -s` prints how many were
read all the same. A fault of the decoder itself would end the process, so that the mutations of
sound run in one of their own.
"""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.recordings import audio_files, sessions
from ricochet.tasks.recordings.manifests import MANIFEST
from ricochet.tasks.storage import checked_json, checked_yaml, number_tables
from tests.crash import hostile_sounds, kill
from tests.tasks.recordings import small_sessions

COUNT = 10_000
RELAXED = hypothesis_settings(
    max_examples=300,
    deadline=None,
    database=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
TOKENS = (
    b"\0\0\0\0",
    b"\xff\xff\xff\xff",
    b"\x7f\xff\xff\xff",
    b"1e999",
    b"NaN",
    b"[[",
    b"{",
    b'"',
)


def mutated(content: bytes, draw: np.random.Generator) -> bytes:
    """Return some bytes with one to eight changes: a bit, a byte, a token, a part cut or twice."""
    found = bytearray(content)
    for _ in range(int(draw.integers(1, 9))):
        at = int(draw.integers(0, max(1, len(found)) if draw.random() < 0.3 else 64)) % len(found)
        size = int(draw.integers(1, 40))
        match int(draw.integers(0, 6)):
            case 0:
                found[at] ^= 1 << int(draw.integers(0, 8))
            case 1:
                found[at] = int(draw.integers(0, 256))
            case 2:
                token = TOKENS[int(draw.integers(0, len(TOKENS)))]
                found[at : at + len(token)] = token
            case 3:
                del found[at : at + size]
            case 4:
                found[at:at] = found[at : at + size]
            case _:
                del found[max(1, len(found) - size) :]
        if not found:
            return b""
    return bytes(found)


def read_all(content: bytes, read: Callable[[bytes], object], count: int, seed: int) -> int:
    """Read so many mutations; return how many could be read. Others are refused in a line."""
    draw, good = np.random.default_rng(seed), 0
    for number in range(count):
        changed = mutated(content, draw)
        try:
            read(changed)
        except BadInput as error:
            assert str(error).isprintable(), (number, changed)
        else:
            good += 1
    return good


def sound(content: bytes) -> None:
    found = audio_files.decode(Path("take"), content)
    assert np.isfinite(found.samples).all() and found.samples.size > 0


@pytest.mark.slow
@pytest.mark.parametrize("form", ["wav", "flac"])
def test_damaged_sound_is_refused_in_a_line_or_is_sound(form: str, tmp_path: Path) -> None:
    content = audio_files.encode(
        hostile_sounds.noise(frames=200), sample_rate=hostile_sounds.RATE, form=form
    )
    said = tmp_path / "said"

    def mutate() -> None:
        good = read_all(content, sound, COUNT, 1)
        said.write_text(f"{COUNT} files of {form} with damage: {good} are sound all the same")

    assert kill.forked(mutate) == 0
    print("\n" + said.read_text())  # noqa: T201


@pytest.mark.slow
def test_damaged_manifests_are_refused_in_a_line_or_mean_something(tmp_path: Path) -> None:
    plan = small_sessions.plan(tmp_path / "s")
    small_sessions.write_session(plan, [small_sessions.noise(1)])
    content = (plan.folder / MANIFEST).read_bytes()

    def read(changed: bytes) -> None:
        session, takes = sessions.parse(changed, plan.folder / MANIFEST)
        json.dumps(sessions.to_json(session, takes), allow_nan=False)

    good = read_all(content, read, COUNT, 2)
    print(f"\n{COUNT} manifests with damage: {good} mean something all the same")  # noqa: T201


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)  # fmt: skip


@RELAXED
@given(JSON)
def test_what_json_holds_is_what_is_read(value: object) -> None:
    text = json.dumps(value)
    assert checked_json.parse(text, "it") == json.loads(text)


@RELAXED
@given(st.text() | st.binary())
def test_any_text_is_json_or_refused(text: str | bytes) -> None:
    refused_or_read(lambda: checked_json.parse(text, "it"))


@RELAXED
@given(st.text(alphabet="ab:1.-[]{}&*!?,'\"#|> \n\t%@`~<"))
def test_any_text_is_yaml_or_refused(text: str) -> None:
    refused_or_read(lambda: checked_yaml.parse(text, "it"))


@RELAXED
@given(st.text(alphabet='a1,.-"\n\r e\0\ufeff'), st.integers(1, 3))
def test_any_text_is_a_table_of_finite_numbers_or_refused(
    tmp_path: Path, text: str, columns: int
) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text, newline="")

    def read() -> None:
        found = number_tables.numbers(number_tables.read(path, "numbers"), columns)
        assert np.isfinite(found).all()

    refused_or_read(read)


def refused_or_read(call: Callable[[], object]) -> None:
    try:
        call()
    except BadInput as error:
        assert str(error).isprintable()

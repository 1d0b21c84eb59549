"""Manifests that mean nothing are refused in one line, whatever their digests say."""

import copy
import hashlib
import json
import tracemalloc

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import bounded_json, manifests, packages
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID

NAME, UNIT = ("parameters", 0, "name"), ("parameters", 0, "unit")
LOW, HIGH = ("parameters", 0, "low"), ("parameters", 0, "high")
ENTRY = {"name": "restitution", "unit": "1", "low": 0.55, "high": 0.95}
HOSTILE = [
    *[(LOW, each) for each in ("0.5", None, True, [], {}, 10**400, -(10**400), 0.95, 2.0)],
    *[(HIGH, each) for each in ("0.9", None, False, [0.9], 0.55, -1)],
    *[(NAME, each) for each in ("", 1, None, ["a"], "a\x1b[31m", "a\nb", "x" * 201, "\u202e")],
    (NAME, "log10_concentration"),  # that of the other parameter
    *[(UNIT, each) for each in ("", 1, None, "m\x00", "\r", "m" * 201)],
    *[
        (("parameters",), each)
        for each in (None, {}, "a", 1, [1], [None], [[ENTRY]], [ENTRY] * 201)
    ],
    (("parameters",), [{**ENTRY, "code": "import os"}]),
    *[(("prior", "kind"), each) for each in ("normal", None, 1, [])],
    *[(("prior", "low"), each) for each in ([0.0, 1.0], [], None, "0", [0.55], [0.55, 1.0, 2.0])],
    *[(("prior", "high"), each) for each in ([0.95], {}, [5.0, 0.95])],
    *[(("prior",), each) for each in (None, [], {}, {"kind": "uniform"}, "uniform")],
    *[(("kind",), each) for each in (None, 1, [], {}, "grid\x1b]0;\x07", "g" * 201)],
    *[(("name",), each) for each in (None, 1, [], "", "a/b", "..", "a\n", "a\x1b[2J", "n" * 101)],
    *[(("data_digest",), each) for each in (None, 7, [], "a\nb", "d" * 201)],
    *[(("git_commit",), each) for each in (None, {}, 1.5, "\x1b[2J", "c" * 201)],
    *[(("settings",), each) for each in (None, [], "a", 1)],
    *[
        (("schema",), each)
        for each in (None, 1, [], "ricochet.posterior/1", "ricochet.drawer/2", "x" * 10_000)
    ],
    *[(("files", "checks.json"), each) for each in (None, 1, "", "0" * 63, "G" * 64, "A" * 64, [])],
    *[(("files",), each) for each in (None, [], {}, "x", {"checks.json": "0" * 64})],
]


@pytest.fixture
def written(tmp_path, package):
    packages.write_package(tmp_path / "package", package, reader=GRID)
    return tmp_path / "package"


@pytest.fixture
def manifest(written):
    return json.loads((written / GRID.manifest).read_text())


def changed(manifest, place, value):
    """Return the manifest with another value at a place."""
    found = copy.deepcopy(manifest)
    *way, last = place
    inner = found
    for key in way:
        inner = inner[key]
    inner[last] = value
    return found


def refused(written, content: str | bytes) -> str:
    """Put a manifest into the package; return the one line by which it is refused."""
    content = content.encode() if isinstance(content, str) else content
    (written / GRID.manifest).write_bytes(content)
    with pytest.raises(BadInput) as error:
        packages.read_package(written, reader=GRID)
    line = str(error.value)
    assert line.isprintable() and len(line) < 1000, line
    return line


@pytest.mark.parametrize(("place", "value"), HOSTILE)
def test_a_manifest_that_means_nothing_is_refused(written, manifest, place, value):
    refused(written, json.dumps(changed(manifest, place, value)))


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1" + "0" * 5000])
def test_numbers_that_are_none_are_refused(written, manifest, number):
    refused(written, json.dumps(changed(manifest, LOW, "HERE")).replace('"HERE"', number))


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"[]", b"1", b"{", b"[" * 200_000, b"null"])
def test_text_that_is_no_object_is_refused(written, content):
    refused(written, content)


@pytest.mark.parametrize("name", [GRID.manifest, "checks.json"])
def test_large_text_is_refused_before_it_is_parsed(written, manifest, name):
    content = json.dumps({"a": [{}] * 700_000}).encode()
    assert len(content) > bounded_json.LARGEST_TEXT
    (written / name).write_bytes(content)
    if name != GRID.manifest:
        digest = hashlib.sha256(content).hexdigest()
        whole = changed(manifest, ("files", name), digest)
        (written / GRID.manifest).write_text(json.dumps(whole))
    tracemalloc.start()
    with pytest.raises(BadInput, match=f"at most {bounded_json.LARGEST_TEXT} bytes"):
        packages.read_package(written, reader=GRID)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4 * bounded_json.LARGEST_TEXT


@pytest.mark.parametrize(
    "content",
    [
        b'{"a": ' * 40 + b"1" + b"}" * 40,
        b'{"a": ' + b"[" * 900 + b"]" * 900 + b"}",
        b'{"a": 1e999}',
        b'{"a": 1' + b"0" * 400 + b"}",
        b'{"a": [' + b"{}," * 150_000 + b"{}]}",
    ],
)
def test_deep_and_wide_json_and_numbers_beyond_measure_are_refused(written, content):
    refused(written, content)
    (written / "checks.json").write_bytes(content)
    with pytest.raises(BadInput):
        bounded_json.parse_object("checks.json", content)


def test_an_older_schema_is_refused_with_the_command_that_makes_it_anew(written, manifest):
    line = refused(written, json.dumps(manifest | {"schema": "ricochet.posterior/1"}))
    assert line.endswith("expected ricochet.posterior/2, made anew by: ricochet calibrate")


def test_the_package_of_another_ball_is_refused_where_a_name_was_asked_for(written):
    assert packages.read_package(written, reader=GRID, name="ball-table").name == "ball-table"
    with pytest.raises(BadInput, match="the package of ball-table, expected that of golf-concrete"):
        packages.read_package(written, reader=GRID, name="golf-concrete")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_whatever_stands_anywhere_is_refused_or_means_something(written, manifest, data):
    """What is accepted has parameters in order, and texts that a terminal can show."""
    place = data.draw(st.sampled_from(sorted({each for each, _ in HOSTILE}, key=str)))
    value = data.draw(JSON)
    content = json.dumps(changed(manifest, place, value)).encode()
    try:
        found = manifests.parse(written / GRID.manifest, content, GRID)
    except BadInput as error:
        assert "\n" not in str(error)
        return
    assert all(each.low < each.high for each in found["parameters"])
    texts = [found[name] for name in ("kind", "data_digest", "git_commit")]
    texts += [each.name for each in found["parameters"]]
    assert all(text.isprintable() for text in texts)

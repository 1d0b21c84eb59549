"""Hostile packages of every kind, made by somebody who can recompute every digest and self-test.

A case is a sound package with one thing in it that no controller should see. Everything that the
reader checks by digest is made good again: `forge` writes the outputs that the hostile arrays give,
or those of the sound ones where they give none.
"""

import dataclasses
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ricochet.tasks.registry import packages
from ricochet.tasks.registry.kinds import Reader
from ricochet.tasks.registry.manifests import Parameter, prior_of
from ricochet.tasks.registry.packages import Package
from ricochet.tasks.storage.files import sha256
from tests.crash.hostile_arrays import HUGE, OF_KIND, Change, at
from tests.crash.sure_arrays import SURE

SEED, RANDOM = 17, 165
"""Of the random cases of a kind, and how many."""


@dataclass(frozen=True)
class Case:
    """A hostile package; `manifest` is laid over what the manifest says, `raw` over the files."""

    name: str
    package: Package
    manifest: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    raw: Mapping[str, bytes] = dataclasses.field(default_factory=dict)
    outputs: Change = lambda found: found


def cases(kind: str, sound: Package, reader: Reader) -> Iterator[Case]:
    """Yield the hostile packages of a kind."""
    yield from _arrays(sound)
    yield from _manifests(sound)
    yield from _files(sound, reader)
    yield from _random(sound)
    for name, change in (OF_KIND[kind] | SURE.get(kind, {})).items():
        with np.errstate(all="ignore"):
            yield Case(name, with_arrays(sound, **change(sound.arrays)))


def forge(folder: Path, case: Case, sound: Package, reader: Reader) -> None:
    """Write a case with digests and outputs made good, as far as a format can hold it."""
    numbers, checks, expected = reader.content
    made, folder = case.package, folder
    reference = {f"input.{name}": array for name, array in made.inputs.items()}
    for prefix, evaluate in packages._outputs(reader):
        with np.errstate(all="ignore"):
            try:
                outputs = evaluate(made.arrays, made.inputs)
            except Exception:
                outputs = evaluate(sound.arrays, sound.inputs)
        reference |= {prefix + name: array for name, array in case.outputs(outputs).items()}
    folder.mkdir(parents=True)
    files = {
        numbers: packages._serialized(made.arrays),
        checks: json.dumps(made.checks).encode(),
        expected: packages._serialized(reference),
    } | case.raw
    for name, content in files.items():
        (folder / name).write_bytes(content)
    manifest = {
        "schema": reader.schema,
        "name": made.name,
        "kind": made.kind,
        "parameters": [vars(parameter) for parameter in made.parameters],
        "prior": prior_of(made.parameters),
        "data_digest": made.data_digest,
        "git_commit": made.git_commit,
        "settings": dict(made.settings),
        "files": {name: sha256(folder / name) for name in reader.content},
    }
    (folder / reader.manifest).write_text(json.dumps(manifest | dict(case.manifest)))


def with_arrays(sound: Package, **arrays: NDArray[Any]) -> Package:
    """Return a package with some arrays exchanged, or more of them."""
    return replace(sound, arrays=sound.arrays | arrays)


def _arrays(sound: Package) -> Iterator[Case]:
    """Numbers that are none, shapes and types of something else, arrays that lack or are beside."""
    for name, array in sound.arrays.items():
        if array.dtype.kind == "f":
            for value in (np.nan, np.inf, HUGE):
                yield Case(f"{name} with {value}", with_arrays(sound, **{name: at(array, value)}))
            text = f"{name} all NaN"
            yield Case(text, with_arrays(sound, **{name: np.full_like(array, np.nan)}))
        yield Case(f"{name} empty", with_arrays(sound, **{name: array[:0]}))
        yield Case(f"{name} of one more axis", with_arrays(sound, **{name: array[None]}))
        if array.size > 1:  # of one alone it is written as the array that it was
            yield Case(f"{name} of no axis", with_arrays(sound, **{name: array.reshape(-1)[0]}))
        less = {key: value for key, value in sound.arrays.items() if key != name}
        yield Case(f"without {name}", replace(sound, arrays=less))
    yield Case("an array beside", with_arrays(sound, further=np.zeros(3)))
    yield Case("no arrays", replace(sound, arrays={"further": np.zeros(3)}))


def _manifests(sound: Package) -> Iterator[Case]:
    """Bounds, names and kinds that mean nothing, or something else."""
    first, *rest = sound.parameters

    def changed(**fields: Any) -> Package:
        return replace(sound, parameters=(replace(first, **fields), *rest))

    yield Case("bounds exchanged", changed(low=first.high, high=first.low))
    yield Case("bounds alike", changed(high=first.low))
    yield Case("bounds beyond measure", changed(low=-1e299, high=1e299))
    yield Case("another prior's bounds", changed(low=first.high, high=2.0 * abs(first.high) + 1.0))
    for low in ("0.5", None, True, [], {}, 10**400):
        entries = [{**vars(first), "low": low}, *map(vars, rest)]
        prior = prior_of(sound.parameters) | {"low": [entry["low"] for entry in entries]}
        words = {"parameters": entries, "prior": prior}
        yield Case(f"a bound {str(low)[:9]!r}", sound, words)
    for name in ("", "a\x1b[2J", "a\nb", "x" * 300, 7, None, ["a"]):
        entries = [{**vars(first), "name": name}, *map(vars, rest)]
        yield Case(f"a parameter {str(name)[:9]!r}", sound, {"parameters": entries})
    yield Case("a parameter twice", replace(sound, parameters=(first, first, *rest)))
    yield Case("one parameter more", replace(sound, parameters=(*sound.parameters, OTHER)))
    yield Case("no parameter", replace(sound, parameters=()))
    for kind in ("", "coin", "grid " * 60, None, ["grid"]):
        yield Case(f"kind {str(kind)[:9]!r}", sound, {"kind": kind})
    for name in ("another-one", "", None, 1, "a/b", "../x", "a\x1b[31m", "x" * 200):
        yield Case(f"name {str(name)[:9]!r}", sound, {"name": name})
    for schema in ("ricochet.posterior/1", "ricochet.posterior/99", None, 2, {}):
        yield Case(f"schema {schema!r}", sound, {"schema": schema})
    yield Case("a field beside", sound, {"code": "import os"})
    yield Case("settings that are a list", sound, {"settings": [1]})


OTHER = Parameter("other", "kg", 0.0, 1.0)


def _files(sound: Package, reader: Reader) -> Iterator[Case]:
    """Files that are bombs, and self-tests that test nothing."""
    numbers, checks, expected = reader.content
    for name, content in {
        "empty": b"",
        "a header of 2^63 bytes": (2**63).to_bytes(8, "little") + b"{}",
        "a header of 100 MB": (10**8).to_bytes(8, "little") + b"{" * 100,
        "a header of brackets": (60_000).to_bytes(8, "little") + b"[" * 60_000,
        "a header of no JSON": (8).to_bytes(8, "little") + b"\xff" * 8,
        "a pickle": b"\x80\x04cos\nsystem\n.",
        "a shape beyond the file": _header({"samples": ["F64", [2**40, 2], [0, 16]]}),
        "a negative offset": _header({"samples": ["F64", [2], [-16, 0]]}),
        "types of eight bits": _header({"samples": ["F8_E4M3", [16], [0, 16]]}),
        "a type unknown": _header({"samples": ["OBJECT", [2], [0, 16]]}),
    }.items():
        yield Case(f"arrays: {name}", sound, raw={numbers: content})
        yield Case(f"reference: {name}", sound, raw={expected: content})
    for name, text in {
        "60 MB": b'{"a": "' + b"x" * 60_000_000 + b'"}',
        "a million objects": b'{"a": [' + b"{}," * 10**5 + b"{}]}",
        "a thousand levels": b'{"a":' * 1000 + b"1" + b"}" * 1000,
        "an infinite number": b'{"a": 1e999}',
        "NaN": b'{"a": NaN}',
        "5000 digits": b'{"a": ' + b"1" * 5000 + b"}",
        "400 digits": b'{"held_out": ' + b"1" * 400 + b"}",
        "a list": b"[]",
    }.items():
        yield Case(f"checks: {name}", sound, raw={checks: text})
    yield Case("no outputs", sound, outputs=lambda found: {})
    yield Case("other outputs", sound, outputs=lambda f: {k: v + 1.0 for k, v in f.items()})
    yield Case("no inputs", replace(sound, inputs={}))
    for name, array in sound.inputs.items():
        text = {**sound.inputs, name: np.full_like(array, np.nan)}
        yield Case(f"{name} of NaN", replace(sound, inputs=text))
        tall = np.zeros((300_000 // max(1, array[0].size), *array.shape[1:]))
        yield Case(f"{name} without end", replace(sound, inputs={**sound.inputs, name: tall}))


def _header(entries: Mapping[str, Any]) -> bytes:
    words = ("dtype", "shape", "data_offsets")
    text = {name: dict(zip(words, each, strict=True)) for name, each in entries.items()}
    content = json.dumps(text).encode()
    return len(content).to_bytes(8, "little") + content + bytes(16)


def _random(sound: Package) -> Iterator[Case]:
    """A number that is none at a random place of a random array."""
    draw = np.random.default_rng(SEED)
    names = sorted(name for name, array in sound.arrays.items() if array.dtype.kind == "f")
    for _ in range(RANDOM):
        name, value = str(draw.choice(names)), float(draw.choice([np.nan, np.inf, HUGE]))
        place = int(draw.integers(2**31))
        made = with_arrays(sound, **{name: at(sound.arrays[name], value, place)})
        yield Case(f"{name} with {value} at {place}", made)

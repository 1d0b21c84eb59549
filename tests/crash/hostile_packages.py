"""Hostile packages of every kind, made by somebody who can recompute every digest and self-test.

A case is a sound package with one thing in it that no controller should see. Everything that the
reader checks by digest is made good again: `forge` writes the outputs that the hostile arrays give,
or those of the sound ones where they give none.
"""

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ricochet.tasks.registry import packages
from ricochet.tasks.registry.kinds import Reader
from ricochet.tasks.registry.manifests import Parameter, prior_of
from ricochet.tasks.registry.packages import Arrays, Package
from ricochet.tasks.storage.files import sha256

Change = Callable[[Arrays], Arrays]
HUGE = 1e308
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
    for name, change in OF_KIND[kind].items():
        with np.errstate(all="ignore"):
            yield Case(name, replace(sound, arrays=sound.arrays | change(sound.arrays)))


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


def _with(sound: Package, **arrays: NDArray[Any]) -> Package:
    return replace(sound, arrays=sound.arrays | arrays)


def _at(array: NDArray[Any], value: float, place: int = 0) -> NDArray[Any]:
    """Return an array with another number at one place."""
    with np.errstate(all="ignore"):
        found = array.copy()
        found.flat[place % max(array.size, 1)] = value
        return found


def _arrays(sound: Package) -> Iterator[Case]:
    """Numbers that are none, shapes and types of something else, arrays that lack or are beside."""
    for name, array in sound.arrays.items():
        if array.dtype.kind == "f":
            for value in (np.nan, np.inf, HUGE):
                yield Case(f"{name} with {value}", _with(sound, **{name: _at(array, value)}))
            text = f"{name} all NaN"
            yield Case(text, _with(sound, **{name: np.full_like(array, np.nan)}))
        yield Case(f"{name} empty", _with(sound, **{name: array[:0]}))
        yield Case(f"{name} of one more axis", _with(sound, **{name: array[None]}))
        if array.size > 1:  # of one alone it is written as the array that it was
            yield Case(f"{name} of no axis", _with(sound, **{name: array.reshape(-1)[0]}))
        less = {key: value for key, value in sound.arrays.items() if key != name}
        yield Case(f"without {name}", replace(sound, arrays=less))
    yield Case("an array beside", _with(sound, further=np.zeros(3)))
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
        made = _with(sound, **{name: _at(sound.arrays[name], value, place)})
        yield Case(f"{name} with {value} at {place}", made)


def _one_sided(covariance: NDArray[Any]) -> NDArray[Any]:
    """Return a covariance with a correlation more above the diagonal alone."""
    deviation = np.sqrt(np.diag(covariance))
    return covariance + np.triu(0.5 * np.outer(deviation, deviation), 1)


def _moved(prefix: str = "") -> dict[str, Change]:
    """Moments and draws that are of no posterior, or of another than the arrays beside them."""
    samples, mean, covariance = (prefix + name for name in ("samples", "mean", "covariance"))
    return {
        f"{mean} of -3": lambda a: {mean: 0.0 * a[mean] - 3.0},
        f"{mean} off": lambda a: {mean: a[mean] + 0.3 * np.sqrt(np.diag(a[covariance]))},
        f"{covariance} negative": lambda a: {covariance: -a[covariance]},
        f"{covariance} of a quarter": lambda a: {covariance: 0.25 * a[covariance]},
        f"{covariance} of four": lambda a: {covariance: 4.0 * a[covariance]},
        f"{covariance} asymmetric": lambda a: {covariance: _one_sided(a[covariance])},
        f"{covariance} of one": lambda a: {covariance: a[covariance][:1, :1]},
        f"{covariance} of zeros": lambda a: {covariance: 0.0 * a[covariance]},
        f"{samples} out of the prior": lambda a: {samples: a[samples] + 100.0},
        f"{samples} all alike": lambda a: {samples: 0.0 * a[samples] + a[mean]},
        f"{samples} transposed": lambda a: {samples: a[samples].T.copy()},
        f"{samples} squeezed": lambda a: {samples: a[mean] + 0.5 * (a[samples] - a[mean])},
        f"{samples} wide": lambda a: {samples: a[mean] + 2.0 * (a[samples] - a[mean])},
        f"{samples} of integers": lambda a: {samples: a[samples].astype(np.int64)},
        f"{samples} of truth": lambda a: {samples: a[samples] > 0.5},
        f"{samples} one column": lambda a: {samples: a[samples][:, :1]},
        f"{samples} turned": lambda a: {samples: a[samples][:, ::-1].copy()},
        f"{samples} two alone": lambda a: {samples: a[samples][:2]},
    }


def _squeezed(a: Arrays) -> Arrays:
    """A quarter of the variance in table, mean and covariance, draws as they were."""
    mean = a["mean"]
    return {
        "rows": mean[1] + 0.5 * (a["rows"] - mean[1]),
        "low": mean[0] + 0.5 * (a["low"] - mean[0]),
        "high": mean[0] + 0.5 * (a["high"] - mean[0]),
        "log_density": a["log_density"] + np.log(4.0),
        "covariance": a["covariance"] / 4.0,
    }


def _drawn(a: Arrays, rows: Any) -> Arrays:
    """Some draws of a contact, with the mean and covariance that they have."""
    pairs = a["samples"][rows]
    found = {name: column[rows] for name, column in a.items() if name.startswith("contact.")}
    moments = {"mean": pairs.mean(0), "covariance": np.cov(pairs.T, bias=True)}
    return found | moments | {"samples": pairs}


def _spikes(a: Arrays) -> Arrays:
    """Draws of the right mean and covariance at two points each."""
    sign = np.where(np.arange(len(a["samples"])) % 4 < 2, -1.0, 1.0)
    other = np.where(np.arange(len(a["samples"])) % 2 < 1, -1.0, 1.0)
    scale = np.sqrt(np.diag(a["covariance"]))
    return {"samples": a["mean"] + np.stack((sign, other), -1) * scale}


TABLE: dict[str, Change] = {
    "a density of 1.01": lambda a: {"log_density": a["log_density"] + 0.01},
    "a density of 1000": lambda a: {"log_density": a["log_density"] + 6.9},
    "a density of a half": lambda a: {"log_density": a["log_density"] - 0.7},
    "a density without normalisation": lambda a: {
        "log_density": a["log_density"] - a["log_density"].max()
    },
    "a uniform density": lambda a: {
        "log_density": 0.0 * a["log_density"]
        - np.log((a["high"] - a["low"])[0] * np.ptp(a["rows"]))
    },
    "NaN in a corner": lambda a: {"log_density": _at(a["log_density"], np.nan, -1)},
    "a density of zero": lambda a: {"log_density": np.full_like(a["log_density"], -np.inf)},
    "a table rolled": lambda a: {"log_density": np.roll(a["log_density"], 12, 0)},
    "a table transposed and cut": lambda a: {"log_density": a["log_density"].T[:-1].copy()},
    "rows that descend": lambda a: {"rows": a["rows"][::-1].copy()},
    "uneven rows": lambda a: {"rows": a["rows"] + 0.02 * np.sin(9.0 * a["rows"])},
    "intervals exchanged": lambda a: {"low": a["high"], "high": a["low"]},
    "intervals doubled": lambda a: {"low": 2.0 * a["low"] - a["high"]},
    "a table in single precision": lambda a: {"log_density": a["log_density"].astype(np.float32)},
    "a sure table of unsure draws": _squeezed,
}
CONTACT: dict[str, Change] = {
    f"contact.{name} of {value:g}": lambda a, name=name, value=value: {
        f"contact.{name}": _at(a[f"contact.{name}"], value)
    }
    for name, values in {
        "restitution": (-0.1, 0.0, 1.01, 50.0),
        "concentration": (-1.0, 1e12),
        "slope": (-30.0, 30.0),
        "tangential_loss": (-1.1, 1.1),
        "tail_share": (-0.1, 1.1),
        "tail_ratio": (-0.1, 1.1),
        "scatter": (-1e-3, 50.0),
        "drag": (-0.1, 1e4),
    }.items()
    for value in values
}
CONTACT |= {
    "one draw": lambda a: _drawn(a, slice(1)),
    "a few draws": lambda a: _drawn(a, slice(50)),
    "as many equal draws": lambda a: _drawn(a, np.zeros(len(a["samples"]), dtype=int)),
}
DRAWER: dict[str, Change] = {
    f"{name}[{place}] of {value:g}": lambda a, name=name, place=place, value=value: {
        name: _at(a[name], value, place)
    }
    for name, place, value in (
        ("widening", 0, 0.0), ("widening", 3, -1.0), ("reading", 2, 0.0), ("reading", 3, -1.0),
        ("grammar", 0, 9.0), ("grammar", 1, -9.0), ("grammar", 2, 1.5), ("speed_unit", 0, 0.0),
        ("speed_scale", 0, 0.0), ("place_scale", 1, -1.0), ("microphones", 0, 1e5),
        ("speed_weights_0", 0, 1e7), ("direction_biases_2", 0, -1e9),
        ("reading", 3, 5.01), ("reading", 3, 3000.0), ("reading", 2, 1e-300),
        ("widening", 1, 1e-300), ("place_scale", 0, 1e-305), ("direction_scale", 2, 9e-10),
        ("speed_unit", 0, 1e3), ("place_unit", 0, 1e-300),
    )
}  # fmt: skip
DRAWER |= {
    "a direction that overflows in light": lambda a: {
        "reading": _at(a["reading"], 3000.0, 3),
        "direction_biases_2": a["direction_biases_2"] - np.array([50.0, 0.0]),
    },
    "speeds that overflow in quiet sound": lambda a: {
        "speed_scale": np.full_like(a["speed_scale"], 10.0**-305.95),
        "speed_weights_1": 1e-200 * a["speed_weights_1"],
        "speed_weights_2": 1e-105 * a["speed_weights_2"],
    },
}
SMALL_ROOM = np.array((0.57, 0.57, 1.0, 1.0, 0.57, 0.57, 0.57, 0.57, 1.0, 1.0, 1.0))
"""Of a table: what makes it hardly large enough for its shapes."""
BATTING: dict[str, Change] = {
    f"{name}[{place}] of {value:g}": lambda a, name=name, place=place, value=value: {
        name: _at(a[name], value, place)
    }
    for name, place, value in (
        ("law", 0, 2.0), ("law", 2, -1.0), ("law", 3, 0.5), ("law", 4, 0.0), ("table", 0, -1.0),
        ("table", 2, 1e6), ("filter", 0, 0.0), ("filter", 3, 1e9), ("filter", 0, 100.5),
        ("filter", 4, 3.0), ("cosines", 0, 0.0), ("cosines", 0, 1e3), ("sines", 2, 9.0),
        ("samples", 0, 1.5), ("samples", 2, -0.5), ("table", 2, 1000.0), ("table", 2, 100.0),
        ("table", 2, 11.0),
    )
}  # fmt: skip
BATTING |= {
    "a small room of gravity 1000": lambda a: {
        "table": a["table"] * SMALL_ROOM + np.array((0.0, 0.0, 999.0, *(8 * (0.0,))))
    },
    "a fall of 0.25 s": lambda a: {
        "table": np.where(np.arange(11) == 2, 9.0, a["table"] * 0.05 * SMALL_ROOM),
        "cosines": 0.025 * a["cosines"],
        "sines": 0.025 * a["sines"],
    },
}
SHOOTING: dict[str, Change] = {
    f"{name}[{place}] of {value:g}": lambda a, name=name, place=place, value=value: {
        name: _at(a[name], value, place)
    }
    for name, place, value in (
        ("strokes.speeds", 3, 500.0), ("strokes.durations", 0, -1.0), ("strokes.joints", 0, 9.0),
        ("strokes.wind_ups", 0, 1e4), ("strokes.offsets", 2, 40.0), ("strokes.x", 0, 99.0),
        ("strokes.angle", 1, -2.9), ("energy.scale", 0, 0.0), ("energy.scale", 1, -1.0),
        ("energy.first", 0, 1e9), ("energy.last", 0, 1e20), ("modes.wall.matrix", 0, 1e6),
        ("modes.floating.covariance", 0, -1.0), ("modes.mallet.covariance", 1, 0.5),
        ("modes.airflow", 0, -1.0), ("modes.delay", 0, 1e6), ("strokes.durations", 5, 1.9),
        ("strokes.wind_ups", 7, 1.0), ("strokes.joints", 8, 0.5),
    )
}  # fmt: skip
STRETCHED = (0.0, 1.70274, 0.0, 0.0, 0.0, 0.0, 0.0)
"""Postures, rad, in which the tip is at its height and cannot be moved along the arm."""
SHOOTING |= {
    "strokes of 10 s": lambda a: {
        "strokes.durations": 0.0 * a["strokes.durations"] + 10.0,
        "strokes.wind_ups": 0.0 * a["strokes.wind_ups"] + 10.0,
    },
    "wind-ups of 10 s": lambda a: {"strokes.wind_ups": 0.0 * a["strokes.wind_ups"] + 10.0},
    "postures of zeros": lambda a: {"strokes.joints": 0.0 * a["strokes.joints"]},
    "an arm stretched out on the table": lambda a: {
        "strokes.joints": 0.0 * a["strokes.joints"] + STRETCHED
    },
}


def _alike(arrays: Arrays) -> Arrays:
    """Return a posterior that knows everything, with the moments that belong to it."""
    samples = np.repeat(arrays["samples"][:1], len(arrays["samples"]), axis=0)
    moments = {"mean": samples.mean(0), "covariance": np.atleast_2d(np.cov(samples.T))}
    return {"samples": samples, **moments}


DENSITY: dict[str, Change] = {
    "another box": lambda a: {"box": a["box"] * 2.0},
    "a box turned": lambda a: {"box": a["box"][::-1].copy()},
    "a scale of zero": lambda a: {"input_scale": _at(a["input_scale"], 0.0)},
    "a negative scale": lambda a: {"y_scale": -a["y_scale"]},
    "a scale of 1e-30": lambda a: {"y_scale": 1e-30 * a["y_scale"]},
    "weights of 1e20": lambda a: {"weight_0": 1e20 * a["weight_0"]},
    "a weight of infinity": lambda a: {"bias_1": _at(a["bias_1"], np.inf)},
    "weights of another width": lambda a: {"weight_1": a["weight_1"][..., :-1].copy()},
    "one member of the biases": lambda a: {"bias_0": a["bias_0"][:1]},
    "outputs of half a component": lambda a: {
        "weight_2": a["weight_2"][..., :-3].copy(), "bias_2": a["bias_2"][..., :-3].copy()
    },
    "weights of integers": lambda a: {"weight_0": a["weight_0"].astype(np.int64)},
    "three parameters": lambda a: {
        name: np.concatenate((a[name], a[name][..., :1]), -1)
        for name in ("y_centre", "y_scale", "box")
    },
}  # fmt: skip
PARTICLES: dict[str, Change] = {
    "one draw again and again": lambda a: _alike(a),
    "a clock that stands": lambda a: {"clock": _at(a["clock"], 0.0)},
    "half a window": lambda a: {"clock": _at(a["clock"], 20.5, 1)},
    "10^9 steps a frame": lambda a: {"clock": _at(a["clock"], 1e9, 2)},
    "noise of nothing": lambda a: {"observation": 0.0 * a["observation"]},
    "negative noise": lambda a: {"departure": -a["departure"]},
    "noise of fewer draws": lambda a: {"departure": a["departure"][:-1]},
}
DRAWS: dict[str, Change] = {
    "one draw again and again": lambda a: _alike(a),
    "noise of nothing": lambda a: {"observation": 0.0 * a["observation"]},
    "negative noise": lambda a: {"departure": -a["departure"]},
    "noise of fewer draws": lambda a: {"observation": a["observation"][:-1]},
    "more seen than there is": lambda a: {"departure": a["departure"][:, :2]},
}
OF_KIND: dict[str, dict[str, Change]] = {
    "grid": _moved() | TABLE | {"draws at four points": _spikes},
    "family": _moved() | _moved("three_bounces.") | TABLE | CONTACT,
    "density": DENSITY,
    "particles": _moved() | PARTICLES,
    "draws": _moved() | DRAWS,
    "drawer": DRAWER,
    "batting": _moved() | BATTING,
    "shooting": SHOOTING,
}
"""What is hostile in a kind beside what is in all of them."""

"""Drawer packages, `ricochet.drawer/2`: all that is needed to follow a drawer by its sound.

    drawer.json           schema, the opening with its limits, settings, digest, commit, sha256s
    drawer.safetensors    of each of speed, place and direction: `NAME_centre` and `NAME_scale`
                          (input,), `NAME_weights_K` (member, in, out) and `NAME_biases_K`
                          (member, 1, out) of three layers, `NAME_unit` (1,)
                          widening        (4,)   of intervals of the speed, by class of its mean
                          reading         (4,)   of the place: constant, slope, widening; k
                          grammar         (10,)  in the order of `Grammar`
                          microphones     (channel, 3)   m
    checks.json           what was measured on takes that were held out
    reference.safetensors a recording, and what is said of each of its frames

It is written, checked and read by the rules of `tasks.registry.packages`, with numpy alone. What no
controller should see is refused: layers that do not fit each other or the microphones, scales and
widenings below any that training gives, units and a worth above it, more microphones than a ring
has, limits nearer than any drawer's, weights and probabilities out of bounds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.models.core.bad_input import BadInput
from ricochet.models.inference.small_networks import LEAST_SCALE, Network
from ricochet.models.systems.drawers import features, hearing
from ricochet.models.systems.drawers.belief.place_and_direction import CELL, Grammar
from ricochet.models.systems.drawers.direction import estimator as direction_estimator
from ricochet.models.systems.drawers.direction.estimator import DirectionEstimator
from ricochet.models.systems.drawers.hearing import Hearing
from ricochet.models.systems.drawers.labels import FRAME, MOST_MICROPHONES
from ricochet.models.systems.drawers.place.estimator import PlaceEstimator
from ricochet.models.systems.drawers.speed.estimator import CLASSES, SpeedEstimator
from ricochet.models.systems.drawers.tracking import follower
from ricochet.tasks.registry import signatures
from ricochet.tasks.registry.kinds import Reader
from ricochet.tasks.registry.manifests import Parameter
from ricochet.tasks.registry.packages import (
    Arrays,
    Package,
    check_names,
    read_package,
    write_package,
)
from ricochet.tasks.registry.quantities import Quantity
from ricochet.tasks.registry.signatures import Key
from ricochet.tasks.systems.drawers.kinds import DRAWER

SCHEMA, KIND = "ricochet.drawer/2", "drawer-hearing"
NETWORKS = ("speed", "place", "direction")
GRAMMAR = len(fields(Grammar))
LAYERS, MOST_MEMBERS, MOST_UNITS = 3, 64, 4096
MOST_TOGETHER = 20_000
"""Units of a layer in all members: of a hundred frames 16 MB."""
CHANNELS = (3, MOST_MICROPHONES)
LARGEST = 1e6
"""Of any number. With LEAST_SCALE no sound has an answer above 1e50, whose square is finite too."""
LARGEST_UNIT = 100.0
"""Deviation of speeds, m/s, or of places, m, that were learnt."""
FARTHEST = 100.0
"""Microphone, m."""
LONGEST = 2.0
"""Largest opening, m."""
SHORTEST = 2.0 * CELL
"""Way between the limits, m, half of what a track of a drawer must move by; the belief's cells are
as wide as CELL, about, only where some lie between the limits."""
_FRAMES = 6


@dataclass(frozen=True, eq=False)
class Drawer:
    """What a controller knows of a drawer, and of the microphones that it was learnt with, m."""

    hearing: Hearing
    microphones: Float[ndarray, "channel 3"]


def write(
    drawer: Drawer,
    folder: Path,
    *,
    name: str,
    checks: Mapping[str, Any],
    key: str,
    git_commit: str,
    settings: Mapping[str, Any],
) -> None:
    """Write a package; `BadInput` if the place cannot be written.

    Args:
        name: In the registry.
        key: Digest of the sessions.
        settings: By which it was learnt.
    """
    grammar = drawer.hearing.grammar
    package = Package(
        kind=KIND,
        name=name,
        parameters=(Parameter("opening", "m", grammar.low, grammar.high),),
        arrays=_arrays(drawer),
        inputs=inputs(len(drawer.microphones)),
        checks=checks,
        data_digest=key,
        git_commit=git_commit,
        settings=settings,
    )
    write_package(folder, package, reader=READER)


def read(folder: Path, *, key: Key | None = None) -> Drawer:
    """Read what a controller knows from a folder; `BadInput` if it is not whole.

    Args:
        key: By which it must be signed, as `signatures.demanded` says.
    """
    demanded = signatures.demanded(key)
    return from_package(read_package(folder, reader=READER, key=demanded), where=str(folder))


def from_package(package: Package, *, where: str) -> Drawer:
    """Return what a verified package holds; `BadInput` if it is of another kind."""
    names = tuple(str(parameter.name) for parameter in package.parameters)
    if (package.kind, names) != (KIND, ("opening",)):
        raise BadInput(where, f"kind {package.kind} of {', '.join(names)[:100]}", KIND)
    drawer = _drawer(package.arrays)
    limits = (drawer.hearing.grammar.low, drawer.hearing.grammar.high)
    stated = (package.parameters[0].low, package.parameters[0].high)
    if stated != limits:
        raise BadInput(where, f"limits {stated!r}"[:200], f"those of its grammar, {limits}")
    return drawer


def inputs(channels: int) -> Arrays:
    """Return the recording of the self-test: noise that swells, of so many channels."""
    draw = np.random.default_rng(0)
    loud = np.linspace(0.01, 0.2, _FRAMES * FRAME)
    return {"samples": loud * draw.standard_normal((channels, _FRAMES * FRAME))}


def evaluate(arrays: Arrays, inputs: Arrays) -> Arrays:
    """Return what is said of each frame of a recording, and where the drawer is believed to be.

    Raises:
        ValueError: If arrays are not as they must be.
    """
    drawer = _drawer(arrays)
    samples = _finite("samples", inputs["samples"], 2)
    if len(samples) != len(drawer.microphones) or not FRAME <= samples.shape[1] <= 100 * FRAME:
        raise ValueError(
            f"samples of shape {samples.shape}, for {len(drawer.microphones)} channels"
        )
    said = hearing.listen(drawer.hearing, features.of_samples(samples))
    heard, grammar = said.heard(), drawer.hearing.grammar
    found = follower.follow(heard, [None] * len(heard), grammar)
    return {
        "speeds": np.stack([said.speeds.mean, said.speeds.low, said.speeds.high]),
        "places": said.places.mean,
        "odds": said.odds,
        "believed": np.stack([found.place, found.deviation, found.opening]),
    }


def describe(package: Package) -> tuple[Quantity, ...]:
    """Return the stroke, and how far off speed and opening were in takes that were held out, m."""
    strokes = [Quantity("stroke", "m", p.high - p.low) for p in package.parameters]
    scores = (
        ("error of the speed", "m/s", ("speed_rmse", "ours", "value")),
        ("error in the dark", "m", ("position_rmse", "light_off", "ours", "value")),
    )
    found = [(name, unit, _at(package.checks, path)) for name, unit, path in scores]
    known = [Quantity(name, unit, value) for name, unit, value in found if value is not None]
    return (*strokes, *known)


def check(package: Package, where: str) -> None:
    """Refuse a package that a controller could not use: `BadInput`."""
    check_names(package, _arrays(from_package(package, where=where)), where)


READER = Reader(evaluate, SCHEMA, "drawer", describe=describe, check=check, made_by=DRAWER.made_by)
"""The reader of this kind."""


def _at(checks: Any, path: Sequence[str]) -> float | None:
    """Return the number at a path of what was checked; None if there is none."""
    for name in path:
        checks = checks.get(name) if isinstance(checks, Mapping) else None
    return float(checks) if isinstance(checks, int | float) else None


def _arrays(drawer: Drawer) -> Arrays:
    heard = drawer.hearing
    reading = (heard.place.constant, heard.place.slope, heard.place.widening, heard.direction.worth)
    found: Arrays = {
        "widening": heard.speed.widening,
        "reading": np.array(reading),
        "grammar": np.array(astuple(heard.grammar), float),
        "microphones": drawer.microphones,
    }
    for name in NETWORKS:
        network: Network = getattr(heard, name).network
        found |= {f"{name}_centre": network.centre, f"{name}_scale": network.scale}
        found[f"{name}_unit"] = np.array([network.unit])
        for layer, (weight, bias) in enumerate(zip(network.weights, network.biases, strict=True)):
            found |= {f"{name}_weights_{layer}": weight, f"{name}_biases_{layer}": bias}
    return found


def _drawer(arrays: Arrays) -> Drawer:
    """Return what arrays hold; ValueError where they mean nothing."""
    microphones = _finite("microphones", arrays["microphones"], 2)
    if not (CHANNELS[0] <= len(microphones) <= CHANNELS[1] and microphones.shape[1] == 3):
        raise ValueError(f"microphones of shape {microphones.shape}")
    if np.abs(microphones).max() > FARTHEST:
        raise ValueError(f"microphones farther off than {FARTHEST} m")
    seen = features.of_samples(np.zeros((len(microphones), FRAME)))
    networks = {name: _network(name, arrays, getattr(seen, name).shape[1]) for name in NETWORKS}
    widening = _finite("widening", arrays["widening"], 1)
    if widening.shape != (len(CLASSES) + 1,) or not (widening >= LEAST_SCALE).all():
        raise ValueError("widening of a speed that is not positive, or of other classes")
    reading = _finite("reading", arrays["reading"], 1)
    if reading.shape != (4,) or not reading[2] >= LEAST_SCALE:
        raise ValueError("reading of place out of bounds")
    if not 0.0 <= reading[3] <= direction_estimator.LARGEST:
        raise ValueError(f"a worth of the direction beyond 0 to {direction_estimator.LARGEST:g}")
    constant, slope, wide, worth = reading.tolist()
    heard = Hearing(
        SpeedEstimator(networks["speed"], widening),
        PlaceEstimator(networks["place"], constant, slope, wide),
        DirectionEstimator(networks["direction"], worth),
        _grammar(arrays["grammar"]),
    )
    return Drawer(heard, microphones)


def _network(name: str, arrays: Arrays, width: int) -> Network:
    """Return a network of three layers that takes so many inputs and gives two outputs."""
    centre = _finite(f"{name}_centre", arrays[f"{name}_centre"], 1)
    scale = _finite(f"{name}_scale", arrays[f"{name}_scale"], 1)
    unit = _finite(f"{name}_unit", arrays[f"{name}_unit"], 1)
    if centre.shape != (width,) or scale.shape != (width,) or not (scale >= LEAST_SCALE).all():
        raise ValueError(
            f"{name}: scales of {scale.shape} inputs, expected {width} of {LEAST_SCALE:g} or more"
        )
    if unit.shape != (1,) or not LEAST_SCALE <= unit[0] <= LARGEST_UNIT:
        raise ValueError(f"{name}: a unit beyond {LEAST_SCALE:g} to {LARGEST_UNIT:g}")
    weights, biases, before = [], [], width
    for layer in range(LAYERS):
        weight = _finite(f"{name}_weights_{layer}", arrays[f"{name}_weights_{layer}"], 3)
        bias = _finite(f"{name}_biases_{layer}", arrays[f"{name}_biases_{layer}"], 3)
        members, into, units = weight.shape
        fits = into == before and bias.shape == (members, 1, units)
        fits &= members * units <= MOST_TOGETHER
        if not (fits and 1 <= members <= MOST_MEMBERS and 1 <= units <= MOST_UNITS):
            raise ValueError(f"{name}: layer {layer} of shape {weight.shape} after {before}")
        weights.append(weight)
        biases.append(bias)
        before = units
    if before != 2 or len({len(each) for each in weights}) > 1:
        raise ValueError(
            f"{name}: {before} outputs, expected a mean and a deviation of all members"
        )
    return Network(centre, scale, tuple(weights), tuple(biases), float(unit[0]))


def _grammar(values: ndarray) -> Grammar:
    numbers = _finite("grammar", values, 1)
    if len(numbers) != GRAMMAR:
        raise ValueError(f"a grammar of {len(numbers)} numbers, expected {GRAMMAR}")
    grammar = Grammar(*numbers.tolist())
    apart = grammar.high - grammar.low
    if not (grammar.low >= -LONGEST and grammar.high <= LONGEST and apart >= SHORTEST):
        raise ValueError(f"limits {grammar.low:g} and {grammar.high:g} m, {apart:g} m apart")
    shares = (grammar.turning, grammar.weight, grammar.direction_weight, grammar.blocked)
    if not all(0.0 <= share <= 1.0 for share in shares):
        raise ValueError("a share of the grammar out of 0 to 1")
    if not (0.0 < grammar.stopping < 1.0 and 0.0 < grammar.starting < 1.0):
        raise ValueError("rests that never begin or never end")
    if not (1.0 <= grammar.widening <= 100.0 and 0.0 < grammar.level < 1.0):
        raise ValueError("a widening below 1, or a level that is no probability")
    return grammar


def _finite(name: str, values: ndarray, dimensions: int) -> ndarray:
    """Return numbers of double precision; ValueError names what is none."""
    good = values.ndim == dimensions and values.dtype == np.float64 and values.size > 0
    if not (good and np.isfinite(values).all() and np.abs(values).max() <= LARGEST):
        raise ValueError(f"{name} of shape {values.shape} and type {values.dtype}, or not finite")
    return values

"""Whether a density network is one: sound arrays, and mixtures that integrate to one.

numpy and scipy are all that is needed. The mixture is integrated at some of the reference inputs
and at `RANDOM` points between their least and greatest.
"""

from dataclasses import replace

import numpy as np
from numpy import ndarray

from ricochet.models.core.bad_input import BadInput
from ricochet.models.inference import density_evaluation
from ricochet.models.probability import mixture_integrals
from ricochet.tasks.registry.packages import Arrays

MOST_MEMBERS, MOST_UNITS, DEEPEST, MOST_INPUTS = 64, 4096, 16, 1000
MOST_COMPONENTS, LARGEST = 64, 1e6  # components of all members
AT_REFERENCES, RANDOM, NORMALISATION = 3, 3, 0.01
SCALES = ("input_centre", "input_scale", "y_centre", "y_scale")
INPUTS = ("theta", "values", "location", "scale")


def check_arrays(arrays: Arrays, prior: ndarray, where: str) -> None:
    """Refuse arrays of no density network.

    Args:
        prior: Least and greatest of each parameter, shape (2, n).

    Raises:
        BadInput: They are other arrays, of other shapes or types, not finite, or of another prior.
    """
    layers = range(density_evaluation.depth(arrays))
    names = {"box", *SCALES, *(f"{part}_{k}" for k in layers for part in ("weight", "bias"))}
    if not layers or set(arrays) != names:
        raise BadInput(f"{where}: arrays", "others beside, or missing", "those of a density")
    if arrays["box"].shape != prior.shape or not (arrays["box"] == prior).all():
        raise BadInput(f"{where}: box", "another prior", f"{prior.tolist()}")
    _check_layers(arrays, where)
    for name, array in arrays.items():
        if array.dtype not in (np.float32, np.float64) or array.size == 0:
            raise BadInput(f"{where}: {name}", f"{array.size} of {array.dtype}", "real numbers")
        if not (array.max() <= LARGEST and array.min() >= -LARGEST):
            raise BadInput(f"{where}: {name}", "numbers beyond all measure", "finite weights")
    for name in ("input_scale", "y_scale"):
        if not (arrays[name] > 1.0 / LARGEST).all():
            raise BadInput(f"{where}: {name}", "one that is not positive", "scales")


def check_normalised(arrays: Arrays, inputs: Arrays, where: str) -> None:
    """Refuse a density whose mixtures do not integrate to one: `BadInput`.

    Args:
        arrays: Those that `check_arrays` has found sound.
        inputs: Those of the self-test.
    """
    if set(inputs) != set(INPUTS):
        raise BadInput(f"{where}: inputs", "others", f"{', '.join(INPUTS)}")
    count = len(inputs["theta"])
    good = all(each.ndim == 2 and len(each) == count for each in inputs.values())
    if not good or not 1 <= count <= MOST_INPUTS:
        raise BadInput(f"{where}: inputs", "others", f"1 to {MOST_INPUTS} rows of each")
    (low, high), n = arrays["box"], arrays["box"].shape[1]
    columns = [inputs[name].shape[1] for name in INPUTS]
    theta = inputs["theta"]
    if columns != [n, arrays["input_centre"].size, n, n] or not _within(theta, low, high):
        raise BadInput(f"{where}: inputs", "of other columns, or outside", "in the prior's box")
    draw = np.random.default_rng(0)
    rows = []
    for name in INPUTS[1:]:
        low, high = inputs[name].min(0), inputs[name].max(0)
        between = low + (high - low) * draw.uniform(size=(RANDOM, len(low)))
        rows.append(np.concatenate((inputs[name][:AT_REFERENCES].astype(float), between)))
    try:
        whole = integrals(arrays, *rows)
    except ValueError as error:
        raise BadInput(where, f"mixtures too narrow to integrate ({error})", "densities") from error
    if not (np.abs(whole - 1.0) <= NORMALISATION).all():
        found = ", ".join(f"{each:.3g}" for each in whole)
        raise BadInput(where, f"mixtures that integrate to {found}", "1")


def integrals(arrays: Arrays, values: ndarray, location: ndarray, scale: ndarray) -> ndarray:
    """Return the integral of each case's mixture over the prior's box; ValueError as `integral`."""
    batch = density_evaluation.mixtures(arrays, values, location, scale)
    cases = [
        replace(batch, **{name: field[case] for name, field in vars(batch).items()})
        for case in range(len(batch.mean))
    ]
    return np.array([mixture_integrals.integral(each) for each in cases])


def _within(values: ndarray, low: ndarray, high: ndarray) -> bool:
    return bool(((values >= low) & (values <= high)).all())


def _check_layers(arrays: Arrays, where: str) -> None:
    """Refuse layers that do not follow each other, from the inputs to whole components."""
    before, n, members = arrays["input_centre"].size, arrays["box"].shape[1], 0
    fits = arrays["input_centre"].shape == arrays["input_scale"].shape == (before,)
    fits &= arrays["y_centre"].shape == arrays["y_scale"].shape == (n,)
    depth = density_evaluation.depth(arrays)
    fits &= depth <= DEEPEST
    for layer in range(depth if fits else 0):
        weight, bias = arrays[f"weight_{layer}"], arrays[f"bias_{layer}"]
        members, units = members or len(weight), weight.shape[-1] if weight.ndim else 0
        fits &= weight.shape == (members, before, units) and 1 <= units <= MOST_UNITS
        fits &= bias.shape == (members, 1, units)
        before = units
    size = density_evaluation.size(n)
    fits &= 1 <= members <= MOST_MEMBERS
    if not (fits and before % size == 0 and members * before // size <= MOST_COMPONENTS):
        raise BadInput(f"{where}: layers", "ones that do not fit each other", "a density network")

"""Whether a density network is one: sound arrays, and mixtures that integrate to one.

The mixture is integrated at some of the reference inputs and at `RANDOM` points between their least
and greatest.
"""

import torch
from jaxtyping import Float
from torch import Tensor

from ricochet.models.core.bad_input import BadInput
from ricochet.models.inference import density_arrays
from ricochet.models.inference.mixture_density_networks import ConditionalDensity, Inputs
from ricochet.models.probability import mixture_integrals
from ricochet.models.probability.bijections import Coordinates
from ricochet.models.probability.boxes import Box
from ricochet.models.probability.truncated_mixtures import TruncatedMixture
from ricochet.tasks.registry.packages import Arrays

MOST_MEMBERS, MOST_UNITS, DEEPEST, MOST_INPUTS = 64, 4096, 16, 1000
MOST_COMPONENTS, LARGEST = 64, 1e6  # components of all members
AT_REFERENCES, RANDOM, NORMALISATION = 3, 3, 0.01
_INPUTS = ("theta", "values", "location", "scale")


def check_arrays(arrays: Arrays, prior: Box, where: str) -> ConditionalDensity:
    """Return the density that arrays hold.

    Raises:
        BadInput: They are other arrays, of other shapes or types, not finite, or of another prior.
    """
    density = density_arrays.from_arrays(arrays)
    if set(density_arrays.to_arrays(density)) != set(arrays):
        raise BadInput(f"{where}: arrays", "others beside", "those of a density")
    for name, array in arrays.items():
        tensor = torch.from_numpy(array)
        if not tensor.is_floating_point() or not bool(tensor.isfinite().all()):
            raise BadInput(f"{where}: {name}", f"{array.dtype}, or not finite", "finite numbers")
        if tensor.numel() == 0 or float(tensor.abs().max()) > LARGEST:
            raise BadInput(f"{where}: {name}", "numbers beyond all measure, or none", "weights")
    if density.box != prior:
        raise BadInput(f"{where}: box", f"{density.box}", f"{prior}")
    _check_layers(density, where)
    for name, scale in (("input", density.input_scale), ("y", density.y_scale)):
        if not bool((scale > 1.0 / LARGEST).all()):
            raise BadInput(f"{where}: {name}_scale", "one that is not positive", "scales")
    return density


def check_normalised(density: ConditionalDensity, inputs: Arrays, where: str) -> None:
    """Refuse a density whose mixtures do not integrate to one: `BadInput`.

    Args:
        inputs: Those of the self-test.
    """
    tensors = {name: torch.from_numpy(inputs[name]) for name in _INPUTS}
    count = len(tensors["theta"])
    good = all(tensor.ndim == 2 and len(tensor) == count for tensor in tensors.values())
    if set(inputs) != set(_INPUTS) or not good or not 1 <= count <= MOST_INPUTS:
        raise BadInput(f"{where}: inputs", "others", f"1 to {MOST_INPUTS} rows of each")
    low, high = (torch.cat([_ends(tensors[n])[e] for n in _INPUTS[1:]]) for e in (0, 1))
    draw = torch.Generator().manual_seed(0)
    between = low + (high - low) * torch.rand((RANDOM, len(low)), generator=draw, dtype=low.dtype)
    sizes = [tensors[name].shape[1] for name in _INPUTS[1:]]
    pairs = zip(_INPUTS[1:], between.split(sizes, -1), strict=True)
    rows = {n: torch.cat((tensors[n][:AT_REFERENCES].double(), more)) for n, more in pairs}
    coordinates = Coordinates(rows["location"], rows["scale"])
    try:
        whole = integrals(density, Inputs(rows["values"].float(), coordinates))
    except ValueError as error:
        raise BadInput(where, f"mixtures too narrow to integrate ({error})", "densities") from error
    if not bool(((whole - 1.0).abs() <= NORMALISATION).all()):
        found = ", ".join(f"{float(each):.3g}" for each in whole)
        raise BadInput(where, f"mixtures that integrate to {found}", "1")


def integrals(density: ConditionalDensity, inputs: Inputs) -> Float[Tensor, " case"]:
    """Return the integral of each mixture over the prior's box; ValueError as `integral`."""
    batch = density.mixture(inputs)
    assert batch.coordinates is not None
    return torch.stack(
        [
            mixture_integrals.integral(
                TruncatedMixture(
                    log_weights=batch.log_weights[case],
                    mean=batch.mean[case],
                    sd=batch.sd[case],
                    slope=batch.slope[case],
                    low=batch.low[case],
                    high=batch.high[case],
                    coordinates=Coordinates(
                        batch.coordinates.location[case], batch.coordinates.scale[case]
                    ),
                )
            )
            for case in range(len(batch.mean))
        ]
    )


def _ends(rows: Tensor) -> tuple[Tensor, Tensor]:
    return rows.double().amin(0), rows.double().amax(0)


def _check_layers(density: ConditionalDensity, where: str) -> None:
    """Refuse layers that do not follow each other, from the inputs to whole components."""
    layers, before = density.layers, len(density.input_centre)
    fits = density.input_centre.shape == density.input_scale.shape == (before,)
    n = len(density.y_centre)
    fits &= density.y_centre.shape == density.y_scale.shape == (n,) and n == len(density.box.low)
    fits &= 1 <= len(layers.weights) <= DEEPEST
    members = len(layers.weights[0])
    fits &= 1 <= members <= MOST_MEMBERS
    for weight, bias in zip(layers.weights, layers.biases, strict=True):
        units = weight.shape[-1]
        fits &= tuple(weight.shape) == (members, before, units) and 1 <= units <= MOST_UNITS
        fits &= tuple(bias.shape) == (members, 1, units)
        before = units
    size = 1 + 2 * n + n * (n - 1) // 2
    if not (fits and before % size == 0 and members * before // size <= MOST_COMPONENTS):
        raise BadInput(f"{where}: layers", "ones that do not fit each other", "a density network")

"""Arrays of packages, of each kind, that mean nothing or that no controller should see."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ricochet.tasks.registry.packages import Arrays

Change = Callable[[Arrays], Arrays]
HUGE = 1e308


def at(array: NDArray[Any], value: float, place: int = 0) -> NDArray[Any]:
    """Return an array with another number at one place."""
    with np.errstate(all="ignore"):
        found = array.copy()
        found.flat[place % max(array.size, 1)] = value
        return found


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


def squeezed(a: Arrays, by: float = 0.5, prefix: str = "") -> Arrays:
    """Deviations of table, mean and covariance a share of what they were, draws as they were."""
    mean = a[f"{prefix}mean"]
    return {
        "rows": mean[1] + by * (a["rows"] - mean[1]),
        "low": mean[0] + by * (a["low"] - mean[0]),
        "high": mean[0] + by * (a["high"] - mean[0]),
        "log_density": a["log_density"] - 2.0 * np.log(by),
        f"{prefix}covariance": by**2 * a[f"{prefix}covariance"],
    }


def _drawn(a: Arrays, rows: Any) -> Arrays:
    """Some draws of a contact, with the mean and covariance that they have."""
    pairs = a["samples"][rows]
    found = {name: column[rows] for name, column in a.items() if name.startswith("contact.")}
    moments = {"mean": pairs.mean(0), "covariance": np.cov(pairs.T, bias=True)}
    return found | moments | {"samples": pairs}


def _concentrated(a: Arrays, value: float) -> Arrays:
    """Draws every other of which has a concentration, with the moments that they have."""
    some = np.arange(len(a["samples"])) % 2 == 0
    kappa = np.where(some, value, a["contact.concentration"])
    pairs = np.stack((a["samples"][:, 0], np.log10(kappa)), -1)
    moments = {"mean": pairs.mean(0), "covariance": np.cov(pairs.T, bias=True)}
    return moments | {"samples": pairs, "contact.concentration": kappa}


def _of_ball(a: Arrays, level: NDArray[Any]) -> Arrays:
    """Draws of another restitution than the grid beside them, with the moments that they have."""
    pairs = np.stack((level, a["samples"][:, 1]), -1)
    moments = {"mean": pairs.mean(0), "covariance": np.cov(pairs.T, bias=True)}
    return moments | {"samples": pairs, "contact.restitution": level}


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
    "NaN in a corner": lambda a: {"log_density": at(a["log_density"], np.nan, -1)},
    "a density of zero": lambda a: {"log_density": np.full_like(a["log_density"], -np.inf)},
    "a table rolled": lambda a: {"log_density": np.roll(a["log_density"], 12, 0)},
    "a table transposed and cut": lambda a: {"log_density": a["log_density"].T[:-1].copy()},
    "rows that descend": lambda a: {"rows": a["rows"][::-1].copy()},
    "uneven rows": lambda a: {"rows": a["rows"] + 0.02 * np.sin(9.0 * a["rows"])},
    "intervals exchanged": lambda a: {"low": a["high"], "high": a["low"]},
    "intervals doubled": lambda a: {"low": 2.0 * a["low"] - a["high"]},
    "a table in single precision": lambda a: {"log_density": a["log_density"].astype(np.float32)},
    "a sure table of unsure draws": squeezed,
}
CONTACT: dict[str, Change] = {
    f"contact.{name} of {value:g}": lambda a, name=name, value=value: {
        f"contact.{name}": at(a[f"contact.{name}"], value)
    }
    for name, values in {
        "restitution": (-0.1, 0.0, 1.01, 50.0),
        "concentration": (-1.0, 0.0, 0.9, 1e12),
        "slope": (-30.0, 30.0),
        "tangential_loss": (-1.1, 1.1),
        "tail_share": (-0.1, 1.1),
        "tail_ratio": (-0.1, 0.0, 1e-6, 1.1),
        "scatter": (-1e-3, 50.0),
        "drag": (-0.1, 1e4),
    }.items()
    for value in values
}
CONTACT |= {
    "concentrations of a thousandth": lambda a: _concentrated(a, 1e-3),
    "concentrations of nothing": lambda a: _concentrated(a, 1e-300),
    "wide redirections of no concentration": lambda a: {
        "contact.tail_share": 0.0 * a["contact.tail_share"] + 1.0,
        "contact.tail_ratio": 0.0 * a["contact.tail_ratio"],
    },
    "restitution of 0.5 less": lambda a: _of_ball(a, a["contact.restitution"] - 0.5),
    "restitution of a dull ball": lambda a: _of_ball(a, 0.3 + 0.1 * a["contact.restitution"]),
    "one draw": lambda a: _drawn(a, slice(1)),
    "a few draws": lambda a: _drawn(a, slice(50)),
    "as many equal draws": lambda a: _drawn(a, np.zeros(len(a["samples"]), dtype=int)),
}
DRAWER: dict[str, Change] = {
    f"{name}[{place}] of {value:g}": lambda a, name=name, place=place, value=value: {
        name: at(a[name], value, place)
    }
    for name, place, value in (
        ("widening", 0, 0.0), ("widening", 3, -1.0), ("reading", 2, 0.0), ("reading", 3, -1.0),
        ("grammar", 0, 9.0), ("grammar", 1, -9.0), ("grammar", 2, 1.5), ("speed_unit", 0, 0.0),
        ("speed_scale", 0, 0.0), ("place_scale", 1, -1.0), ("microphones", 0, 1e5),
        ("speed_weights_0", 0, 1e7), ("direction_biases_2", 0, -1e9),
        ("reading", 3, 5.01), ("reading", 3, 3000.0), ("reading", 2, 1e-300),
        ("widening", 1, 1e-300), ("place_scale", 0, 1e-305), ("direction_scale", 2, 9e-10),
        ("speed_unit", 0, 1e3), ("place_unit", 0, 1e-300), ("grammar", 1, 0.01 + 5e-9),
    )
}  # fmt: skip
DRAWER |= {
    "a direction that overflows in light": lambda a: {
        "reading": at(a["reading"], 3000.0, 3),
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
        name: at(a[name], value, place)
    }
    for name, place, value in (
        ("law", 0, 2.0), ("law", 2, -1.0), ("law", 3, 0.5), ("law", 4, 0.0), ("table", 0, -1.0),
        ("table", 2, 1e6), ("filter", 0, 0.0), ("filter", 3, 1e9), ("filter", 0, 100.5),
        ("filter", 4, 3.0), ("cosines", 0, 0.0), ("cosines", 0, 1e3), ("sines", 2, 9.0),
        ("samples", 0, 1.5), ("samples", 2, -0.5), ("table", 2, 1000.0), ("table", 2, 100.0),
        ("table", 2, 11.0), ("table", 0, 400.0),
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
        name: at(a[name], value, place)
    }
    for name, place, value in (
        ("strokes.speeds", 3, 500.0), ("strokes.durations", 0, -1.0), ("strokes.joints", 0, 9.0),
        ("strokes.wind_ups", 0, 1e4), ("strokes.offsets", 2, 40.0), ("strokes.x", 0, 99.0),
        ("strokes.angle", 1, -2.9), ("energy.scale", 0, 0.0), ("energy.scale", 1, -1.0),
        ("energy.first", 0, 1e9), ("energy.last", 0, 1e20), ("modes.wall.matrix", 0, 1e6),
        ("modes.floating.covariance", 0, -1.0), ("modes.mallet.covariance", 1, 0.5),
        ("modes.airflow", 0, -1.0), ("modes.delay", 0, 1e6), ("strokes.durations", 5, 1.9),
        ("strokes.wind_ups", 7, 1.0), ("strokes.joints", 8, 0.5),
        ("modes.floating.matrix", 0, 50.0), ("modes.floating.offset", 1, -50.0),
        ("modes.wall.offset", 0, 50.0), ("modes.mallet.matrix", 2, 50.0),
        ("modes.delay", 0, 0.11), ("modes.delay", 0, 100.0),
        ("modes.rebounds.0.matrix", 0, -80.0), ("modes.rebounds.0.offset", 0, 90.0),
    )
}  # fmt: skip
STRETCHED = (0.0, 1.70274, 0.0, 0.0, 0.0, 0.0, 0.0)
"""Postures, rad, in which the tip is at its height and cannot be moved along the arm."""
SHOOTING |= {
    f"{name} of {words}": lambda a, name=name, matrix=matrix: {f"{name}.matrix": matrix}
    for name, words, matrix in (
        ("modes.wall", "no bank", np.eye(2)), ("modes.rebounds.0", "no bank", np.eye(2)),
        ("modes.rebounds.0", "a gain of 80", np.diag((-80.0, 80.0))),
        ("modes.floating", "a turn", -1.04 * np.eye(2)),
        ("modes.floating", "a quarter of one", np.array(((0.0, -1.0), (1.0, 0.0)))),
    )
}  # fmt: skip
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


DENSITY: dict[str, Change] = {
    "another box": lambda a: {"box": a["box"] * 2.0},
    "a box turned": lambda a: {"box": a["box"][::-1].copy()},
    "a scale of zero": lambda a: {"input_scale": at(a["input_scale"], 0.0)},
    "a negative scale": lambda a: {"y_scale": -a["y_scale"]},
    "a scale of 1e-30": lambda a: {"y_scale": 1e-30 * a["y_scale"]},
    "weights of 1e20": lambda a: {"weight_0": 1e20 * a["weight_0"]},
    "a weight of infinity": lambda a: {"bias_1": at(a["bias_1"], np.inf)},
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
    "a clock that stands": lambda a: {"clock": at(a["clock"], 0.0)},
    "half a window": lambda a: {"clock": at(a["clock"], 20.5, 1)},
    "a film of 100 kHz": lambda a: {"clock": np.array((1e5, 1.0, 1.0))},
    "a film of 1101 Hz": lambda a: {"clock": np.array((1101.0, 55.0, 2.0))},
    "4400 steps a second": lambda a: {"clock": np.array((1100.0, 1.0, 4.0))},
    "a window of 1001 frames": lambda a: {"clock": at(a["clock"], 1001.0, 1)},
    "10^9 steps a frame": lambda a: {"clock": at(a["clock"], 1e9, 2)},
    "noise of nothing": lambda a: {"observation": 0.0 * a["observation"]},
    "negative noise": lambda a: {"departure": -a["departure"]},
    "noise of fewer draws": lambda a: {"departure": a["departure"][:-1]},
}
DRAWS: dict[str, Change] = {
    "noise of nothing": lambda a: {"observation": 0.0 * a["observation"]},
    "noise of 1e-300": lambda a: {"observation": 1e-300 * a["observation"]},
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

"""What a program calls: clips to restitution, packages to draws, the champion of a registry.

Nothing here publishes. numpy, scipy and the base install are enough.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float
from numpy import ndarray

from ricochet.tasks.registry import signatures
from ricochet.tasks.registry.champion import DAY, Champion
from ricochet.tasks.registry.packages import Package, read_package
from ricochet.tasks.registry.signatures import Key
from ricochet.tasks.registry.sources import Source
from ricochet.tasks.systems.bouncing_ball import contact_package, family_package
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR


def calibrate(
    recording: Path | str, out: Path | str, *, ball: str | None = None, seed: int = 0
) -> dict[str, Any]:
    """Return the result of a recording or a session folder, as `result.json` in `out` has it.

    `mean` and `covariance` are in the order of `parameters`, `region_90` has the central 90 %
    intervals by name, and `unknown` names what the recording does not show. All fields:
    docs/reference/formats.md.

    Args:
        ball: Name of the ball of a bare recording, by which its drag is known: ping-pong, tennis,
            golf, squash, basketball, steel, or `DIAMETER,MASS` in m and kg.

    Raises:
        BadInput: If the recording cannot be used, or holds no ball.
    """
    from ricochet.tasks.systems import catalogue
    from ricochet.tasks.systems.bouncing_ball.calibration import run, targets

    request = targets.CalibrationRequest(catalogue.load_settings(), Path(out), seed, ball=ball)
    targets.check_ball([str(recording)], request)
    (entry,) = run.run([str(recording)], request).values()
    return dict(entry["result"])


def load_posterior(folder: Path | str, *, key: Key | None = None) -> Package:
    """Return the package in a folder, checked; `BadInput` if it is not what it promises.

    Args:
        key: By which it must be signed, as in `champion`.
    """
    demanded = signatures.demanded(key)
    return read_package(Path(folder), reader=POSTERIOR.load_reader(), key=demanded)


def champion(
    name: str,
    source: Source,
    kept: Path | str,
    *,
    oldest: float = 30 * DAY,
    report_line: Callable[[str], None] = lambda line: None,
    key: Key | None = None,
) -> Champion:
    """Return the package in use of a name, looked up once and kept in a folder.

    Args:
        oldest: Age, s, past which a posterior must not be used.
        report_line: Called with a line for everything that is not as it should be.
        key: Public half of the key by which packages must be signed, a PEM file or 64 hexadecimal
            digits; None is the one that RICOCHET_PUBLIC_KEY names, if it does; "unsigned" takes
            unsigned ones.
    """
    found = Champion(
        name,
        source,
        Path(kept),
        kind=POSTERIOR,
        oldest=oldest,
        report_line=report_line,
        key=key,
    )
    found.refresh()
    return found


def restitution(package: Package, speed: Float[ndarray, " speed"]) -> Float[ndarray, "speed draw"]:
    """Return a package's draws of restitution at speeds of impact, m/s."""
    if package.kind == contact_package.FAMILY:
        return family_package.restitution(package.arrays, speed)
    return np.tile(package.arrays["samples"][:, 0], (len(speed), 1))

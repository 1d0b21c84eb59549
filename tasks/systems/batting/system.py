"""What batting, the planar impacts of rigid bodies, offers."""

from collections.abc import Mapping, Sequence
from typing import Any

from ricochet.tasks.systems.interface import Inference, InferenceRequest, NumberOption, System


def _infer_impacts(request: InferenceRequest) -> Mapping[str, Any]:
    from ricochet.tasks.systems.batting import infer_impacts

    return infer_impacts.run(request)


def _impact_lines(result: Mapping[str, Any]) -> Sequence[str]:
    from ricochet.tasks.systems.batting import infer_impacts

    return infer_impacts.lines(result)


SYSTEM = System(
    "batting",
    inferences=(
        Inference(
            "impacts",
            "restitution, tangential restitution, friction and noise of planar impacts, from a"
            " table of them",
            _infer_impacts,
            _impact_lines,
            details="a table: a row an impact, SI units, columns mass, inertia, contact_x,"
            " contact_y, normal_x, normal_y,\nsurface_vx, surface_vy, vx, vy, spin, vx_after,"
            " vy_after, spin_after; the contact is from the centre of mass,\nthe normal points from"
            " the surface to the body, spin is positive counter-clockwise\na table to try:"
            " python -m ricochet.tasks.systems.batting.sample FOLDER   (FOLDER/impacts.csv)",
            example="impacts.csv --hold-out 0.5",
            numbers=(
                NumberOption(
                    "hold_out",
                    "SHARE",
                    "share of the rows that is predicted, not learnt from (default 0.5: every"
                    " second row; 0: none)",
                    0.5,
                    (0.0, 0.9),
                ),
            ),
            motion=False,
            loads="tables of impacts",
        ),
    ),
)

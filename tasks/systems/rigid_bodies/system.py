"""What rigid bodies, seen to move, offer."""

from collections.abc import Mapping
from typing import Any

from ricochet.tasks.systems.interface import Headline, Study, StudyRequest, System


def _synthetic(request: StudyRequest) -> Mapping[str, Any]:
    from ricochet.tasks.systems.rigid_bodies.studies import pendulum_synthetic

    return pendulum_synthetic.run(request)


SYSTEM = System(
    "rigid_bodies",
    studies=(
        Study(
            "pendulum-synthetic",
            "the law of a pendulum's two lengths, by all methods and exactly",
            _synthetic,
            ("seeds", "of data, ten pendulums each"),
            duration="an hour of two cores; with --quick 3 minutes",
            headline=Headline(
                "rows",
                {
                    "KL(real|sim), nats": "kl_real_sim",
                    "KL(sim|real), nats": "kl_sim_real",
                    "MMD^2": "mmd2",
                    "log p_obs, nats": "log_p_obs",
                    "width, share": "width",
                    "processor time, s": "cpu_s",
                },
            ),
        ),
    ),
)

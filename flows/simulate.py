"""The flow that simulates a data set of drops without sound."""

from pathlib import Path
from typing import Any

from prefect import flow, task

from ricochet.flows.job_places import jobs_by_settings
from ricochet.flows.prefect_options import FLOW, ONCE
from ricochet.tasks.console.progress import bar
from ricochet.tasks.storage.files import output_folder
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball import simulated_drops
from ricochet.tasks.systems.bouncing_ball.settings import Simulate


@flow(name="simulate", flow_run_name="simulate drops", **FLOW)
@jobs_by_settings
def simulate(
    out: str = "artifacts/simulate",
    seed: int = 0,
    params: str | None = None,
    overrides: list[str] | None = None,
) -> dict[str, Any]:
    """Simulate the drops of the settings; the same seed gives the same bytes.

    Args:
        params: YAML file laid over params.yaml.
        overrides: Texts `section.key=value`.
    """
    folder = output_folder(Path(out))
    return drops(folder, catalogue.load_settings(params, overrides)[Simulate], seed)


@task(name="draw and save", task_run_name="draw and save", **ONCE)
def drops(folder: Path, settings: Simulate, seed: int) -> dict[str, Any]:
    """Simulate all drops."""
    with bar("drops") as progress:
        return simulated_drops.run(settings, folder, seed=seed, progress=progress)

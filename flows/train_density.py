"""The flow that trains the density network, records its search and registers it."""

from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.runtime import flow_run

from ricochet.tasks.console.progress import bar
from ricochet.tasks.registry import runs
from ricochet.tasks.registry.runs import Tracker
from ricochet.tasks.storage.files import output_folder, write_json
from ricochet.tasks.storage.provenance import artifacts
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.calibration import density, publish
from ricochet.tasks.systems.bouncing_ball.settings import Density


@flow(name="train-density", retries=0, persist_result=False, result_serializer="json")
def train_density(
    out: str = "artifacts/train/density",
    seed: int = 0,
    params: str | None = None,
    overrides: list[str] | None = None,
) -> dict[str, Any]:
    """Train the density of the settings, unless it is there, and register it.

    Args:
        out: Folder of the results.
        seed: Seed of all randomness.
        params: YAML file laid over params.yaml.
        overrides: Texts `section.key=value`.

    Returns:
        What `result.json` holds.
    """
    wanted = catalogue.load_settings(params, overrides)[Density]
    folder, tracker = output_folder(Path(out)), runs.connect()
    trained = train(folder, wanted, seed)
    version = register(tracker, folder)
    result = density.summary(folder / "package", trained=trained)
    result |= {"model": f"{density.NAME}/{version}"}
    result |= {"registered": {"name": density.NAME, "version": version}}
    write_json(folder / "result.json", result)
    return result


@task(name="train density", cache_policy=NO_CACHE, retries=0)
def train(folder: Path, wanted: Density, seed: int) -> bool:
    """Train where there is no package of these settings.

    Args:
        folder: Folder of the results.
        wanted: Size and schedule.
        seed: Seed of all randomness.

    Returns:
        Whether it was trained now.
    """
    with bar("density") as progress:
        return density.find_or_train(wanted, folder, seed=seed, progress=progress)[1]


@task(name="register density", cache_policy=NO_CACHE, retries=2, retry_delay_seconds=5)
def register(tracker: Tracker, folder: Path) -> str:
    """Record and register the package.

    Args:
        tracker: The store.
        folder: Folder of the results.

    Returns:
        The version.
    """
    version, _ = publish.publish_density(tracker, folder, flow_run=str(flow_run.id or ""))
    return version.version


def ready(tracker: Tracker, wanted: Density, *, seed: int) -> tuple[Path, str]:
    """Have the density of these settings trained and registered; for use inside a flow.

    Args:
        tracker: The store.
        wanted: Size and schedule.
        seed: Seed of all randomness.

    Returns:
        The package, and its name and version in the registry.
    """
    folder = output_folder(artifacts() / "train" / "density")
    train(folder, wanted, seed)
    return folder / "package", f"{density.NAME}/{register(tracker, folder)}"

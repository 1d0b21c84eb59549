"""The scheduled flow: capture, publish, train if needed, calibrate every pair, validate.

The shooting policies come last: trained where settings or code changed, and validated.

Each part finds its own earlier result, so a second run of the same night adds nothing. A DVC remote
that is away ends no night: the sealed session stays, what is at hand is calibrated, the result says
why nothing was published, and the next night publishes what was left over.
"""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any

from prefect import flow, task
from prefect.cache_policies import NO_CACHE
from prefect.runtime import flow_run

from ricochet.flows import calibrate as calibration
from ricochet.flows import capture as capturing
from ricochet.flows import train as energy
from ricochet.flows import validate as validation
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.general_settings import Capture, Nightly
from ricochet.tasks.recordings import dvc_publish
from ricochet.tasks.recordings.dvc_publish import PublicationError
from ricochet.tasks.storage.files import output_folder, write_json
from ricochet.tasks.storage.provenance import artifacts
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.air_hockey.settings import NightlyShooting
from ricochet.tasks.systems.bouncing_ball.settings import NightlyDrops


@flow(name="nightly", retries=0, persist_result=False, result_serializer="json")
def nightly(
    session: str | None = None,
    out: str = "artifacts/nightly",
    seed: int = 0,
    params: str | None = None,
    overrides: list[str] | None = None,
) -> dict[str, Any]:
    """Record tonight's session and calibrate all recordings.

    Args:
        session: Id of the session; None names it after the scheduled start.
        out: Folder of the results.
        seed: Seed of all randomness.
        params: YAML file laid over params.yaml.
        overrides: Texts `section.key=value`.

    Returns:
        What `result.json` holds.
    """
    wanted = catalogue.load_settings(params, overrides)
    folder, name = output_folder(Path(out)), session or tonight()
    late, most = capturing.lateness(), wanted[Nightly].max_lateness
    if late > most:
        recorded = capturing.skipped(output_folder(folder / "capture"), name, late)
    else:
        recorded = capturing.capture(
            session=name,
            out=str(folder / "capture"),
            seed=seed,
            params=params,
            overrides=[*(overrides or ()), f"capture.drops={wanted[NightlyDrops].drops}"],
            publishing=False,
        )
    published, reasons = publish(folder / "capture", name, wanted[Capture].remote)
    try:
        fetch()
    except PublicationError as error:
        reasons.append(str(error))
    results = calibration.calibrate(
        out=str(folder / "calibrate"), seed=seed, params=params, overrides=overrides
    )
    result = {
        "schema": "ricochet.nightly/1",
        "state": recorded["state"],
        "session": name,
        "published": published.get(name),
        "reason": "; ".join(reasons) or None,
        "pairs": {pair: entry["unchanged"] for pair, entry in results.items()},
        "validated": {},
    }
    if wanted[Nightly].validate:
        result["validated"] = {
            pair: validated(pair, folder / "validate" / pair, seed, params, overrides)
            for pair in results
        }
    if wanted[NightlyShooting].shooting:
        result["shooting"] = shooting(folder, seed, params, overrides)
    write_json(folder / "result.json", result)
    return result


def shooting(
    folder: Path, seed: int, params: str | None, overrides: list[str] | None
) -> dict[str, str]:
    """Train the shooting policies where needed and validate them; a fault of theirs ends no night.

    Args:
        folder: Folder of the results.
        seed: Seed of all randomness.
        params: YAML file laid over params.yaml.
        overrides: Texts `section.key=value`.

    Returns:
        What came of each in one line, by name, or of the training as `training`.
    """
    given: dict[str, Any] = {"seed": seed, "params": params, "overrides": overrides}
    try:
        trained = energy.train_energy(out=str(artifacts() / "train" / "energy"), **given)
    except (BadInput, RuntimeError, ValueError) as error:
        return {"training": " ".join(str(error).split())}
    return {
        name: _outcome(
            partial(validation.validate, name=name, out=str(folder / "validate" / name), **given)
        )
        for name in trained["registered"]
    }


def publish(folder: Path, tonight: str, remote: str) -> tuple[dict[str, str], list[str]]:
    """Publish tonight's session, then what earlier nights could not.

    Args:
        folder: Where sessions were sealed.
        tonight: Id of tonight's session, which is published again if it was before.
        remote: Name of the DVC remote.

    Returns:
        The digest of all recordings by session that was published now, and why others were not.

    Raises:
        BadInput: If tonight's session cannot be published by a fault of the input.
    """
    done: dict[str, str] = {}
    reasons: list[str] = []
    own = [folder / tonight] if (folder / tonight).is_dir() else []
    for session in [*own, *(left for left in dvc_publish.waiting(folder) if left not in own)]:
        try:
            done[session.name] = capturing.publish(session, remote)
            dvc_publish.remember(session, done[session.name])
        except PublicationError as error:
            reasons.append(str(error))
            if not done:
                break  # the remote is away; the others would fail alike, each after its retries
        except BadInput as error:
            if session in own:
                raise
            reasons.append(str(error))
    return done, reasons


def validated(
    pair: str, folder: Path, seed: int, params: str | None, overrides: list[str] | None
) -> str:
    """Validate the candidate of a pair; what goes wrong with one pair ends no night.

    Args:
        pair: `<ball>-<surface>`.
        folder: Folder of the results.
        seed: Seed of all randomness.
        params: YAML file laid over params.yaml.
        overrides: Texts `section.key=value`.

    Returns:
        What came of it, in one line.
    """
    return _outcome(
        lambda: validation.validate(
            name=pair, out=str(folder), seed=seed, params=params, overrides=overrides
        )
    )


@task(name="fetch recordings", cache_policy=NO_CACHE, retries=2, retry_delay_seconds=5)
def fetch() -> None:
    """Have all recordings at hand that `data.dvc` names, not tonight's alone."""
    dvc_publish.pull()


def tonight() -> str:
    """Name the session after the scheduled start, so that a retry finds it.

    Returns:
        `nightly-` and the date and time in UTC.
    """
    planned = flow_run.scheduled_start_time
    if not isinstance(planned, datetime):
        raise RuntimeError("nightly runs as a flow, which has a start time")
    return f"nightly-{planned:%Y%m%dT%H%M%S}"


def _outcome(validate: Callable[[], dict[str, Any]]) -> str:
    try:
        result = validate()
    except (BadInput, RuntimeError) as error:
        return " ".join(str(error).split())
    if result["unchanged"]:
        return "champion already"
    return "promoted" if result["promoted"] else "refused by the gate"

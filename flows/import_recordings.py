"""The flow that seals existing recordings as a session and publishes it, as captured ones are."""

from dataclasses import asdict
from pathlib import Path
from typing import Any

from prefect import flow, task

from ricochet.flows.capture import publish
from ricochet.flows.prefect_options import FLOW, ONCE
from ricochet.tasks.general_settings import Capture
from ricochet.tasks.recordings import dvc_publish
from ricochet.tasks.settings import Settings
from ricochet.tasks.storage.files import output_folder, write_json
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball import recording_import
from ricochet.tasks.systems.bouncing_ball.recording_import import ImportRequest


@flow(name="import", flow_run_name="import {stated[ball]}-{stated[surface]}", **FLOW)
def import_recordings(
    stated: dict[str, Any],
    out: str = "artifacts/import",
    params: str | None = None,
    overrides: list[str] | None = None,
) -> dict[str, Any]:
    """Seal recordings as a session and publish it.

    Args:
        stated: What `to_words` returns of a request.
        params: YAML file laid over params.yaml.
        overrides: Texts `section.key=value`.
    """
    settings = catalogue.load_settings(params, overrides)
    folder = output_folder(Path(out))
    result = seal(_request(stated), settings, folder)
    digest = publish(Path(result["folder"]), settings[Capture].remote)
    there = f"{dvc_publish.DATA}/{result['session']}"
    result |= {"published": digest, "next": result["next"].replace(result["folder"], there)}
    write_json(folder / "result.json", result)
    return result


@task(name="check and seal", task_run_name="seal {request.ball}-{request.surface}", **ONCE)
def seal(request: ImportRequest, settings: Settings, folder: Path) -> dict[str, Any]:
    """Seal recordings, or return the session that is there."""
    return recording_import.run(request, settings, folder)


def to_words(request: ImportRequest) -> dict[str, Any]:
    """Return a request as the flow takes it, JSON alone."""
    files = [str(path.resolve()) for path in request.files]
    return {**asdict(request), "files": files, "microphones": str(request.microphones.resolve())}


def _request(stated: dict[str, Any]) -> ImportRequest:
    files = tuple(Path(each) for each in stated["files"])
    return ImportRequest(**{**stated, "files": files, "microphones": Path(stated["microphones"])})

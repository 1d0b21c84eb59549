"""Captures of sessions that have a form of their own, by the name of their kind."""

from pathlib import Path
from typing import Any

from ricochet.tasks.console.progress import bar
from ricochet.tasks.recordings import recorder
from ricochet.tasks.settings import Settings
from ricochet.tasks.storage.files import write_json
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.interface import CaptureRequest


def run(
    what: str, settings: Settings, folder: Path, *, rig: str, session: str, seed: int
) -> dict[str, Any]:
    """Record and seal a session under `folder/<session>`, and write `result.json`.

    Raises:
        BadInput: If the kind or rig is unknown, the id cannot name a folder or the disk is full.
        BusyError: If another process uses the rig.
    """
    kind = catalogue.session_kind(what)
    recorder.check_name(session)
    with bar(session) as progress:
        sealed = kind.run(CaptureRequest(settings, folder / session, rig, seed, progress))
    result = {
        "schema": "ricochet.capture/1",
        "session": session,
        "folder": str(sealed.folder),
        "state": sealed.state,
        "takes": sealed.takes,
        "published": None,
    }
    write_json(folder / "result.json", result)
    return result

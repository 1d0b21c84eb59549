"""A validation that records nothing and moves nothing: the same steps, without any server.

It reads the candidate, the champion and the recordings; what it finds is in `result.json`.
"""

from pathlib import Path
from typing import Any

from flows import on_trial, validate
from tasks import gate, laboratory, tracking
from tasks.artefacts import output_folder, write_json
from tasks.settings import Settings


def rehearse(name: str, *, wanted: Settings, out: Path, seed: int) -> dict[str, Any]:
    """Try the candidate on the simulated rig and judge it.

    Args:
        name: `<ball>-<surface>`.
        wanted: The settings.
        out: Folder of the results.
        seed: Seed of all randomness.

    Returns:
        What `result.json` holds; its `run` is None.

    Raises:
        BadInput: If something is missing or not as it should be.
    """
    laboratory.ball_of(name)
    tracker, folder = tracking.connect(), output_folder(out)
    trial = on_trial.load.fn(tracker, name)
    if trial is None:
        result = on_trial.unchanged(tracker, name)
    else:
        evidence = validate.audit.fn(tracker, trial, wanted, seed)
        left = output_folder(folder / "-".join((name, *trial.versions.values())))
        twin, met = validate.try_on_rig.fn(trial, wanted, seed, left)
        verdict = gate.judge(evidence, twin)
        result = validate.result_of(trial, twin, met, verdict, None) | {"promoted": False}
    write_json(folder / "result.json", result)
    return result

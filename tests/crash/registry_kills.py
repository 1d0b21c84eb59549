"""Registry steps killed one by one, in processes of their own; prints what each kill left.

    python -m tests.crash.registry_kills {register,promote,rollback} FOLDER

The parent never opens the store, since no connection survives a fork: every state is read, and
every repetition is run, by a child that connects afresh. What they all import it imports once.
One JSON line a kill:

    {"step": 3, "killed": true, "after_kill": STATE, "after_again": STATE, "after_third": STATE}
"""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

from mlflow.store.model_registry import sqlalchemy_store as _registry_store  # noqa: F401
from mlflow.store.tracking import sqlalchemy_store as _run_store  # noqa: F401
from sqlalchemy.orm import configure_mappers

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import packages, promotion, promotion_log, runs, versions
from ricochet.tasks.registry.verdicts import Check, Verdict
from ricochet.tasks.registry.versions import Registered
from ricochet.tasks.storage.files import sha256
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from ricochet.tasks.systems.bouncing_ball.kinds import POSTERIOR
from tests import grid_packages
from tests.crash import kill

PASSED = Verdict((Check("all", True, "well", "well"),))
CLIENT_STEPS = {
    "register": ("log_artifacts", "create_registered_model", "create_model_version"),
    "promote": ("set_model_version_tag",),
    "rollback": ("set_model_version_tag",),
}
KILLS = {"register": 8, "promote": 10, "rollback": 10}
"""Four or five steps, each killed before and after; one more run is left to end by itself."""
ALIAS_STEPS = ("set_registered_model_alias", "delete_registered_model_alias")


def state(folder: Path, name: str) -> dict[str, object]:
    """Aliases, whether what they point at is whole, versions, runs and the log's last line."""
    tracker = runs.connect(store=folder / "mlflow")
    aliases, whole = {}, {}
    for alias in ("candidate", "champion", "previous"):
        found = versions.resolve(tracker, name, alias)
        aliases[alias] = None if found is None else found.version
        if found is not None:
            try:
                versions.load(tracker, found, kind=POSTERIOR)
                whole[alias] = True
            except BadInput:
                whole[alias] = False
    entries = promotion_log.read(name)
    return {
        "aliases": aliases,
        "whole": whole,
        "versions": len(tracker.client.search_model_versions(f"name = '{name}'")),
        "log": [f"{entry.action} {entry.step}" for entry in entries],
    }


def prepare(folder: Path, name: str, verb: str) -> None:
    """Register two versions and promote as far as the verb needs it."""
    tracker = runs.connect(store=folder / "mlflow")
    for number in (1, 2):
        _version(folder, name, number)
        if number == 1 or verb == "rollback":
            promote(tracker, name, str(number))


def _version(folder: Path, name: str, number: int) -> None:
    """Make a version of a name, without the steps that are tested."""
    tracker = runs.connect(store=folder / "mlflow")
    run = runs.open_run(tracker, "crash", f"{name}-{number}", name=name, tags={})
    made = folder / f"{name}-{number}"
    if not run.finished:
        packages.write_package(made, grid_packages.made(name, number=number), reader=GRID)
        tracker.client.log_artifacts(run.run_id, str(made), versions.FOLDER)
        runs.finish(tracker, run.run_id)
    if number == 1:
        tracker.client.create_registered_model(name)
    source, digest = f"runs:/{run.run_id}/{versions.FOLDER}", sha256(made / GRID.manifest)
    tracker.client.create_model_version(
        name, source=source, run_id=run.run_id, tags={versions.DIGEST: digest}
    )


def register(folder: Path, name: str, number: int) -> None:
    tracker = runs.connect(store=folder / "mlflow")
    run = runs.open_run(tracker, "crash", f"{name}-{number}", name=name, tags={})
    made = folder / f"{name}-{number}"
    packages.write_package(made, grid_packages.made(name, number=number), reader=GRID)
    versions.register(tracker, name, made, kind=POSTERIOR, run_id=run.run_id, tags={})


def promote(tracker: runs.Tracker, name: str, version: str) -> None:
    promotion.promote(
        tracker,
        Registered(name, version),
        kind=POSTERIOR,
        verdict=PASSED,
        against=None if version == "1" else str(int(version) - 1),
        validation="run",
        reason="a test",
    )


def act(folder: Path, name: str, verb: str, number: int | None = None) -> None:
    """Do what the verb says, dying at the n-th step where a number is given."""
    if number is not None:
        client, log = runs.MlflowClient, promotion_log
        names = (*CLIENT_STEPS[verb], *ALIAS_STEPS)
        steps = SimpleNamespace(**{step: getattr(client, step) for step in names})
        steps.append = log.append
        kill.before_and_after(steps, (*names, "append"), number=number)
        for step in names:
            setattr(client, step, getattr(steps, step))
        log.append = steps.append
    tracker = runs.connect(store=folder / "mlflow")
    if verb == "register":
        register(folder, name, 1)
    elif verb == "promote":
        promote(tracker, name, "2")
    else:
        promotion.rollback(tracker, name, kind=POSTERIOR, reason="a test")


def after(folder: Path, name: str, verb: str) -> list[object]:
    """Look at what a kill left, repeat the action twice, and look each time."""
    seen = [state(folder, name)]
    for _ in range(2):
        act(folder, name, verb)
        seen.append(state(folder, name))
    return seen


def main(verb: str, folder: Path) -> None:
    def prepare_all() -> None:
        runs.connect(store=folder / "mlflow")
        for number in range(1, KILLS[verb] + 2 if verb != "register" else 0):
            prepare(folder, f"ball-{number}", verb)

    configure_mappers()
    assert kill.forked(prepare_all) == 0
    place = folder / "state.json"
    for number in range(1, KILLS[verb] + 2):
        name = f"ball-{number}"
        status = kill.forked(lambda name=name, n=number: act(folder, name, verb, n))
        again = kill.forked(
            lambda name=name: place.write_text(json.dumps(after(folder, name, verb)))
        )
        assert again == 0, f"{verb} after kill {number}"
        keys = ("after_kill", "after_again", "after_third")
        row = dict(zip(keys, json.loads(place.read_text()), strict=True))
        sys.stdout.write(json.dumps(row | {"step": number, "killed": status != 0}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))

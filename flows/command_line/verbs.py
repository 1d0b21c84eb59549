"""The verbs of the command line: what each takes, and which flow or task it calls.

With publishing a verb runs its Prefect flow; with `--no-publish` it calls the same steps without
any server, so that a quick look costs nothing.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ricochet.flows.command_line import registry_verbs
from ricochet.flows.command_line.verb import Call, Verb
from ricochet.flows.servers import kill_guard

if TYPE_CHECKING:
    from ricochet.tasks.settings import Settings
    from ricochet.tasks.systems.bouncing_ball.calibration.run import Order


STUDIES = Path("artifacts", "study")
STUDY_MODULES = {
    "ball-inference": "bouncing_ball.studies.inference",
    "cup": "bouncing_ball.studies.cup",
    "ball-tracking": "bouncing_ball.studies.tracking",
    "shooting": "air_hockey.studies.table_one",
}
OWNERS = {"tosses": "ball-tracking", "shots": "shooting"}
"""Options that one study has, for the count of what it plays."""


def calibrate(call: Call) -> None:
    """Turn recordings into posteriors."""
    from ricochet.tasks.systems.bouncing_ball.calibration import report, run

    sessions = [str(path) for path in call.arguments.session]
    density = call.arguments.density
    order = run.Order(call.settings, call.out, call.seed, density=density)
    publish = call.publish and not run.is_bare(sessions)
    result = _settled(sessions, order, publish=publish)
    if result is None and publish:
        from ricochet.flows.calibrate import calibrate as flow

        named = None if density is None else str(density)
        result = flow(sessions=sessions, density=named, **call.parameters())
    elif result is None:
        result = run.run(sessions, order)
    for line in report.lines(result, call.out):
        call.say(line)


def capture(call: Call) -> None:
    """Record and seal a session."""
    from ricochet.tasks.general_settings import Capture

    _prepare_servers()
    rig, session = call.arguments.rig or call.settings[Capture].rig, call.arguments.session
    if call.publish:
        from ricochet.flows.capture import capture as flow

        result = flow(rig=rig, session=session, **call.parameters())
    else:
        from ricochet.tasks.systems.bouncing_ball import capture as capturing

        result = capturing.run(call.settings, call.out, rig=rig, session=session, seed=call.seed)
    call.say(f"{result['session']}: {result['takes']} takes, {result['state']}")
    _say_published(call, result["published"])


def simulate(call: Call) -> None:
    """Simulate drops without sound."""
    from ricochet.tasks.systems.bouncing_ball import simulated_drops
    from ricochet.tasks.systems.bouncing_ball.settings import Simulate

    result = simulated_drops.run(call.settings[Simulate], call.out, seed=call.seed)
    call.say(f"{result['drops']} drops in {call.out / result['data']}")


def train_density(call: Call) -> None:
    """Train the conditional density and register it."""
    from ricochet.tasks.systems.bouncing_ball.settings import Density

    chosen = _searched(call, "density")[Density]
    if call.publish:
        _prepare_servers()
        from ricochet.flows.train_density import train_density as flow

        result = flow(**call.parameters())
    else:
        from ricochet.tasks.console.progress import bar
        from ricochet.tasks.systems.bouncing_ball.calibration import density

        with bar("density") as progress:
            result = density.run(chosen, call.out, seed=call.seed, progress=progress)
    call.say(f"{result['model']}: held-out {result['held_out']:.3f} nats, {call.out / 'package'}")


def train_energy(call: Call) -> None:
    """Train the energies of shots and register them."""
    chosen = _searched(call, "energy")
    if call.publish:
        _prepare_servers()
        from ricochet.flows.train import train_energy as flow

        result = flow(**call.parameters())
    else:
        from ricochet.tasks.console.progress import bar
        from ricochet.tasks.systems.air_hockey.policies import train
        from ricochet.tasks.systems.air_hockey.policies.training_data import Order

        result = train.run(Order(chosen, call.out, call.seed), bar)
    for name, row in result["energies"].items():
        lost, same = row["regret_share"], row["agreement"]
        call.say(f"{name}: loses {lost:.4f} of the best objective, {same:.2f} of the modes agree")


def nightly(call: Call) -> None:
    """Capture, train if needed, calibrate, publish."""
    from ricochet.models.core.bad_input import BadInput

    if not call.publish:
        raise BadInput("--no-publish", "nightly", "capture, then calibrate: nightly publishes")
    _prepare_servers()
    from ricochet.flows.nightly import nightly as flow

    result = flow(session=call.arguments.session, **call.parameters())
    call.say(f"nightly: {result['session']} {result['state']}, {len(result['pairs'])} pairs")
    _say_published(call, result["published"])
    if result["reason"] is not None:
        call.say(f"not all is published or at hand: {result['reason']}")


def study(call: Call) -> None:
    """Make one paper's tables and figures."""
    from importlib import import_module

    from ricochet.models.core.bad_input import BadInput
    from ricochet.tasks.console import progress
    from ricochet.tasks.storage.files import output_folder, write_json

    kill_guard.guard_children()
    name, out = call.arguments.name, call.out
    for option, owner in OWNERS.items():
        if getattr(call.arguments, option) is not None and name != owner:
            raise BadInput(f"--{option}", f"study {name}", f"study {owner}, which alone has it")
    if call.arguments.out == STUDIES:  # nobody chose: a study must not overwrite another's
        out = output_folder(out / name)
    module = import_module(f"ricochet.tasks.systems.{STUDY_MODULES[name]}")
    wanted = call.arguments.tosses or call.arguments.shots
    size: dict[str, int] = {"wanted": wanted} if wanted else {}
    size |= {"quick": True} if call.arguments.quick else {}
    with progress.bar(name) as report:
        result: Mapping[str, Any] = module.run(call.settings, out, report, seed=call.seed, **size)
    write_json(out / "result.json", {**result, "seed": call.seed})
    call.say(f"study {name}: {out / 'result.json'}")


def up(call: Call) -> None:
    """Start the servers and the worker."""
    from ricochet.flows.servers import up as servers

    found = servers.defaults()
    mlflow_port, host = call.arguments.mlflow_port, call.arguments.host
    request = servers.Request(
        host=found["host"] if host is None else host,
        mlflow_port=found["port"] if mlflow_port is None else mlflow_port,
        prefect_port=call.arguments.prefect_port,
        deployments=call.arguments.deployments.resolve(),
        state=call.arguments.state.resolve(),
        out=call.out,
    )
    servers.up(request, say=call.say)


def _searched(call: Call, section: str) -> "Settings":
    """Let a training search as often as `--trials` says; return the settings with it."""
    from ricochet.tasks.systems import catalogue

    if call.arguments.trials is not None:
        call.arguments.overrides.append(f"{section}.trials={call.arguments.trials}")
    return catalogue.load_settings(call.arguments.params, call.arguments.overrides)


def _settled(sessions: list[str], order: "Order", *, publish: bool) -> dict[str, Any] | None:
    """Return the results if all are there already, so that no server starts for nothing."""
    from ricochet.tasks.systems.bouncing_ball.calibration import run

    before = run.unchanged(sessions, order, published=publish)
    if not publish:
        return before
    _prepare_servers()
    if before is None:
        return None
    from ricochet.tasks.registry import runs
    from ricochet.tasks.systems.bouncing_ball.calibration import publish as publishing

    tracker = runs.connect()
    kept = all(publishing.is_registered(tracker, entry["result"]) for entry in before.values())
    return before if kept else None


def _say_published(call: Call, digest: str | None) -> None:
    if digest is None:
        return
    from ricochet.tasks.recordings import dvc_publish

    changed = "; data.dvc has changed, to be committed by a person"
    call.say(f"published as {digest}{changed if dvc_publish.awaits_commit() else ''}")


def _prepare_servers() -> None:
    from ricochet.flows.servers import up as servers

    servers.prepare_environment()


def _calibrate_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "session", nargs="*", help="session folders or bare recordings (default: all under data/)"
    )
    parser.add_argument(
        "--density", type=Path, metavar="DIR", help="package of the density network to use"
    )


def _capture_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--rig", metavar="NAME", help="a name under hardware/microphones")
    parser.add_argument("--session", required=True, metavar="ID", help="name of the new session")


def _train_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--trials", type=int, metavar="N", help="trials of an Optuna search")


def _nightly_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--session", metavar="ID", help="name of the session (default: tonight's)")


def _study_options(parser: argparse.ArgumentParser) -> None:
    names = ["ball-inference", "cup", "ball-tracking", "shooting"]
    parser.add_argument("name", choices=names, help="the study")
    parser.add_argument("--tosses", type=_count, metavar="N", help="of each ball (ball-tracking)")
    parser.add_argument("--shots", type=_count, metavar="N", help="of each row (shooting)")
    parser.add_argument("--quick", action="store_true", help="at reduced size")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r}, expected a whole number of 1 or more")
    return int(text)


def _up_options(parser: argparse.ArgumentParser) -> None:
    from ricochet.tasks.storage.provenance import ROOT, artifacts

    parser.add_argument("--host", help="address to listen on (default: loopback)")
    parser.add_argument("--mlflow-port", type=int, metavar="N", help="default 5000; 0: any free")
    parser.add_argument(
        "--prefect-port", type=int, default=4200, metavar="N", help="default 4200; 0: any free"
    )
    parser.add_argument(
        "--deployments", type=Path, default=ROOT / "prefect.yaml", metavar="FILE", help="what runs"
    )
    parser.add_argument(
        "--state", type=Path, default=artifacts(), metavar="DIR", help="databases and logs"
    )


def _no_options(parser: argparse.ArgumentParser) -> None:
    """Add nothing."""


VERBS = (
    Verb(
        ("calibrate",),
        "turn recordings into a posterior for each ball-surface pair (the main job)",
        "ricochet calibrate data/ping-pong-table\n  ricochet calibrate clip.wav --no-publish",
        _calibrate_options,
        calibrate,
    ),
    Verb(
        ("capture",),
        "record and seal a session",
        "ricochet capture --rig simulated --session monday-1 --set capture.drops=5",
        _capture_options,
        capture,
    ),
    Verb(
        ("simulate",),
        "simulate drops, with measurement noise and without sound",
        "ricochet simulate --set simulate.drops=1000 --out artifacts/simulate",
        _no_options,
        simulate,
    ),
    Verb(
        ("train", "density"),
        "train the conditional density of the bouncing ball and register it",
        "ricochet train density --trials 10",
        _train_options,
        train_density,
    ),
    Verb(
        ("train", "energy"),
        "learn the puck's contacts, find shots, train an energy for each setting and register them",
        "ricochet train energy --out artifacts/train/energy",
        _train_options,
        train_energy,
    ),
    Verb(
        ("nightly",),
        "capture, train if needed, calibrate and publish, as the schedule does",
        "ricochet nightly --session nightly-2026-11-20",
        _nightly_options,
        nightly,
        only_publishes=True,
    ),
    Verb(
        ("study",),
        "make one paper's tables and figures",
        "ricochet study ball-inference --quick\n  ricochet study shooting --shots 100",
        _study_options,
        study,
    ),
    *registry_verbs.VERBS,
    Verb(
        ("up",),
        "start the MLflow and Prefect servers and a worker, on loopback, until Ctrl-C",
        "ricochet up --mlflow-port 5001 --prefect-port 4201",
        _up_options,
        up,
    ),
)

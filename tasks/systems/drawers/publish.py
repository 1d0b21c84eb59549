"""What was learnt of a drawer into MLflow: a run, and a version of a named package."""

from ricochet.tasks.recordings.manifests import MANIFEST
from ricochet.tasks.registry import runs
from ricochet.tasks.registry.runs import Tracker
from ricochet.tasks.systems.drawers import train
from ricochet.tasks.systems.drawers.figures.followed import FILE
from ricochet.tasks.systems.drawers.kinds import DRAWER
from ricochet.tasks.training.steps import Publication, TrainingRequest
from ricochet.tasks.validation import publication
from ricochet.tasks.validation.publication import Experiment, Inferred

EXPERIMENT = Experiment(
    "drawers",
    "What drawers sound like (`ricochet train drawer`, `ricochet calibrate` on sessions of"
    " drawers): a run a drawer and set of sessions. `dark_error` is how far off the drawer is"
    " believed to be in the dark, m, `dark_error_mid_stroke` the same of the middle of the stroke;"
    " both coverages are shares of frames in their 90 % intervals, on takes that were held out.",
)


def publish_training(request: TrainingRequest, flow_run: str) -> Publication:
    """Record and register the package of a training in the store of this process."""
    return publish(runs.connect(), request, flow_run)


def publish(tracker: Tracker, request: TrainingRequest, flow_run: str = "") -> Publication:
    """Record and register the package of a training."""
    result = train.describe(request)
    ((name, package),) = train.packages_of(request).items()
    manifests = [folder / MANIFEST for folder in train.folders_of(request)]
    files = [str(each) for each in manifests if each.is_file()]
    inferred = Inferred(
        name,
        DRAWER,
        package,
        request.out,
        files,
        {
            "learnt_from": len(result["takes"]["learnt_from"]),
            "held_out": len(result["takes"]["held_out"]),
        },
        train.numbers(result),
        figure=FILE,
    )
    done = publication.publish(tracker, EXPERIMENT, inferred, flow_run)
    version = str(done.result["registered"]["version"])
    return Publication(done.experiment_id, done.run_id, {"registered": {name: version}})

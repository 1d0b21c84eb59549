"""What a validation says of itself on its own page in MLflow: the verdict, both roles, the figure.

MLflow puts the description of a run, which is Markdown, at the top of its page. Its links and its
picture are relative, so that they work behind any address.
"""

from collections.abc import Mapping

from ricochet.tasks.registry.packages import Package
from ricochet.tasks.registry.runs import TRAINING, OpenRun
from ricochet.tasks.systems.bouncing_ball.validation.results import (
    CANDIDATE,
    CHAMPION,
    OnTrial,
    TwinResult,
)
from ricochet.tasks.validation.checks import Verdict

FIGURE = "figures/candidate-and-champion.png"
LABELS = {
    "success": "tosses met, share",
    "cup_inside_90": "cups inside their predicted 90 %, share",
    "energy": "energy of the paddle over its mass, m²/s",
    "latency_p99": "from sound to new target, 99th percentile, s",
    "refused": "events and targets refused, and stops",
    "restitution_mean": "restitution, mean",
    "restitution_sd": "restitution, standard deviation",
    "log10_concentration_mean": "log10 concentration, mean",
    "log10_concentration_sd": "log10 concentration, standard deviation",
    "score": "shots that scored, share",
    "speed_mean": "speed of the goals at the line, mean, m/s",
    "speed_sd": "speed of the goals at the line, standard deviation, m/s",
    "banks_mean": "banks of the goals, mean",
    "violations": "limits broken",
}
"""Metrics in the order of the table, with their units; one without a label goes last."""
SPACE = " | &emsp;"
"""Between two cells: MLflow leaves no room between the columns of a table."""


def title(result: OnTrial, verdict: Verdict) -> str:
    """Return the name of the run, by which validations are told apart in a list.

    Args:
        result: The trials.
        verdict: What the gate says.
    """
    beside = "" if result.champion is None else f" beside {result.champion}"
    outcome = "passed" if verdict.passed else "refused"
    return f"{result.name} {result.candidate} {outcome}{beside}"


def describe(
    run: OpenRun,
    result: TwinResult,
    verdict: Verdict,
    *,
    measured: Mapping[str, Mapping[str, float]],
    children: Mapping[str, str],
) -> str:
    """Describe a validation.

    Args:
        run: The run of the validation.
        result: The trials.
        verdict: What the gate says.
        measured: Metrics by role.
        children: Ids of the roles' runs.

    Returns:
        Markdown.
    """
    trials = f"{len(result.seeds)} tosses and {len(result.positions)} cups"
    return page(run, result, verdict, trials=trials, measured=measured, children=children)


def page(
    run: OpenRun,
    result: OnTrial,
    verdict: Verdict,
    *,
    trials: str,
    measured: Mapping[str, Mapping[str, float]],
    children: Mapping[str, str],
) -> str:
    """Describe a validation of anything.

    Args:
        run: The run of the validation.
        result: Who was on trial.
        verdict: What the gate says.
        trials: What the trials were, in words.
        measured: Metrics by role.
        children: Ids of the roles' runs.

    Returns:
        Markdown.
    """
    count, failed = len(verdict.checks), len(verdict.refusals)
    found = f"all {count} checks" if verdict.passed else f"{failed} of {count} checks failed"
    parts = [
        f"**{'Passed' if verdict.passed else 'Refused'} by the gate** ({found}): {trials} "
        f"on the {result.rig} rig.",
        "\n".join(f"- {line}" for line in verdict.refusals),
        _table(result, measured),
        ", ".join(_links(run, result, children)),
        f"![candidate and champion](get-artifact?path={FIGURE}&run_uuid={run.run_id})",
    ]
    return "\n\n".join(part for part in parts if part)


def describe_version(run: OpenRun, result: OnTrial, verdict: Verdict, *, stated: str) -> str:
    """Describe a version in the registry by what it states and how its last validation ended.

    Args:
        run: The run of the validation.
        result: Who was on trial.
        verdict: What the gate says.
        stated: What the candidate states.

    Returns:
        Markdown.
    """
    address = f"#/experiments/{run.experiment_id}/runs/{run.run_id}?{TRAINING}"
    return f"{stated}. Last validation: [{title(result, verdict)}]({address})"


def posterior(package: Package) -> str:
    """Say what a posterior states.

    Args:
        package: The package.

    Returns:
        Its parameters with their standard deviations.
    """
    mean, variance = package.arrays["mean"], package.arrays["covariance"].diagonal()
    return ", ".join(
        f"{parameter.name} {at:.6g} ± {spread**0.5:.2g}"
        for parameter, at, spread in zip(package.parameters, mean, variance, strict=True)
    )


def _table(result: OnTrial, measured: Mapping[str, Mapping[str, float]]) -> str:
    versions = {CANDIDATE: result.candidate, CHAMPION: result.champion}
    seen = {name: None for row in measured.values() for name in row}
    names = [name for name in LABELS if name in seen]
    names += [name for name in seen if name not in LABELS]
    lines = [["", *(f"{role}, version {versions[role]}" for role in measured)]]
    for name in names:
        cells = [f"{row[name]:.6g}" if name in row else "" for row in measured.values()]
        lines.append([LABELS.get(name, name), *cells])
    table = [f"| {SPACE.join(line)} |" for line in lines]
    return "\n".join([table[0], "| --- " * (1 + len(measured)) + "|", *table[1:]])


def _links(run: OpenRun, result: OnTrial, children: Mapping[str, str]) -> list[str]:
    links = []
    if len(children) > 1:
        runs = ",".join(f"%22{child}%22" for child in children.values())
        query = f"runs=%5B{runs}%5D&experiments=%5B%22{run.experiment_id}%22%5D&{TRAINING}"
        links.append(f"[Both side by side](#/compare-runs?{query})")
    versions = {CANDIDATE: result.candidate, CHAMPION: result.champion}
    links += [
        f"[{role} in the registry](#/models/{result.name}/versions/{versions[role]}?{TRAINING})"
        for role in children
    ]
    return links

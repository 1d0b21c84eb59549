"""What a validation says of itself on its own page in MLflow: the verdict, both roles, the figure.

MLflow puts the description of a run, which is Markdown, at the top of its page. Its links and its
picture are relative, so that they work behind any address.
"""

from collections.abc import Mapping

from ricochet.tasks.registry import page_places
from ricochet.tasks.registry.runs import OpenRun
from ricochet.tasks.registry.verdicts import Verdict
from ricochet.tasks.validation.outcomes import ComparedVersions, versions_by_role
from ricochet.tasks.validation.report import Report

FIGURE = "figures/candidate-and-champion.png"
SPACE = " | &emsp;"
"""Between two cells: MLflow leaves no room between the columns of a table."""


def title(result: ComparedVersions, verdict: Verdict) -> str:
    """Return the name of the run, by which validations are distinguished in a list."""
    champion = "" if result.champion is None else f" against {result.champion}"
    outcome = "passed" if verdict.passed else "refused"
    return f"{result.name} {result.candidate} {outcome}{champion}"


def describe(run: OpenRun, report: Report, verdict: Verdict, *, children: Mapping[str, str]) -> str:
    """Describe a validation, whose roles have runs of their own, in Markdown."""
    count, failed = len(verdict.checks), len(verdict.refusals)
    found = f"all {count} checks" if verdict.passed else f"{failed} of {count} checks failed"
    parts = [
        f"**{'Passed' if verdict.passed else 'Refused'} by the gate** ({found}): {report.trials} "
        f"on the {report.result.rig} rig.",
        "\n".join(f"- {line}" for line in verdict.refusals),
        _table(report),
        ", ".join(_links(run, report.result, children)),
        f"![candidate and champion](get-artifact?path={FIGURE}&run_uuid={run.run_id})",
    ]
    return "\n\n".join(part for part in parts if part)


def describe_version(
    run: OpenRun, result: ComparedVersions, verdict: Verdict, *, stated: str
) -> str:
    """Describe in Markdown what a version in the registry states and how it was validated last."""
    address = page_places.of_run(run.experiment_id, run.run_id)
    return f"{stated}. Last validation: [{title(result, verdict)}]({address})"


def _table(report: Report) -> str:
    versions, measured, labels = versions_by_role(report.result), report.measured, report.labels
    seen = {name: None for row in measured.values() for name in row}
    names = [name for name in labels if name in seen]
    names += [name for name in seen if name not in labels]
    lines = [["", *(f"{role}, version {versions[role]}" for role in measured)]]
    for name in names:
        cells = [f"{row[name]:.6g}" if name in row else "" for row in measured.values()]
        lines.append([labels.get(name, name), *cells])
    table = [f"| {SPACE.join(line)} |" for line in lines]
    return "\n".join([table[0], "| --- " * (1 + len(measured)) + "|", *table[1:]])


def _links(run: OpenRun, result: ComparedVersions, children: Mapping[str, str]) -> list[str]:
    links = []
    if len(children) > 1:
        runs = ",".join(f"%22{child}%22" for child in children.values())
        query = (
            f"runs=%5B{runs}%5D&experiments=%5B%22{run.experiment_id}%22%5D&{page_places.TRAINING}"
        )
        links.append(f"[Both side by side](#/compare-runs?{query})")
    versions = versions_by_role(result)
    links += [
        f"[{role} in the registry]({page_places.of_version(result.name, versions[role])})"
        for role in children
    ]
    return links

"""Runs of MLflow and Prefect that a killed process left open, ended wherever that may be needed.

`ricochet doctor` does it, `ricochet up` when it starts and every minute after, and each night
before it begins, so that no dead run blocks the next.
"""

from collections.abc import Iterator
from dataclasses import replace

from ricochet.flows import prefect_runs
from ricochet.models.core.printable_text import one_line
from ricochet.tasks import doctor
from ricochet.tasks.doctor import Finding
from ricochet.tasks.registry import runs


def settle() -> Iterator[Finding]:
    """Close the runs whose process is gone, and yield which; first those that block others.

    Whoever holds Prefect's password names runs as they like; here each finding is one line. Where
    one server fails, that is a finding, and the other is asked all the same.
    """
    for server, part in (("Prefect", prefect_runs.settle), ("MLflow", _of_mlflow)):
        try:
            for finding in part():
                yield replace(finding, line=one_line(finding.line))
        except Exception as error:
            reason = one_line(f"{type(error).__name__}: {error}")
            yield Finding(f"dead runs of {server} are looked for again later: {reason}", False)


def _of_mlflow() -> list[Finding]:
    return doctor.runs(runs.connect())

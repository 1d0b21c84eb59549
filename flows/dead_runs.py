"""Runs of MLflow and Prefect that a killed process left open, ended wherever that may be needed.

`ricochet doctor` does it, `ricochet up` when it starts and every minute after, and each night
before it begins, so that no dead run blocks the next.
"""

from collections.abc import Iterator

from ricochet.flows import prefect_runs
from ricochet.tasks import doctor
from ricochet.tasks.doctor import Finding
from ricochet.tasks.registry import runs


def settle() -> Iterator[Finding]:
    """Close the runs whose process is gone, and yield which; first those that block others."""
    yield from prefect_runs.settle()
    yield from doctor.runs(runs.connect())

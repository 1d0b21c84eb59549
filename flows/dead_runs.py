"""Runs of MLflow and Prefect that a killed process left open, ended wherever that may be needed.

`ricochet doctor` does it, `ricochet up` when it starts and every minute after, and each night
before it begins, so that no dead run blocks the next.
"""

from ricochet.flows import prefect_runs
from ricochet.tasks import doctor
from ricochet.tasks.doctor import Finding
from ricochet.tasks.registry import runs


def settle() -> list[Finding]:
    """Close the runs whose process is gone, and say which; first those that block others."""
    return [*prefect_runs.settle(), *doctor.runs(runs.connect())]

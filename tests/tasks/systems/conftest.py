"""Jobs of studies and validations as a pool would have them, without its processes."""

import pickle

import pytest

from ricochet.tasks.console import jobs


@pytest.fixture(scope="module", autouse=True)
def jobs_in_this_process():
    """Do jobs one after another, pickled to and fro: each process of a pool imports everything.

    Pools have their tests in tests/tasks/console/test_jobs.py.
    """

    def done(work, given, *, workers=None):
        for place, job in enumerate(given):
            do, own = pickle.loads(pickle.dumps((work, job)))
            yield place, pickle.loads(pickle.dumps(do(own)))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jobs, "in_processes", done)
        yield

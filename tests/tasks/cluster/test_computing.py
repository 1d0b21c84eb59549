"""Where jobs are done is said once, and decides no result."""

import os
import pickle

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.cluster import certificates, work
from ricochet.tasks.cluster.computing import computing
from ricochet.tasks.console import jobs
from ricochet.tasks.storage import provenance
from ricochet.tasks.systems import catalogue


def settings(*overrides):
    return catalogue.load_settings(None, overrides)


def own_process(job: int) -> int:
    return os.getpid()


def fail(job: int) -> None:
    raise TimeoutError(f"job {job}")


def test_without_settings_nothing_is_sent_and_one_worker_is_this_process() -> None:
    with computing(settings()):
        assert not jobs.is_sent()
    with computing(settings("compute.workers=1")), computing(settings("compute.workers=1")):
        assert jobs.is_sent()
        assert jobs.run_all(own_process, range(3)) == [os.getpid()] * 3
    assert not jobs.is_sent()


@pytest.mark.slow
def test_so_many_processes_do_even_short_jobs() -> None:
    with computing(settings("compute.workers=2")):
        assert os.getpid() not in jobs.run_all(own_process, range(4), here=True)
        assert jobs.run_all(own_process, range(2), workers=1) == [os.getpid()] * 2


@pytest.mark.parametrize(
    "address", ["tcp://127.0.0.1:8786", "tls://nowhere", "postgresql://a/b", "tls://a:99999999"]
)
def test_an_address_that_cannot_be_used_is_refused_before_any_job(address, tmp_path) -> None:
    given = settings(f"compute.address={address}", f"compute.certificates={tmp_path}")
    with pytest.raises(BadInput, match=r"compute\.address"), computing(given):
        pytest.fail("begun")


def test_absent_certificates_are_refused_before_any_job(tmp_path) -> None:
    given = settings("compute.address=tls://127.0.0.1:1", f"compute.certificates={tmp_path}")
    expected = r"compute\.certificates.*cluster certificates"
    with pytest.raises(BadInput, match=expected), computing(given):
        pytest.fail("begun")


def test_a_job_is_done_by_the_program_that_sent_it_alone() -> None:
    content = [pickle.dumps(abs), pickle.dumps(-3)]
    assert work.do(work.program(), *content) == 3
    with pytest.raises(work.OtherProgramError, match=r"code [0-9a-f]{12}, Python"):
        work.do("another", b"never read", b"never read")


def test_keys_of_results_do_not_depend_on_the_cluster() -> None:
    for module in ("bouncing_ball.calibration.density_training", "air_hockey.policies.policy"):
        closure = provenance.import_closure(f"ricochet.tasks.systems.{module}")
        assert not [path for path in closure if path.startswith("tasks/cluster/")]


def test_the_usual_folder_of_certificates_is_among_the_outputs(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv(provenance.ARTIFACTS, str(tmp_path))
    assert certificates.folder_of("") == tmp_path / "cluster"


class UnshownError(Exception):
    def __str__(self) -> str:
        raise ValueError


def fail_unshown(job: int) -> None:
    raise UnshownError


def test_an_error_that_cannot_be_written_is_another() -> None:
    """Dask waited for ever, with all later jobs of that worker."""
    with pytest.raises(RuntimeError, match="UnshownError, which cannot be shown"):
        work.do(work.program(), pickle.dumps(fail_unshown), pickle.dumps(1))

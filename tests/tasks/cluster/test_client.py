"""A scheduler that is stopped, and not dead, keeps no verb waiting for ever."""

import os
import signal
from concurrent.futures import ThreadPoolExecutor

import pytest

from benchmarks.compute import cluster_processes
from ricochet.tasks.cluster import client
from ricochet.tasks.general_settings import Compute


@pytest.mark.slow
def test_a_run_on_a_scheduler_that_is_silent_ends_in_one_line(tmp_path, monkeypatch):
    with cluster_processes.scheduler(tmp_path) as found, ThreadPoolExecutor(1) as beside:
        compute = Compute(found.address, str(found.certificates), workers=None, patience=1.0)
        cluster = client.Cluster(compute)
        cluster._connected()
        monkeypatch.setattr(client, "ANSWER", 0.5)
        os.kill(found.process.pid, signal.SIGSTOP)
        try:
            ended = beside.submit(lambda: list(cluster(abs, [1, 2])))
            with pytest.raises(RuntimeError, match=r"no worker, or no answer, at tls://.*; what a"):
                ended.result(timeout=60)
            beside.submit(cluster.close).result(timeout=60)
        finally:
            os.kill(found.process.pid, signal.SIGCONT)

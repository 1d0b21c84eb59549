"""A cluster of real processes: the same bits, whoever is killed, and nobody in without its key.

One test, since processes of Dask take long to start; the benchmark prints what it does at size.
"""

import socket
import ssl
import subprocess
import sys
from functools import partial

import psutil
import pytest

from benchmarks.compute import cluster, cluster_processes
from ricochet.tasks.cluster import certificates

JOBS = 10
CLIENT = """
import sys
from distributed import Client, Security
arguments = {}
if len(sys.argv) > 2:
    own = [f"{sys.argv[2]}/{name}.pem" for name in ("authority", "certificate", "key")]
    arguments["security"] = Security(
        tls_ca_file=own[0], tls_client_cert=own[1], tls_client_key=own[2], require_encryption=True
    )
Client(sys.argv[1], timeout=5, **arguments).submit(print, 1).result(timeout=20)
"""
SENT = """
import sys
from benchmarks.compute import cluster
jobs = cluster.sessions(2, seed=0)
print(cluster.run(jobs, sys.argv[1:])[1])
"""


def python(program, *words, timeout=1800):
    command = [sys.executable, "-c", program, *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=timeout)


@pytest.mark.proof
@pytest.mark.slow
def test_two_of_three_workers_killed_cost_their_jobs_alone_and_strangers_get_nowhere(
    tmp_path,
) -> None:
    given = cluster.sessions(JOBS, seed=0)
    _, expected, _ = cluster.run(given, ["compute.workers=1"])
    with cluster_processes.scheduler(tmp_path) as scheduler:
        with cluster_processes.workers(scheduler, tmp_path, 3) as processes:
            program = partial(python, KILLED, JOBS, *[p.pid for p in processes[1:]])
            found = program(*scheduler.overrides)
            assert found.returncode == 0, found.stderr
            digest, begun = found.stdout.split()[-2:]
            assert digest == expected
            assert JOBS <= int(begun) <= JOBS + 2
            port = int(scheduler.address.rpartition(":")[2])
            assert listened_on(scheduler.process.pid) == [port]  # there are no pages
        strangers_get_nowhere(scheduler, tmp_path)
        scheduler.process.kill()
        scheduler.process.wait()
        gone = python(SENT, *scheduler.overrides)
        assert "no answer in 10 s" in gone.stderr.splitlines()[-1]


def listened_on(pid):
    """Return the ports on which a process listens."""
    found = psutil.Process(pid).net_connections(kind="tcp")
    return sorted({each.laddr.port for each in found if each.status == psutil.CONN_LISTEN})


KILLED = """
import os, signal, sys
import psutil
from benchmarks.compute import cluster
count, pids, overrides = int(sys.argv[1]), list(map(int, sys.argv[2:4])), sys.argv[4:]
def report(done, total):
    if pids and done >= 2:
        own = psutil.Process(pids.pop())
        for each in [own, *own.children(recursive=True)]:
            each.kill()
_, digest, begun = cluster.run(cluster.sessions(count, seed=0), overrides, report)
assert not pids
print(digest, begun)
"""


def strangers_get_nowhere(scheduler, folder) -> None:
    """Neither plain connections, nor another cluster's certificates, nor none."""
    other = folder / "other"
    certificates.make(other)
    plain = scheduler.address.replace("tls:", "tcp:")
    for words in ([plain], [scheduler.address, other]):
        refused = python(CLIENT, *words)
        assert refused.returncode != 0 and "TimeoutError" not in refused.stdout
        assert refused.stderr.splitlines()[-1].startswith(
            ("OSError", "distributed.comm", "Timeout")
        )
    host, port = scheduler.address.removeprefix("tls://").split(":")
    context = ssl.create_default_context(cafile=scheduler.certificates / certificates.AUTHORITY)
    context.check_hostname = False
    with (
        pytest.raises((ssl.SSLError, ConnectionError)),
        socket.create_connection((host, int(port)), timeout=30) as raw,
        context.wrap_socket(raw) as wrapped,
    ):
        wrapped.sendall(b"x")
        assert wrapped.recv(1) != b""
        raise AssertionError("a connection without a certificate")

"""The verb that waits for scheduled runs on a further machine: worker."""

import argparse
import os
import sys

from ricochet.flows.command_line.verb import Call, Takes, Verb
from ricochet.flows.servers import work_pools
from ricochet.models.core.bad_input import BadInput

ADDRESS = "PREFECT_API_URL"


def worker(call: Call) -> None:
    """Become the worker of a pool, in place of this process."""
    from ricochet.flows.servers import up
    from ricochet.tasks.console.progress import announce
    from ricochet.tasks.storage.provenance import artifacts, workplace

    running = up.find_running(artifacts())
    address = os.environ.get(ADDRESS) or (f"{running['prefect']}/api" if running else None)
    if address is None:
        raise BadInput(ADDRESS, "nothing", "the address of Prefect's server, http://HOST:PORT/api")
    announce(f"a worker of the pool {call.arguments.pool} at {address}; Ctrl-C ends it")
    settings = {**up.QUIET, "PREFECT_HOME": str(artifacts() / "prefect"), **os.environ}
    settings |= {ADDRESS: address, "PWD": str(workplace())}
    command = [sys.executable, "-m", "prefect", "worker", "start", "--pool", call.arguments.pool]
    os.execve(sys.executable, command, settings)


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pool", choices=work_pools.POOLS, help="near the microphones, or anywhere")


VERB = Verb(
    ("worker",),
    "wait for scheduled runs on a further machine, until Ctrl-C",
    "ricochet worker compute",
    worker,
    _options,
    details=f"{ADDRESS} says where Prefect's server is: http://HOST:PORT/api\n\n",
    takes=Takes(0),
)

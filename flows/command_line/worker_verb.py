"""The verb that waits for scheduled runs on a further machine: worker."""

import argparse
import os

from ricochet.flows.command_line.verb import Call, Takes, Verb
from ricochet.flows.servers import work_pools
from ricochet.models.core.bad_input import BadInput

ADDRESS, TRACKING = "PREFECT_API_URL", "MLFLOW_TRACKING_URI"


def worker(call: Call) -> None:
    """Be the worker of a pool, until it ends."""
    from ricochet.flows import prefect_settings
    from ricochet.flows.servers import environments, known_servers, pool_worker, up
    from ricochet.tasks.console.progress import announce
    from ricochet.tasks.storage import login_transport, process_ids
    from ricochet.tasks.storage.files import output_folder
    from ricochet.tasks.storage.provenance import artifacts, workplace

    up.refuse_foreign_places()
    running = None if ADDRESS in os.environ else known_servers.find_running(artifacts())
    if running:
        known_servers.hold_all_of(artifacts(), running)
    found = environments.of_clients(running) if running else {}
    known = {**found, **os.environ}
    if not (address := known.get(ADDRESS)):
        raise BadInput(ADDRESS, "nothing", "the address of Prefect's server, https://HOST/api")
    asked = (address, known.get(TRACKING, ""))
    known_servers.hold_ports(*asked)
    login_transport.check(ADDRESS, address, sent=True)  # who answers decides what is run here
    if not found and not known.get(TRACKING):  # what runs find would stay on this machine
        expected = "the address of MLflow's server, https://HOST, or sqlite:///FILE of this machine"
        raise BadInput(TRACKING, "nothing", expected)
    login_transport.check_variable(TRACKING, login_transport.TRACKING, known)
    announce(f"a worker of the pool {call.arguments.pool} at {address}; Ctrl-C ends it")
    home = output_folder(artifacts() / "prefect")  # Prefect makes no parents
    settings = {**environments.QUIET, "PREFECT_HOME": str(home), **found}
    os.environ |= {**settings, **os.environ, ADDRESS: address, "PWD": str(workplace())}
    name = process_ids.name_of(os.getpid())  # by which its runs are known to be dead with it
    prefect_settings.of_the_environment()
    known_servers.keep_holding(*asked)  # `up` may start later
    pool_worker.work(call.arguments.pool, name)


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("pool", choices=work_pools.POOLS, help="near the microphones, or anywhere")


VERB = Verb(
    ("worker",),
    "wait for scheduled runs on a further machine, until Ctrl-C",
    "ricochet worker compute",
    worker,
    _options,
    details=f"{ADDRESS} says where Prefect's server is: https://HOST/api, or plain\n"
    "http to loopback, where `ssh -L` may end. PREFECT_API_AUTH_STRING is the login:\n"
    "the file `prefect` among its lab's secrets. MLFLOW_TRACKING_URI says where MLflow's is.\n\n",
    takes=Takes(0),
)

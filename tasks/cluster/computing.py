"""Where the jobs of a run are done, by its settings: the border between both.

compute.address   a Dask cluster, to which the first jobs connect
compute.workers   processes of this machine, where there is no address
neither           as each computation finds best: one process, or one for each processor
"""

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from functools import partial

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.cluster import certificates
from ricochet.tasks.cluster.credentials import check_address
from ricochet.tasks.console.jobs import in_processes, in_this_process, running_on
from ricochet.tasks.general_settings import Compute
from ricochet.tasks.settings import Settings

_NOW: ContextVar[Compute | None] = ContextVar("computing", default=None)


@contextlib.contextmanager
def computing(settings: Settings) -> Iterator[None]:
    """Do all jobs of the block where the settings say; within such a block, as that said.

    Raises:
        BadInput: If the address or the certificates cannot be used.
    """
    compute = settings[Compute]
    with contextlib.ExitStack() as stack:
        if compute != _NOW.get():
            token = _NOW.set(compute)
            stack.callback(_NOW.reset, token)
            stack.enter_context(_sent(compute))
        yield


@contextlib.contextmanager
def _sent(compute: Compute) -> Iterator[None]:
    if compute.address:
        check(compute)
        from ricochet.tasks.cluster.client import Cluster

        with contextlib.closing(Cluster(compute)) as cluster, running_on(cluster):
            yield
    elif compute.workers is not None:
        one = compute.workers == 1
        local = in_this_process if one else partial(in_processes, workers=compute.workers)
        with running_on(local):
            yield
    else:
        yield


def check(compute: Compute) -> None:
    """Refuse an address or certificates that cannot be used, `BadInput`; nothing is connected."""
    check_address(compute.address, "compute.address")
    try:
        certificates.check(certificates.folder_of(compute.certificates))
    except BadInput as error:
        raise BadInput(
            f"compute.certificates: {error.where}", error.found, error.expected
        ) from error

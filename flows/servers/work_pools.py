"""The work pools of Prefect: `rig` near the microphones, one run at a time, and `compute`.

python -m ricochet.flows.servers.work_pools    makes both, or changes those that are there
"""

RIG, COMPUTE = "rig", "compute"
POOLS = (RIG, COMPUTE)
LIMITS = {RIG: 1, COMPUTE: None}
"""Runs at a time."""


def make() -> None:
    """Make the pools on the server of this environment."""
    from prefect.client.orchestration import get_client
    from prefect.client.schemas.actions import WorkPoolCreate
    from prefect.workers.process import ProcessWorker

    template = ProcessWorker.get_default_base_job_template()
    with get_client(sync_client=True) as client:
        for name in POOLS:
            pool = WorkPoolCreate(
                name=name,
                type="process",
                base_job_template=template,
                concurrency_limit=LIMITS[name],
            )
            client.create_work_pool(pool, overwrite=True)


if __name__ == "__main__":
    make()

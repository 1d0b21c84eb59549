"""Both pools are made, made again without harm, and the rig's takes one run at a time."""

import json
import os
import subprocess
import sys
import urllib.request

import pytest

from ricochet.flows.servers import work_pools


@pytest.mark.slow
def test_pools_are_there_with_their_limits_however_often_they_are_made(prefect_api, tmp_path):
    environment = {**os.environ, "PREFECT_API_URL": prefect_api, "PREFECT_HOME": str(tmp_path)}
    for _ in range(2):
        subprocess.run([sys.executable, "-m", work_pools.__name__], env=environment, check=True)
    limits = {}
    for name in work_pools.POOLS:
        with urllib.request.urlopen(f"{prefect_api}/work_pools/{name}", timeout=60) as answer:
            found = json.loads(answer.read())
        assert found["type"] == "process" and "variables" in found["base_job_template"]
        limits[name] = found["concurrency_limit"]
    assert limits == {"rig": 1, "compute": None}

import numpy as np
import pytest

from ricochet.tasks.registry.manifests import Parameter
from ricochet.tasks.registry.packages import Package
from tests import stores


@pytest.fixture(scope="session")
def tracker(tmp_path_factory, migrated_store):
    from ricochet.tasks.registry import runs

    return runs.connect(
        store=stores.copied(migrated_store, tmp_path_factory.mktemp("runs") / "mlflow")
    )


@pytest.fixture
def package():
    restitution, concentration = np.linspace(0.55, 0.95, 9), np.linspace(1.0, 5.0, 5)
    plane = np.add.outer(3.0 * concentration, 2.0 * restitution)
    ones = np.ones_like(concentration)
    return Package(
        kind="grid",
        parameters=(
            Parameter("restitution", "1", 0.55, 0.95),
            Parameter("log10_concentration", "1", 1.0, 5.0),
        ),
        arrays={
            "rows": concentration,
            "low": 0.55 * ones,
            "high": 0.95 * ones,
            "log_density": plane,
        },
        inputs={"theta": np.array([[0.61, 1.2], [0.777, 3.14], [0.95, 5.0]])},
        checks={"coverage": {"0.9": 0.9}},
        data_digest="0123456789abcdef0123456789abcdef.dir",
        git_commit="unknown",
    )

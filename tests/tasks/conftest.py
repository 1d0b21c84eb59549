import pytest

from tests import grid_packages, stores


@pytest.fixture(scope="session")
def tracker(tmp_path_factory, migrated_store):
    from ricochet.tasks.registry import runs

    return runs.connect(
        store=stores.copied(migrated_store, tmp_path_factory.mktemp("runs") / "mlflow")
    )


@pytest.fixture
def package():
    return grid_packages.made()

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


@pytest.fixture
def without_pictures(monkeypatch):
    """Draw no figure, of tests that look at none: each takes half a second."""
    from ricochet.tasks.figures import style

    monkeypatch.setattr(style, "to_png", lambda figure: b"no picture")

from tests.tasks.conftest import package  # noqa: F401

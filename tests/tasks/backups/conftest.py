"""What the tests of backups share."""

from tests.tasks.backups.states import state  # noqa: F401

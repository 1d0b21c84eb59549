"""What the tests of backups share."""

from tests.tasks.backups.states import made_state, state  # noqa: F401

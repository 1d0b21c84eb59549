"""A `pg_restore` that lets a dump run commands is not used."""

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.backups.postgres import Server


def test_a_program_that_lets_a_dump_run_commands_is_not_used(tmp_path, monkeypatch):
    ran = tmp_path / "ran"
    program = tmp_path / "pg_restore"
    monkeypatch.setenv("PATH", str(tmp_path))
    for version in ("15.13", "16.9", "17.5 (Debian 17.5-1)", "12.22", "9.6.24", "nothing"):
        program.write_text(f"#!/bin/sh\necho 'pg_restore (PostgreSQL) {version}'\n")
        program.chmod(0o755)
        with (
            pytest.raises(BadInput, match=r"expected one of .*15\.14"),
            Server("postgresql://lab@127.0.0.1:1/none").put_back(tmp_path / "dump"),
        ):
            ran.touch()
    assert not ran.exists()

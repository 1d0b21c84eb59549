"""PostgreSQL's programs take what is allowed; one that lets a dump run commands is not used."""

import sys

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.backups import postgres
from ricochet.tasks.backups.postgres import Server

SERVER = Server("postgresql://lab@127.0.0.1:1/none")
linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds another process")


def lay(folder, monkeypatch, **programs):
    """Let programs of some names be these scripts."""
    for name, text in programs.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def test_a_program_that_lets_a_dump_run_commands_is_not_used(tmp_path, monkeypatch):
    ran = tmp_path / "ran"
    program = tmp_path / "pg_restore"
    monkeypatch.setenv("PATH", str(tmp_path))
    for version in ("15.13", "16.9", "17.5 (Debian 17.5-1)", "12.22", "9.6.24", "nothing"):
        program.write_text(f"#!/bin/sh\necho 'pg_restore (PostgreSQL) {version}'\n")
        program.chmod(0o755)
        with (
            pytest.raises(BadInput, match=r"expected one of .*15\.14"),
            SERVER.put_back(tmp_path / "dump"),
        ):
            ran.touch()
    assert not ran.exists()


@linux
@pytest.mark.parametrize("stream", [1, 2])
def test_a_program_that_says_too_much_is_ended(tmp_path, monkeypatch, stream):
    """A gigabyte and a half of notices was held, and shown in a line."""
    flood = f"#!/bin/sh\nsleep 0.3\nexec head -c 1000000 /dev/zero >&{stream}\n"
    lay(tmp_path, monkeypatch, psql=flood)
    with pytest.raises(BadInput, match="found more than 65536 bytes that psql says"):
        SERVER.ask("SELECT 1")


@linux
def test_a_program_that_takes_too_much_memory_fails(tmp_path, monkeypatch):
    hungry = f"#!{sys.executable}\nimport time\ntime.sleep(0.3)\nbytearray(2**30)\n"
    lay(tmp_path, monkeypatch, psql=hungry)
    with pytest.raises(BadInput, match="MemoryError"):
        SERVER.ask("SELECT 1")


ROWS = r"""SET client_encoding = 'UTF8';

COPY public.runs (name) FROM stdin;
COPY a

b\nc
\.

-- the end
"""


def test_rows_are_counted_in_what_a_dump_holds(tmp_path, monkeypatch):
    (tmp_path / "dump").write_text(ROWS)
    lay(tmp_path, monkeypatch, pg_restore='#!/bin/sh\nfor last; do :; done\ncat "$last"\n')
    assert postgres.count(tmp_path / "dump", "runs") == 3
    lay(tmp_path, monkeypatch, pg_restore="#!/bin/sh\necho damaged >&2\nexit 1\n")
    with pytest.raises(BadInput, match="dump: found damaged"):
        postgres.count(tmp_path / "dump", "runs")


WILLING = """#!/bin/sh
while read -r first words; do
    case $first in *echo) echo "${words%% *} t" ;; esac
done
"""


def test_a_dump_that_was_read_in_part_is_not_committed(tmp_path, monkeypatch):
    """Whatever killed `pg_restore`, but that psql had ended, half of a dump was taken for all."""
    killed = "#!/bin/sh\n[ $1 = --version ] && exec echo 'pg_restore (PostgreSQL) 18.0'\nkill -9 $$"
    lay(tmp_path, monkeypatch, psql=WILLING, pg_restore=killed)
    with (
        pytest.raises(BadInput, match="pg_restore ended, without a word"),
        SERVER.put_back(tmp_path / "dump"),
    ):
        pytest.fail("it was taken for filled")

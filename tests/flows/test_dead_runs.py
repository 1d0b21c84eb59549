"""What is said of dead runs is one printable line each, whatever they are called."""

from ricochet.flows import dead_runs
from ricochet.tasks.doctor import Finding


def test_names_that_others_gave_are_said_in_one_printable_line(monkeypatch):
    """Whoever holds Prefect's password had `up` print escapes, and lines of their own."""
    name = "\x1b]0;title\x07\nrepaired: flow run x"
    found = [Finding(f"flow run {name}: closed", True)]
    monkeypatch.setattr(dead_runs.prefect_runs, "settle", lambda: iter(found))
    monkeypatch.setattr(dead_runs.doctor, "runs", lambda _: [])
    monkeypatch.setattr(dead_runs.runs, "connect", lambda: None)
    [said] = dead_runs.settle()
    assert (
        said.line.isprintable() and said.line.startswith("flow run \\x1b]0;title") and said.mended
    )


def test_where_one_server_fails_that_is_said_and_the_other_is_asked(monkeypatch):
    """One flow run that Prefect cannot show kept runs of MLflow open, and ended `doctor`."""
    monkeypatch.setattr(dead_runs.prefect_runs, "settle", lambda: 1 / 0)
    monkeypatch.setattr(dead_runs.doctor, "runs", lambda _: [Finding("run a: closed", True)])
    monkeypatch.setattr(dead_runs.runs, "connect", lambda: None)
    failed, closed = dead_runs.settle()
    assert "Prefect are looked for again later: ZeroDivisionError" in failed.line
    assert not failed.mended and closed == Finding("run a: closed", True)

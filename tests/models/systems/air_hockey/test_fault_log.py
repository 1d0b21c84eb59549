"""A thing that stays wrong is said once; one that goes wrong again, again."""

from ricochet.models.systems.air_hockey.fault_log import FaultLog


def test_a_lasting_fault_is_reported_once() -> None:
    faults = FaultLog()
    for place in range(3):
        faults.report("puck", f"at {place} m")
    faults.report("joints", "found NaN")
    assert faults.lines == ["puck: at 0 m", "joints: found NaN"]


def test_a_fault_that_comes_back_is_reported_again() -> None:
    faults = FaultLog()
    faults.report("puck", "lost")
    faults.clear("puck", "joints")
    faults.report("puck", "lost")
    assert faults.lines == ["puck: lost", "puck: lost"]

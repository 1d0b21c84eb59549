"""A thing that stays wrong is said once; one that goes wrong again, again."""

from ricochet.models.systems.air_hockey.fault_log import Complaints


def test_what_stays_wrong_is_said_once() -> None:
    complaints = Complaints()
    for place in range(3):
        complaints.say("puck", f"at {place} m")
    complaints.say("joints", "found NaN")
    assert complaints.lines == ["puck: at 0 m", "joints: found NaN"]


def test_what_goes_wrong_again_is_said_again() -> None:
    complaints = Complaints()
    complaints.say("puck", "lost")
    complaints.settle("puck", "joints")
    complaints.say("puck", "lost")
    assert complaints.lines == ["puck: lost", "puck: lost"]

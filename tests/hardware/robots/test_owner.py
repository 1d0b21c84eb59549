"""The owner of an arm steers it however much is asked meanwhile."""

import queue
from types import SimpleNamespace

from ricochet.hardware.robots import owner
from ricochet.hardware.robots.messages import Stop


class Asking(queue.Queue):
    """Commands of one who asks anew as soon as something is taken."""

    def get(self):
        taken = super().get()
        self.put(Stop(taken.number + 1))
        return taken


def test_what_is_asked_while_commands_are_executed_waits_for_the_next_period():
    commands, done = Asking(), []
    for number in range(3):
        commands.put(Stop(number))
    owned = SimpleNamespace(
        commands=commands,
        demand=None,
        limits=SimpleNamespace(hang=1.0),
        call=lambda *_, **__: None,
        send=done.append,
    )
    assert owner._obey(owned, SimpleNamespace(stop=None)) is None
    assert [each.number for each in done] == [0, 1, 2]
    assert commands.qsize() == 3

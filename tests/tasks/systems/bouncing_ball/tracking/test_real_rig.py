"""A real rig is let go in any case, and what goes wrong then is said."""

from ricochet.hardware.robots.messages import Channel, Closed
from ricochet.tasks.systems.bouncing_ball.tracking import real_rig
from tests.tasks.systems.bouncing_ball import real_rig_fakes


def test_an_arm_whose_owner_dies_as_it_is_let_go_is_stopped_and_that_is_said(
    tmp_path, monkeypatch, capsys
):
    fakes = real_rig_fakes.install(monkeypatch, tmp_path)
    rig, send = real_rig.open_rig(real_rig_fakes.loaded(), armed=True), Channel.send

    def without_a_last_word(channel, message, **how):
        if not isinstance(message, Closed):
            send(channel, message, **how)

    with real_rig.held(rig):
        monkeypatch.setattr(Channel, "send", without_a_last_word)
    assert fakes.stopped_beside == [rig.host]
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("arm: found its owner died") and line.endswith("the arm is stopped")


def test_of_an_arm_that_is_let_go_as_it_should_nothing_is_said(tmp_path, monkeypatch, capsys):
    fakes = real_rig_fakes.install(monkeypatch, tmp_path)
    with real_rig.held(real_rig.open_rig(real_rig_fakes.loaded(), armed=True)):
        pass
    assert not fakes.stopped_beside and not capsys.readouterr().err

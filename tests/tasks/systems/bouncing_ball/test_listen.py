"""A ball that is heard while it bounces: each bounce once, an answer that holds, nothing lost."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import soundfile

from ricochet.hardware.microphones.interface import default_rig
from ricochet.hardware.microphones.stream import BUFFER, Buffer, PlayedSound
from ricochet.models.core.bad_input import BadInput
from ricochet.models.sound import impact_synthesis
from ricochet.models.sound.arrays import Microphones
from ricochet.tasks.recordings import audio_files
from ricochet.tasks.systems.bouncing_ball import listen
from ricochet.tasks.systems.bouncing_ball.live import LiveCalibration

RATE, RESTITUTION, BOUNCES = 44_100, 0.8, 9
TIMES = 0.6 + np.concatenate([[0.0], np.cumsum(0.6 * RESTITUTION ** np.arange(BOUNCES - 1))])
RIG = default_rig("laptop", sample_rate=RATE, places=[(0.0, 0.0, 0.0)])


def sound(*, rest: float = 8.0) -> np.ndarray:
    """A ball that bounces straight up and down, and then lies still."""
    samples = impact_synthesis.render(
        TIMES,
        np.tile([0.5, 0.0, 0.0], (BOUNCES, 1)),
        0.3 * RESTITUTION ** np.arange(BOUNCES),
        microphones=Microphones(np.zeros((1, 3)), sample_rate=float(RATE)),
        duration=float(TIMES[-1]) + rest,
        draw=np.random.default_rng(5),
        noise=impact_synthesis.Background(snr=30.0),
    )
    return samples.astype(np.float32)


def hiss() -> np.ndarray:
    """A quiet room for 7 s."""
    samples = 1e-3 * np.random.default_rng(1).uniform(-1.0, 1.0, (1, 7 * RATE)).astype(np.float32)
    samples[0, 0] = 1e-3
    return samples


def heard(listener: PlayedSound, path: Path, *, seconds: float = 60.0) -> list[str]:
    """Listen on a clock that ticks 10 ms a buffer, and return the lines."""
    said: list[str] = []
    clock = itertools.count(step=0.01)
    live = LiveCalibration(RATE)
    listen.record(
        listener, path, live, seconds=seconds, report_line=said.append, clock=lambda: next(clock)
    )
    return said


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[str]]:
    path = tmp_path_factory.mktemp("listen") / "ball.wav"
    return path, heard(PlayedSound(RIG, sound()), path)


def test_each_bounce_is_said_once_at_its_time(session: tuple[Path, list[str]]) -> None:
    rows = [re.match(r"bounce +(\d+) at +([\d.]+) s, (.+?)(?: s|$)", line) for line in session[1]]
    assert [int(row[1]) for row in rows if row] == list(range(1, BOUNCES + 1))
    times = [float(row[2]) for row in rows if row]
    assert times == pytest.approx(TIMES + 0.5 / 346.0, abs=2e-3)  # half a metre of air
    gaps = [row[3] for row in rows if row]
    assert gaps[0] == "the first"
    assert [float(gap) for gap in gaps[1:]] == pytest.approx(np.diff(TIMES), abs=2e-3)


def test_the_answer_narrows_and_holds_the_truth(session: tuple[Path, list[str]]) -> None:
    found = [re.search(r"90 %: ([\d.]+) to ([\d.]+)", line) for line in session[1]]
    intervals = np.array([[float(each[1]), float(each[2])] for each in found if each])
    assert len(intervals) >= 4  # three bounces come at once, of the other six some in pairs
    width = intervals[:, 1] - intervals[:, 0]
    assert width[-1] < 0.2 * width[0]
    rounding = 0.5e-4  # of the four digits that are printed
    held = np.abs(intervals - RESTITUTION).min(axis=1) <= rounding
    held |= (intervals[:, 0] < RESTITUTION) & (intervals[:, 1] > RESTITUTION)
    assert held.sum() >= len(held) - 1  # each holds it nine times out of ten


def test_the_file_is_the_sound_until_the_ball_lies_still(session: tuple[Path, list[str]]) -> None:
    found, whole = audio_files.read(session[0]).samples, sound()
    np.testing.assert_array_equal(found, whole[:, : found.shape[1]])
    lasted = found.shape[1] / RATE
    assert TIMES[-1] + listen.REST < lasted < TIMES[-1] + listen.REST + 0.5


def test_the_time_ends_it(tmp_path: Path) -> None:
    heard(PlayedSound(RIG, sound()), tmp_path / "a.wav", seconds=2.0)
    assert soundfile.info(tmp_path / "a.wav").duration == pytest.approx(
        2.0, abs=0.3
    )  # a look's period


def test_ctrl_c_ends_it_and_keeps_everything(tmp_path: Path) -> None:
    class Pressed(PlayedSound):
        def buffers(self) -> Iterator[Buffer]:
            for buffer in super().buffers():
                if buffer.time > TIMES[4] + 0.1:
                    raise KeyboardInterrupt
                yield buffer

    said = heard(Pressed(RIG, sound()), tmp_path / "a.wav")
    assert sum(line.startswith("bounce") for line in said) == 5
    assert soundfile.info(tmp_path / "a.wav").duration == pytest.approx(TIMES[4] + 0.1, abs=0.02)


def test_what_is_lost_is_said_and_later_bounces_keep_their_times(tmp_path: Path) -> None:
    """The 0.1 s after the fourth bounce are lost."""
    begin = TIMES[3] + 0.05

    class Losing(PlayedSound):
        def buffers(self) -> Iterator[Buffer]:
            lost = 0
            for buffer in super().buffers():
                if begin < buffer.time < begin + 0.1:
                    lost += 1
                else:
                    yield Buffer(buffer.time, buffer.samples, xruns=min(lost, 1))
                    lost = 0

    said = heard(Losing(RIG, sound()), tmp_path / "a.wav", seconds=3.0)
    (line,) = (line for line in said if "lost" in line)
    assert float(re.findall(r"at ([\d.]+) s: at least", line)[0]) == pytest.approx(begin, abs=0.02)
    kept = audio_files.read(tmp_path / "a.wav").samples
    late = round((begin + 0.2) * RATE)
    np.testing.assert_array_equal(kept[:, late:], sound()[:, late : kept.shape[1]])


class Faulty(PlayedSound):
    """A card whose buffers all have faults from one time to another, s."""

    def __init__(self, begin: float, end: float) -> None:
        super().__init__(RIG, hiss())
        self.begin, self.end = begin, end

    def buffers(self) -> Iterator[Buffer]:
        for buffer in super().buffers():
            wrong = ("one", "two") if self.begin < buffer.time < self.end else ()
            yield Buffer(buffer.time, buffer.samples, faults=wrong)


def test_faults_that_go_on_are_a_line_at_first_and_one_a_second(tmp_path: Path) -> None:
    said = [line for line in heard(Faulty(1.0, 4.5), tmp_path / "a.wav") if "one" in line]
    times = [float(re.findall(r"^sound at ([\d.]+) s: one; two", line)[0]) for line in said]
    assert times == pytest.approx([1.0, 2.0, 3.0, 4.0, 4.5], abs=0.05)
    counts = [1 + int(re.findall(r"and (\d+) times before", line)[0]) for line in said[1:]]
    assert 1 + sum(counts) == pytest.approx(3.5 / BUFFER, abs=2)


def test_faults_that_were_not_said_yet_are_said_at_the_end(tmp_path: Path) -> None:
    said = heard(Faulty(1.5, 99.0), tmp_path / "a.wav", seconds=2.0)
    counted = [line for line in said if "one; two" in line]
    assert len(counted) == 2 and "times before" in counted[1]


def test_a_microphone_that_is_off_is_refused(tmp_path: Path) -> None:
    silent = PlayedSound(RIG, np.zeros((1, 5 * RATE), np.float32))
    with pytest.raises(BadInput, match="laptop: found nothing but zeros for 2 s, expected sound"):
        heard(silent, tmp_path / "a.wav")


def test_a_quiet_room_is_said_with_its_level(tmp_path: Path) -> None:
    assert heard(PlayedSound(RIG, hiss()), tmp_path / "a.wav") == [
        "   5 s: no bounces yet, loudest sample -60 dB of full scale"
    ]


def test_a_card_that_stops_is_said(tmp_path: Path) -> None:
    said = heard(PlayedSound(RIG, sound(), stops_at=2.0), tmp_path / "a.wav")
    assert any("expected a stream" in line for line in said)

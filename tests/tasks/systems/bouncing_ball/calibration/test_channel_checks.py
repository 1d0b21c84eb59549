"""Sessions whose channels are not what is stated, refused by `ricochet calibrate` in one line."""

import numpy as np
import pytest

from ricochet.flows import cli
from ricochet.hardware.microphones.interface import default_rig
from ricochet.hardware.microphones.simulated_drops import Scene, SimulatedRig
from ricochet.models.core.bad_input import BadInput
from ricochet.models.sound.arrival_hypotheses import Tolerances
from ricochet.tasks.systems.bouncing_ball.calibration import detections
from tests.tasks.recordings import small_sessions

PLACES = [(-0.30, -0.25, 0.0762), (0.25, -0.30, 0.0762), (0.0, 0.32, 0.0762), (0.40, 0.35, 0.15)]


def record(count=3, *, seed=0, channels=3, **scene):
    """The rig, and drops that are let go over the middle of the table."""
    rig = default_rig("bench", sample_rate=44100, temperature=21.5, places=PLACES[:channels])
    setting = Scene(0.85, 3.5, 0.26, **({"reverberation_time": 0.0} | scene))
    recorder = SimulatedRig(rig, setting, draw=np.random.default_rng(seed))
    return rig, [recorder.record(1.5).samples for _ in range(count)]


def write(folder, rig, takes):
    small_sessions.write_session(small_sessions.plan(folder, rig=rig), takes)
    return folder


@pytest.fixture(scope="module")
def three():
    return record()


def planted(takes, fault):
    """Takes with channel 1 at fault."""
    draw = np.random.default_rng(7)
    spoilt = [samples.copy() for samples in takes]
    for samples in spoilt:
        time = np.arange(samples.shape[1]) / samples.shape[1]
        if fault == "slow drift":
            samples[1] = np.round(20 * np.sin(2 * np.pi * time)) / 2**15
        elif fault == "silence after half":
            samples[1] *= time < 0.52
        elif fault == "noise":
            samples[1] = 2e-4 * draw.standard_normal(samples.shape[1])
        elif fault == "copy":
            samples[1] = 0.9 * samples[2]
        elif fault == "constant":
            samples[1] = 0.05
    return spoilt


FAULTS = [
    ("slow drift", "channel 1 is flat"),  # these two ended in a division by zero
    ("silence after half", "channel 1 is flat at an impact"),
    ("noise", "channel 1 is dead"),
    ("copy", "channels 1 and 2 are copies of one another"),
]


@pytest.mark.parametrize(("fault", "said"), FAULTS)
def test_a_session_with_a_faulty_channel_is_refused_by_its_name(three, fault, said, tmp_path):
    rig, takes = three
    folder = write(tmp_path / "spoilt", rig, planted(takes, fault))
    with pytest.raises(BadInput, match=said) as caught:
        detections.detect([folder])
    line = str(caught.value)
    assert "(3 of 3 takes)" in line and str(folder) in line and "\n" not in line


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "said"), [*FAULTS, ("constant", "channel 1: found stuck at")])
def test_the_command_says_it_in_one_line(three, fault, said, tmp_path, capsys, monkeypatch):
    rig, takes = three
    folder = write(tmp_path / "spoilt", rig, planted(takes, fault))
    monkeypatch.setenv("RICOCHET_ARTIFACTS", str(tmp_path / "artifacts"))
    asked = ["calibrate", str(folder), "--no-publish", "--out", str(tmp_path / "out")]
    assert cli.main(asked) == 2
    *announced, written = capsys.readouterr().err.strip().splitlines()
    assert said in written and all(line.endswith("...") for line in announced)


def test_a_take_whose_channel_failed_is_set_aside_alone(three, tmp_path):
    rig, takes = three
    folder = write(tmp_path / "once", rig, [*takes[:2], *planted(takes[2:], "noise")])
    found = detections.detect([folder])
    assert len(found.takes) == 2
    (entry,) = found.rejected
    assert entry.file == "once/take-0002.flac" and entry.reason.startswith("channel 1 is dead")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("channels", "order", "named"),
    [(3, [0, 2, 1], "channels 1 and 2 look swapped"), (4, [3, 1, 2, 0], "channels 0 and 3 look")],
)
def test_swapped_channels_are_refused_by_their_names(channels, order, named, tmp_path):
    rig, takes = record(channels=channels)
    folder = write(tmp_path / "swapped", rig, [samples[order] for samples in takes])
    with pytest.raises(BadInput, match=named) as caught:
        detections.detect([folder])
    assert "rig.microphones" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("late", "said"), [(9, "channel 1 lags by 0."), (-9, "channel 1 leads by 0.")]
)
def test_a_channel_too_late_for_any_place_is_named(late, said, tmp_path):
    """Nine frames, 0.204 ms. All takes were set aside as not placed, and no channel was named.

    Microphones 1.5 mm off, 4 us each of four, make the lag uncertain by 0.01 ms; three of them.
    """
    rig, takes = record(channels=4)
    for samples in takes:
        samples[1] = np.roll(samples[1], late)
    known = Tolerances(place_sd=1.5e-3, contact_sd=20e-6)
    with pytest.raises(BadInput, match=said + r"(17|18|19|20|21|22|23) ms"):
        detections.detect([write(tmp_path / "late", rig, takes)], tolerances=known)


@pytest.mark.slow
@pytest.mark.parametrize("channels", [3, 4])
def test_a_session_in_order_is_taken_whole(channels, tmp_path):
    rig, takes = record(channels=channels)
    known = Tolerances(place_sd=1.5e-3, contact_sd=20e-6)
    found = detections.detect([write(tmp_path / "clean", rig, takes)], tolerances=known)
    assert len(found.takes) == 3 and not found.rejected


@pytest.mark.proof
def test_clean_sessions_are_not_refused(tmp_path):
    """A small sample: microphones up to 5 mm off, in a room or none, loud and faint."""
    for seed in range(6):
        survey = (1.5e-3, 5e-3)[seed % 2]
        known = Tolerances(place_sd=survey, contact_sd=20e-6)
        rig, takes = record(
            seed=seed,
            channels=3 + seed % 2,
            survey_sd=survey,
            reverberation_time=(0.0, 0.35, 0.5)[seed % 3],
            snr=(28.0, 18.0)[seed // 3],
        )
        found = detections.detect([write(tmp_path / f"s{seed}", rig, takes)], tolerances=known)
        assert found.takes, f"seed {seed}: every take was set aside"

"""Sessions of a drawer: written and read back; a take that is wrong is set aside in a line."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ricochet.hardware.twins.drawers.generator.takes import Setting
from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.drawers.tracks import Compared, Track
from ricochet.tasks.recordings import audio_files
from ricochet.tasks.recordings.manifests import MANIFEST
from ricochet.tasks.storage.files import sha256
from ricochet.tasks.systems.drawers import add_motion, capture, sessions, track_files

RING = [{"channel": n, "position": [0.1 * n, 0.1 * (n % 3), 0.0]} for n in range(17)]
SETTING = Setting("kitchen-small", array="ring-4", seconds=12.0, light_off=8.0)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sessions") / "monday-1"
    capture.simulated(folder, SETTING, takes=2, seed=3, form="wav")
    return folder


@pytest.fixture
def session(recorded: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(recorded, tmp_path / recorded.name))


def edited(folder: Path, edit: Callable[[dict], object]) -> None:
    file = folder / MANIFEST
    content = json.loads(file.read_text())
    edit(content)
    file.write_text(json.dumps(content))


def replaced(folder: Path, samples: np.ndarray, rate: int = 16_000) -> None:
    """Replace the sound of the first take, and what is stated of it."""
    content = audio_files.encode(samples.astype(np.float32), sample_rate=rate, form="wav")
    (folder / "take-0000.wav").write_bytes(content)
    stated = {"sha256": sha256(content), "frames": samples.shape[1]}
    edited(folder, lambda manifest: manifest["takes"][0].update(stated))


def reason(folder: Path) -> str:
    """Why the first take was set aside; the second is good all the same."""
    read, takes = sessions.read(folder)
    assert [take.file for take in takes] == ["take-0001.wav"]
    (rejected,) = read.rejected
    assert "\n" not in rejected.reason
    return rejected.reason


def test_what_was_recorded_is_read(recorded: Path) -> None:
    session, takes = sessions.read(recorded)
    assert (session.identity, session.drawer) == ("monday-1", "kitchen-small")
    assert session.rejected == () and len(takes) == 2
    take = takes[0]
    assert take.samples.shape == (4, 12 * 16_000) and take.seconds == 12.0
    assert take.light_off_at == 8.0 and take.notes == ()
    assert take.vision is not None and take.vision.times[-1] <= 8.0
    assert take.motion is not None and take.motion.times[-1] > 11.9
    both = np.interp(take.vision.times, take.motion.times, take.motion.positions)
    assert np.std(both - take.vision.positions) == pytest.approx(0.003, rel=0.3)
    assert not np.array_equal(take.samples, takes[1].samples)
    exact = audio_files.read(recorded / "take-0000.wav").samples
    np.testing.assert_array_equal(take.samples, exact)


def test_a_sound_under_another_name_and_too_much_of_all_are_not_read(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forty names of one file took 6 GB before they were found to be one."""
    loaded, load = [], sessions.load
    monkeypatch.setattr(
        sessions, "load", lambda of, stated: (loaded.append(stated.file), load(of, stated))[1]
    )
    (session / "copy.wav").hardlink_to(session / "take-0000.wav")
    rest = ("vision", "motion", "light_off_at")
    edited(session, lambda m: [m["takes"][1].pop(name) for name in rest])
    edited(session, lambda m: m["takes"].insert(1, {**m["takes"][0], "file": "copy.wav"}))
    edited(session, lambda m: [m["takes"][1].pop(name) for name in rest])
    read, takes = sessions.read(session)
    assert loaded == [take.file for take in takes] == ["take-0000.wav", "take-0001.wav"]
    assert read.rejected[0].reason == (
        "copy.wav: found the recording of take-0000.wav, expected each once"
    )
    monkeypatch.setattr(sessions.limits, "KEPT", 2 * takes[0].samples.size - 1)
    read, takes = sessions.read(session)
    assert [take.file for take in takes] == ["take-0000.wav"]
    assert "more sound, expected at most" in read.rejected[1].reason


def test_the_same_id_is_not_recorded_twice(session: Path) -> None:
    before = (session / MANIFEST).read_bytes()
    sealed = capture.simulated(session, SETTING, takes=1, seed=9)
    assert (sealed.state, sealed.takes) == ("unchanged", 2)
    assert (session / MANIFEST).read_bytes() == before


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda x: x[:3], "3 channels"),
        (lambda x: x[:, : 3 * 16_000], "3.00 s, expected 5 s at least"),
        (lambda x: 0.0 * x, "silence"),
        (lambda x: np.clip(1e3 * x, -1.0, 1.0), "clipped"),
        (lambda x: x * np.array([[1.0], [0.0], [1.0], [1.0]]), "channel 1: found stuck"),
        (lambda x: np.where(np.arange(x.shape[1]) > 90_000, x[:, :1], x), "channel 0: found stuck"),
    ],
)
def test_sound_that_cannot_be_used_is_set_aside(
    session: Path, spoil: Callable[[np.ndarray], np.ndarray], words: str
) -> None:
    replaced(session, spoil(audio_files.read(session / "take-0000.wav").samples))
    assert words in reason(session)


def test_an_impact_that_is_cut_off_is_heard_all_the_same(session: Path) -> None:
    samples = audio_files.read(session / "take-0000.wav").samples
    samples[:, 50_000:50_040] = 1.0
    replaced(session, samples)
    assert sessions.read(session)[0].rejected == ()


def test_sound_of_another_rate_or_other_bytes_is_set_aside(session: Path) -> None:
    samples = audio_files.read(session / "take-0000.wav").samples
    replaced(session, samples, rate=44_100)
    assert "44100 Hz" in reason(session)
    replaced(session, samples)
    edited(session, lambda manifest: manifest["takes"][0].update(sha256="0" * 64))
    assert "sha256" in reason(session)
    replaced(session, samples)
    edited(session, lambda manifest: manifest["takes"][0].update(xruns=2))
    assert "2 gaps in the recording" in reason(session)


@pytest.mark.parametrize(
    ("name", "edit", "words"),
    [
        ("vision", lambda t, x: (t + 2.0, x), "a frame at 9.9"),
        ("motion", lambda t, x: (t[: len(t) // 2], x[: len(t) // 2]), "nothing from 5.99"),
        ("motion", lambda t, x: (t, np.where(t > 6.0, x + 0.3, x)), "m/s at 6.0"),
        ("motion", lambda t, x: (t[:-70] + 0.7, x[:-70]), "nothing from 0.00 to 0.70"),
        ("motion", lambda t, x: (t, 1000.0 * x), "expected metres, 2 at most"),
        ("motion", lambda t, x: (t, 1e-3 * x), "a drawer that moves by"),
        ("motion", lambda t, x: (t[::-1], x), "times that increase"),
        ("motion", lambda t, x: (t, np.where(t > 6.0, np.nan, x)), "a finite number"),
    ],
)
def test_a_track_that_cannot_be_is_set_aside(
    session: Path, name: str, edit: Callable[..., tuple[np.ndarray, np.ndarray]], words: str
) -> None:
    file = session / f"{name}-0000.csv"
    track = track_files.read(file)
    track_files.write(file, Track(*edit(track.times, track.positions)))
    assert words in reason(session)


@pytest.mark.parametrize("shift", [-0.45, 0.35])
def test_a_motion_that_is_late_against_the_sound_is_set_aside(session: Path, shift: float) -> None:
    file = session / "motion-0000.csv"
    track = track_files.read(file)
    moved = np.interp(track.times - shift, track.times, track.positions)
    track_files.write(file, Track(track.times, moved))
    assert f"s {'late' if shift > 0.0 else 'early'} against the sound" in reason(session)


def test_a_track_whose_clock_may_be_another_is_used_with_a_note() -> None:
    """Five to eight centimetres of a fast stroke; of a short track a shift is not known so well."""
    for late, side in ((0.08, "late"), (-0.25, "early")):
        found = Compared(late, moves=True, heard=True)
        note = track_files.check_on_time(Path("motion.csv"), found, seconds=60.0)
        assert note is not None and f"s {side} against the sound: is its clock" in note
        assert track_files.check_on_time(Path("motion.csv"), found, seconds=8.0) is None
    usual = Compared(-0.08, moves=True, heard=True)
    assert track_files.check_on_time(Path("motion.csv"), usual, seconds=60.0) is None


def test_a_take_that_was_never_lit_is_read_with_a_note(session: Path) -> None:
    def dark(manifest: dict) -> None:
        for name in ("vision", "light_off_at", "motion"):
            manifest["takes"][0].pop(name)

    edited(session, dark)
    _, takes = sessions.read(session)
    assert takes[0].vision is None and takes[0].motion is None
    assert takes[0].notes == (sessions.NEVER_LIT,)


def test_the_motion_of_another_take_is_set_aside(session: Path) -> None:
    shutil.copy(session / "motion-0001.csv", session / "motion-0000.csv")
    assert "other strokes than are heard" in reason(session)


def test_a_take_of_hiss_alone_is_set_aside(session: Path) -> None:
    """Nothing of the strokes is heard: the estimators would learn that drawers are silent."""
    shape = audio_files.read(session / "take-0000.wav").samples.shape
    replaced(session, 1e-3 * np.random.default_rng(0).standard_normal(shape))
    assert "strokes that are not heard" in reason(session)


def test_a_drawer_that_rests_while_there_is_light_cannot_be_compared(session: Path) -> None:
    file = session / "vision-0000.csv"
    track = track_files.read(file)
    noise = np.random.default_rng(0).normal(0.0, 0.01, len(track.times))
    track_files.write(file, Track(track.times, 0.1 + noise))
    edited(session, lambda manifest: manifest["takes"][0].pop("motion"))
    _, takes = sessions.read(session)
    assert "vision-0000.csv cannot be compared with the sound" in takes[0].notes[0]


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (lambda m: m.update(schema="ricochet.session/1"), "ricochet.drawer-session/1"),
        (lambda m: m["rig"].update(sample_rate=44_100), "44100 Hz, expected 16000 Hz"),
        (lambda m: m["rig"].update(microphones=m["rig"]["microphones"][:2]), "2 microphones"),
        (lambda m: m["rig"].update(microphones=RING), "17 microphones"),
        (lambda m: m["object"].update(ball="tennis"), "unknown key"),
        (lambda m: m["takes"].append(m["takes"][0]), "one file twice"),
        (lambda m: m["takes"][1].update(vision=m["takes"][0]["vision"]), "one track twice"),
        (lambda m: m["takes"][0].update(light_off_at=-1.0), "greater than 0"),
        (lambda m: m["takes"][0].update(vision="../up.csv"), "letters, digits"),
        (lambda m: m["takes"][0].pop("frames"), "no key 'frames'"),
    ],
)
def test_a_manifest_that_cannot_be_is_refused(
    session: Path, edit: Callable[[dict], object], words: str
) -> None:
    edited(session, edit)
    with pytest.raises(BadInput) as refused:
        sessions.read(session)
    assert words in str(refused.value) and "\n" not in str(refused.value)


@pytest.mark.parametrize("absent", ["vision", "light_off_at"])
def test_vision_and_the_end_of_light_come_together(session: Path, absent: str) -> None:
    edited(session, lambda manifest: manifest["takes"][0].pop(absent))
    assert f"no {absent}" in reason(session)


@pytest.mark.parametrize(
    "change", [lambda x: x + 0.05, lambda x: -x, lambda x: 2.0 * x], ids=["off", "turned", "twice"]
)
def test_a_camera_that_sees_another_motion_is_set_aside(
    session: Path, change: Callable[[np.ndarray], np.ndarray]
) -> None:
    seen = track_files.read(session / "vision-0000.csv")
    track_files.write(session / "vision-0000.csv", Track(seen.times, change(seen.positions)))
    assert "off the measured motion" in reason(session)


def test_a_microphone_that_sticks_for_a_while_is_set_aside(session: Path) -> None:
    samples = audio_files.read(session / "take-0000.wav").samples.copy()
    samples[1, 20_000:40_000] = samples[1, 20_000]
    replaced(session, samples)
    assert "channel 1 stuck for 1.2" in reason(session)


class TestAddedMotion:
    """A motion is added to a session whose rig recorded sound alone."""

    @pytest.fixture
    def alone(self, session: Path) -> tuple[Path, Path]:
        """The session without tracks, and the film of its first take."""
        film = session.parent / "film.csv"
        shutil.move(session / "motion-0000.csv", film)
        (session / "vision-0000.csv").unlink()
        for name in ("vision", "light_off_at", "motion"):
            edited(session, lambda manifest, name=name: manifest["takes"][0].pop(name))
        return session, film

    def test_it_is_there_and_what_was_lit_is_seen(self, alone: tuple[Path, Path]) -> None:
        session, film = alone
        add_motion.add(session, "take-0000.wav", film, 6.0)
        _, takes = sessions.read(session)
        assert takes[0].light_off_at == 6.0 and takes[0].vision is not None
        assert takes[0].vision.times[-1] <= 6.0 and takes[0].motion is not None

    def test_one_that_does_not_fit_changes_nothing(self, alone: tuple[Path, Path]) -> None:
        session, film = alone
        track = track_files.read(film)
        moved = np.interp(track.times - 0.6, track.times, track.positions)
        track_files.write(film, Track(track.times, moved))
        before = sorted(path.name for path in session.iterdir()), (session / MANIFEST).read_bytes()
        with pytest.raises(BadInput, match="late against the sound"):
            add_motion.add(session, "take-0000.wav", film)
        after = sorted(path.name for path in session.iterdir()), (session / MANIFEST).read_bytes()
        assert after == before

    def test_a_second_film_that_does_not_fit_leaves_the_first(
        self, alone: tuple[Path, Path]
    ) -> None:
        session, film = alone
        add_motion.add(session, "take-0000.wav", film, 6.0)
        before = {path.name: path.read_bytes() for path in session.iterdir()}
        track = track_files.read(film)
        moved = np.interp(track.times - 0.6, track.times, track.positions)
        track_files.write(film, Track(track.times, moved))
        with pytest.raises(BadInput, match="late against the sound"):
            add_motion.add(session, "take-0000.wav", film, 6.0)
        assert {path.name: path.read_bytes() for path in session.iterdir()} == before

    def test_the_command_says_in_a_line_what_is_wrong(
        self, alone: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
    ) -> None:
        session, film = alone
        assert add_motion.main([str(session), "take-0009.wav", str(film)]) == 2
        assert "no take 'take-0009.wav', expected one of take-0000.wav" in capsys.readouterr().err
        assert add_motion.main([str(session), "take-0000.wav", str(film), "99"]) == 2
        assert "expected 0 to 12 s" in capsys.readouterr().err
        assert add_motion.main([str(session), "take-0000.wav", str(film), "8"]) == 0
        assert capsys.readouterr().out == "take-0000.wav: motion added\n"


@pytest.mark.parametrize("name", ["vision", "motion"])
def test_a_track_of_very_many_rows_is_refused(session: Path, name: str) -> None:
    """Those of all takes are kept: half a million rows for each of 150 takes took 1.3 GB."""
    times = np.linspace(0.0, 7.9 if name == "vision" else 12.0, 13_001)
    track = Track(times, np.interp(times, [0.0, 12.0], [0.1, 0.3]))
    track_files.write(session / f"{name}-0000.csv", track)
    assert "13001 rows, expected at most 13000, 1000 a second" in reason(session)

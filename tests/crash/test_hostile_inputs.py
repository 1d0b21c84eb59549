"""Damaged and hostile inputs at every border: one line, soon, and little memory.

`python -m pytest -n0 -s -m "slow or not slow" tests/crash/test_hostile_inputs.py` prints how many
cases there are, how many were answered badly, the most memory that one took and the slowest.
"""

import copy
import functools
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from ricochet.hardware.microphones import journal
from ricochet.tasks import settings
from ricochet.tasks.backups import manifests as backups
from ricochet.tasks.recordings import microphones_file, recorder, sessions
from ricochet.tasks.recordings.manifests import MANIFEST
from ricochet.tasks.storage.files import sha256
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.batting import impact_files
from ricochet.tasks.systems.bouncing_ball.planning import calibrated_ball
from ricochet.tasks.systems.drawers import sessions as drawer_sessions
from ricochet.tasks.systems.drawers import track_files
from ricochet.tasks.systems.rigid_bodies import model_files, model_parameters, motion_files
from ricochet.tasks.validation import posterior_samples
from tests.crash import hostile_files, hostile_json, hostile_sounds, hostile_tables
from tests.crash.measured import Answer, answered
from tests.tasks.recordings import small_sessions

MOST = 700_000_000
"""Bytes by which a refusal may grow a process; with what PyTorch takes, less than a gigabyte."""
Reader = Callable[[Path], object]
Content = Iterable[tuple[str, bytes]]
FOUND: list[Answer] = []
"""What all cases came to."""


def tried(cases: Iterable[tuple[str, Callable[[], object]]], *, may_read: bool = False) -> None:
    """Hold that all cases are answered well, and keep what they came to."""
    found = [answered(name, call, most=MOST) for name, call in cases]
    if may_read:
        found = [each for each in found if each.fault != "taken"]
    FOUND.extend(found)
    bad = [f"{each.name}: {each.fault}" for each in found if each.fault]
    assert found and not bad, "\n".join(bad)


def written(path: Path, content: Content, read: Reader) -> Iterator[tuple[str, Callable]]:
    """Yield the reading of each content, put at the path when it is its turn."""
    for name, each in content:
        path.write_bytes(each)
        yield f"{path.name}, {name}", lambda: read(path)


def irregular(folder: Path, name: str, read: Reader) -> Iterator[tuple[str, Callable]]:
    """Yield the reading of what is no file, of what has no end, and of what has no sense."""
    for number, (what, put) in enumerate(
        (hostile_files.IRREGULAR | hostile_files.SENSELESS).items()
    ):
        path = folder / str(number) / name
        path.parent.mkdir()
        put(path)
        yield f"{name}, {what}", lambda path=path: read(path)
        if path.is_file() and not path.is_symlink():
            path.unlink()


def result(path: Path) -> object:
    return calibrated_ball.of_result(calibrated_ball.read(path), "plan")


@functools.cache
def one_joint() -> mujoco.MjModel:
    """Return a model that is read, compiled once: a process each."""
    with tempfile.TemporaryDirectory() as folder:
        model = Path(folder) / "model.xml"
        joint = hostile_tables.ONE_JOINT.replace("<joint ", '<joint name="j" ')
        model.write_bytes(hostile_tables.model(joint))
        return model_files.read(model)


def cart(path: Path) -> object:
    return model_parameters.read(path, one_joint())


READERS: dict[str, tuple[str, Reader]] = {
    "session": (MANIFEST, lambda path: sessions.read_session(path.parent)),
    "drawer": (MANIFEST, lambda path: drawer_sessions.read(path.parent)),
    "sound": ("take.wav", sessions.load_clip),
    "microphones": ("microphones.yaml", microphones_file.read),
    "settings": ("params.yaml", catalogue.load_settings),
    "pendulum": ("motion.csv", lambda path: motion_files.read(path, 100.0)),
    "impacts": ("impacts.csv", impact_files.read),
    "track": ("vision-0000.csv", track_files.read),
    "samples": ("samples.npz", posterior_samples.read),
    "model": ("model.xml", model_files.read),
    "parameters": ("model.yaml", cart),
    "result": ("result.json", result),
    "journal": ("take-0000.journal", journal.read),
}


@pytest.mark.parametrize("border", [name for name in READERS if name != "settings"])
def test_what_is_no_file_or_has_no_sense_is_refused(border: str, tmp_path: Path) -> None:
    name, read = READERS[border]
    tried(irregular(tmp_path, name, read))


def test_settings_that_are_no_file_or_have_no_sense_are_refused(tmp_path: Path) -> None:
    harmless = {"no bytes", "null", "an object"}  # a file without settings changes none
    cases = irregular(tmp_path, "params.yaml", catalogue.load_settings)
    tried((name, call) for name, call in cases if name.partition(", ")[2] not in harmless)


def test_a_session_half_made_of_what_has_no_sense_is_not_sealed(tmp_path: Path) -> None:
    for number, name in enumerate((recorder.PLAN, recorder.TAKES)):
        folder = tmp_path / str(number)
        cases = hostile_files.IRREGULAR | hostile_files.SENSELESS
        harmless = {"nothing", "a link to nothing", "a link to itself", "an object", "a list"}
        for place, (what, put) in enumerate(cases.items()):
            session = folder / str(place) / "s"
            partial = recorder.partial_folder(session)
            partial.mkdir(parents=True)
            if name != recorder.PLAN:
                recorder.begin(session, {"schema": "x"})
            put(partial / name)
            if what not in harmless:
                tried([(f"{name}, {what}", lambda session=session: recorder.salvage(session))])


DECODED = {"format 6", "blocks of nothing"}
"""A-law, which a clip may be of, and a claim of FLAC that no decoder needs."""


@pytest.mark.slow
def test_sounds_that_are_damaged_or_lie_are_refused(tmp_path: Path) -> None:
    refused = ((name, content) for name, content in hostile_sounds.cases() if name not in DECODED)
    tried(written(tmp_path / "take.wav", refused, sessions.load_clip))


def test_sounds_that_lie_where_it_does_not_matter_are_numbers(tmp_path: Path) -> None:
    good = dict(hostile_sounds.cases())
    for name in DECODED:
        file = tmp_path / "take.wav"
        file.write_bytes(good[name])
        assert np.isfinite(sessions.load_clip(file)[0]).all()


@pytest.mark.slow
@pytest.mark.parametrize("border", ["pendulum", "impacts", "track"])
def test_tables_that_are_damaged_or_endless_are_refused(border: str, tmp_path: Path) -> None:
    name, read = READERS[border]
    tried(written(tmp_path / name, hostile_tables.tables(), read))


@pytest.mark.proof
def test_archives_models_and_settings_are_refused(tmp_path: Path) -> None:
    for border, content in (
        ("samples", hostile_tables.archives()),
        ("model", hostile_tables.models()),
        ("settings", hostile_tables.settings()),
        ("microphones", hostile_tables.settings()),
        ("parameters", hostile_tables.settings()),
    ):
        name, read = READERS[border]
        tried(written(tmp_path / name, content, read))


@pytest.mark.slow
def test_models_that_grow_are_refused_where_memory_and_time_are_bounded(tmp_path: Path) -> None:
    tried(written(tmp_path / "m.xml", hostile_tables.growing_models(), model_files.read))


@pytest.fixture
def ball(tmp_path: Path) -> Path:
    """A session of two takes."""
    plan = small_sessions.plan(tmp_path / "ball", diameter=0.04, mass=0.0027)
    small_sessions.write_session(plan, [small_sessions.noise(seed) for seed in range(2)])
    return plan.folder


def drawer(ball: dict[str, Any]) -> dict[str, Any]:
    """Return the manifest of a drawer's session."""
    take = ball["takes"][0] | {"vision": "v.csv", "motion": "m.csv", "light_off_at": 3.0}
    rig = ball["rig"] | {"sample_rate": 16_000}
    schema = drawer_sessions.SCHEMA
    whole = {key: ball[key] for key in ("id", "started_at")}
    return whole | {"schema": schema, "rig": rig, "object": {"drawer": "d"}, "takes": [take]}


def test_manifests_with_one_hostile_value_are_refused_or_mean_something(ball: Path) -> None:
    path = ball / MANIFEST
    content = json.loads(path.read_text())
    for manifest, read in (
        (content, lambda: sessions.read_manifest(path)),
        (drawer(content), lambda: drawer_sessions.read_manifest(path)),
    ):
        path.write_text(json.dumps(manifest))
        read()
        cases = written(path, hostile_json.cases(manifest), lambda path, read=read: read())
        tried(cases, may_read=True)


def test_manifests_of_too_much_are_refused(ball: Path) -> None:
    path = ball / MANIFEST
    whole = json.loads(path.read_text())
    take, microphone = whole["takes"][0], whole["rig"]["microphones"][0]
    many = [take | {"file": f"{number}.wav"} for number in range(60_000)]
    stood = [microphone | {"channel": number} for number in range(20_000)]
    half = json.dumps(whole | {"takes": []}).encode()
    million = b", ".join([json.dumps(take).encode()] * 1_000_000)
    cases = {
        "60,000 takes": json.dumps(whole | {"takes": many}).encode(),
        "a million takes": half.replace(b'"takes": []', b'"takes": [' + million + b"]"),
        "20,000 microphones": json.dumps(
            hostile_json.changed(whole, ("rig", "microphones"), stood)
        ).encode(),
        "a take twice": json.dumps(whole | {"takes": [take, take]}).encode(),
    }
    tried(written(path, cases.items(), lambda path: sessions.read_manifest(path)))


@pytest.mark.slow
def test_takes_that_are_damaged_or_lie_are_set_aside_and_the_rest_goes_on(ball: Path) -> None:
    manifest = json.loads((ball / MANIFEST).read_text())
    take, good = manifest["takes"]
    contents = [each for name, each in hostile_sounds.cases() if len(each) < 10**6]
    listed = []
    for number, content in enumerate(contents):
        name = f"bad-{number:03d}.wav"
        (ball / name).write_bytes(content)
        listed.append(take | {"file": name, "sha256": sha256(content)})
    (ball / MANIFEST).write_text(json.dumps(manifest | {"takes": [*listed, good]}))
    found = sessions.read_session(ball)
    assert [each.file for each in found.takes] == [good["file"]]
    assert len(found.rejected) == len(contents)
    assert all(each.reason.isprintable() for each in found.rejected)


TEXTS = {
    "the largest double": "1e308",
    "the least double": "-1e308",
    "no number": ".nan",
    "infinite": ".inf",
    "a thousand million": "1000000000",
    "10^30": str(10**30),
    "5000 digits": "1" * 5000,
    "no text": "",
    "a long text": "x" * 10_000,
    "a long list": "[" + "x," * 1001 + "x]",
    "an escape": '"\\e[31m"',
    "a list of lists": "[[[[1]]]]",
}


def once(parse: Callable[[str, str], object]) -> Callable[[str, str], object]:
    """Return what reads a text once, whatever it is of; what is refused is so each time."""
    found: dict[str, object] = {}

    def kept(text: str, where: str) -> object:
        if text not in found:
            found[text] = parse(text, where)
        return copy.deepcopy(found[text])

    return kept


def test_every_setting_refuses_what_is_out_of_its_range_or_means_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    types = settings._types(catalogue.sections())
    shipped = settings._read(settings.PARAMS_FILE, types)
    monkeypatch.setattr(settings, "_types", lambda _: types)
    monkeypatch.setattr(settings, "_read", lambda *_: dict(shipped))
    monkeypatch.setattr(settings.checked_yaml, "parse", once(settings.checked_yaml.parse))
    sizes = {"free_space", "log_size"}  # of which so many bytes are a meaning
    meaning = {"no text", "a long text"}  # of null, and of texts, which a name or a file may be
    for section, kind in catalogue.sections():
        for field in fields(kind):
            key = f"{section}.{field.name}"
            for name, text in TEXTS.items():
                answer = answered(
                    f"--set {key}: {name}",
                    lambda key=key, text=text: catalogue.load_settings(None, [f"{key}={text}"]),
                    most=MOST,
                )
                if answer.fault == "taken":
                    value = getattr(
                        catalogue.load_settings(None, [f"{key}={text}"])[kind], field.name
                    )
                    if field.name in sizes and name == "a thousand million":
                        continue
                    assert value is None or isinstance(value, str | bool), answer.name
                    assert name in meaning or len(value) <= 4096, answer.name
                else:
                    FOUND.append(answer)
                    assert not answer.fault, f"{answer.name}: {answer.fault}"
                    assert key in answer.line


@pytest.mark.proof
@pytest.mark.parametrize("key", ["takes"])
def test_a_session_of_as_many_values_as_are_read_takes_no_gigabyte(key: str, tmp_path) -> None:
    read = READERS["session"][1]
    words = hostile_json.many_values(f'{{"schema":"ricochet.session/1","{key}":', "}")
    tried(written(tmp_path / MANIFEST, words, read))


@pytest.mark.proof
@pytest.mark.parametrize("key", ["files", "left_out"])
def test_a_backup_of_as_many_values_as_are_read_takes_no_gigabyte(key: str, tmp_path) -> None:
    facts = '"schema":"ricochet.backup/1","when":"x","commit":"c","state":"s"'
    words = hostile_json.many_values(f'{{{facts},"{key}":', "}")
    tried(written(tmp_path / backups.MANIFEST, words, lambda path: backups.read(path.parent)))


@pytest.mark.slow
def test_all_cases_in_figures() -> None:
    """Of those that this process tried."""
    if not FOUND:
        pytest.skip("no case was tried in this process")
    bad = [each for each in FOUND if each.fault]
    most, slowest = max(FOUND, key=lambda x: x.grown), max(FOUND, key=lambda x: x.seconds)
    print(  # noqa: T201
        f"\n{len(FOUND)} hostile inputs, {len(bad)} answered badly; the most memory "
        f"{most.grown / 1e6:.0f} MB ({most.name}), the slowest {slowest.seconds:.1f} s "
        f"({slowest.name})"
    )
    assert not bad

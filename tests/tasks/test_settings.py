"""Settings: one truth in params.yaml, files and overrides on top, every fault one line."""

import ast
import pickle
from dataclasses import FrozenInstanceError, fields
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Literal, Union, get_args, get_origin, get_type_hints

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks import settings
from ricochet.tasks.general_settings import Capture
from ricochet.tasks.systems import catalogue
from ricochet.tasks.systems.bouncing_ball.settings import Density, Drops, Simulate


def write(folder: Path, text: str) -> Path:
    path = folder / "mine.yaml"
    path.write_text(text)
    return path


def test_the_file_that_ships_fills_every_section():
    loaded = catalogue.load_settings()
    assert loaded[Capture].rig == "simulated"
    assert loaded[Simulate].position_sd == 5.35e-3


def test_a_later_layer_wins_and_leaves_the_rest(tmp_path):
    path = write(tmp_path, "capture: {drops: 7, snr: 20}\n")
    loaded = catalogue.load_settings(path, ["capture.drops=9", "simulate.time_sd=1e-5"])
    assert (loaded[Drops].drops, loaded[Drops].snr) == (9, 20.0)
    assert loaded[Simulate].time_sd == 1e-5
    assert loaded[Density] == catalogue.load_settings()[Density]


def test_a_file_equal_to_the_default_changes_nothing(tmp_path):
    copy = write(tmp_path, settings.PARAMS_FILE.read_text())
    assert (
        catalogue.load_settings(copy)
        == catalogue.load_settings()
        == catalogue.load_settings(write(tmp_path, ""))
    )


def test_sections_cannot_be_changed():
    with pytest.raises(FrozenInstanceError):
        catalogue.load_settings()[Drops].drops = 3  # type: ignore[misc]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("capture: {dorps: 7}", "'drops'"),
        ("captrue: {drops: 7}", "'capture'"),
        ("capture: 7", "keys with values"),
        ("[1, 2]", "sections with keys"),
        ("capture: {drops: many}", "of type int"),
        ("capture: {drops: 2.5}", "of type int"),
        ("capture: {drops: true}", "of type int"),
        ("capture: {snr: .nan}", "of type float"),
        (f"capture: {{snr: {10**400}}}", "more than 300 digits"),
        ("capture: {snr: 1.0e+999}", "of type float"),
        ("capture: {ball: 3}", "of type str"),
        ("capture: {drops: 0}", "from 1 to 10000"),
        ("capture: {format: mp3}", "one of flac, wav"),
        ("capture: {restitution: 1.2}", "from 0.01 to 1"),
        ("capture: {mass: 0}", "a number above 0 and up to 20, kg, or null"),
        ("pendulum: {instants: []}", "a list of 1 to 20, each a number from 0 to 100000"),
        ("pendulum: {instants: [0, -1]}", "a list of 1 to 20, each a number from 0 to 100000"),
        ("capture: {drops: [", "YAML"),
        ("3: {drops: 1}", "known one"),
        ("2026-11-20: {drops: 1}", "known one"),
        ("capture: {drops: 1, drops: 2}", "the key drops twice"),
        ("a: &a [x]\nb: *a", "a reference to another entry"),
        ("[" * 10_000, "more than 32 lists"),
        ("capture: !!timestamp x", "no YAML"),
        ("capture: {drops: !!int ''}", "no YAML"),
        ("calibrate: {contact_sd: 1.0e+308}", "from 0 to 0.01"),
        ("calibrate: {fewest_takes: 1000000000}", "from 1 to 10000"),
        ('capture: {ball: "\\e[31m"}', "a text of at most 200 printable characters"),
        ("capture: {microphones: [[0, 0]]}", "a list of 0 to 64, each a list of 3, each a number"),
    ],
)
def test_a_faulty_file_is_refused_in_one_line_that_names_it(tmp_path, text, says):
    path = write(tmp_path, text)
    with pytest.raises(BadInput) as caught:
        catalogue.load_settings(path)
    line = str(caught.value)
    assert line.startswith(str(path)) and says in line and "\n" not in line


@pytest.mark.parametrize(
    "override", ["drops=3", "capture.drops", "capture.dorps=3", "capture.drops=x", "nope.drops=3"]
)
def test_a_faulty_override_is_refused_and_named(override):
    with pytest.raises(BadInput, match="--set " + override.split("=")[0]):
        catalogue.load_settings(None, [override])


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(BadInput, match=r"absent\.yaml: found No such file"):
        catalogue.load_settings(tmp_path / "absent.yaml")


def test_a_key_that_the_shipped_file_lost_is_named(tmp_path, monkeypatch):
    lost = settings.PARAMS_FILE.read_text().replace("  drops: 20000\n", "")
    path = tmp_path / "params.yaml"
    path.write_text(lost)
    monkeypatch.setattr(settings, "PARAMS_FILE", path)
    with pytest.raises(BadInput, match=r"simulate\.drops: found nothing"):
        catalogue.load_settings()


def test_classes_that_share_a_section_have_each_their_keys():
    loaded = catalogue.load_settings(None, ["capture.drops=9", "capture.rig=mine"])
    assert (loaded[Drops].drops, loaded[Capture].rig) == (9, "mine")
    assert not {entry.name for entry in fields(Drops)} & {entry.name for entry in fields(Capture)}


def test_no_key_of_a_section_belongs_to_two_classes():
    keys = [(name, f.name) for name, kind in catalogue.sections() for f in fields(kind)]
    assert len(keys) == len(set(keys))


def bounded(kind) -> bool:
    """Whether a type has few values, or says the least and the greatest."""
    if get_origin(kind) in (Union, UnionType):
        return all(bounded(each) for each in get_args(kind) if each is not NoneType)
    if get_origin(kind) is Annotated and get_origin(get_args(kind)[0]) is list:
        return all(bounded(each) for each in get_args(get_args(kind)[0]))
    return kind is bool or get_origin(kind) in (Literal, Annotated)


def test_every_setting_has_a_range(capsys):
    types = [
        (f"{name}.{key}", kind)
        for name, section in catalogue.sections()
        for key, kind in get_type_hints(section, include_extras=True).items()
    ]
    without = [name for name, kind in types if not bounded(kind)]
    with capsys.disabled():
        print(f"\n{len(types)} settings, {len(without)} without a range")  # noqa: T201
    assert len(types) > 100
    assert not without


def test_a_text_is_a_number_where_one_is_expected_and_stays_a_text_elsewhere():
    loaded = catalogue.load_settings(None, ["simulate.time_sd=1e-4", "capture.ball=1e-4"])
    assert loaded[Simulate].time_sd == 1e-4 and loaded[Drops].ball == "1e-4"


def test_other_values_of_one_class_leave_the_rest_as_it_was():
    loaded = catalogue.load_settings()
    other = loaded.changed(Drops, drops=3)
    assert other[Drops].drops == 3 != loaded[Drops].drops
    assert other[Capture] == loaded[Capture] and other != loaded
    assert other.changed(Drops, drops=loaded[Drops].drops) == loaded


def test_settings_survive_the_way_to_another_process():
    loaded = catalogue.load_settings()
    assert pickle.loads(pickle.dumps(loaded)) == loaded


def test_a_class_that_is_no_section_is_not_found():
    with pytest.raises(KeyError, match="Path"):
        catalogue.load_settings()[Path]


@cache
def modules():
    """Every module that may read settings, parsed."""
    paths = [path for top in ("flows", "hardware", "tasks") for path in Path(top).rglob("*.py")]
    return [list(ast.walk(ast.parse(path.read_text()))) for path in paths]


def imports(nodes, section):
    """Whether a module imports the class of a section."""
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == section.__module__
        and section.__name__ in {alias.name for alias in node.names}
        for node in nodes
    )


SECTIONS = sorted({kind for _, kind in catalogue.sections()}, key=str)


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.__name__)
def test_every_key_is_read_where_its_section_is_known(section):
    """A key may still change little; tests of flows and studies hold what single ones do."""
    knowing = [node for nodes in modules() if imports(nodes, section) for node in nodes]
    attributes = {node.attr for node in knowing if isinstance(node, ast.Attribute)}
    assert {field.name for field in fields(section)} <= attributes


WITH_PASSWORDS = (
    ("search.storage", "postgresql://lab:hidden@192.0.2.1/optuna?sslmode=verify-full"),
    ("search.storage", "postgresql://lab:hid/den@192.0.2.1/optuna"),
    ("search.storage", "postgresql://lab%3Ahidden@192.0.2.1/optuna"),
    ("search.storage", "postgresql://lab@192.0.2.1/optuna?password=hidden"),
    ("search.storage", "postgresql://lab@192.0.2.1/optuna?sslmode=disable&pass%77ord=hidden"),
    ("search.storage", "host=192.0.2.1 password=hidden"),
    ("compute.address", "tls://lab:hidden@192.0.2.1:8786"),
    ("real.robot", "tcp://lab:hidden@192.0.2.7"),
)


@pytest.mark.parametrize(("key", "address"), WITH_PASSWORDS)
def test_a_password_is_refused_where_settings_are_read_and_is_not_shown(tmp_path, key, address):
    section, name = key.split(".")
    file = write(tmp_path, f"{section}: {{{name}: '{address}'}}")
    written = ((file, []), (None, [f"{key}={address}"]), (None, [f"{key}='{address}'"]))
    for params, overrides in written:
        with pytest.raises(BadInput, match=rf"{key}: found a password, .* recorded") as refused:
            catalogue.load_settings(params, overrides)
        assert "hid" not in str(refused.value)


@pytest.mark.parametrize(
    "text", ["serch.storage=//u:hidden@h", 'search.storage="\\x2f/u:hidden@h"']
)
def test_nor_is_a_password_shown_of_a_mistyped_key_or_an_escaped_text(text):
    with pytest.raises(BadInput, match="found a password") as refused:
        catalogue.load_settings(None, [text])
    assert "hidden" not in str(refused.value)


@pytest.mark.parametrize(
    "override",
    [
        "search.storage=postgresql://lab@192.0.2.1:5432/optuna?sslmode=verify-full",
        "search.storage=postgresql://lab@:5433/optuna?host=/run",
        "search.storage=postgresql://lab@[2001:db8::1]:5432/optuna",
        "compute.address=tls://192.0.2.1:8786",
        "real.robot=192.0.2.7",
        "capture.remote=night@lab",
    ],
)
def test_an_address_without_a_password_is_taken(override):
    key, _, address = override.partition("=")
    loaded = catalogue.load_settings(None, [override])
    assert address in str([vars(each) for each in loaded.sections.values()]), key

"""The numbers of a run: params.yaml, a file laid over it, then overrides; one dataclass a section.

    settings = load(Path("mine.yaml"), ["capture.drops=5"])
    settings.capture.drops

A value is refused unless its key is known, its type is right and it lies in its range. The fields
have no defaults: params.yaml beside the packages holds every value once.
"""

import difflib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import yaml

from ricochet.models.core.bad_input import BadInput

PARAMS_FILE = Path(__file__).resolve().parents[1] / "params.yaml"


@dataclass(frozen=True)
class Range:
    """The closed interval in which a number must lie."""

    low: float
    high: float = math.inf


@dataclass(frozen=True)
class Choice:
    """The words of which a text must be one."""

    words: tuple[str, ...]


Amount = Annotated[float, Range(0.0)]
Size = Annotated[float, Range(1e-9)]
Count = Annotated[int, Range(1)]
Number = Annotated[int, Range(0)]


@dataclass(frozen=True)
class Capture:
    """One recording session; the comments in params.yaml give units."""

    rig: str
    microphones: list[Any]
    device: str
    ball: str
    surface: str
    restitution: Annotated[float, Range(0.01, 1.0)]
    log10_concentration: Annotated[float, Range(-3.0, 9.0)]
    drop_height: Size
    drops: Count
    duration: Size
    sample_rate: Annotated[int, Range(8000, 384000)]
    temperature: Annotated[float, Range(-40.0, 60.0)]
    snr: Annotated[float, Range(-20.0, 120.0)]
    reverberation_time: Annotated[float, Range(0.0, 5.0)]
    noise_steps: Size
    survey_sd: Amount
    contact_sd: Amount
    format: Annotated[str, Choice(("flac", "wav"))]
    remote: str
    max_lateness: Amount


@dataclass(frozen=True)
class Simulate:
    """Drops simulated without sound, and the noise of measuring one bounce."""

    drops: Count
    time_sd: Size
    position_sd: Size


@dataclass(frozen=True)
class Density:
    """The training of a conditional density."""

    simulations: Count
    hidden: Count
    components: Count
    epochs: Count
    batch: Count
    learning_rate: Size
    trials: Number


@dataclass(frozen=True)
class Calibrate:
    """From sessions to a posterior."""

    fewest_takes: Count
    survey_sd: Amount
    contact_sd: Amount
    check_sessions: Count


@dataclass(frozen=True)
class Toss:
    """Balls tossed at a robot, and what makes them hard to hear."""

    tosses: Count
    occlusion: Annotated[float, Range(0.0, 1.0)]
    attenuation: Amount
    shortest_detour: Size
    longest_detour: Size
    detour_share: Amount
    robot_noise: Annotated[float, Range(-60.0, 60.0)]
    look_ahead: list[Any]
    home: list[Any]


@dataclass(frozen=True)
class Gate:
    """The size of the checks before `champion`."""

    sessions: Count
    draws: Count


@dataclass(frozen=True)
class Validate:
    """The size of a validation on the rig."""

    tosses: Count
    positions: Count


@dataclass(frozen=True)
class Real:
    """A real rig: the robot, and the tosses of a person."""

    robot: str
    base: list[Any]
    tosses: Count
    repeats: Number
    patience: Size
    window: Size
    answer: Size


@dataclass(frozen=True)
class Hockey:
    """The air-hockey table, what disturbs a shot, and how much is played."""

    airflow: Amount
    position_noise: Amount
    loss: Annotated[float, Range(0.0, 1.0)]
    lost: Number
    delay: Number
    mallet_known: bool
    episodes: Count
    steps: Count
    shots: Count


@dataclass(frozen=True)
class Energy:
    """The training of the energies of shots."""

    states: Annotated[int, Range(3)]
    candidates: Annotated[int, Range(2)]
    hidden: Count
    epochs: Count
    batch: Count
    learning_rate: Size
    held_out: Count
    aim_sd: Amount
    trials: Number


@dataclass(frozen=True)
class Nightly:
    """What the scheduled flow records, and how late it may start."""

    drops: Count
    max_lateness: Amount
    validate: bool
    shooting: bool


@dataclass(frozen=True)
class Study:
    """The size of a study."""

    simulations: Count
    paper_simulations: Count
    cases: Count
    sessions: Count
    repeats: Count
    drops: Count
    quick: Annotated[float, Range(1e-6, 1.0)]


@dataclass(frozen=True)
class Settings:
    """All sections of params.yaml."""

    capture: Capture
    simulate: Simulate
    density: Density
    calibrate: Calibrate
    gate: Gate
    validate: Validate
    real: Real
    toss: Toss
    hockey: Hockey
    energy: Energy
    nightly: Nightly
    study: Study


def load(params_file: Path | None = None, overrides: Sequence[str] = ()) -> Settings:
    """Read the settings of a run.

    Args:
        params_file: YAML file laid over params.yaml; it may hold a part of the keys.
        overrides: Texts `section.key=value`, applied in order.

    Returns:
        The settings, each value of the type and in the range of its field.

    Raises:
        BadInput: A file cannot be read, a key is unknown, or a value has a wrong type or range.
    """
    values = _checked(PARAMS_FILE)
    if params_file is not None and params_file.resolve() != PARAMS_FILE:
        for section, entries in _checked(params_file).items():
            values.setdefault(section, {}).update(entries)
    for override in overrides:
        section, key, text = _split(override)
        value = _yaml(text, f"--set {override}")
        values.setdefault(section, {})[key] = _convert(section, key, value, f"--set {override}")
    return Settings(**{name: _section(name, values.get(name, {})) for name in _sections()})


def _sections() -> dict[str, type]:
    """Return the dataclass of each section."""
    return get_type_hints(Settings)


def _section(name: str, values: Mapping[str, Any]) -> Any:
    """Build one section, all keys of which must be there."""
    kind = _sections()[name]
    for entry in fields(kind):
        if entry.name not in values:
            raise BadInput(f"{PARAMS_FILE.name}: {name}.{entry.name}", "nothing", "a value")
    return kind(**values)


def _checked(path: Path) -> dict[str, dict[str, Any]]:
    """Read a file of sections; its keys and values are checked, it need not hold all."""
    try:
        content = _yaml(path.read_text(encoding="utf-8"), str(path))
    except OSError as error:
        raise BadInput(str(path), error.strerror or str(error), "a readable YAML file") from error
    except UnicodeDecodeError as error:
        raise BadInput(str(path), "bytes that are not UTF-8", "a readable YAML file") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise BadInput(str(path), type(content).__name__, "sections with keys")
    return {section: _entries(section, part, str(path)) for section, part in content.items()}


def _entries(section: Any, part: Any, where: str) -> dict[str, Any]:
    """Check one section of a file."""
    _known(section, list(_sections()), f"{where}: {section}")
    if not isinstance(part, dict):
        raise BadInput(f"{where}: {section}", type(part).__name__, "keys with values")
    return {
        key: _convert(section, key, value, f"{where}: {section}.{key}")
        for key, value in part.items()
    }


def _yaml(text: str, where: str) -> Any:
    """Parse YAML, any fault of it being bad input."""
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BadInput(where, str(error), "YAML") from error


def _split(override: str) -> tuple[str, str, str]:
    """Split `section.key=value` and check that the key is known."""
    name, equals, text = override.partition("=")
    section, dot, key = name.strip().partition(".")
    if not equals or not dot:
        raise BadInput(f"--set {override}", repr(override), "section.key=value")
    _known(section, list(_sections()), f"--set {override}")
    return section, key, text


def _known(name: Any, names: Sequence[str], where: str) -> None:
    """Refuse a name that is not in the list, and say which one is nearest."""
    if name in names:
        return
    nearest = difflib.get_close_matches(str(name), names, n=1, cutoff=0.0)
    raise BadInput(where, f"unknown key {name!r}", f"a known one, the nearest is {nearest[0]!r}")


def _convert(section: str, key: Any, value: Any, where: str) -> Any:
    """Return a value in the type of its field, or refuse it."""
    hints = get_type_hints(_sections()[section], include_extras=True)
    _known(key, list(hints), where)
    annotated = get_origin(hints[key]) is Annotated
    kind, *limits = get_args(hints[key]) if annotated else (hints[key],)
    kind = get_origin(kind) or kind
    converted = _typed(kind, value)
    if converted is None:
        raise BadInput(where, repr(value), f"a value of type {kind.__name__}")
    for limit in limits:
        _within(limit, converted, where)
    return converted


def _typed(kind: type, value: Any) -> Any:
    """Return the value in a type, or None where it is of another; YAML reads 1e-4 as a text."""
    if kind is float and isinstance(value, int | float | str) and not isinstance(value, bool):
        try:
            number = float(value)
        except ValueError:
            return None
        return number if math.isfinite(number) else None
    same = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    return value if same else None


def _within(limit: Range | Choice, value: Any, where: str) -> None:
    """Refuse a value outside its range or choice."""
    if isinstance(limit, Choice):
        if value not in limit.words:
            raise BadInput(where, repr(value), "one of " + ", ".join(limit.words))
    elif not limit.low <= value <= limit.high:
        raise BadInput(where, repr(value), f"a number from {limit.low:g} to {limit.high:g}")

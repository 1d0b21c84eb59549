"""What a system offers to the command line, the flows and the registry.

A system is one folder here and one in `models/systems`. Its module `system` holds a `SYSTEM` made
of names and of callables that import late, so that a list of all systems costs nothing. MLflow's
experiments are not named after systems: each kind of run names its own, as words that are stored.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ricochet.models.core.progress import Progress
from ricochet.tasks.registry.kinds import PackageKind
from ricochet.tasks.settings import Settings
from ricochet.tasks.training.steps import Publication, Training

if TYPE_CHECKING:
    from ricochet.tasks.recordings.recorder import Sealed
    from ricochet.tasks.registry.packages import Package


@dataclass(frozen=True)
class NumberOption:
    """A number that an inference or a study takes, `--NAME VALUE`, with hyphens for underscores.

    Attributes:
        default: None leaves the number out, and so to whoever takes it.
        within: The least and the greatest.
    """

    name: str
    metavar: str
    help: str
    default: float | None
    within: tuple[float, float]


@dataclass(frozen=True)
class StudyRequest:
    """What is asked of a study.

    Attributes:
        out: Folder for figures; `result.json` is not the study's to write.
        quick: Whether to take a small share of every count.
        seed: Which study; each has randomness of its own.
        count: What the study's own option counts; None leaves it to settings and `quick`.
        numbers: Values of the study's own options that are numbers, by name.
    """

    settings: Settings
    out: Path
    progress: Progress
    quick: bool = False
    seed: int = 0
    count: int | None = None
    numbers: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Headline:
    """What of a result is shown at the terminal.

    Attributes:
        records: The keys of the result, joined by `/`, that hold the rows by name.
        columns: Keys of a row, joined by `/`, by heading; a heading has the unit.
    """

    records: str
    columns: Mapping[str, str]


@dataclass(frozen=True)
class Study:
    """A paper's tables and figures, `ricochet study NAME`.

    Attributes:
        run: Makes figures and returns every number of the tables.
        count: The option that sets how much is tried, and of what, such as ("rolls", "of a die").
        duration: How long it takes, in words, at full size and with `--quick`.
        numbers: Numbers that it takes.
    """

    name: str
    summary: str
    run: Callable[[StudyRequest], Mapping[str, Any]]
    count: tuple[str, str] | None = None
    duration: str = ""
    headline: Headline | None = None
    numbers: tuple[NumberOption, ...] = ()


class Night(Protocol):
    """What the scheduled flow lends to a step: each call runs one flow."""

    @property
    def settings(self) -> Settings:
        """All settings."""

    @property
    def folder(self) -> Path:
        """Folder of the night's results."""

    def record(self, overrides: Sequence[str]) -> dict[str, Any]:
        """Record tonight's session, publish it and fetch all others; what fails is noted.

        The overrides, texts `section.key=value`, come after those of the night. Returns `state`,
        `published` and `reason` of result.json.
        """

    def calibrate(self) -> dict[str, Any]:
        """Calibrate all recordings; returns the results by name of the package."""

    def train(self, name: str) -> dict[str, Any]:
        """Run a training and return its result."""

    def infer(self, name: str, files: Sequence[str], register_as: str) -> dict[str, Any]:
        """Run an inference from files of recorded motion, register it and return its result."""

    def validate(self, name: str) -> str:
        """Validate the candidate of a package; returns the outcome in a line, even if it failed."""


@dataclass(frozen=True)
class NightlyStep:
    """A part of the scheduled flow; if it fails, the other parts run all the same.

    Attributes:
        name: What is done, for the line that reports a failure.
        run: Does it and returns entries of the night's result.json.
        failed: The entries if it fails, from the failure in a line.
    """

    name: str
    run: Callable[[Night], Mapping[str, Any]]
    enabled: Callable[[Settings], bool] = lambda settings: True
    failed: Callable[[str], Mapping[str, Any]] = lambda line: {}


@dataclass(frozen=True)
class LateValidation:
    """A kind of package that is validated, and may so become champion.

    Attributes:
        load: Imports and returns its `tasks.validation.judge.Validation`.
        examples: Worked examples of what follows `ricochet validate`, the first of them a name.
    """

    kind: PackageKind
    load: Callable[[], Any]
    examples: tuple[str, ...]


class Exported(Protocol):
    """What an export wrote."""

    @property
    def line(self) -> str:
        """It in a line."""

    def to_json(self) -> Mapping[str, Any]:
        """Return it as JSON can hold it."""


@dataclass(frozen=True)
class Export:
    """A form in which packages of a kind go to other programs, `ricochet export NAME --to FORM`.

    Attributes:
        run: Writes a package, whose name it is given, into a folder.
    """

    to: str
    kind: PackageKind
    run: Callable[["Package", str, Path], Exported]


@dataclass(frozen=True)
class InferenceRequest:
    """What is asked of an inference.

    Attributes:
        files: Recorded motions to learn from.
        rate: Frames a second, for files that do not say.
        predicted: Further motions, to be predicted.
        out: Folder for arrays and figures, made once the files are good; `result.json` is not the
            inference's.
        given: Files of the inference's own options, by name.
        numbers: Values of the inference's own options that are numbers, by name.
        name: Of the package that is made, as it is to be registered.
    """

    files: tuple[Path, ...]
    rate: float | None
    predicted: tuple[Path, ...]
    settings: Settings
    out: Path
    seed: int
    progress: Progress
    given: Mapping[str, Path] = field(default_factory=dict)
    numbers: Mapping[str, float] = field(default_factory=dict)
    name: str = "unregistered"


@dataclass(frozen=True)
class CaptureRequest:
    """What is asked of a capture.

    Attributes:
        folder: Where the session is to lie; its name is the session's id.
        rig: Name of the rig.
        seed: Of a simulated rig; the id is mixed into it.
    """

    settings: Settings
    folder: Path
    rig: str
    seed: int
    progress: Progress


@dataclass(frozen=True)
class Calibration:
    """What `ricochet calibrate SESSION ..` does with recordings of a form of their own.

    Attributes:
        training: Name of the training that learns from them.
        setting: Its setting `section.key` that lists their folders.
    """

    training: str
    setting: str


@dataclass(frozen=True)
class SessionKind:
    """Recordings of a form of their own, `ricochet capture NAME --session ID`.

    Attributes:
        run: Records and seals a session, whose id is never recorded twice.
        schema: Of its manifests.
    """

    name: str
    summary: str
    run: Callable[[CaptureRequest], "Sealed"]
    schema: str
    calibration: Calibration


@dataclass(frozen=True)
class FileOption:
    """A file that an inference takes beside recordings, `--NAME FILE`.

    Attributes:
        required: Then the option alone, without the inference's name, says which one is meant.
    """

    name: str
    metavar: str
    help: str
    required: bool = False


@dataclass(frozen=True)
class Inference:
    """Parameters of a simulator from recorded motion, `ricochet infer NAME FILE ..`.

    Attributes:
        run: Infers, writes arrays, figures and a package, and returns the result; where it writes
            no package of its kind, `withheld` is the line that says why.
        lines: What of a result is shown at the terminal.
        kind: Of the package that it writes; None where it writes none.
        publish: Records a result in MLflow and registers the package: takes its name, the folder of
            the request, the result and the id of a flow run.
        details: More for the help, in whole lines.
        options: Files that it takes beside recordings.
        example: What may follow its name.
        numbers: Numbers that it takes.
        motion: Whether files are motions, which have a rate and can be predicted; else each is a
            table that is complete in itself.
        loads: What takes a moment before it begins.
    """

    name: str
    summary: str
    run: Callable[[InferenceRequest], Mapping[str, Any]]
    lines: Callable[[Mapping[str, Any]], Sequence[str]]
    kind: PackageKind | None = None
    publish: Callable[[str, Path, Mapping[str, Any], str], Publication] | None = None
    details: str = ""
    options: tuple[FileOption, ...] = ()
    example: str = "run.csv --rate 400"
    numbers: tuple[NumberOption, ...] = ()
    motion: bool = True
    loads: str = "PyTorch"


@dataclass(frozen=True)
class System:
    """A system; all parts but the name may be absent.

    Attributes:
        name: Its folder in `tasks/systems`, and the word for it in the catalogue.
        kinds: The packages it puts into the registry.
        trainings: What makes those that are not calibrated from recordings.
        nightly: Its parts of the scheduled flow, in their order.
        sessions: Recordings of forms of their own.
    """

    name: str
    kinds: tuple[PackageKind, ...] = ()
    validations: tuple[LateValidation, ...] = ()
    trainings: tuple[Training, ...] = ()
    studies: tuple[Study, ...] = ()
    inferences: tuple[Inference, ...] = ()
    nightly: tuple[NightlyStep, ...] = ()
    exports: tuple[Export, ...] = ()
    sessions: tuple[SessionKind, ...] = ()

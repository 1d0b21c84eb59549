"""Where the results of calibrations lie, so that none replaces what belongs to another.

    DIR/calibrate/NAME    of a ball-surface pair or a recording, as in artifacts/ and nightly/
    DIR/NAME              of one of several, or where DIR holds several already
    DIR                   of the only one, unless another one's lie there

A recording whose name another result has lies in NAME-<start of its digest>, and moves there when
a pair of its name is calibrated. The `result.json`
above several results is their index.
"""

import contextlib
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry.packages import refuse_other, remove_package
from ricochet.tasks.storage import checked_json, limits
from ricochet.tasks.storage.files import write_json, writing

PAGE = "page.html"
INDEX = "ricochet.calibration-index/1"
SIDE_BY_SIDE = "calibrate"
"""Name of a folder where results lie side by side from the first one on: the next may be of
another pair, and must find room there as well."""
FILES = (
    "result.json",
    "details.json",
    "samples.npz",
    "bounces.csv",
    PAGE,
    "metrics.json",
)
"""Of one result, that by which it counts as there first."""


def holds_several(out: Path) -> bool:
    """Tell whether results lie side by side below a folder."""
    return _side_by_side(out) or _read(out / "result.json") is not None


def refuse_another(out: Path, names: Collection[str]) -> None:
    """Refuse a folder that itself holds the result of something else; `BadInput`.

    Args:
        names: Of the pairs, and of the files of the recordings, whose results would lie there.
    """
    there = None if _side_by_side(out) else _occupant(out)
    if there is not None and list(names) != [there]:
        expected = f"no other result than that of {' or '.join(names)}: name another --out"
        raise BadInput(str(out / "result.json"), f"the result of {there}", expected)


def clear(folder: Path) -> None:
    """Remove what an earlier run left of a result, `result.json` first.

    Where no result lies, figures may be somebody's own, and stay.

    Raises:
        BadInput: Something else than a package lies where one is to be.
    """
    refuse_other(folder / "package")
    if not any((folder / name).is_file() for name in FILES):
        return
    first, *others = FILES
    (folder / first).unlink(missing_ok=True)
    remove_package(folder / "package")
    for figure in (folder / "figures").glob("*.png"):
        figure.unlink()
    for name in others:
        (folder / name).unlink(missing_ok=True)


def of_recording(place: Path, digest: str) -> Path:
    """Return the folder of a recording: another one where the place has the result of another."""
    try:
        there = checked_json.load(place / "details.json")["recordings"]
    except (OSError, ValueError, LookupError, TypeError):
        return place
    return place if there == digest else place.with_name(f"{place.name}-{digest[:8]}")


def make_room(place: Path) -> Path | None:
    """Move the result of a recording away from where a pair's will lie; return where it is then."""
    try:
        details = checked_json.load(place / "details.json")
        moved = place.with_name(f"{place.name}-{details['recordings'][:8]}")
    except (OSError, ValueError, LookupError, TypeError):
        return None
    if "channels" not in details or moved.exists() or not moved.name.isprintable():
        return None
    with writing(moved):
        return place.rename(moved)


def move_below(out: Path) -> None:
    """Move the result in a folder whose results lie side by side into one of its own."""
    there = _occupant(out) if _side_by_side(out) else None
    if there is None or Path(there).name != there or not there.isprintable():
        return
    if (out / there / "result.json").exists():
        return
    with writing(out):
        (out / there).mkdir(exist_ok=True)
        for name in ("package", "figures", *reversed(FILES)):  # that by which it is found last
            with contextlib.suppress(FileNotFoundError):
                (out / name).rename(out / there / name)


def refuse_heavy(places: Iterable[Path], out: Path) -> None:
    """Refuse earlier results that are too large to be held at once: `BadInput`."""
    there = [place / "result.json" for place in places]
    size = sum(file.stat().st_size for file in there if file.is_file())
    if size > limits.TEXT:
        raise BadInput(str(out), f"earlier results of {size} bytes", f"at most {limits.TEXT}")


def write_index(folders: Mapping[str, Path], out: Path) -> None:
    """Add results by name to the index of a folder, if they lie below it; others stay in it."""
    below = {name: folder for name, folder in folders.items() if folder != out}
    if not below:
        return
    index = _read(out / "result.json") or {}
    found = {name: path for name, path in index.items() if (out / path).is_file()}
    found |= {folder.name: f"{folder.name}/result.json" for folder in below.values()}
    write_json(out / "result.json", {"schema": INDEX, "pairs": dict(sorted(found.items()))})


def _side_by_side(out: Path) -> bool:
    return out.resolve().name == SIDE_BY_SIDE


def _occupant(out: Path) -> str | None:
    """Return the pair, or the file of the recording, whose result lies in a folder itself."""
    try:
        details = checked_json.load(out / "details.json")
        result = checked_json.load(out / "result.json")
        if details.get("channels") is not None:
            return str(result["sessions"][0])
        return f"{result['object']['ball']}-{result['object']['surface']}"
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return None


def _read(path: Path) -> dict[str, str] | None:
    """Return the paths of an index by name, None if there is none; never one out of its folder."""
    try:
        index = checked_json.load(path)
        paths = index["pairs"] if index["schema"] == INDEX else None
    except (OSError, ValueError, LookupError, TypeError):
        return None
    if not isinstance(paths, dict):
        return None
    return {name: path for name, path in paths.items() if path == f"{name}/result.json"}

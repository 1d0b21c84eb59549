"""What reading the largest packages, and hostile ones, takes: memory and time.

    python -m benchmarks.registry.reading

A row a package: its bytes, the most memory that reading it took beside what the process had before
(`VmHWM` of a process of its own that read a small package first, so that everything is loaded),
as a multiple of its bytes, the time, and what became of it. The package itself is in memory once it
is read, so that three times its bytes beside it are four times in all. `FLOOR` is what a small
package may take: JSON of a megabyte is some 8 MB of objects.
"""

import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.registry import packages
from ricochet.tasks.registry.kinds import Reader
from ricochet.tasks.registry.manifests import Parameter
from ricochet.tasks.registry.packages import LARGEST_FILE, Arrays, Package
from ricochet.tasks.storage.files import sha256
from ricochet.tasks.systems.bouncing_ball.grid_package import GRID
from ricochet.tasks.systems.rigid_bodies import model_packages

MOST, FLOOR = 4.0, 24 * 2**20
"""Times its bytes, the package included, and bytes that any may take."""
READERS: dict[str, Reader] = {"grid": GRID, "draws": model_packages.READER}
_NAMES = ("restitution", "log10_concentration")
_BOX = ((0.55, 0.95), (1.0, 5.0))


@dataclass(frozen=True)
class Reading:
    """What one reading took; `answer` is `read`, or the line of the refusal."""

    size: int
    extra: int
    seconds: float
    answer: str

    @property
    def within(self) -> bool:
        """Whether it took no more than is promised."""
        return self.extra <= MOST * self.size + FLOOR


def grid(points: int = 61, draws: int = 1000) -> Package:
    """Return a uniform density over the prior, so many points an axis."""
    draw = np.random.default_rng(0)
    low, high = np.array(_BOX).T
    ones, middle = np.ones(points), 0.5 * (low + high)
    arrays = {
        "rows": np.linspace(low[1], high[1], points),
        "low": low[0] * ones,
        "high": high[0] * ones,
        "log_density": np.full((points, points), -np.log(np.prod(high - low))),
        "samples": draw.uniform(low, high, (draws, 2)),
        "mean": middle,
        "covariance": np.diag((high - low) ** 2 / 12.0),
    }
    parameters = tuple(Parameter(n, "1", *ends) for n, ends in zip(_NAMES, _BOX, strict=True))
    return _package("grid", parameters, arrays, {"theta": middle[None]})


def draws(count: int = 100, width: int = 2) -> Package:
    """Return draws of so many numbers of a model."""
    samples = np.random.default_rng(0).normal(size=(count, width))
    noise = np.full((count, 1), 0.1)
    arrays = {
        "samples": samples,
        "observation": noise,
        "departure": noise,
        "mean": samples.mean(0),
        "covariance": np.atleast_2d(np.cov(samples.T)),
    }
    parameters = tuple(Parameter(f"p{k}", "1", -9.0, 9.0) for k in range(width))
    return _package(model_packages.KIND, parameters, arrays, model_packages.inputs())


def write_cases(place: Path) -> dict[str, Path]:
    """Write all packages; return the folder of each by its name, which starts with its reader's."""
    packages.write_package(place / "grid", grid(), reader=GRID)
    packages.write_package(place / "draws", draws(), reader=model_packages.READER)
    packages.write_package(place / "grid, largest", grid(1024, 100_000), reader=GRID)
    most = LARGEST_FILE // 8 // 18 - 100
    widest = draws(most, 16)
    packages.write_package(place / "draws, largest", widest, reader=model_packages.READER)
    numbers = LARGEST_FILE // 8 - 20_000  # what a sound one holds lies beside
    for name, arrays in _hostile(numbers).items():
        packages.write_package(place / name, grid(), reader=GRID)
        _replace(place / name, "posterior.safetensors", packages._serialized(arrays))
    for name, (file, content) in _bombs().items():
        packages.write_package(place / name, grid(), reader=GRID)
        _replace(place / name, file, content)
    return {folder.name: folder for folder in sorted(place.iterdir())}


def read(reader: str, warm: Path, folder: Path) -> Reading:
    """Read a package in a process of its own, after a small one."""
    command = [sys.executable, "-m", "benchmarks.registry.reading", reader, str(warm), str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return Reading(**json.loads(done.stdout))


def main() -> None:
    """Print a row a package."""
    with tempfile.TemporaryDirectory() as text:
        place = Path(text)
        for name, folder in write_cases(place).items():
            reader = name.partition(",")[0]
            found = read(reader, place / reader, folder)
            share = found.extra / found.size
            said = "" if found.within else "MORE THAN PROMISED "
            print(
                f"{name:34}{found.size / 2**20:7.1f} MiB{found.extra / 2**20:8.1f} MiB"
                f"{share:7.1f} times{found.seconds:7.2f} s  {said}{found.answer[-60:]}",
                flush=True,
            )


def _package(
    kind: str, parameters: tuple[Parameter, ...], arrays: Arrays, inputs: Arrays
) -> Package:
    return Package(
        kind=kind, name="ball-table", parameters=parameters, arrays=arrays, inputs=inputs,
        checks={}, data_digest="0" * 32, git_commit="unknown",
    )  # fmt: skip


def _hostile(numbers: int) -> dict[str, Arrays]:
    sound = grid().arrays
    side = int(numbers**0.5)
    return {
        "grid, a table of 64 MiB": {**sound, "log_density": np.zeros((side, side))},
        "grid, a row of 64 MiB": {**sound, "log_density": np.zeros((2, numbers // 2))},
        "grid, draws of 64 MiB": {**sound, "samples": np.full((numbers // 2, 2), 0.9)},
        "grid, a covariance of 64 MiB": {**sound, "covariance": np.eye(side)},
        "grid, an array beside of 64 MiB": {**sound, "beside": np.zeros(numbers)},
        "grid, 64 MiB of bytes": {**sound, "mean": np.zeros(8 * numbers, np.uint8)},
    }


def _bombs() -> dict[str, tuple[str, bytes]]:
    deep = b'{"a": ' + b"[" * 500_000 + b"]" * 500_000 + b"}"
    wide = b'{"a": [' + b"{}," * 340_000 + b"{}]}"
    just = b'{"a": [' + b"{}," * 49_000 + b"{}]}"
    long = (2**16).to_bytes(8, "little") + b"{" + b" " * (2**16 - 1) + bytes(2**20)
    many = {f"a{k}": np.zeros(1, np.uint8) for k in range(900)}
    return {
        "grid, deep JSON": ("checks.json", deep),
        "grid, wide JSON": ("checks.json", wide),
        "grid, JSON as wide as may be": ("checks.json", just),
        "grid, a header of spaces": ("posterior.safetensors", long),
        "grid, a header of 2^60 bytes": ("posterior.safetensors", b"\xff" * 7 + b"\x0f{}"),
        "grid, a header of many arrays": ("posterior.safetensors", packages._serialized(many)),
    }


def _replace(folder: Path, file: str, content: bytes) -> None:
    """Put another file into a package, its digest made good."""
    (folder / file).write_bytes(content)
    manifest = json.loads((folder / "posterior.json").read_text())
    manifest["files"][file] = sha256(content)
    (folder / "posterior.json").write_text(json.dumps(manifest))


def _measure(reader: Reader, warm: Path, folder: Path) -> Reading:
    packages.read_package(warm, reader=reader)
    size = sum(path.stat().st_size for path in folder.iterdir())
    before, began = _peak(), time.monotonic()
    try:
        packages.read_package(folder, reader=reader)
        answer = "read"
    except BadInput as error:
        answer = str(error)
    return Reading(size, _peak() - before, time.monotonic() - began, answer)


def _peak() -> int:
    """Return the most memory that this process had, bytes; `ru_maxrss` has its parent's in it."""
    lines = Path("/proc/self/status").read_text().splitlines()
    (line,) = (line for line in lines if line.startswith("VmHWM:"))
    return 1024 * int(line.split()[1])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        found = _measure(READERS[sys.argv[1]], Path(sys.argv[2]), Path(sys.argv[3]))
        print(json.dumps(vars(found)))
    else:
        main()

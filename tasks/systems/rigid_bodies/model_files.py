"""MuJoCo models from files: what a file names on the disk is looked at before MuJoCo reads it.

Included files, meshes, textures and the like must lie in the folder of the model or below it. Code
is never loaded: plugins are refused.
"""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np

from ricochet.models.core.bad_input import BadInput
from ricochet.models.systems.rigid_bodies import mujoco_motion
from ricochet.tasks.storage.files import read_bytes
from ricochet.tasks.systems.rigid_bodies import model_compiling

LARGEST = 2**22
"""Bytes of an XML file, and of all that it includes."""
LARGEST_ASSET = 2**25
"""Bytes of a mesh, a texture and the like."""
MOST_FILES = 200
MOST_REFERENCES, MOST_FOLDERS = 1000, 20
"""Names of files in all of them, each of which is looked for in all folders that they name."""
MOST_JOINTS = 40
LARGEST_COMPILED, LARGEST_ARENA = 2**24, 2**26
"""Bytes of a compiled model, of which 16 are kept, and of what each step may take beside."""
MOST_TOUCHING = 100
"""Geoms that may touch others: MuJoCo looks at all pairs."""
MOST_EQUALITIES, MOST_TENDONS = 40, 100
"""Each of the former is up to six rows of what a step solves."""
EXPECTED = "a MuJoCo model, <mujoco> .. </mujoco>"
_FORBIDDEN = ("plugin", "extension")
_FOLDERS = ("meshdir", "texturedir", "assetdir")
_MODELS = ("include", "model")
_CODING = re.compile(rb"<\?xml[^>]*encoding\s*=\s*[\"']([^\"']*)")
_NAMED = re.compile(rb"\b(?:file\w*|%s)\s*=\s*(?:\"[^\"]*\"|'[^']*')" % "|".join(_FOLDERS).encode())
_BLANKS = re.compile(rb"[\t\r\n]")


def read(file: Path) -> mujoco.MjModel:
    """Read a model.

    Raises:
        BadInput: If it is no model, refers to a file outside its folder or to a plugin, or its
            joints are not hinges and slides alone.
    """
    _check_references(file)
    model = model_compiling.compiled(file)
    reason = mujoco_motion.refused(model)
    if reason is not None:
        found, _, expected = reason.partition(", expected ")
        raise BadInput(str(file), found, expected)
    if model.njnt > MOST_JOINTS:
        raise BadInput(str(file), f"{model.njnt} joints", f"at most {MOST_JOINTS}")
    _check_size_of(file, model)
    for name in model_compiling.SOLVERS:
        if (count := getattr(model.opt, name)) > model_compiling.MOST_ITERATIONS:
            expected = f"at most {model_compiling.MOST_ITERATIONS}"
            raise BadInput(str(file), f"{name} {count}", expected)
    return model


def _check_size_of(file: Path, model: mujoco.MjModel) -> None:
    """Refuse a compiled model that takes much memory, or whose geoms make very many pairs."""
    touching = int(np.count_nonzero(model.geom_contype | model.geom_conaffinity))
    for found, most, what in (
        (mujoco.mj_sizeModel(model), LARGEST_COMPILED, "bytes once it is compiled"),
        (model.narena, LARGEST_ARENA, "bytes of memory for a step"),
        (touching, MOST_TOUCHING, "geoms that may touch"),
        (model.npair, MOST_TOUCHING, "pairs"),
        (model.neq, MOST_EQUALITIES, "equalities"),
        (model.ntendon, MOST_TENDONS, "tendons"),
    ):
        if found > most:
            raise BadInput(str(file), f"{found} {what}", f"at most {most}")


def _check_references(file: Path) -> None:
    """Refuse a file that reaches outside its folder, or whose included files do, or are large."""
    home, waiting, size = _real(file).parent, [file], 0
    roots: dict[Path, ElementTree.Element] = {}
    named: set[str] = set()
    count = 0
    while waiting:
        each = waiting.pop()
        if _real(each) in roots:
            continue
        if len(roots) == MOST_FILES:
            raise BadInput(str(file), f"more than {MOST_FILES} files", "fewer")
        size += each.stat().st_size if each.is_file() else 0
        if size > LARGEST:
            raise BadInput(str(file), f"{size} bytes of XML", f"at most {LARGEST}")
        root = roots[_real(each)] = _parsed(each)
        if each == file and root.tag != "mujoco":
            raise BadInput(str(file), f"<{root.tag[:40]}>", EXPECTED)
        references = [found for element in root.iter() for found in _references(element)]
        count, named = count + len(references), named | _folders(references)
        _check_count(file, count, named)
        waiting += _within(each, root, home, sorted(named))
    for each, root in roots.items():  # an included file may name folders of all
        _within(each, root, home, sorted(named))


def _check_count(file: Path, references: int, folders: Collection[str]) -> None:
    """Refuse a model whose files would be looked for in very many places."""
    for found, most, what in (
        (references, MOST_REFERENCES, "names of files"),
        (len(folders), MOST_FOLDERS, "folders of files"),
    ):
        if found > most:
            raise BadInput(str(file), f"{found} {what}", f"at most {most}")


def _real(path: Path) -> Path:
    """Return a path without links, as far as they lead; of a loop nothing is raised here."""
    return Path(os.path.realpath(path))


def _parsed(file: Path) -> ElementTree.Element:
    """Return the elements of a file; without entities, which may be files or grow without end."""
    content = read_bytes(file, EXPECTED, largest=LARGEST)
    if re.search(rb"<!\s*(DOCTYPE|ENTITY)", content, re.IGNORECASE) or b"\0" in content:
        raise BadInput(str(file), "a document type, entities or bytes that are no text", EXPECTED)
    if b"xmlns" in content:  # each name would be made anew with its namespace, however long
        raise BadInput(str(file), "names of a namespace", "names of MuJoCo's alone")
    _refuse_two_readings(file, content)
    try:
        root = ElementTree.fromstring(content)
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise BadInput(str(file), f"no XML: {error}", EXPECTED) from error
    for element in root.iter():  # MuJoCo reads a name without its namespace
        if any("{" in name or ":" in name for name in (element.tag, *element.attrib)):
            raise BadInput(str(file), "names of a namespace", "names of MuJoCo's alone")
    return root


def _refuse_two_readings(file: Path, content: bytes) -> None:
    """Refuse names of files that MuJoCo reads otherwise: in one code, with their ends of lines."""
    coding = _CODING.search(content)
    if coding is not None and coding[1].upper() != b"UTF-8":
        raise BadInput(str(file), f"XML in {coding[1][:40]!r}", "UTF-8")
    for named in _NAMED.finditer(content):
        if _BLANKS.search(named[0].partition(b"=")[2].strip()):
            raise BadInput(str(file), f"{named[0][:100]!r}", "names of files in one line")


def _within(
    file: Path, root: ElementTree.Element, home: Path, folders: Sequence[str]
) -> list[Path]:
    """Return the further models that a file names, all that it names being within the folder."""
    models = []
    for element in root.iter():
        if element.tag in _FORBIDDEN:
            raise BadInput(str(file), f"<{element.tag}>, whose code is not loaded", "none")
        for name, text in _references(element):
            places = _places(file, home, name, text, folders)
            if element.tag in _MODELS and not places:
                raise BadInput(f"{file}: {name}", repr(text[:100]), "a file that is there")
            for place in places:
                _check_size(place, LARGEST if element.tag in _MODELS else LARGEST_ASSET)
                if element.tag in _MODELS:
                    models.append(place)
    return models


def _references(element: ElementTree.Element) -> Iterator[tuple[str, str]]:
    """Yield attributes that name a file or a folder."""
    for name, text in element.attrib.items():
        if text and (name.startswith("file") or name in _FOLDERS):
            yield name, text


def _places(file: Path, home: Path, name: str, text: str, folders: Sequence[str]) -> list[Path]:
    """Return where a reference may lead, refusing what leads out of the folder."""
    parts, expected = re.split(r"[/\\]", text), "a file in the model's folder or below it"
    if (
        not text.isprintable()
        or ".." in parts
        or ":" in text
        or parts[0] == ""
        or text.startswith("~")
    ):
        raise BadInput(f"{file}: {name}", repr(text[:100]), expected)
    found = []
    for base in {home, _real(file).parent}:
        for place in (base / folder / text for folder in ("", *folders)):
            if place.exists() and not _real(place).is_relative_to(home):
                raise BadInput(f"{file}: {name}", f"{text[:100]!r}, a link out of it", expected)
            found += [place] if place.is_file() else []
    return found


def _folders(references: Iterable[tuple[str, str]]) -> set[str]:
    """Return the folders that `meshdir` and the like name."""
    return {text for name, text in references if name in _FOLDERS}


def _check_size(file: Path, largest: int) -> None:
    if file.exists() and not (file.is_file() and file.stat().st_size <= largest):
        size = f"{largest // 2**20} MiB"
        raise BadInput(
            str(file), "a folder, a device or more than that", f"a file of at most {size}"
        )

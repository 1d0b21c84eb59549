"""What a clone of somebody else's recordings may say: no program, and no place but below itself."""

import os
import re
import subprocess
from pathlib import Path
from typing import Any

from ricochet.models.core.bad_input import BadInput, shown
from ricochet.tasks.storage.files import read_bytes

FILES_OF_KEYS = ("configpath", "credentialpath", "bearer_token_command")
"""Words of a remote, each of which names a program, or a file which may."""
CONFIGURATION, OWN = "config", "config.local"
"""DVC's files of settings: that of all clones, and that of one."""
_SECTION, _WORD = re.compile(r"'?[\w-]+( \"[\w.-]+\")?'?"), re.compile(r"[\w-]+")
LONGEST, DEEPEST = 1000, 16
"""Letters of a path, and folders of one; DVC calls itself once more for each."""
RESERVED = ("", ".", "..", ".git", ".dvc")
"""Names that lead elsewhere, or hold what a program runs."""


def is_plain(path: object) -> bool:
    """Tell whether a path leads to a file below a folder, and to none of Git's or DVC's."""
    if not isinstance(path, str) or len(path) > LONGEST:
        return False
    parts = path.casefold().split("/")
    plain = all(part.isprintable() and part not in RESERVED for part in parts)
    return plain and len(parts) <= DEEPEST


def refuse_programs(folder: Path) -> None:
    """Refuse a repository that says where keys of S3 lie: a file of keys may name a program.

    Raises:
        BadInput: Its `.dvc/config`, which comes with a clone, has such a word, or one that another
            line of DVC's list of words could be; or its `config.local` came with it.
    """
    if (place := own_folder(folder)) is None:
        return
    for each in (place, place / CONFIGURATION, place / OWN):
        if each.is_symlink():  # to what a pull may write
            raise BadInput(str(each), "a link", "DVC's own folder and files")
    if (place / OWN).exists() and _tracked(place / OWN):
        raise BadInput(str(place / OWN), "a file of Git's", "one of this clone alone")
    if (place / CONFIGURATION).exists():
        _check_words(place / CONFIGURATION)


def own_folder(folder: Path) -> Path | None:
    """Return DVC's folder of the repository that a folder is in; None outside of any."""
    roots = (each / ".dvc" for each in (folder, *folder.parents))
    return next((each for each in roots if each.is_dir()), None)


def _check_words(file: Path) -> None:
    """Refuse names and values of which DVC's list of all, a line each, would make others."""
    found = settings(file)
    for name in found.sections:
        if not _SECTION.fullmatch(name) or found[name].sections:
            raise BadInput(str(file), repr(name), 'sections such as core or remote "NAME"')
    for section in (found, *found.values()):
        for word in getattr(section, "scalars", ()):
            if word.lower() in FILES_OF_KEYS:
                expected = "it in .dvc/config.local (`dvc remote modify --local`)"
                raise BadInput(str(file), repr(word), expected)
            if not _WORD.fullmatch(word) or len(str(section[word]).splitlines()) > 1:
                raise BadInput(str(file), repr(word), "words with a value of one line each")


def settings(file: Path) -> Any:
    """Return the sections of a file of DVC's settings; `BadInput` if it is none."""
    from configobj import ConfigObj, ConfigObjError

    content = read_bytes(file, "DVC's configuration").decode(errors="replace")
    try:
        return ConfigObj(content.splitlines(), interpolation=False)
    except ConfigObjError as error:
        raise BadInput(str(file), "no configuration", "DVC's") from error


def verify_places() -> None:
    """Have DVC write below the repository alone, by no link that Git may have brought.

    Nothing is imported from another repository, whose settings nobody here has looked at.
    """
    from dvc import dependency, output

    module: Any = output
    begin, own = module.Output.__init__, (dependency.Dependency, dependency.ParamsDependency)

    def begun(self: Any, *arguments: Any, **options: Any) -> None:
        if self.IS_DEPENDENCY and type(self) not in own:
            raise refusal(arguments[1], "an import", "files of this repository")
        begin(self, *arguments, **options)
        if self.fs.protocol != "local":
            raise refusal(self.def_path, "an import", "files of this repository")
        if not self.IS_DEPENDENCY and self.repo is not None:
            _check_output(Path(self.fs_path), Path(self.repo.root_dir))

    module.Output.__init__ = begun


def _check_output(path: Path, root: Path) -> None:
    """Refuse what lies outside a repository, or on whose way there is a link."""
    place = os.path.relpath(path, root)
    if not is_plain(place):
        raise refusal(place, "a place to write to", "plain names below the repository")
    for above in (root / place).parents:
        if above == root:
            return
        if above.is_symlink():
            raise refusal(place, f"a link on its way, {above.name}", "folders")


def refusal(subject: object, found: str, expected: str) -> Exception:
    """Return DVC's kind of error, in this project's form."""
    from dvc.exceptions import DvcException

    error: Exception = DvcException(f"{shown(subject)}: found {found}, expected {expected}")
    return error


def _tracked(file: Path) -> bool:
    """Tell whether Git brought a file here."""
    words = ["git", "ls-files", "--error-unmatch", "--", file.name]
    try:
        done = subprocess.run(words, cwd=file.parent, check=False, capture_output=True)
    except FileNotFoundError:
        return False
    return done.returncode == 0

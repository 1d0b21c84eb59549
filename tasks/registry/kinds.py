"""Kinds of packages in the registry: which names each has, and how its packages are read.

Nothing heavy is imported, so that the command line can name all kinds at once.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ricochet.models.core.bad_input import BadInput

SCHEMA = "ricochet.posterior/2"
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,46}[a-z0-9])?")

Describe = Callable[[Any], Any]
"""The `quantities.Quantity` of a `packages.Package`, a tuple."""
Evaluate = Callable[[dict[str, Any], dict[str, Any]], dict[str, Any]]
"""Outputs of a package (its arrays) at some inputs, all numpy arrays by name."""


Check = Callable[[Any, str], object]
"""Raises BadInput, or a ValueError, for a `packages.Package` in a place that means nothing."""


@dataclass(frozen=True)
class Reader:
    """How packages of one kind are named, checked and evaluated.

    Attributes:
        check: What must hold of a package before it is evaluated, beside what holds of all kinds.
        made_by: The command that makes such packages, named where one is of an older schema.
        stem: Name, without ending, of the manifest and of the arrays.
        further: Outputs that some packages have beside, none for the others; a reader that does
            not know them passes over them.
        describe: The numbers by which a package is known in a list; None takes its `mean` and
            `covariance` (`quantities.of_package`).
    """

    evaluate: Evaluate
    schema: str = SCHEMA
    stem: str = "posterior"
    further: Evaluate | None = None
    describe: Describe | None = None
    check: Check | None = None
    made_by: str = "what made it"

    @property
    def manifest(self) -> str:
        """Name of the manifest."""
        return f"{self.stem}.json"

    @property
    def content(self) -> tuple[str, str, str]:
        """Names of the arrays, the checks and the reference."""
        return (f"{self.stem}.safetensors", "checks.json", "reference.safetensors")

    @property
    def signature(self) -> str:
        """Name of the signature, which a package may lack."""
        return f"{self.stem}.signature"


@dataclass(frozen=True)
class PackageKind:
    """A kind of package in the registry: which names it has, and how its packages are read.

    Attributes:
        pattern: Its names in words, such as `<object>-<surface>`.
        prefix: What all its names begin with, unlike those of any other kind; empty for the kind
            that has all remaining names. Of the kinds that match, the longest prefix decides.
        refuse: Raises BadInput for a name of this kind that stands for nothing, and says which do.
        made_by: The command that makes such packages.
    """

    pattern: str
    prefix: str
    matches: Callable[[str], bool]
    refuse: Callable[[str], None]
    load_reader: Callable[[], Reader]
    made_by: str


def prefixed(
    prefix: str, what: str, *, load_reader: Callable[[], Reader], made_by: str
) -> PackageKind:
    """Return a kind whose names are a prefix and a name of small letters, digits and hyphens.

    Args:
        what: What the name after the prefix is, in a word.
    """

    def refuse(name: str) -> None:
        if not _NAME.fullmatch(name.removeprefix(prefix)):
            raise BadInput(name, "no such name", f"{prefix} and small letters, digits and hyphens")

    return PackageKind(
        pattern=f"{prefix}<{what}>",
        prefix=prefix,
        matches=lambda name: name.startswith(prefix) and name != prefix,
        refuse=refuse,
        load_reader=load_reader,
        made_by=made_by,
    )

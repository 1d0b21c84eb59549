"""What bare `ricochet` shows: the verbs, grouped in the order in which a newcomer meets them."""

import textwrap
from collections.abc import Iterable, Sequence

from ricochet.flows.command_line.verb import Verb

GROUPS = {
    "start here": ("calibrate", "listen", "infer", "study", "simulate"),
    "record": ("devices", "capture", "import"),
    "use an answer": ("list", "show", "validate", "promote", "rollback", "export"),
    "plan and judge": ("plan", "judge", "train"),
    "run a lab": ("up", "nightly", "doctor", "backup", "restore", "worker", "cluster"),
    "this command": ("completion",),
}
"""The first words of all verbs; what stands in none comes last."""
OTHERS = "more"


def text(verbs: Sequence[Verb]) -> str:
    """Return the help of the command as a whole."""
    lines = ["Calibrate contact simulators by ear.", "", "usage: ricochet VERB ...", ""]
    by_word: dict[str, list[Verb]] = {}
    for verb in verbs:
        by_word.setdefault(verb.words[0], []).append(verb)
    named = {word for words in GROUPS.values() for word in words}
    groups = {**GROUPS, OTHERS: tuple(word for word in by_word if word not in named)}
    for group, words in groups.items():
        rows = [_row(word, by_word[word]) for word in words if word in by_word]
        lines += [f"{group}:", *rows, ""] if rows else []
    lines += [
        "ricochet VERB --help shows options and an example; ricochet --version the version.",
        f"first: {by_word[min(by_word, key=_place)][0].example.splitlines()[-1].strip()}",
    ]
    return "\n".join(lines) + "\n"


def version() -> str:
    """Return the version of the distribution that holds this package, whatever its name is."""
    from importlib import metadata  # only who asks pays for it

    names: Iterable[str] = metadata.packages_distributions().get("ricochet", ())
    for name in (*names, "ricochet-lab", "ricochet"):
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return "unknown (not installed)"


def _place(word: str) -> int:
    words = [word for group in GROUPS.values() for word in group]
    return words.index(word) if word in words else len(words)


def _row(word: str, verbs: Sequence[Verb]) -> str:
    if verbs[0].words == (word,):
        return f"  {word:12}{verbs[0].summary.partition(';')[0]}"
    names = ", ".join(verb.words[-1] for verb in verbs)
    return textwrap.fill(
        f"one of {names}", 100, initial_indent=f"  {word:12}", subsequent_indent=" " * 14,
        break_on_hyphens=False,
    )  # fmt: skip

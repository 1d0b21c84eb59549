"""The verb `completion`: what a shell needs to complete verbs, options, names and settings.

The script is made by shtab from the parser itself, so that it never lacks a verb.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

from ricochet.flows.command_line.verb import Call, Takes, Verb, words_of
from ricochet.tasks.systems import catalogue

CALIBRATED = "artifacts/calibrate"
FILES = ("recording", "session")
"""Arguments that name files, though they are read as text."""
SHELLS = ("bash", "zsh", "fish")
INSTALLED = """to install it:
  bash   eval "$(ricochet completion bash)"          in ~/.bashrc
  zsh    eval "$(ricochet completion zsh)"           in ~/.zshrc, after compinit
  fish   ricochet completion fish | source           in ~/.config/fish/config.fish

"""


def completion(call: Call) -> None:
    """Print the script of a shell."""
    import shtab

    from ricochet.flows import cli

    parser = cli.build_parser()
    known = {
        "--set": _complete_words("overrides", [f"{name}=" for name in setting_names()]),
        "name": _complete_pairs(),
        "--out": shtab.DIRECTORY,
        "--density": shtab.DIRECTORY,
    }
    for action in _actions(parser):
        words = words_of(action)
        how = _complete_words(action.dest, words()) if words else known.get(_key(action))
        if how is None and (action.type is Path or _key(action) in FILES):
            how = shtab.FILE
        if how is not None and action.choices is None:
            action.complete = how  # type: ignore[attr-defined]  # what shtab looks for
    call.report_line(shtab.complete(parser, shell=call.arguments.shell))


def _key(action: argparse.Action) -> str:
    """Return the option, or the name of a positional argument."""
    return action.option_strings[0] if action.option_strings else action.dest


def setting_names() -> list[str]:
    """Return `section.key` of all settings."""
    return [
        f"{section}.{field.name}"
        for section, kind in catalogue.sections()
        for field in fields(kind)
    ]


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the actions of a parser and of those below it."""
    for action in parser._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _actions(below)


def _complete_words(what: str, words: Sequence[str]) -> dict[str, Any]:
    """Return how each shell completes one of some words."""
    joined, name = " ".join(words), f"_ricochet_{what}"
    function = f'{name}() {{ compgen -W "{joined}" -- "$1"; }}'
    return {"bash": name, "zsh": f"({joined})", "fish": joined, "preamble": {"bash": function}}


def _complete_pairs() -> dict[str, Any]:
    """Return how each shell completes a pair calibrated here, without asking a server."""
    listed = f"cd {CALIBRATED} 2>/dev/null && ls -d */package 2>/dev/null | cut -d/ -f1"
    bash = f'_ricochet_pairs() {{ compgen -W "$({listed})" -- "$1"; }}'
    zsh = f'_ricochet_pairs() {{ compadd -- ${{(f)"$({listed})"}} }}'
    return {
        "bash": "_ricochet_pairs",
        "zsh": "_ricochet_pairs",
        "fish": f"({listed})",
        "preamble": {"bash": bash, "zsh": zsh},
    }


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=SHELLS, help="bash, zsh or fish")


VERB = Verb(
    ("completion",),
    "print the script by which a shell completes verbs, options, names and settings",
    "ricochet completion bash",
    completion,
    _options,
    details=INSTALLED,
    takes=Takes(0),
    anywhere=True,
)

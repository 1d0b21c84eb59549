"""The verb `completion`: what a shell needs to complete verbs, options, names and settings.

The script is made by shtab from the parser itself, so that it never lacks a verb.
"""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import fields
from typing import Any

from ricochet.flows.command_line.verb import Call, Takes, Verb
from ricochet.tasks.systems import catalogue

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
    settings = _complete_settings(setting_names())
    for action in _actions(parser):
        if action.dest == "overrides":
            action.complete = settings  # type: ignore[attr-defined]  # what shtab looks for
    call.report_line(shtab.complete(parser, shell=call.arguments.shell))


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


def _complete_settings(names: Sequence[str]) -> dict[str, Any]:
    """Return how each shell completes `section.key=`."""
    words = " ".join(f"{name}=" for name in names)
    function = f'_ricochet_settings() {{ compgen -W "{words}" -- "$1"; }}'
    return {
        "bash": "_ricochet_settings",
        "zsh": f"({words})",
        "fish": words,
        "preamble": {"bash": function},
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
)

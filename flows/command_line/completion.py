"""The verb `completion`: what a shell needs to complete verbs, options, names and settings.

The script is made by shtab from the parser itself, so that it never lacks a verb.
"""

import argparse
from dataclasses import fields

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
    call.report_line(shtab.complete(parser, shell=call.arguments.shell))


def setting_names() -> list[str]:
    """Return `section.key` of all settings."""
    return [
        f"{section}.{field.name}"
        for section, kind in catalogue.sections()
        for field in fields(kind)
    ]


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

"""The parser of the command line: verbs, the options that each takes, and refusals in one line.

What is mistyped is answered with the nearest name there is.
"""

import argparse
import math
import re
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

from ricochet.flows.command_line import overview
from ricochet.flows.command_line.number_options import whole_number
from ricochet.flows.command_line.verb import Takes, Verb
from ricochet.models.core.nearest_name import did_you_mean
from ricochet.models.core.printable_text import one_line

BAD_INPUT = 2
LONGEST = 3000
"""Characters of an error."""
LAYOUT = partial(argparse.RawDescriptionHelpFormatter, max_help_position=30)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line with the nearest name.

    Attributes:
        names: Words of which one is to come first.
        instead: Options that stand for one of them.
    """

    names: Sequence[str] = ()
    instead: Mapping[str, str] = {}

    def error(self, message: str) -> NoReturn:
        """Refuse a command line."""
        report_error(f"{self.prog}: {message} (see {self.prog} --help)")
        raise SystemExit(BAD_INPUT)

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse the words; refuse here what this verb does not know, not at the top."""
        found, unknown = super().parse_known_args(self._named(args), namespace)
        if unknown:
            word = unknown[0].partition("=")[0]
            near = did_you_mean(word, self._option_string_actions)
            self.error(f"found {word}, which it does not take{near}")
        return found, unknown

    def _named(self, args: Any) -> Any:
        """Put the name for which an option stands before words that begin with none."""
        words = [word.partition("=")[0] for word in args or ()]
        meant = [name for option, name in self.instead.items() if option in words]
        return [*meant[:1], *args] if meant and words[0] not in self.names else args

    def _get_value(self, action: argparse.Action, text: str) -> Any:
        try:
            return _finite(text) if action.type is float else super()._get_value(action, text)
        except (ValueError, argparse.ArgumentError) as error:
            meant = text.replace(",", ".") if re.fullmatch(r"-?\d+,\d+", text) else ""
            if action.type is not float and not meant:
                raise
            near = f"; did you mean {meant}?" if meant else ", expected a number"
            raise argparse.ArgumentError(action, f"found {text!r}{near}") from error

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = [str(choice) for choice in action.choices]
        near = did_you_mean(str(value), known) or f"; expected one of {', '.join(known)}"
        raise argparse.ArgumentError(action, f"found {value!r}{near}")


def build(verbs: Sequence[Verb]) -> Parser:
    """Build the parser of some verbs; bare `ricochet` parses to no `verb_found`."""
    parser = Parser(prog="ricochet", add_help=False, usage="ricochet VERB ...")
    parser.format_help = lambda: overview.text(verbs)  # type: ignore[method-assign]
    parser.add_argument("-h", "--help", action="help", help="show the verbs")
    parser.add_argument("--version", action=_Version, help="show the version")
    below = parser.add_subparsers(metavar="VERB", prog="ricochet")
    groups: dict[str, Any] = {"": below.add_parser}
    for verb in verbs:
        *above, name = verb.words
        group = " ".join(above)
        if group not in groups:
            groups[group] = _group(below.add_parser, group, verbs)
        _add_verb(groups[group], name, verb)
    return parser


def report_error(line: str) -> None:
    """Write on standard error, in one line, what is wrong."""
    sys.stderr.write(one_line(line, longest=LONGEST) + "\n")


def _finite(text: str) -> float:
    """Return a number; ValueError if it is none, or infinite."""
    if not math.isfinite(value := float(text)):
        raise ValueError(text)
    return value


class _Version(argparse.Action):
    """Prints the version; looking it up costs time that only who asks for it pays."""

    def __init__(self, option_strings: Sequence[str], dest: str, **words: Any) -> None:
        super().__init__(option_strings, dest, nargs=0, **words)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        sys.stdout.write(f"ricochet {overview.version()}\n")
        raise SystemExit(0)


def _group(add: Callable[..., Any], group: str, verbs: Iterable[Verb]) -> Callable[..., Any]:
    """Add the verb that several names follow; its help lists them."""
    members = [verb for verb in verbs if " ".join(verb.words[:-1]) == group]
    own = [verb for verb in members if verb.instead]
    examples = "\n  ".join(verb.example for verb in dict.fromkeys((members[0], *own)))
    parser = add(
        group,
        help=f"one of {', '.join(verb.words[-1] for verb in members)}",
        usage=f"ricochet {group} NAME [options]",
        epilog=f"options of each: ricochet {group} NAME --help\n\nexample:\n  {examples}",
        formatter_class=LAYOUT,
    )
    parser.names = [verb.words[-1] for verb in members]
    parser.instead = {verb.instead: verb.words[-1] for verb in own}
    names = parser.add_subparsers(
        title="names", metavar="NAME", prog=f"ricochet {group}", required=True
    )
    return names.add_parser


def _add_verb(add: Callable[..., argparse.ArgumentParser], name: str, verb: Verb) -> None:
    parser = add(
        name,
        help=verb.summary,
        description=f"{verb.summary[:1].upper()}{verb.summary[1:]}.",
        epilog=f"{verb.details}example:\n  {verb.example}",
        formatter_class=LAYOUT,
    )
    out = Path("artifacts", *verb.words)
    parser.set_defaults(verb_found=verb, params=None, overrides=[], seed=0, out=out)
    parser.set_defaults(no_publish=False, json=False)
    verb.add_options(parser)
    shared = parser.add_argument_group("options that verbs share")
    for part, add_option in _SHARED.items():
        if part in verb.takes:
            add_option(shared, verb)
    shared.add_argument("--quiet", action="store_true", help="show errors only")


def _settings(shared: argparse._ArgumentGroup, verb: Verb) -> None:
    shared.add_argument("--params", type=Path, metavar="FILE", help="laid over params.yaml")
    shared.add_argument(
        "--set",
        action="append",
        dest="overrides",
        metavar="SECTION.KEY=VALUE",
        help="one setting of params.yaml; may be repeated",
    )


def _seed(shared: argparse._ArgumentGroup, verb: Verb) -> None:
    shared.add_argument(
        "--seed", type=whole_number(0, 2**32 - 1), help="of all randomness (default 0)"
    )


def _out(shared: argparse._ArgumentGroup, verb: Verb) -> None:
    default = Path("artifacts", *verb.words)
    shared.add_argument("--out", type=Path, metavar="DIR", help=f"results (default {default})")


def _no_publish(shared: argparse._ArgumentGroup, verb: Verb) -> None:
    text = "touch neither DVC nor MLflow, start no server"
    shared.add_argument("--no-publish", action="store_true", help=text)


def _json(shared: argparse._ArgumentGroup, verb: Verb) -> None:
    text = "print the result as JSON and nothing else; lines go to standard error"
    shared.add_argument("--json", action="store_true", help=text)


_SHARED = {
    Takes.SETTINGS: _settings,
    Takes.SEED: _seed,
    Takes.OUT: _out,
    Takes.NO_PUBLISH: _no_publish,
    Takes.JSON: _json,
}

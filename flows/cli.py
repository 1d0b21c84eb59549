"""The command line: one entry point, `ricochet`, whose verbs are the flows.

Exit 0: done. Exit 1: failed, one line on standard error (the traceback too with RICOCHET_DEBUG=1).
Exit 2: bad input, one line that says where, what was found and what was expected. Nothing heavy is
imported before a verb is known, and each verb imports what it needs.
"""

import argparse
import errno
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NoReturn

from ricochet.flows.command_line.missing_packages import refusal
from ricochet.flows.command_line.verb import Call, Verb
from ricochet.flows.command_line.verbs import all_verbs
from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.console.threads import use_one_thread

DONE, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM)


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        """Refuse a command line."""
        report_error(f"{self.prog}: {message} (see {self.prog} --help)")
        raise SystemExit(BAD_INPUT)


def main(words: Sequence[str] | None = None) -> int:
    """Run the verb that the words after `ricochet` name; returns the exit status."""
    use_one_thread()
    arguments = build_parser().parse_args(words)
    try:
        verb: Verb = arguments.verb_found
        verb.run(_call(verb, arguments))
    except BadInput as error:
        report_error(str(error))
        return BAD_INPUT
    except KeyboardInterrupt:
        report_error("interrupted")
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except ModuleNotFoundError as error:
        missing = refusal(" ".join(arguments.verb_found.words), error)
        if missing is None:
            return _failed(error)
        report_error(str(missing))
        return BAD_INPUT
    except Exception as error:
        return _failed(error)
    return DONE


def build_parser() -> argparse.ArgumentParser:
    """Build the parser of all verbs."""
    parser = Parser(prog="ricochet", description="Calibrate contact simulators by ear.")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB", required=True)
    groups = {"": verbs.add_parser}
    found = all_verbs()
    for verb in found:
        *above, name = verb.words
        group = " ".join(above)
        if group not in groups:
            members = [each.words[-1] for each in found if each.words[:-1] == verb.words[:-1]]
            named = verbs.add_parser(group, help=f"{group} one of: {', '.join(members)}")
            groups[group] = named.add_subparsers(required=True).add_parser
        _add_verb(groups[group], name, verb)
    return parser


def print_line(line: str) -> None:
    """Write a line on standard output."""
    print(line, flush=True)  # noqa: T201 - the one place that prints


def report_error(line: str) -> None:
    """Write on standard error, in one line, what is wrong."""
    sys.stderr.write(" ".join(line.split()) + "\n")


def _add_verb(add: Callable[..., argparse.ArgumentParser], name: str, verb: Verb) -> None:
    parser = add(
        name,
        help=verb.summary,
        description=f"{verb.summary[:1].upper()}{verb.summary[1:]}.",
        epilog=f"{verb.details}example:\n  {verb.example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.set_defaults(verb_found=verb)
    verb.add_options(parser)
    common = parser.add_argument_group("options of every verb")
    common.add_argument("--params", type=Path, metavar="FILE", help="laid over params.yaml")
    common.add_argument(
        "--set",
        action="append",
        default=[],
        dest="overrides",
        metavar="SECTION.KEY=VALUE",
        help="one setting of params.yaml; may be repeated",
    )
    common.add_argument("--seed", type=_seed, default=0, help="of all randomness (default 0)")
    default = Path("artifacts", *verb.words)
    common.add_argument("--out", type=Path, default=default, metavar="DIR", help=f"({default})")
    without = "touch neither DVC nor MLflow, start no server"
    if verb.only_publishes:
        without = "refused: publishing is what this verb does"
    common.add_argument("--no-publish", action="store_true", help=without)


def _seed(text: str) -> int:
    if not text.isdecimal() or int(text) >= 2**32:
        raise argparse.ArgumentTypeError(f"{text!r}, expected a whole number from 0 to 2^32 - 1")
    return int(text)


def _call(verb: Verb, arguments: argparse.Namespace) -> Call:
    from ricochet.tasks.storage.files import output_folder
    from ricochet.tasks.systems import catalogue

    return Call(
        arguments=arguments,
        settings=catalogue.load_settings(arguments.params, arguments.overrides),
        out=output_folder(arguments.out),
        seed=arguments.seed,
        publish=not arguments.no_publish,
        report_line=print_line,
    )


def _failed(error: Exception) -> int:
    if os.environ.get("RICOCHET_DEBUG") == "1":
        traceback.print_exc()
    if isinstance(error, OSError) and error.errno in UNWRITABLE:
        report_error(
            f"{error.filename}: found {error.strerror}, expected a place that can be written"
        )
        return BAD_INPUT
    report_error(f"ricochet failed: {type(error).__name__}: {error}")
    return FAILED


if __name__ == "__main__":
    sys.exit(main())

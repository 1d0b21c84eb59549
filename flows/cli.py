"""The command line: one entry point, `ricochet`, whose verbs are the flows.

Exit 0: done. Exit 1: failed, one line on standard error (the traceback too with RICOCHET_DEBUG=1).
Exit 2: bad input, one line that says where, what was found and what was expected. Nothing heavy is
imported before a verb is known, and each verb imports what it needs.
"""

import argparse
import contextlib
import errno
import io
import json
import os
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ricochet.flows.command_line import parser
from ricochet.flows.command_line.missing_packages import refusal
from ricochet.flows.command_line.parser import BAD_INPUT, LONGEST, report_error
from ricochet.flows.command_line.verb import Call, Ended, Takes, Verb
from ricochet.flows.command_line.verbs import all_verbs
from ricochet.models.core.bad_input import BadInput
from ricochet.models.core.printable_text import one_line
from ricochet.tasks.cluster.computing import computing
from ricochet.tasks.console.threads import use_one_thread
from ricochet.tasks.storage.login_transport import go_directly
from ricochet.tasks.storage.own_temporary import own_temporary

DONE, FAILED, INTERRUPTED = 0, 1, 130
UNWRITABLE = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM)
UNNAMEABLE = (errno.ENAMETOOLONG, errno.ELOOP)


def main(words: Sequence[str] | None = None) -> int:
    """Run the verb that the words after `ricochet` name; returns the exit status."""
    use_one_thread()
    go_directly(os.environ)
    os.environ["PYTHONSAFEPATH"] = "1"  # what a verb starts takes no module of the current folder
    built = build_parser()
    arguments = built.parse_args(words)
    try:
        if "verb_found" not in arguments:
            built.print_help()
        else:
            _run(arguments.verb_found, arguments)
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
    except BaseException as error:
        said = _ended_from_outside(error)
        if said is None:
            raise
        report_error(said)
        return FAILED
    return DONE


def _ended_from_outside(error: BaseException) -> str | None:
    """Say that Prefect aborted, paused or cancelled a run; None of all else."""
    prefect, asyncio = (sys.modules.get(name) for name in ("prefect.exceptions", "asyncio"))
    if prefect is not None and isinstance(error, prefect.PrefectSignal):
        return f"Prefect's server: found {error}, expected that the run begins"
    if asyncio is not None and isinstance(error, asyncio.CancelledError):
        return "ricochet failed: cancelled before it was done"
    return None


def build_parser() -> parser.Parser:
    """Build the parser of all verbs."""
    return parser.build(all_verbs())


def print_line(line: str) -> None:
    """Write text on standard output, nothing in it that a terminal would obey."""
    for part in line.split("\n"):
        print(one_line(part, longest=LONGEST), flush=True)  # noqa: T201 - the one place that prints


def _run(verb: Verb, arguments: argparse.Namespace) -> None:
    """Run a verb; print its result after it where JSON is asked for."""
    with own_temporary(), contextlib.ExitStack() as streams:
        streams.callback(_remove_empty, _missing(arguments.out))
        if arguments.json:
            streams.enter_context(contextlib.redirect_stdout(sys.stderr))
        if arguments.quiet:
            streams.enter_context(contextlib.redirect_stdout(_Nowhere()))
            streams.enter_context(contextlib.redirect_stderr(_Nowhere()))
        call, result = _call(verb, arguments), None
        ended: SystemExit | None = None
        streams.enter_context(computing(call.settings))
        try:
            result = verb.run(call)
        except Ended as end:
            ended, result = end, end.result
        except SystemExit as end:  # of what was judged and refused: its result is written
            ended = end
    if arguments.json:
        print_line(json.dumps(_written(call.out) if result is None else result, indent=2))
    if ended is not None:
        raise ended


def _missing(folder: Path | None) -> list[Path]:
    """Return the folders that have to be made for a folder, the innermost first."""
    if folder is None:
        return []
    return [each for each in (folder, *folder.parents) if not each.exists()]


def _remove_empty(folders: Sequence[Path]) -> None:
    """Remove folders that a verb made and left empty: it refused its input, or only read."""
    with contextlib.suppress(OSError):
        for folder in folders:
            folder.rmdir()


def _written(folder: Path) -> Mapping[str, Any]:
    from ricochet.tasks.storage import checked_json

    return checked_json.load(folder / "result.json", "a result")


class _Nowhere(io.TextIOBase):
    """A stream that keeps nothing."""

    def write(self, text: str) -> int:
        return len(text)


def _call(verb: Verb, arguments: argparse.Namespace) -> Call:
    from ricochet.tasks.figures import matplotlib_settings
    from ricochet.tasks.storage import current_folder, exchange
    from ricochet.tasks.storage.files import output_folder
    from ricochet.tasks.storage.provenance import artifacts
    from ricochet.tasks.systems import catalogue

    if not verb.anywhere:
        current_folder.refuse_foreign()
        if not verb.unfinished:
            exchange.refuse_unfinished(artifacts())
    matplotlib_settings.ignore_files()
    return Call(
        arguments=arguments,
        settings=catalogue.load_settings(arguments.params, arguments.overrides),
        out=output_folder(arguments.out) if Takes.OUT in verb.takes else arguments.out,
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
    if isinstance(error, OSError) and error.errno in UNNAMEABLE:
        name = one_line(error.filename, longest=80)
        report_error(f"{name}: found {error.strerror}, expected the name of a file or folder")
        return BAD_INPUT
    report_error(f"ricochet failed: {type(error).__name__}: {error}")
    return FAILED


if __name__ == "__main__":
    sys.exit(main())

"""`ricochet judge`: the gate's statistical checks for a posterior and a simulator of anybody's.

Exit 0: accepted. Exit 1: refused by a check. Exit 2: a file that cannot be used.
"""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from ricochet.flows.command_line.verb import RESULT, Call, Takes, Verb, write_result
from ricochet.tasks.console.progress import announce

if TYPE_CHECKING:
    from ricochet.tasks.validation.posterior_judgement import Judgement

REFUSED = 1
_DETAILS = """\
SAMPLES.npz holds truth (case, parameter), draws (case, draw, parameter) and, if you have them,
data (case, value) and names (parameter,). FILE.py defines simulate(theta, draw), which returns new
data. It is run with all your rights: judge no file that you would not run yourself.
Exit status: 0 accepted, 1 refused by a check, 2 a file that cannot be used.

"""


def judge(call: Call) -> None:
    """Judge a posterior by its samples and a simulator."""
    announce("loading ...")
    import numpy as np

    from ricochet.tasks.console.progress import bar
    from ricochet.tasks.figures import rank_grid, style
    from ricochet.tasks.validation import posterior_judgement, posterior_samples, user_simulator

    given = call.arguments
    samples = posterior_samples.read(given.samples)
    simulate = user_simulator.load(given.simulator)
    draw = np.random.default_rng(call.seed)
    with bar("new data") as progress:
        new_data = user_simulator.new_data(
            samples, simulate, replicates=given.replicates, draw=draw, progress=progress
        )
    with bar("power") as progress:
        found = posterior_judgement.judge(samples, new_data, draw=draw, progress=progress)
    for line in lines(found):
        call.report_line(line)
    write_result(call.out, found.to_json())
    style.write(call.out, {"ranks": rank_grid.draw(found.levels)})
    call.report_line(f"figure and numbers in {call.out}")
    if not found.verdict.passed:
        raise SystemExit(REFUSED)


def lines(found: "Judgement") -> Iterator[str]:
    """Say in lines what was found, which checks failed and what they would have caught."""
    checks = found.verdict.checks
    wide = max(len(check.name) for check in checks)
    for check in checks:
        word = "pass" if check.passed else "FAIL"
        yield f"  {word}  {check.name:{wide}}  {check.found}; {check.expected}"
    yield f"what these checks refuse, of {found.cases} cases (new data and fit refuse more):"
    for row in found.power:
        yield f"  {row.refused:5.0%}  {row.what}"
    failed = len(found.verdict.refusals)
    verdict = "accepted" if found.verdict.passed else f"refused by {failed} of {len(checks)} checks"
    yield f"{verdict}: {found.cases} cases of {found.draws} draws"


def _options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("samples", type=Path, metavar="SAMPLES.npz", help="truths and draws")
    parser.add_argument(
        "--simulator", type=Path, required=True, metavar="FILE.py", help="defines simulate"
    )
    parser.add_argument(
        "--replicates",
        type=_replicates,
        default=100,
        metavar="N",
        help="draws of each case at which new data are simulated (default 100)",
    )


def _replicates(text: str) -> int:
    if not text.isdecimal() or not 20 <= int(text) <= 100_000:
        raise argparse.ArgumentTypeError(f"{text!r}, expected a whole number from 20 to 100000")
    return int(text)


VERB = Verb(
    ("judge",),
    "judge a posterior of your own by its samples and your simulator",
    "ricochet judge samples.npz --simulator simulator.py",
    judge,
    _options,
    details=_DETAILS,
    takes=RESULT | Takes.SEED,
)

"""Verbs of the command line, one after another in one process that imports their packages once.

A request is one line of JSON, the words after `ricochet`; so is the answer: the exit status, and
what was written on standard output and standard error.
"""

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

from tests.checkouts import ROOT, python_path
from tests.stores import with_prefect

Ricochet = Callable[..., SimpleNamespace]


@contextlib.contextmanager
def in_one_process(root: Path, *, artifacts: Path) -> Iterator[Ricochet]:
    """Serve a checkout's verbs, everything they keep under one folder, until the block ends.

    Yields:
        What runs a verb from the checkout: `ricochet(*words, status=0)`. It fails if another status
        comes back, and returns `returncode`, `stdout` and `stderr`.
    """
    with_prefect(artifacts / "prefect")
    kept = {"RICOCHET_ARTIFACTS": str(artifacts), "PREFECT_HOME": str(artifacts / "prefect")}
    kept |= {"PYTHONPATH": os.pathsep.join([python_path(root), str(ROOT)])}
    inherited = {k: v for k, v in os.environ.items() if not k.startswith(("PREFECT_H", "MLFLOW_"))}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.flows.verbs"],
        cwd=root,
        env=inherited | kept,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:

        def ricochet(*words: object, status: int = 0) -> SimpleNamespace:
            process.stdin.write(json.dumps([str(word) for word in words]) + "\n")
            process.stdin.flush()
            found = SimpleNamespace(**json.loads(process.stdout.readline()))
            assert found.returncode == status, found.stderr
            return found

        yield ricochet
        process.stdin.close()


def _serve() -> None:
    from ricochet.flows import cli

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # nothing but answers goes where the caller reads
    for line in sys.stdin:
        written, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(written), contextlib.redirect_stderr(errors):
            try:
                status = cli.main(json.loads(line))
            except SystemExit as end:  # of a command line that is refused, or of --help
                status = end.code or 0
        answer = {"returncode": status, "stdout": written.getvalue(), "stderr": errors.getvalue()}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    _serve()

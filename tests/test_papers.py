"""The table of equations points at functions and tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
REFERENCE = re.compile(r"`([\w/]+\.py): (\w+)`")


def test_every_reference_of_the_table_exists() -> None:
    references = REFERENCE.findall((ROOT / "docs" / "papers.md").read_text())
    assert len(references) > 10
    missing = [
        f"{file}: {name}"
        for file, name in references
        if not re.search(rf"^(    )?def {name}\(", (ROOT / file).read_text(), re.MULTILINE)
    ]
    assert not missing


def test_every_row_of_the_table_names_a_function_and_a_test() -> None:
    lines = (ROOT / "docs" / "papers.md").read_text().splitlines()
    rows = [line for line in lines if line.startswith("| ") and not line.startswith("| equation")]
    for row in rows:
        function, test = (REFERENCE.findall(cell) for cell in row.strip("|").split("|")[1:])
        assert len(function) == len(test) == 1, row
        assert not function[0][0].startswith("tests/") and test[0][0].startswith("tests/"), row

"""Numbers in YAML are what a reader takes them for, and entries stand where they count."""

import pytest

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import checked_yaml


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0", 0),
        ("-17", -17),
        ("+5", 5),
        ("21.5", 21.5),
        ("021.5", None),
        (".5", 0.5),
        ("5.", 5.0),
        ("1.5e-3", 1.5e-3),
        ("021", None),
        ("0o21", "0o21"),
        ("0x11", None),
        ("0b11", None),
        ("1:10", None),
        ("1:10.5", None),
        ("1_000", None),
        ("1_000.5", None),
        ("'021'", "021"),
        (".inf", float("inf")),
    ],
)
def test_a_number_is_decimal_or_refused(text: str, expected: object) -> None:
    if expected is None:
        with pytest.raises(BadInput, match="which is no decimal one"):
            checked_yaml.parse(f"a: {text}", "a file")
    else:
        assert checked_yaml.parse(f"a: {text}", "a file") == {"a": expected}


def test_entries_are_not_merged() -> None:
    with pytest.raises(BadInput, match="entries that are merged"):
        checked_yaml.parse("a: 1\n<<: {b: 2}", "a file")
    assert checked_yaml.parse('"<<": 1', "a file") == {"<<": 1}

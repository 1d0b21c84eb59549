"""The generator of drawer sounds is the one that was frozen."""

from pathlib import Path

from ricochet.hardware.twins.drawers import frozen

PAGE = Path("docs/systems/drawers.md")


def test_the_generator_is_the_one_that_was_frozen() -> None:
    """Its results are others after an edit: `DIGEST`, and what was measured, must be made anew."""
    assert frozen.digest() == frozen.DIGEST


def test_the_page_names_the_digest() -> None:
    assert frozen.DIGEST in PAGE.read_text()

"""Links of the pages lead somewhere, and the commands that they name exist."""

import argparse
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.extensions import verbs_page
from tests.checkouts import ROOT, tracked

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
COMMAND = re.compile(r"(?:^ *|[`&|] ?)(?:\.venv/bin/)?ricochet( [^`\n|&#()]*)", re.MULTILINE)
MODULE = re.compile(r"python -m ((?:benchmarks|ricochet|docs)[\w.]*)")
PLACEHOLDER = re.compile(r"[A-Z]+$|\.\.$|<.*>$")
PAGES = [
    ROOT / name
    for name in tracked()
    if re.fullmatch(r"(docs/.*|README|CONTRIBUTING)\.md|docs/notebooks/\w+\.py", name)
]
PARSERS = verbs_page.parsers()
NAMES = {page: str(page.relative_to(ROOT)) for page in PAGES}


def slug(heading: str) -> str:
    """Return the anchor that a heading gets."""
    kept = re.sub(r"[^\w\- ]", "", heading.strip().lower())
    return kept.replace(" ", "-")


def anchors(page: Path) -> set[str]:
    return {slug(each) for each in re.findall(r"^#{1,6} (.*)$", page.read_text(), re.MULTILINE)}


def broken(page: Path, text: str) -> Iterator[str]:
    """Yield the links within the repository that lead nowhere."""
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        there = target.is_relative_to(ROOT) and target.exists()
        if not there or (anchor and anchor not in anchors(target)):
            yield link


@pytest.mark.parametrize("page", PAGES, ids=NAMES.get)
def test_every_link_and_picture_is_there(page: Path) -> None:
    assert list(broken(page, page.read_text())) == []


def test_links_to_nothing_are_found() -> None:
    text = "[a](systems/bouncing_ball.md#one-microphone) ![b](figures/none.png) [c](index.md#none)"
    found = list(broken(ROOT / "docs" / "index.md", text))
    assert found == ["figures/none.png", "index.md#none"]


def unknown(text: str) -> Iterator[str]:
    """Yield the commands whose verb is not there, or takes no such option."""
    for line in COMMAND.findall(text.replace("\\\n", " ")):
        words = _words(line)
        verb = [parts for parts in PARSERS if tuple(words[: len(parts)]) == parts]
        groups = {parts[0] for parts in PARSERS if len(parts) > 1}
        if words and words[0] in groups and (len(words) < 2 or _is_free(words[1])):
            taken = set().union(*(_options(PARSERS[p]) for p in PARSERS if p[0] == words[0]))
        elif verb:
            taken = _options(PARSERS[verb[0]])
        elif not words or _is_free(words[0]):
            continue
        else:
            yield f"ricochet {words[0]}"
            continue
        for word in words:
            option = word.partition("=")[0]
            if option.startswith("--") and option not in taken:
                yield f"ricochet {words[0]} {option}"


def _words(line: str) -> list[str]:
    """Split a command; what may be left out stands in brackets."""
    plain = re.sub(r"[\[\]]", " ", line) if "='" not in line and '="' not in line else line
    try:
        return shlex.split(plain)
    except ValueError:  # an apostrophe of prose
        return plain.split()


def _is_free(word: str) -> bool:
    return word.startswith("-") or bool(PLACEHOLDER.match(word))


def _options(parser: argparse.ArgumentParser) -> set[str]:
    return {name for action in parser._actions for name in action.option_strings}


@pytest.mark.parametrize("page", PAGES, ids=NAMES.get)
def test_every_command_is_there_with_its_options(page: Path) -> None:
    assert list(unknown(page.read_text())) == []


def test_commands_that_are_not_there_are_found() -> None:
    text = "`ricochet calibrat data/`, `ricochet list --seed 1`\n\n    ricochet study NAME --quick"
    assert list(unknown(text)) == ["ricochet calibrat", "ricochet list --seed"]
    assert list(unknown("    ricochet train energy --trial 9\n")) == ["ricochet train --trial"]


@pytest.mark.parametrize("page", PAGES, ids=NAMES.get)
def test_every_module_that_is_run_is_there(page: Path) -> None:
    for module in MODULE.findall(page.read_text()):
        path = ROOT / module.removeprefix("ricochet.").replace(".", "/")
        assert path.with_suffix(".py").is_file() or path.is_dir(), module

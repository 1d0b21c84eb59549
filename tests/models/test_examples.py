"""Every public function of the shelves shows an example, and the examples are true."""

import ast
import doctest
import importlib
from pathlib import Path
from types import ModuleType

import pytest

MODELS = Path(__file__).resolve().parents[2] / "models"
SHELVES = ("core", "probability", "inference", "sound", "filters", "arms")
MODULES = [path for shelf in SHELVES for path in sorted((MODELS / shelf).glob("[a-z]*.py"))]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def name_of(path: Path) -> str:
    return "ricochet." + ".".join(path.relative_to(MODELS.parent).with_suffix("").parts)


def public_functions(path: Path) -> list[ast.FunctionDef]:
    body = ast.parse(path.read_text()).body
    return [n for n in body if isinstance(n, ast.FunctionDef) and not n.name.startswith("_")]


def examples(module: ModuleType, path: Path) -> list[doctest.DocTest]:
    """Read the docstrings from the source: doctest's own finder skips what is wrapped."""
    parser = doctest.DocTestParser()
    documented = [
        (node, ast.get_docstring(node, clean=False))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module)
    ]
    return [
        parser.get_doctest(
            text, dict(vars(module)), f"{path.name}: {getattr(node, 'name', '')}", str(path), None
        )
        for node, text in documented
        if text and ">>>" in text
    ]


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_examples_are_true(path: Path) -> None:
    said: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=FLAGS)
    for example in examples(importlib.import_module(name_of(path)), path):
        runner.run(example, out=said.append)
    assert not runner.failures, "".join(said)


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_every_public_function_shows_an_example(path: Path) -> None:
    without = [
        node.name for node in public_functions(path) if ">>>" not in (ast.get_docstring(node) or "")
    ]
    assert without == []

"""The import closure of a module, read from small trees of sources, and what its digest follows."""

import pytest

from ricochet.tasks.storage.provenance import ROOT, code_digest, import_closure

LAYERS = ("models", "hardware", "tasks", "flows")


@pytest.fixture
def tree(tmp_path):
    """Write sources by path; return the closure of `ricochet.models.a`."""

    def write(**sources):
        for name, text in sources.items():
            place = tmp_path / "models" / f"{name}.py"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        return import_closure("ricochet.models.a", tmp_path)

    return write


def test_imports_count_at_the_top_in_functions_and_at_any_depth(tree):
    source = """
import numpy
import ricochet.models.b
from ricochet.models import c, d as other
from ricochet.models.folder.e import something

def late():
    try:
        from ricochet.models.f import thing
    except ImportError:
        import ricochet.models.g
    with open("x"):
        if thing:
            pass
        else:
            import ricochet.models.h
    match thing:
        case 1:
            from ricochet.models import i
"""
    letters = {name: "" if name == "h" else "x = 1" for name in "bcdfghi"}
    deeper = {"folder/e": "from ricochet.models import j"}
    found = tree(a=source, j="x = 1", k="x", **letters, **deeper)
    expected = {*"abcdfgij", "folder/e"}  # an empty file decides nothing
    assert found == {f"models/{name}.py" for name in expected}


def test_circles_end(tree):
    found = tree(a="import ricochet.models.b", b="from ricochet.models.a import x")
    assert found == {"models/a.py", "models/b.py"}


def test_what_only_a_type_checker_imports_does_not_count(tree):
    source = """
import typing
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from ricochet.models import b
else:
    from ricochet.models import c
if typing.TYPE_CHECKING:
    from ricochet.models import d
"""
    assert tree(a=source, b="x", c="x", d="x") == {"models/a.py", "models/c.py"}


def test_relative_imports_and_packages_that_run_something_count(tree):
    source = "from .folder.deep import b\nfrom . import c"
    found = tree(a=source, c="x", **{"folder/deep/b": "x", "folder/__init__": "x = 1"})
    expected = {"a", "c", "folder/deep/b", "folder/__init__"}
    assert found == {f"models/{name}.py" for name in expected}


def test_a_name_that_is_put_together_at_run_time_pulls_in_nothing(tree):
    source = 'from importlib import import_module\nimport_module(f"ricochet.models.{1}")\n'
    assert tree(a=source + 'import_module("ricochet.models.b")', b="x") == {"models/a.py"}


def test_a_file_that_a_module_names_counts_and_another_beside_it_does_not(tree, tmp_path):
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "scene.xml").write_text("<scene/>")
    (tmp_path / "models" / "other.xml").write_text("<scene/>")
    assert tree(a='X = Path(__file__).with_name("scene.xml")') == {
        "models/a.py",
        "models/scene.xml",
    }


def test_the_digest_follows_the_content_and_the_names_of_all_files(tree, tmp_path):
    digests = set()
    for sources in (
        {"a": "import ricochet.models.b", "b": "x = 1"},
        {"a": "import ricochet.models.b", "b": "x = 2"},
        {"a": "import ricochet.models.c", "c": "x = 2"},
        {"a": "import ricochet.models.c ", "c": "x = 2"},
    ):
        code_digest.cache_clear()
        tree(**sources)
        digests.add(code_digest("ricochet.models.a", tmp_path))
    assert len(digests) == 4


def test_an_unknown_module_is_an_error():
    with pytest.raises(LookupError, match=r"no module ricochet\.models\.nowhere"):
        code_digest("ricochet.models.nowhere")


def test_every_file_that_is_no_code_is_named_by_a_module_beside_it():
    """Else an edit of it would leave results current that it decided."""
    files = {path for layer in LAYERS for path in (ROOT / layer).rglob("*") if path.is_file()}
    data = {p for p in files if ".py" not in p.suffix and "__pycache__" not in p.parts}
    assert len(data) >= 3
    for path in data:
        modules = [
            f"ricochet.{'.'.join(one.relative_to(ROOT).with_suffix('').parts)}"
            for one in path.parent.glob("*.py")
            if one.name != "__init__.py"
        ]
        name = str(path.relative_to(ROOT))
        assert any(name in import_closure(module) for module in modules), name

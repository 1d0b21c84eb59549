"""YAML of bounded size and depth: values alone, without references, each key once.

YAML 1.1 reads 021 as seventeen and 1:10 as seventy; here numbers are decimal.
"""

import re
from pathlib import Path
from typing import Any

from ricochet.models.core.bad_input import BadInput
from ricochet.tasks.storage import limits

_NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
_MERGE = "tag:yaml.org,2002:merge"
_DECIMAL = re.compile(
    r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)


def read(path: Path, expected: str, *, largest: int = limits.SETTINGS) -> Any:
    """Return what a file holds.

    Args:
        expected: What the line says should be there where it cannot be read.
        largest: Bytes.

    Raises:
        BadInput: It is no regular file, cannot be read, is larger or is no such YAML.
    """
    from ricochet.tasks.storage.files import read_bytes  # with numpy, for which no help waits

    content = read_bytes(path, expected, largest=largest)
    try:
        text = content.decode()
    except UnicodeDecodeError as error:
        raise BadInput(str(path), "bytes that are not UTF-8", expected) from error
    return parse(text, str(path), expected)


def parse(text: str, where: str, expected: str = "YAML") -> Any:
    """Return what a text holds; BadInput if it is too long, too deep or no such YAML."""
    import yaml

    if len(text) > limits.SETTINGS:
        found = f"{len(text)} characters"
        raise BadInput(where, found, f"at most {limits.SETTINGS} characters")
    try:
        return yaml.load(text, _loader())
    except Exception as error:  # of hostile text PyYAML raises nearly anything
        raise BadInput(where, f"no YAML: {error}", expected) from error


def _loader() -> Any:
    """Return PyYAML's safe loader with less: it is imported when it is used."""
    import yaml

    class Loader(yaml.SafeLoader):
        depth = 0

        def compose_node(self, parent: Any, index: Any) -> Any:
            """Refuse references, by which a short text may stand for a long one, and depth."""
            if self.check_event(yaml.events.AliasEvent):
                raise yaml.YAMLError("a reference to another entry")
            self.depth += 1
            if self.depth > limits.DEPTH:
                raise yaml.YAMLError(f"more than {limits.DEPTH} lists within one another")
            node = super().compose_node(parent, index)
            self.depth -= 1
            if node is not None and node.tag in _NUMBERS and len(node.value) > limits.DIGITS:
                raise yaml.YAMLError(f"a number of more than {limits.DIGITS} digits")
            if node is not None and node.tag in _NUMBERS and not _DECIMAL.fullmatch(node.value):
                raise yaml.YAMLError(f"the number {node.value}, which is no decimal one")
            if node is not None and node.tag == _MERGE:
                raise yaml.YAMLError("entries that are merged")
            return node

        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            """Refuse a key that is there twice."""
            keys = set()
            for key, _ in node.value:
                if isinstance(key.value, str) and key.value in keys:
                    raise yaml.YAMLError(f"the key {key.value} twice")
                keys.add(key.value if isinstance(key.value, str) else None)
            return super().construct_mapping(node, deep)

    return Loader

"""Reads YAML into nodes that know their lines: several documents, aliases, templates that do not parse. Pure, bounded.

An alias is the same node as its anchor: who walks visits each node once, however often it is named.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

import yaml

from diagnostics.static.program.project_file import FileKind, ProjectFile

MOST_CHARACTERS = 1 << 19
DEEPEST = 60
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, the same nodes
_BRACKETS = re.compile(r"[\[{\]}]")
_INLINE = re.compile(r"[-?]\x20+(?:[-?]\x20+){59}")  # lists in lists on one line
_INDENTED = "\n" + " " * 500
Path = tuple[str, ...]


def documents(file: ProjectFile) -> tuple[yaml.Node, ...]:
    """Returns the documents of a YAML file, () where it is none: templates have `{{` where YAML has no place for it.

    JSON is YAML but for its tabs.
    """
    if file.kind not in (FileKind.YAML, FileKind.JSON) or len(file.text) > MOST_CHARACTERS or is_deep(file.text):
        return ()
    text = file.text.replace("\t", " ") if file.kind is FileKind.JSON else file.text
    try:
        return tuple(node for node in yaml.compose_all(text, Loader=_LOADER) if node is not None)
    except (yaml.YAMLError, RecursionError, ValueError):
        return ()


def is_deep(text: str) -> bool:
    """Whether collections may be nested so deeply that composing them takes the stack: seen before it is tried."""
    opened = 0
    for bracket in _BRACKETS.finditer(text):
        opened = opened + 1 if bracket[0] in "[{" else max(opened - 1, 0)
        if opened > DEEPEST:
            return True
    return _INDENTED in text or _INLINE.search(text) is not None


def mappings(node: yaml.Node, path: Path = (), above: tuple[yaml.MappingNode, ...] = ()) -> Iterator[Found]:
    """Yields (mapping, the keys that lead to it, the mappings around it) for each mapping, each once."""
    seen: set[int] = set()
    waiting: list[tuple[yaml.Node, Path, tuple[yaml.MappingNode, ...]]] = [(node, path, above)]
    while waiting:
        one, at, around = waiting.pop()
        if id(one) in seen or len(at) > DEEPEST:
            continue
        seen.add(id(one))
        if isinstance(one, yaml.MappingNode):
            yield one, at, around
            inside = [(value, (*at, str(key.value)), (*around, one)) for key, value in one.value]
            waiting.extend(reversed([item for item in inside if isinstance(item[0], yaml.CollectionNode)]))
        elif isinstance(one, yaml.SequenceNode):
            items = [(item, (*at, str(index)), around) for index, item in enumerate(one.value)]
            waiting.extend(reversed([item for item in items if isinstance(item[0], yaml.CollectionNode)]))


Found = tuple[yaml.MappingNode, Path, tuple[yaml.MappingNode, ...]]


def entries(node: yaml.Node | None) -> dict[str, yaml.Node]:
    """Returns the values of a mapping by key, {} of anything else."""
    return _entries(node) if isinstance(node, yaml.MappingNode) else {}


@lru_cache(maxsize=256)  # all that lies below a mapping asks for those of the mappings above
def _entries(node: yaml.MappingNode) -> dict[str, yaml.Node]:
    return {key.value: value for key, value in node.value if isinstance(key, yaml.ScalarNode)}


def items(node: yaml.Node | None) -> tuple[yaml.Node, ...]:
    """Returns the items of a list, () of anything else."""
    return tuple(node.value) if isinstance(node, yaml.SequenceNode) else ()


def scalar(node: yaml.Node | None) -> str:
    """Returns the text of a scalar, "" of anything else and of null."""
    if not isinstance(node, yaml.ScalarNode) or (node.style is None and node.value in ("null", "~", "Null", "NULL")):
        return ""
    return str(node.value)


def number(node: yaml.Node | None) -> int | None:
    """Returns a whole number that is written as one, None of anything else."""
    text = scalar(node)
    return int(text) if re.fullmatch(r"\d{1,6}", text) else None


def line_of(node: yaml.Node) -> int:
    """Returns the line a node begins on, from 1."""
    return int(node.start_mark.line) + 1


def column_of(node: yaml.Node) -> int:
    """Returns the column a node begins in, from 1."""
    return int(node.start_mark.column) + 1


def text_line(node: yaml.ScalarNode) -> int:
    """Returns the line on which the text of a scalar begins: of a block that below its `|`."""
    return line_of(node) + (1 if node.style in ("|", ">") else 0)

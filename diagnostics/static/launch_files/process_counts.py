"""How many ranks the commands of a script start by hand, and what numbers configuration gives. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath

import yaml

from diagnostics.static.launch_files.shell_commands import CommandContext
from diagnostics.static.launch_files.shell_expansion import expand
from diagnostics.static.launch_files.shell_parser import Compound
from diagnostics.static.launch_files.yaml_nodes import documents, entries, line_of, number
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

_BRACES = re.compile(r"\{(\d{1,5})\.\.(\d{1,5})\}")
_SEQ = re.compile(r"(?:\$\(|`)\s*seq\s+(\d{1,5})(?:\s+(\d{1,5}))?\s*(?:\)|`)")
_COUNTED = re.compile(r"\(\(\s*(\w+)\s*=\s*(\d{1,5})\s*;\s*\w+\s*(<=?)\s*(\d{1,5})\s*;\s*(?:\w+\+\+|\+\+\w+)\s*\)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessCount:
    """A number that somebody wrote down for ranks or devices."""

    name: str
    value: int
    file: ProjectFile
    line: int


def loop_values(loop: Compound, ran: CommandContext) -> tuple[str, ...] | None:
    """Returns what a `for` loop runs over, None where that is not written down."""
    if loop.kind != "for" or not loop.header:
        return None
    counted = _COUNTED.fullmatch(loop.header[0].text)
    if counted:
        last = int(counted[4]) + (counted[3] == "<=")
        return tuple(map(str, range(int(counted[2]), last)))
    if len(loop.header) < 3 or loop.header[1].text != "in":
        return None
    found: list[str] = []
    for token in loop.header[2:]:
        for word in expand(token.text, {**ran.variables, loop.header[0].text: None}):
            braces, seq = _BRACES.fullmatch(word), _SEQ.fullmatch(word)
            if braces:
                found.extend(map(str, range(int(braces[1]), int(braces[2]) + 1)))
            elif seq:
                first, last = (int(seq[1]), int(seq[2])) if seq[2] else (1, int(seq[1]))
                found.extend(map(str, range(first, last + 1)))
            elif "$" in word or "`" in word or "*" in word:
                return None
            else:
                found.append(word)
    return tuple(found)


def loop_name(loop: Compound) -> str:
    """Returns the variable of a `for` loop."""
    counted = _COUNTED.fullmatch(loop.header[0].text) if loop.header else None
    return counted[1] if counted else loop.header[0].text if loop.header else ""


def configuration(arguments: tuple[str, ...], file: ProjectFile, project: Project) -> Iterator[ProjectFile]:
    """Yields the YAML files of the project that a program is given by name."""
    for word in arguments:
        name = word.partition("=")[2] if word.startswith("--") and "=" in word else word
        if not name.endswith((".yaml", ".yml")) or "$" in name:
            continue
        parts = [part for part in PurePath(name).parts if part not in (".", "/")]
        folder = PurePath(file.shown).parent
        for root in (folder, *folder.parents):
            found = project.by_path.get(str(root.joinpath(*parts)))
            if found is not None and found.kind is FileKind.YAML:
                yield found
                break


def counts_in(file: ProjectFile, names: frozenset[str]) -> Iterator[ProcessCount]:
    """Yields the whole numbers below these keys, at the top of a configuration or one mapping below it."""
    for document in documents(file):
        for key, node in entries(document).items():
            yield from _count(file, key, node, names)
            for inner, value in entries(node).items():
                yield from _count(file, inner, value, names)


def _count(file: ProjectFile, key: str, node: yaml.Node, names: frozenset[str]) -> Iterator[ProcessCount]:
    value = number(node)
    if key in names and value is not None:
        yield ProcessCount(name=key, value=value, file=file, line=line_of(node))


def literal(value: ast.AST | None) -> int | None:
    """Returns a whole number that is written as one."""
    found = value.value if isinstance(value, ast.Constant) else None
    return found if isinstance(found, int) and not isinstance(found, bool) else None

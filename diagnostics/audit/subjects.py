"""Whether what a rule is about is there at all: where it is not seen, that nothing was found proves nothing. Pure.

A word in a comment or in an import is no use of it, nor is a name that nothing binds: `DistributedSampler(...)` behind
`from helpers import *` of a module that was not audited may be anything.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from types import ModuleType

from diagnostics.static.program.functions import Function
from diagnostics.static.program.name_resolution import DEEP_WORDS
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import FileKind, ProjectFile

# What has ranks meet: operations, what wraps models, and what starts the ranks. SUBJECT of rules about collectives.
MEETINGS = tuple(sorted(DEEP_WORDS - {"rank", "local_rank", "world_size", "DataLoader"}))
_BUILTINS = frozenset(vars(builtins))
_NAMED = (ast.Name, ast.Attribute, ast.keyword, ast.arg, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_LONGEST = 300  # of a text that names something: "RANK", "nccl", a command


def unseen(
    asked: Mapping[str, Sequence[ProjectFile]], rules: Mapping[str, ModuleType], project: Project
) -> tuple[str, ...]:
    """Returns the codes of the rules whose subject stands in none of the files that they were asked about."""
    used = _Used(project)
    return tuple(code for code, files in asked.items() if files and not used.any_of(rules[code], files))


class _Used:
    def __init__(self, project: Project) -> None:
        self._project = project
        self._words: dict[str, frozenset[str]] = {}

    def any_of(self, rule: ModuleType, files: Iterable[ProjectFile]) -> bool:
        subject = frozenset(getattr(rule, "SUBJECT", ()) or getattr(rule, "WORDS", ()))
        return not subject or any(self._holds(file, subject) for file in files)

    def _holds(self, file: ProjectFile, subject: frozenset[str]) -> bool:
        there = subject & file.words
        if file.kind is not FileKind.PYTHON or any(keyword.iskeyword(word) for word in there):
            return bool(there)
        if not there and subject.isdisjoint(self._renamed(file).values()):
            return False
        if file.shown not in self._words:
            self._words[file.shown] = frozenset(self._used_in(file))
        return not subject.isdisjoint(self._words[file.shown])

    def _renamed(self, file: ProjectFile) -> dict[str, str]:
        """Returns the names that a file imports, each with the last part of what it means."""
        bound = self._project.bound(file.shown)
        return {name: self._project.expanded(full).rpartition(".")[2] for name, full in bound.items()}

    def _used_in(self, file: ProjectFile) -> Iterator[str]:
        renamed = self._renamed(file)
        for function in self._project.functions_in(file):
            yield from function.parameters
            for node in function.nodes_of((*_NAMED, ast.Constant)):
                if isinstance(node, ast.Name):
                    if self._is_bound(node, function, renamed):
                        yield node.id
                        yield renamed.get(node.id, node.id)
                elif isinstance(node, ast.Attribute):
                    yield node.attr
                elif isinstance(node, (ast.keyword, ast.arg)):
                    yield node.arg or ""
                elif isinstance(node, ast.Constant):
                    if isinstance(node.value, str) and len(node.value) < _LONGEST:
                        yield from re.findall(r"\w+", node.value)
                else:
                    yield getattr(node, "name", "")

    def _is_bound(self, node: ast.Name, function: Function, renamed: Mapping[str, str]) -> bool:
        if not isinstance(node.ctx, ast.Load) or node.id in renamed or node.id in _BUILTINS:
            return True
        return self._project.name(node, function) != node.id

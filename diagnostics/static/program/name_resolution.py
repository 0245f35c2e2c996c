"""The files of an audited project: their functions, their modules, and what names in them mean. Pure."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Any, TypeVar

from diagnostics.agent.shared import operations
from diagnostics.static.program.api_aliases import canonical_name
from diagnostics.static.program.call_graph import CallGraph
from diagnostics.static.program.functions import Function
from diagnostics.static.program.modules.module_files import ModuleFiles
from diagnostics.static.program.modules.star_imports import (
    Handed,
    OwnNames,
    Star,
    StarImports,
    defined_names,
    listed_names,
)  # fmt: skip
from diagnostics.static.program.project_file import FileKind, ProjectFile
from diagnostics.static.program.source_file import SourceFile, SourceStore

Fact = TypeVar("Fact")
# A file with none of these words takes no part in what crosses files.
DEEP_WORDS = frozenset(
    [
        "rank",
        "local_rank",
        "world_size",
        "DataLoader",
        "DistributedDataParallel",
        "DDP",
        "FSDP",
        "FullyShardedDataParallel",
        "accelerator",
        "Accelerator",
        "fabric",
        "Fabric",
        "is_main_process",
        "rank_zero_only",
        "init_process_group",
        "deepspeed",
        "horovod",
        "hvd",
        "LightningModule",
        "idist",
        "set_epoch",
        "is_global_zero",
        *operations.UNMISTAKABLE,
    ]
)
FEW_FILES = 150  # so many are looked at whole
MOST_EXPANDED = 5
_IMPORTS = (ast.Import, ast.ImportFrom)


class NameResolution(ModuleFiles, CallGraph):
    """All audited files; imports are resolved exactly, since all files are known."""

    def __init__(self, audited: Iterable[ProjectFile]) -> None:
        self.audited = tuple(audited)
        self.python = tuple(one for one in self.audited if one.kind is FileKind.PYTHON and one.tree is not None)
        super().__init__(SourceStore("", {}), ())
        self._names: dict[int, str] = {}
        self._functions_in: dict[str, tuple[Function, ...]] = {}
        self._bound: dict[str, dict[str, str]] = {}
        self._roots: dict[str, frozenset[str]] = {}
        self._facts: dict[Any, Any] = {}

    def fact(self, kind: Callable[[Any], Fact]) -> Fact:
        """Returns what `kind` makes of the project, made once: what several rules ask."""
        if kind not in self._facts:
            self._facts[kind] = kind(self)
        found: Fact = self._facts[kind]
        return found

    @property
    def modules(self) -> tuple[ProjectFile, ...]:
        """The files that can be imported."""
        return self.python

    @cached_property
    def files(self) -> dict[str, SourceFile]:
        """The files that are looked at together, by the path shown."""
        few = len(self.python) <= FEW_FILES
        return {one.shown: one for one in self.python if few or _is_deep(one)}

    @cached_property
    def by_path(self) -> dict[str, ProjectFile]:
        """Every audited file by the path shown."""
        return {one.shown: one for one in self.audited}

    @cached_property
    def functions(self) -> tuple[Function, ...]:
        """Every function of `files`."""
        return tuple(one for file in self.files.values() for one in self.functions_in(file))

    def functions_in(self, file: SourceFile) -> tuple[Function, ...]:
        """Returns the functions of one file, its module first."""
        shown = str(getattr(file, "shown", file.path))
        if shown not in self._functions_in:
            self._functions_in[shown] = tuple(self._functions(shown, file)) if file.tree is not None else ()
        return self._functions_in[shown]

    def module_of(self, file: SourceFile) -> Function:
        """Returns a file's module as the function that runs its top level."""
        return self.functions_in(file)[0]

    def file_with(self, function: Function) -> ProjectFile:
        """Returns the audited file a function is in."""
        return self.by_path[function.file]

    def calls_in(self, file: SourceFile) -> Iterator[tuple[ast.Call, Function]]:
        """Yields every call of one file with the function it is in."""
        for function in self.functions_in(file):
            for node in function.nodes_of(ast.Call):
                if isinstance(node, ast.Call):
                    yield node, function

    @cached_property
    def calls_by_canonical(self) -> dict[str, list[tuple[ast.Call, Function]]]:
        """All calls in `files` by the full name of what is called."""
        found: dict[str, list[tuple[ast.Call, Function]]] = defaultdict(list)
        for file in self.files.values():
            for call, function in self.calls_in(file):
                name = self.name(call.func, function)
                if name:
                    found[name].append((call, function))
        return found

    def name(self, value: ast.AST, function: Function) -> str:
        """Returns the full dotted name of what an expression names: "torch.distributed.barrier"; "" where unknown.

        What the project defines has its module's name in front: "train.build_loader".
        """
        known = self._names.get(id(value))
        if known is None:
            known = self._names[id(value)] = self._name(value, function, 6)
        return known

    def called(self, value: ast.AST, function: Function) -> str:
        """Returns the full name of what a call calls, "" of anything else."""
        return self.name(value.func, function) if isinstance(value, ast.Call) else ""

    def _name(self, value: ast.AST, function: Function, rounds: int) -> str:
        if rounds < 0:
            return ""
        if isinstance(value, ast.Attribute):
            base = self._name(value.value, function, rounds)
            return self.expanded(f"{base}.{value.attr}") if base else ""
        if not isinstance(value, ast.Name):
            return ""
        scope: Function | None = function
        while scope is not None and scope.name != "<module>":
            if value.id in scope.parameters:
                return ""
            if value.id in scope.assigned:
                values = scope.assigned[value.id]
                alias = len(values) == 1 and isinstance(values[0], (ast.Name, ast.Attribute)) and values[0] is not value
                return self._name(values[0], scope.outer or scope, rounds - 1) if alias else ""
            if any(one.owner is None for one in self._inside.get((id(scope), value.id), ())):
                return ""
            scope = scope.outer
        return self._module_name(value.id, function, rounds)

    def _module_name(self, name: str, function: Function, rounds: int) -> str:
        bound = self.bound(function.file)
        if name in bound:
            return self.expanded(bound[name])
        module = self.module_of(self.by_path[function.file])
        values = module.assigned.get(name, ())
        if len(values) == 1 and isinstance(values[0], (ast.Name, ast.Attribute)):
            return self._name(values[0], module, rounds - 1)
        if values:
            return f"{self.dotted_of(function.file)}.{name}"
        if name == "dist":  # from a star import, or handed over
            return "torch.distributed"
        return f"{self.dotted_of(function.file)}.{name}" if name in self._defined.get(function.file, ()) else name

    @cached_property
    def _inside(self) -> dict[tuple[int, str], list[Function]]:
        """Functions by (identity of the function around them, last part of their name)."""
        found: dict[tuple[int, str], list[Function]] = defaultdict(list)
        for one in self.functions:
            if one.outer is not None:
                found[id(one.outer), one.name.rpartition(".")[2]].append(one)
        return found

    def bound(self, file: str) -> dict[str, str]:
        """Returns what the imports of a file bind: local name to full dotted name."""
        if file not in self._bound:
            own = dict(self._bindings(file))
            self._bound[file] = own | self.star_meanings(file)
        return self._bound[file]

    def _bindings(self, file: str) -> Iterator[tuple[str, str]]:
        for node in self.by_path[file].all_statements:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    whole = alias.name if alias.asname else alias.name.partition(".")[0]
                    yield alias.asname or whole, whole
            elif isinstance(node, ast.ImportFrom):
                home = self._home(file, node)
                for alias in node.names:
                    if alias.name != "*":
                        yield alias.asname or alias.name, f"{home}.{alias.name}".strip(".")

    @cached_property
    def star_imports(self) -> StarImports:
        """What the star imports of files bind."""
        found: dict[str, tuple[Star, ...]] = {}
        for one in self.python:
            nodes = [
                node for node in one.all_statements if isinstance(node, ast.ImportFrom) and node.names[0].name == "*"
            ]
            homes = [(self._home(one.shown, node), node.lineno) for node in nodes]
            stars = [Star(home, self._file_of(one.shown, home), line) for home, line in homes]
            if stars:
                found[one.shown] = tuple(sorted(stars, key=lambda star: star.line))
        return StarImports(found, self._own_names, self._part)

    def star_meanings(self, file: str) -> dict[str, str]:
        """Returns what the star imports of a file bind: local name to full dotted name."""
        return {name: one.meaning for name, one in self.star_imports.of(file).items()}

    def star_file(self, file: str, node: ast.Import | ast.ImportFrom) -> str:
        """Returns the project's file whose names `from module import *` takes, "" where it is no such import."""
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            return self._file_of(file, self._home(file, node))
        return ""

    def _own_names(self, file: str) -> OwnNames:
        """Returns what a file binds, but for its star imports."""
        statements = self.by_path[file].all_statements
        lines = {
            alias.asname or alias.name.partition(".")[0]: node.lineno
            for node in sorted((one for one in statements if isinstance(one, _IMPORTS)), key=lambda one: one.lineno)
            for alias in node.names
        }
        ours = dict(self._own_imports(file))
        imported = {
            name: (Handed(full, *ours.get(name, ("", ""))[:2]), lines.get(name, 0))
            for name, full in self._bindings(file)
        }
        tree = self.by_path[file].tree or ast.Module([], [])
        defined = {name: Handed(f"{self.dotted_of(file)}.{name}", file, name) for name in defined_names(tree)}
        return OwnNames(imported=imported, defined=defined, listed=listed_names(tree))

    def _part(self, package: str, name: str) -> Handed | None:
        """Returns a module of a package by its name there."""
        full = f"{self.dotted_of(package)}.{name}"
        file = self._file_of(package, full)
        return Handed(full, file, name) if file and file != package else None

    def imported_roots(self, file: str) -> frozenset[str]:
        """Returns the top-level packages that a file imports from, as it writes them."""
        if file not in self._roots:
            found: set[str] = set()
            for node in self.by_path[file].all_statements:
                if isinstance(node, ast.Import):
                    found.update(alias.name.partition(".")[0] for alias in node.names)
                elif isinstance(node, ast.ImportFrom) and not node.level:
                    found.add((node.module or "").partition(".")[0])
            self._roots[file] = frozenset(found)
        return self._roots[file]

    def expanded(self, name: str) -> str:
        """Returns the full name behind a re-export: what a module of the project imports under that name."""
        for _ in range(MOST_EXPANDED):
            name = canonical_name(name)
            module, _, rest = name.rpartition(".")
            file = self.file_of_module.get(module, "") if module and self._may_be_ours(module) else ""
            if not file or rest not in self.bound(file):
                break
            behind = self.bound(file)[rest]
            if behind == name:
                break
            name = behind
        return name

    def _may_be_ours(self, module: str) -> bool:
        return module in self.file_of_module

    def _read_imports(self, file: str) -> Iterator[tuple[str, tuple[str, str]]]:
        stars = self.star_imports.of(file)
        for name, (found, original, inside) in self._own_imports(file):
            if name not in stars:
                yield name, (found, original) if inside else self._behind(found, original)
        for name, one in stars.items():
            if one.file:
                inside = self.dotted_of(one.file) == one.meaning
                yield name, (one.file, one.name) if inside else self._behind(one.file, one.name)

    def _own_imports(self, file: str) -> Iterator[tuple[str, tuple[str, str, bool]]]:
        """Yields (file, name there, whether it is the file as a module) of each import that is no star import."""
        for node in self.by_path[file].all_statements:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    found = self._file_of(file, alias.name)
                    if found:
                        yield alias.asname or alias.name.partition(".")[0], (found, alias.name, True)
            elif isinstance(node, ast.ImportFrom) and node.names[0].name != "*":
                home = self._home(file, node)
                for alias in node.names:
                    inside = self._file_of(file, f"{home}.{alias.name}".strip("."))
                    found = inside or self._file_of(file, home)
                    if found:
                        yield alias.asname or alias.name, (found, alias.name, bool(inside))

    def _behind(self, file: str, name: str, rounds: int = MOST_EXPANDED) -> tuple[str, str]:
        """Returns (file, name) of what a module's own import of `name` brings in."""
        if rounds and name not in self._defined.get(file, ()):
            target = self.bound(file).get(name, "")
            module, _, rest = target.rpartition(".")
            found = self._file_of(file, module) if target else ""
            if found and found != file:
                return self._behind(found, rest, rounds - 1)
        return file, name

    @cached_property
    def _defined(self) -> dict[str, frozenset[str]]:
        """Names of the functions and classes at each file's top level."""
        kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
        return {
            one.shown: frozenset(node.name for node in one.all_statements if isinstance(node, kinds))
            for one in self.python
        }


def _is_deep(file: ProjectFile) -> bool:
    # Not the word "distributed": it stands in every licence text.
    return bool(file.words & DEEP_WORDS) or "torch.distributed" in file.text or "import distributed" in file.text

"""The files of an audited project: their functions, their modules, and what names in them mean. Pure."""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from pathlib import PurePath
from typing import Any, TypeVar

from diagnostics.agent.shared import operations
from diagnostics.static.program.api_aliases import canonical_name
from diagnostics.static.program.call_graph import CallGraph
from diagnostics.static.program.functions import Function
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
_LIBRARIES = frozenset(["torch", "numpy", "yaml", "wandb", "accelerate", "lightning", "transformers", "datasets"])


class NameResolution(CallGraph):
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
            self._bound[file] = dict(self._bindings(file))
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

    def _home(self, file: str, node: ast.ImportFrom) -> str:
        if not node.level:
            return node.module or ""
        package = self.dotted_of(file).split(".")
        if PurePath(file).name != "__init__.py":
            package = package[:-1]
        package = package[: len(package) - (node.level - 1)]
        return ".".join([*package, *([node.module] if node.module else [])])

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

    @cached_property
    def file_of_module(self) -> dict[str, str]:
        """The path shown by full module name; of several files with one name the first."""
        found: dict[str, str] = {}
        for one in self.python:
            found.setdefault(self.dotted_of(one.shown), one.shown)
        return found

    @cached_property
    def _files_of_module(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for one in self.python:
            found[self.dotted_of(one.shown)].append(one.shown)
        return dict(found)

    def dotted_of(self, file: str) -> str:
        """Returns a file's module name: from the topmost folder that is a package on."""
        return self._dotted[file]

    @cached_property
    def _dotted(self) -> dict[str, str]:
        packages = {str(PurePath(one.shown).parent) for one in self.python if PurePath(one.shown).name == "__init__.py"}
        found = {}
        for one in self.python:
            path = PurePath(one.shown)
            parts = [] if path.name == "__init__.py" else [path.stem]
            folder = path.parent
            while folder.name and str(folder) in packages:
                parts.append(folder.name)
                folder = folder.parent
            found[one.shown] = ".".join(reversed([part for part in parts if part])) or path.stem
        return found

    @cached_property
    def _by_tail(self) -> dict[str, list[str]]:
        """Paths by the last part of the module they are."""
        found: dict[str, list[str]] = defaultdict(list)
        for one in self.python:
            path = PurePath(one.shown)
            found[path.parent.name if path.name == "__init__.py" else path.stem].append(one.shown)
        return found

    def _module(self, file: str, module: str) -> str:
        """Returns the file that an absolute import of `module` in `file` means, "" where it is not the project's."""
        tail = module.split(".")
        fit = []
        for shown in self._by_tail.get(tail[-1], ()):
            parts = _module_parts(shown)
            if list(parts[-len(tail) :]) == tail:
                fit.append((shown, parts[: len(parts) - len(tail)]))
        here = PurePath(file).parent.parts
        above = [(len(root), shown) for shown, root in fit if here[: len(root)] == root]
        if above:
            return max(above)[1]
        foreign = tail[0] in sys.stdlib_module_names or tail[0] in _LIBRARIES
        return fit[0][0] if len(fit) == 1 and not foreign else ""

    def _read_imports(self, file: str) -> Iterator[tuple[str, tuple[str, str]]]:
        for node in self.by_path[file].all_statements:
            if isinstance(node, ast.Import):
                for alias in node.names:
                    found = self._file_of(file, alias.name)
                    if found:
                        yield alias.asname or alias.name.partition(".")[0], (found, alias.name)
            elif isinstance(node, ast.ImportFrom):
                home = self._home(file, node)
                for alias in node.names:
                    inside = self._file_of(file, f"{home}.{alias.name}".strip("."))
                    name = alias.name
                    found = inside or self._file_of(file, home)
                    if found and not inside:
                        found, name = self._behind(found, name)
                    if found:
                        yield alias.asname or alias.name, (found, name)

    def _file_of(self, file: str, module: str) -> str:
        """Returns the file that a module is: of several of one name the nearest above, where Python looks first."""
        several = self._files_of_module.get(module, ())
        here, tail = PurePath(file).parts[:-1], len(module.split("."))
        roots = [(_module_parts(one)[:-tail], one) for one in several]
        above = [(len(root), one) for root, one in roots if here[: len(root)] == root]
        if above or not module:
            return max(above)[1] if above else ""
        return self._module(file, module) or (several[0] if several else "")

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


def _module_parts(shown: str) -> tuple[str, ...]:
    parts = PurePath(shown).with_suffix("").parts
    return parts[:-1] if parts[-1] == "__init__" else parts


def _is_deep(file: ProjectFile) -> bool:
    # Not the word "distributed": it stands in every licence text.
    return bool(file.words & DEEP_WORDS) or "torch.distributed" in file.text or "import distributed" in file.text

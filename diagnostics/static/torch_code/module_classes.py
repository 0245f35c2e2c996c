"""The project's classes by what they derive from, and the parameters, buffers and submodules of its models. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

_MODULES = frozenset(["torch.nn.Module", "lightning.pytorch.LightningModule", "transformers.PreTrainedModel",
                      "torch.nn.Sequential", "torch.nn.ModuleList"])  # fmt: skip
_DATASETS = frozenset(["torch.utils.data.Dataset", "torch.utils.data.IterableDataset"])
_MOST_BASES = 8
_REGISTERS = frozenset(["register_buffer", "register_parameter"])
# Layers of torch that have a weight unless told otherwise.
WITH_WEIGHTS = frozenset(
    ["Linear", "Bilinear", "Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d",
     "LayerNorm", "RMSNorm", "BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "SyncBatchNorm", "Embedding",
     "LSTM", "GRU", "MultiheadAttention"]
)  # fmt: skip


@dataclass(slots=True)
class ModuleParts:
    """What a model's class registers, by attribute: the expression it is made by."""

    parameters: dict[str, ast.expr] = field(default_factory=dict)
    buffers: dict[str, ast.expr] = field(default_factory=dict)
    modules: dict[str, ast.expr] = field(default_factory=dict)
    several: set[str] = field(default_factory=set)  # assigned more than once, so that it is not known which holds


@dataclass(frozen=True, slots=True, eq=False)
class ModuleClass:
    """A class with its file and the function around it, which names in it are resolved in."""

    file: ProjectFile
    syntax: ast.ClassDef
    module: Function


class ModuleHierarchy:
    """Every class at the top level of a project's files."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.by_name: dict[str, ModuleClass] = {}
        self.by_syntax: dict[int, ModuleClass] = {}
        self._roots: dict[int, frozenset[str]] = {}
        self._parts: dict[int, ModuleParts] = {}
        self._nodes: dict[int, tuple[ast.AST, ...]] = {}
        for file in project.python:
            for node in file.tree.body if file.tree is not None else ():
                if isinstance(node, ast.ClassDef):
                    known = ModuleClass(file, node, project.module_of(file))
                    self.by_name.setdefault(f"{project.dotted_of(file.shown)}.{node.name}", known)
                    self.by_syntax[id(node)] = known

    def named(self, value: ast.expr, function: Function) -> ModuleClass | None:
        """Returns the project's class that an expression names."""
        name = self.project.name(value, function)
        return self.by_name.get(name)

    def bases(self, known: ModuleClass) -> Iterator[ModuleClass]:
        """Yields the project's classes that a class derives from, nearest first."""
        waiting, seen = [known], {id(known.syntax)}
        while waiting and len(seen) < _MOST_BASES:
            for base in waiting.pop(0).syntax.bases:
                found = self.named(base, known.module)
                if found is not None and id(found.syntax) not in seen:
                    seen.add(id(found.syntax))
                    waiting.append(found)
                    yield found

    def roots(self, known: ModuleClass) -> frozenset[str]:
        """Returns the full names of the classes outside the project that a class derives from."""
        if id(known.syntax) not in self._roots:
            found = set()
            for one in (known, *self.bases(known)):
                for base in one.syntax.bases:
                    base = base.value if isinstance(base, ast.Subscript) else base
                    name = self.project.name(base, one.module)
                    if name and name not in self.by_name:
                        found.add(name)
            self._roots[id(known.syntax)] = frozenset(found)
        return self._roots[id(known.syntax)]

    def is_module(self, known: ModuleClass) -> bool:
        """Whether a class is a torch module."""
        return any(root in _MODULES or root.startswith("torch.nn.modules.") for root in self.roots(known))

    def is_dataset(self, known: ModuleClass) -> bool:
        """Whether a class is a torch data set."""
        return bool(self.roots(known) & _DATASETS)

    def _is_module_named(self, name: str) -> bool:
        made = self.by_name.get(name)
        return made is not None and self.is_module(made)

    def of_method(self, function: Function) -> ModuleClass | None:
        """Returns the class whose `self` a function sees."""
        kind = self.project.class_of(function)
        return self.by_syntax.get(id(kind)) if kind is not None else None

    def parts(self, known: ModuleClass) -> ModuleParts:
        """Returns what a model registers, its bases' included."""
        if id(known.syntax) not in self._parts:
            found = self._parts[id(known.syntax)] = ModuleParts()
            for one in reversed((known, *self.bases(known))):
                self._read(one, found)
        return self._parts[id(known.syntax)]

    def _read(self, known: ModuleClass, parts: ModuleParts) -> None:
        for node in self._registering(known):
            if isinstance(node, ast.Assign):
                self._assigned(node.targets[0], node.value, known, parts)
            elif isinstance(node, ast.AnnAssign) and node.value is not None:
                self._assigned(node.target, node.value, known, parts)
            elif isinstance(node, ast.Call):
                _registered(node, parts)

    def _registering(self, known: ModuleClass) -> tuple[ast.AST, ...]:
        """Returns what may register something in a class's methods: read once, for its subclasses, too."""
        if id(known.syntax) not in self._nodes:
            nodes = (node for method in methods(known.syntax) for node in walk(method))
            self._nodes[id(known.syntax)] = tuple(node for node in nodes if _may_register(node))
        return self._nodes[id(known.syntax)]

    def _assigned(self, target: ast.expr, value: ast.expr, known: ModuleClass, parts: ModuleParts) -> None:
        attribute = own_attribute(target)
        if not attribute or not isinstance(value, ast.Call):
            if attribute and attribute in parts.modules and not is_none(value):
                parts.several.add(attribute)
            return
        name = self.project.name(value.func, known.module) or last_name(value.func)
        if name in ("torch.nn.Parameter", "torch.nn.parameter.Parameter"):
            parts.parameters[attribute] = value
        elif name.startswith("torch.nn.") or self._is_module_named(name):
            if attribute in parts.modules and ast.dump(parts.modules[attribute]) != ast.dump(value):
                parts.several.add(attribute)
            parts.modules[attribute] = value
        elif attribute in parts.modules:
            parts.several.add(attribute)


def _may_register(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return last_name(node.func) in _REGISTERS
    if isinstance(node, ast.Assign):
        return len(node.targets) == 1 and bool(own_attribute(node.targets[0]))
    return isinstance(node, ast.AnnAssign) and node.value is not None and bool(own_attribute(node.target))


def _registered(node: ast.Call, parts: ModuleParts) -> None:
    where = {"register_buffer": parts.buffers, "register_parameter": parts.parameters}.get(last_name(node.func))
    words = {one.arg: one.value for one in node.keywords}
    name = node.args[0] if node.args else words.get("name")
    value = node.args[1] if len(node.args) > 1 else words.get("tensor", words.get("param"))
    of_self = isinstance(node.func, ast.Attribute) and isinstance(node.func.value, ast.Name)
    if where is not None and of_self and isinstance(name, ast.Constant) and value is not None:
        where[str(name.value)] = value


def methods(syntax: ast.ClassDef) -> Iterator[ast.FunctionDef]:
    """Yields the methods written in a class."""
    yield from (node for node in syntax.body if isinstance(node, ast.FunctionDef))


def own_attribute(value: ast.AST) -> str:
    """Returns `x` of `self.x`, "" of anything else."""
    of_self = isinstance(value, ast.Attribute) and isinstance(value.value, ast.Name) and value.value.id == "self"
    return value.attr if of_self else ""  # type: ignore[attr-defined]


def is_none(value: ast.AST) -> bool:
    """Whether an expression is the constant None."""
    return isinstance(value, ast.Constant) and value.value is None


@lru_cache(maxsize=2)
def class_tree(project: Project) -> ModuleHierarchy:
    """Returns the classes of a project, read once."""
    return ModuleHierarchy(project)

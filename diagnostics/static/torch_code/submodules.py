"""The parts with parameters that a module class makes, and where its forward uses them. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.own_nodes import statements_of
from diagnostics.static.program.project import Project, per_project
from diagnostics.static.program.project_file import ProjectFile

# Layers of torch.nn that have parameters however they are made.
_LAYERS = re.compile(
    r"^torch\.nn\.(?:Linear|Bilinear|Conv[123]d|ConvTranspose[123]d|Embedding|EmbeddingBag|LayerNorm|GroupNorm"
    r"|BatchNorm[123]d|RNN|LSTM|GRU|RNNCell|LSTMCell|GRUCell|MultiheadAttention|Transformer\w*|PReLU|Parameter)$"
)
_HOLDERS = {"torch.nn.Sequential", "torch.nn.ModuleList", "torch.nn.ModuleDict", "torch.nn.ParameterList"}
_MODULES = {"torch.nn.Module", "torch.nn.modules.module.Module", "torch.nn.modules.Module"}
# What reads parts without naming them.
_WHOLE = {"children", "named_children", "modules", "named_modules", "_modules", "getattr", "__getattr__", "__dict__",
          "vars", "get_submodule", "eval_children", "apply_to", "locals", "__getattribute__"}  # fmt: skip
_LONGEST_NAME = 200  # a longer string is a text


@dataclass(frozen=True, slots=True)
class Submodule:
    """One attribute of a module that holds parameters."""

    name: str
    value: ast.Call
    function: Function
    statement: ast.Assign
    owner: ast.ClassDef


def is_plain_module(kind: ast.ClassDef, project: Project) -> bool:
    """Whether a class and the project's classes below it derive from nn.Module and from nothing else."""
    home = project.module_of(project.by_path[project._file_of_class[id(kind)]])
    names = [project.name(base, home) for base in kind.bases]
    own = {id(one) for one in project.bases(kind)}
    parents = project.bases(kind)
    foreign = [name for name, base in zip(names, kind.bases, strict=True)
               if name not in _MODULES and not any(last_name(base) == one.name for one in parents)]  # fmt: skip
    return not foreign and bool(kind.bases) and len(own) <= 1 and all(is_plain_module(one, project) for one in parents)


def parts_of(kind: ast.ClassDef, project: Project, depth: int = 3) -> Iterator[Submodule]:
    """Yields the parts that a class's `__init__` makes in any case; a class may hold objects of its own kind."""
    init = project.method(kind, "__init__")
    if init is None or project.class_of(init) is not kind:
        return
    for node in statements_of(init.syntax):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and len(node.targets) == 1:
            target = node.targets[0]
            named = isinstance(target, ast.Attribute) and is_part(target)
            if isinstance(target, ast.Attribute) and named and has_parameters(node.value, init, project, depth):
                yield Submodule(target.attr, node.value, init, node, kind)


def has_parameters(value: ast.expr, function: Function, project: Project, depth: int = 3) -> bool:
    """Whether an expression surely makes something with trained parameters."""
    if isinstance(value, (ast.GeneratorExp, ast.ListComp)):
        return has_parameters(value.elt, function, project, depth)
    if isinstance(value, (ast.List, ast.Tuple)):
        return any(has_parameters(one, function, project, depth) for one in value.elts)
    if not isinstance(value, ast.Call) or not depth:
        return False
    name = project.name(value.func, function)
    if any(one.arg == "requires_grad" for one in value.keywords):
        return False
    if _LAYERS.match(name):
        return not any(one.arg in ("affine", "elementwise_affine") for one in value.keywords)
    if name in _HOLDERS:
        return any(has_parameters(one, function, project, depth) for one in value.args)
    kind = project.class_named(last_name(value.func), value.func, function.file)
    return (
        kind is not None
        and is_plain_module(kind, project)
        and next(parts_of(kind, project, depth - 1), None) is not None
    )


def classes_inside(kind: ast.ClassDef, project: Project, depth: int = 4) -> Iterator[ast.ClassDef]:
    """Yields a module class and the project's module classes of which it makes parts."""
    yield kind
    for part in parts_of(kind, project) if depth else ():
        for call in walk(part.value):
            if isinstance(call, ast.Call):
                inner = project.class_named(last_name(call.func), call.func, part.function.file)
                if inner is not None and inner is not kind:
                    yield from classes_inside(inner, project, depth - 1)


def reads_parts_unnamed(kind: ast.ClassDef, project: Project) -> bool:
    """Whether a class may use its parts without naming them."""
    for one in walk(kind):
        if isinstance(one, (ast.Name, ast.Attribute)):
            name = one.id if isinstance(one, ast.Name) else one.attr
            if name in _WHOLE:
                return True
    return project.method(kind, "forward") is None or any(
        reads_parts_unnamed(one, project) for one in project.bases(kind) if project.method(one, "forward") is not None
    )


def is_named_elsewhere(part: Submodule, project: Project) -> bool:
    """Whether anything in the project may use a part: by its name on any other object, on self, or in a string."""
    for file in project.python:
        if part.name in file.words:
            named = _named(project)[file.shown]
            if any(part.name in text for text in named.texts):
                return True
            if any(_reads(node, part, file, project) for node in named.attributes.get(part.name, ())):
                return True
    return False


@dataclass(frozen=True)
class _Named:
    """What a file names: its attributes by their names, and its short strings."""

    attributes: dict[str, list[ast.Attribute]]
    texts: frozenset[str]


@per_project
def _named(project: Project) -> dict[str, _Named]:
    return {file.shown: _names_of(file.tree) for file in project.python if file.tree is not None}


def _names_of(tree: ast.Module) -> _Named:
    attributes: dict[str, list[ast.Attribute]] = {}
    texts: set[str] = set()
    for node in walk(tree):
        if isinstance(node, ast.Attribute):
            attributes.setdefault(node.attr, []).append(node)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < _LONGEST_NAME:
            texts.add(node.value)
    return _Named(attributes, frozenset(texts))


def _reads(node: ast.Attribute, part: Submodule, file: ProjectFile, project: Project) -> bool:
    if node is part.statement.targets[0]:
        return False
    return not is_part(node) or _is_kin(_class_around(node, file, project), part.owner, project)


def _class_around(node: ast.Attribute, file: ProjectFile, project: Project) -> list[ast.ClassDef]:
    return [
        kind
        for several in project.classes.values()
        for shown, kind in several
        if shown == file.shown and kind.lineno <= node.lineno <= (kind.end_lineno or 0)
    ]


def _is_kin(several: list[ast.ClassDef], owner: ast.ClassDef, project: Project) -> bool:
    """Whether `self` may be an object of a class, of one of its bases, or of a class below."""
    return any(kind is owner or owner in project.bases(kind) or kind in project.bases(owner) for kind in several)


def is_part(node: ast.AST) -> bool:
    """Whether an expression is an attribute of self."""
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self"

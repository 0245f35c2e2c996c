"""The parts with parameters that a module class makes, and where its forward uses them. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.analysis.flow_files import Function, last_name
from diagnostics.analysis.project import Project

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
_CHANCE = {"rand", "random", "bernoulli", "randint", "uniform", "choice", "rand_like", "randn"}
_CONTENT = {"item", "any", "all", "tolist", "numel", "nonzero"}
_COUNTERS = re.compile(r"^(?:global_|cur_|current_|n_)?(?:step|epoch|iteration|iter|it|steps|epochs)$")


@dataclass(frozen=True, slots=True)
class Part:
    """One attribute of a module that holds parameters."""

    name: str
    value: ast.Call
    function: Function
    statement: ast.Assign
    owner: ast.ClassDef


@dataclass(frozen=True, slots=True)
class Changing:
    """A branch of forward that decides from step to step whether a part is used."""

    branch: ast.If | ast.IfExp
    function: Function
    part: Part
    why: str


def is_plain_module(kind: ast.ClassDef, project: Project) -> bool:
    """Whether a class and the project's classes below it derive from nn.Module and from nothing else."""
    home = project.module_of(project.by_path[project._file_of_class[id(kind)]])
    names = [project.name(base, home) for base in kind.bases]
    own = {id(one) for one in project.bases(kind)}
    parents = project.bases(kind)
    foreign = [name for name, base in zip(names, kind.bases, strict=True)
               if name not in _MODULES and not any(last_name(base) == one.name for one in parents)]  # fmt: skip
    return not foreign and bool(kind.bases) and len(own) <= 1 and all(is_plain_module(one, project) for one in parents)


def parts_of(kind: ast.ClassDef, project: Project) -> Iterator[Part]:
    """Yields the parts that a class's `__init__` makes in any case."""
    init = project.method(kind, "__init__")
    if init is None or project.class_of(init) is not kind:
        return
    for node in getattr(init.syntax, "body", ()):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and len(node.targets) == 1:
            target = node.targets[0]
            if isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name) and target.value.id == "self":
                if has_parameters(node.value, init, project):
                    yield Part(target.attr, node.value, init, node, kind)


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
        and any(has_parameters(one.value, one.function, project, depth - 1) for one in parts_of(kind, project))
    )


def classes_inside(kind: ast.ClassDef, project: Project, depth: int = 4) -> Iterator[ast.ClassDef]:
    """Yields a module class and the project's module classes of which it makes parts."""
    yield kind
    for part in parts_of(kind, project) if depth else ():
        for call in ast.walk(part.value):
            if isinstance(call, ast.Call):
                inner = project.class_named(last_name(call.func), call.func, part.function.file)
                if inner is not None and inner is not kind:
                    yield from classes_inside(inner, project, depth - 1)


def methods(kind: ast.ClassDef, project: Project) -> list[Function]:
    """Returns the functions that stand in a class."""
    return [project.by_syntax[id(one)] for one in ast.walk(kind) if id(one) in project.by_syntax]


def reads_parts_unnamed(kind: ast.ClassDef, project: Project) -> bool:
    """Whether a class may use its parts without naming them."""
    for one in ast.walk(kind):
        if isinstance(one, (ast.Name, ast.Attribute)):
            name = one.id if isinstance(one, ast.Name) else one.attr
            if name in _WHOLE:
                return True
    return project.method(kind, "forward") is None or any(
        reads_parts_unnamed(one, project) for one in project.bases(kind)
    )


def is_named_elsewhere(part: Part, project: Project) -> bool:
    """Whether anything in the project may use a part: by its name on any other object, on self, or in a string."""
    for file in project.python:
        if part.name not in file.words or file.tree is None:
            continue
        for one in ast.walk(file.tree):
            if isinstance(one, ast.Attribute) and one.attr == part.name and isinstance(one.ctx, ast.Load):
                if not (isinstance(one.value, ast.Name) and one.value.id == "self") or _near(one, part, file, project):
                    return True
            elif isinstance(one, ast.Constant) and isinstance(one.value, str) and part.name in one.value:
                if len(one.value) < 200:
                    return True
    return False


def _near(node: ast.Attribute, part: Part, file: object, project: Project) -> bool:
    """Whether `self.part` stands in the part's class, in one of its bases or in a class below."""
    for several in project.classes.values():
        for shown, kind in several:
            if project.by_path[shown] is file and kind.lineno <= node.lineno <= (kind.end_lineno or 0):
                if kind is part.owner or part.owner in project.bases(kind) or kind in project.bases(part.owner):
                    return True
    return False


def changing_branches(kind: ast.ClassDef, project: Project) -> Iterator[Changing]:
    """Yields the branches of a class's forward that use a part in some steps and not in others."""
    forward = project.method(kind, "forward")
    if forward is None or project.class_of(forward) is not kind:
        return
    parts = {part.name: part for part in parts_of(kind, project)}
    for loop in forward.own_nodes:
        if isinstance(loop, ast.For):
            over = [part for name, part in parts.items() if _names(loop.iter, name)]
            for node in loop.body if over else ():
                why = _changes(node.test, forward) if isinstance(node, ast.If) else ""
                if why and isinstance(node, ast.If) and (_skips(node) or _calls(node.body, loop.target)):
                    yield Changing(node, forward, over[0], why)
    for node in forward.own_nodes:
        if isinstance(node, ast.If) and (why := _changes(node.test, forward)):
            used = [one for one in parts if any(_names(inner, one) for inner in node.body)]
            other = [one for one in parts if any(_names(inner, one) for inner in node.orelse)]
            only = [one for one in used if one not in other and not _used_outside(one, node, forward)]
            if only:
                yield Changing(node, forward, parts[only[0]], why)


def _changes(test: ast.expr, forward: Function) -> str:
    """Returns why a test answers differently from step to step, "" where that is not seen."""
    for one in ast.walk(test):
        if isinstance(one, ast.Call) and last_name(one.func) in _CHANCE:
            return "chance decides"
        if isinstance(one, ast.Call) and last_name(one.func) in _CONTENT and isinstance(one.func, ast.Attribute):
            if any(_names_local(one, name) for name in forward.parameters[1:]):
                return "the data decide"
        if isinstance(one, ast.Name) and one.id in forward.parameters and _COUNTERS.match(one.id):
            if not any(isinstance(op, (ast.Is, ast.IsNot)) for cmp in ast.walk(test)
                       if isinstance(cmp, ast.Compare) for op in cmp.ops):  # fmt: skip
                return f"`{one.id}` decides"
    return ""


def _used_outside(name: str, branch: ast.If, forward: Function) -> bool:
    inside = {id(one) for one in ast.walk(branch)}
    return any(_is_part(one, name) and id(one) not in inside for one in forward.own_nodes)


def _names(value: ast.AST, name: str) -> bool:
    return any(_is_part(one, name) for one in ast.walk(value))


def _is_part(node: ast.AST, name: str) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == name
        and isinstance(node.value, ast.Name)
        and (node.value.id == "self")
    )


def _names_local(value: ast.AST, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in ast.walk(value))


def _skips(node: ast.If) -> bool:
    return any(isinstance(one, (ast.Continue, ast.Break)) for one in node.body)


def _calls(body: list[ast.stmt], target: ast.expr) -> bool:
    names = {one.id for one in ast.walk(target) if isinstance(one, ast.Name)}
    return any(
        isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id in names
        for statement in body
        for one in ast.walk(statement)
    )

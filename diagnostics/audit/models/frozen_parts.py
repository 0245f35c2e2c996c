"""The parts of a model that a function freezes whole: no gradients and eval mode, with batch norms in them. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.torch_code.submodules import classes_inside

_NORM = re.compile(r"BatchNorm")
_OTHER_NORM = re.compile(r"FrozenBatchNorm|FrozenBN")
# Models of torchvision, timm and torch.hub that normalize by the batch.
_CONVOLUTIONAL = re.compile(
    r"(?:wide_)?resne[xs]?t|efficientnet|mobilenet|densenet|regnet|shufflenet|mnasnet|inception|googlenet|vgg\d{2}_bn"
)
_MAKERS = ("torchvision.models.", "timm.create_model", "torch.hub.load", "segmentation_models_pytorch.")
_GOES_OVER = frozenset(["modules", "children", "named_modules", "named_children", "items", "values"])
_HEADS = frozenset(["fc", "head", "classifier"])
_STEPS = re.compile(r"forward|train|step|epoch|fit")
_DEPTH = 2


@dataclass(frozen=True, slots=True)
class FrozenPart:
    """`eval_call` freezes `part`, an attribute of an object of `kind`, or of what `root` names where it is frozen."""

    eval_call: ast.Call
    part: ast.Attribute
    where: Function
    kind: ast.ClassDef | None
    root: str


def frozen_parts(function: Function, project: Project) -> Iterator[FrozenPart]:
    """Yields the parts that are frozen in a function, which nothing but train() of the whole switches back."""
    for call in (one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call)):
        on = call.func.value if isinstance(call.func, ast.Attribute) and call.func.attr == "eval" else None
        if on is None or call.args or not _keeps_no_gradients(ast.unparse(on), function):
            continue
        for part, where in _parts(on, function, project, _DEPTH):
            own = isinstance(part.value, ast.Name) and part.value.id == "self"
            kind = project.class_of(where) if own else None
            if own and kind is None:
                continue
            if _normalizes_by_batch(part, where, project) and not _is_frozen_again(part, call, project):
                yield FrozenPart(call, part, where, kind, "" if own else ast.unparse(part.value))


def _keeps_no_gradients(name: str, function: Function) -> bool:
    """Whether a function takes the gradients of what a name holds away."""
    for node in function.nodes_of((ast.Call, ast.For)):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "requires_grad_":
            if ast.unparse(node.func.value) == name and _is_false(node.args[0] if node.args else None):
                return True
        elif isinstance(node, ast.For):
            taken = any(_takes_gradient(one) for part in node.body for one in walk(part))
            if taken and (f"{name}.parameters()" in ast.unparse(node.iter) or _picks(node, name)):
                return True
    return False


def _picks(loop: ast.For, name: str) -> bool:
    """Whether a loop over the named parameters of a model picks those of one part: `name.startswith("encoder.")`."""
    whole, _, part = name.rpartition(".")
    texts = {
        one.value.rstrip(".") for one in walk(loop) if isinstance(one, ast.Constant) and isinstance(one.value, str)
    }
    return bool(whole) and f"{whole}.named_parameters()" in ast.unparse(loop.iter) and part in texts


def _takes_gradient(node: ast.AST) -> bool:
    if isinstance(node, ast.Assign):
        return _is_false(node.value) and any(last_name(one) == "requires_grad" for one in node.targets)
    return isinstance(node, ast.Call) and last_name(node.func) == "requires_grad_" and _is_false(
        node.args[0] if node.args else None
    )  # fmt: skip


def _is_false(value: ast.expr | None) -> bool:
    return isinstance(value, ast.Constant) and value.value is False


def _parts(
    value: ast.expr, function: Function, project: Project, depth: int
) -> Iterator[tuple[ast.Attribute, Function]]:
    """Yields the attributes of models that an expression is, through loops over them, parameters and small methods."""
    if isinstance(value, ast.Attribute):
        yield value, function
    elif isinstance(value, ast.Name) and depth:
        for loop in function.nodes_of(ast.For):
            if isinstance(loop, ast.For) and any(getattr(one, "id", "") == value.id for one in walk(loop.target)):
                yield from _listed(loop.iter, function, project)
        if value.id in function.parameters:
            for given, caller in project.arguments(value.id, function):
                yield from _parts(given, caller, project, depth - 1)
        else:
            made = list(function.assigned.get(value.id, ()))
            if len(made) == 1 and isinstance(made[0], (ast.Attribute, ast.Name)):
                yield from _parts(made[0], function, project, depth - 1)


def _listed(value: ast.expr, function: Function, project: Project) -> Iterator[tuple[ast.Attribute, Function]]:
    """Yields the attributes a loop goes over: `[self.stem, *self.layers]`, `self.parts(name)`, `net.children()`."""
    called = [one.func for one in walk(value) if isinstance(one, ast.Call)]
    for node in walk(value):
        if isinstance(node, ast.Attribute) and node not in called and isinstance(node.value, ast.Name):
            yield node, function
    for call in (one for one in walk(value) if isinstance(one, ast.Call)):
        for target in project.targets(call, function) if last_name(call.func) not in _GOES_OVER else ():
            for given in target.nodes_of(ast.Return):
                for node in walk(given):
                    if isinstance(node, ast.Attribute) and ast.unparse(node.value) == "self":
                        yield node, target


def _normalizes_by_batch(part: ast.Attribute, function: Function, project: Project) -> bool:
    """Whether batch norms are in a part of a model, by the classes and the library's models that it is made of."""
    if any(project.method(kind, "train") is not None for kind in project.kinds(part.value, function)):
        return False
    made = project.attribute_values(part, function)[:4]
    if not made and isinstance(part.value, ast.Name) and part.attr not in _HEADS:
        whole = function.assigned.get(part.value.id, ())  # a part of a library's model
        return any(isinstance(one, ast.Call) and _is_of_library(one, function, project) for one in whole)
    return any(_has_norms(value, where, project) for value, where in made)


def _is_of_library(call: ast.Call, function: Function, project: Project) -> bool:
    return project.name(call.func, function).startswith(_MAKERS) and bool(_CONVOLUTIONAL.search(ast.unparse(call)))


def _has_norms(value: ast.expr, function: Function, project: Project) -> bool:
    text = ast.unparse(value)
    if _OTHER_NORM.search(text):
        return False
    values = [value]
    if isinstance(value, ast.Name):
        values += function.assigned.get(value.id, ())[:2]
        if value.id in function.parameters:
            return any(not isinstance(one, ast.Name) and _has_norms(one, caller, project)
                       for one, caller in project.arguments(value.id, function))  # fmt: skip
    for call in (one for each in values for one in walk(each) if isinstance(one, ast.Call)):
        name = project.name(call.func, function)
        if name.startswith("torch.nn.") and _NORM.search(name):
            return True
        if _is_of_library(call, function, project):
            return True
        for kind in project.kinds(call, function):
            if project.method(kind, "train") is not None:
                return False
            if any(_makes_norm(one) for inner in (kind, *classes_inside(kind, project)) for one in walk(inner)):
                return True
    return False


def _makes_norm(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = last_name(node.func)
    return bool(_NORM.search(name)) and not _OTHER_NORM.search(name)


def _is_frozen_again(part: ast.Attribute, frozen: ast.Call, project: Project) -> bool:
    """Whether a part goes into eval mode somewhere else as well, where the model is run or trained."""
    for call, function in project.calls_by_name.get("eval", ()):
        steps = call is not frozen and bool(_STEPS.search(function.name))
        if steps and part.attr in {one.attr for one in walk(call.func) if isinstance(one, ast.Attribute)}:
            return True
    return False

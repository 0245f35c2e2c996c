"""Moving averages of a model's weights that are made and asked, and never brought up to date while it trains. Pure."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.static.execution.events import Event, Execution
from diagnostics.static.execution.values import Instance, Items, Made, Mapped, Value, made_of, options
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project

# Averages of libraries, and what brings each up to date.
LIBRARY = {
    "torch.optim.swa_utils.AveragedModel": "update_parameters", "torch_ema.ExponentialMovingAverage": "update",
    "timm.utils.ModelEma": "update", "timm.utils.ModelEmaV2": "update", "timm.utils.ModelEmaV3": "update",
    "ema_pytorch.EMA": "update", "diffusers.training_utils.EMAModel": "step",
}  # fmt: skip
_METHODS = (ast.FunctionDef, ast.AsyncFunctionDef)
_WEIGHTS = frozenset(["parameters", "named_parameters", "state_dict"])
_MOVES = frozenset(["lerp_", "lerp", "mul_", "_foreach_lerp_", "_foreach_mul_"])
_BEGINS = frozenset(["__init__", "load_state_dict", "to", "cuda", "register", "reset"])
_PLAIN = frozenset(["Module", "object", "ABC", "Protocol"])
_TAKES = ("torch.save", "print", ".load_state_dict", ".debug", ".info", "torch.optim.swa_utils.update_bn")


def never_updated(execution: Execution, project: Project) -> Iterator[tuple[ast.AST, Function, str, Event]]:
    """Yields (making of an average, its function, what brings it up to date, step of the training).

    Only of averages that the program asks for something, and where nothing in the project that may be the average is
    told to bring itself up to date: neither in the run, nor as it reads.
    """
    trained = next((one for one in execution.events if one.loops and one.name.endswith(".step")
                    and any(_is_optimizer(each) for each in (one.owner, *one.args))), None)  # fmt: skip
    backward = any(one.loops and one.name.endswith("backward") for one in execution.events)
    if trained is None or not backward or not execution.whole:
        return
    for made in execution.named(*LIBRARY):
        if _is_asked(execution, made) and not _is_named(made.node, made.function, {LIBRARY[made.name]}, project):
            yield made.node, made.function, LIBRARY[made.name], trained
    entered = [frames[-1] for frames in execution.entered if frames]
    told: set[int] = set()
    for one in entered:
        kind = one.function.owner
        if kind is None or _own_name(one.function) != "__init__" or id(one.call) in told:
            continue
        told.add(id(one.call))
        if not isinstance(one.call, ast.Call) or not _keeps_weights(kind, project):
            continue
        names = updates_of(kind)
        run = {_own_name(each.function) for each in entered if each.function.owner is kind}
        if not names or not names.isdisjoint(run) or run <= _BEGINS or _is_handed_on(execution, kind):
            continue
        if not _is_named(one.call, one.caller, names, project):
            yield one.call, one.caller, sorted(names, key=lambda name: (name.startswith("_"), name))[0], trained


def _own_name(function: Function) -> str:
    """Returns the name of a function without those around it."""
    return str(getattr(function.syntax, "name", ""))


def updates_of(kind: ast.ClassDef) -> set[str]:
    """Returns the methods of a class that move what it keeps towards something: `kept = d * kept + (1 - d) * new`."""
    methods = {one.name: one for one in kind.body if isinstance(one, _METHODS)}
    found = {name for name, one in methods.items() if name != "__init__" and _moves(one)}
    while True:
        more = {name for name, one in methods.items() if name not in found and any(
            isinstance(each, ast.Attribute) and each.attr in found and last_name(each.value) in ("self", "super")
            for each in walk(one))}  # fmt: skip
        if not more:
            return found
        found |= more


def _moves(method: ast.AST) -> bool:
    """Whether a method weighs with a number and with what is left to 1."""
    rest = any(
        isinstance(one, ast.BinOp)
        and isinstance(one.op, ast.Sub)
        and isinstance(one.left, ast.Constant)
        and one.left.value == 1
        for one in walk(method)
    )
    return rest and any(
        (isinstance(one, ast.Attribute) and one.attr in _MOVES)
        or (isinstance(one, ast.BinOp) and isinstance(one.op, ast.Add) and isinstance(one.left, ast.BinOp)
            and isinstance(one.right, ast.BinOp) and isinstance(one.left.op, ast.Mult))
        for one in walk(method)
    )  # fmt: skip


def _keeps_weights(kind: ast.ClassDef, project: Project) -> bool:
    """Whether a class is nobody's callback or data set, nothing inherits from it, and it speaks of weights."""
    if any(last_name(one) not in _PLAIN for one in kind.bases) or project.subclasses.get(kind.name):
        return False
    return any(isinstance(one, ast.Attribute) and one.attr in _WEIGHTS for one in walk(kind))


def _is_optimizer(value: object) -> bool:
    return isinstance(value, Made) and value.name.startswith("torch.optim.") and "lr_scheduler" not in value.name


def _is_asked(execution: Execution, made: Event) -> bool:
    """Whether something is done with an average of a library, and all that has it is known."""
    asked = False
    for one in execution.events:
        given = any(each is made.value for value in (*one.args, *one.keywords.values()) for each in _given(value))
        if given and not one.name.startswith(_TAKES):
            return False
        owner = one.owner
        while isinstance(owner, Made) and owner is not made.value and owner.name.startswith((".", "[]")):
            owner = owner.owner
        if owner is made.value and owner is not None:
            if one.name == "." + LIBRARY[made.name]:
                return False
            asked = asked or one.name.lstrip(".") not in _BEGINS
    return asked


def _is_handed_on(execution: Execution, kind: ast.ClassDef) -> bool:
    """Whether an object of a class is given to what is no part of the project."""
    return any(
        isinstance(each, Instance) and each.kind.kind is kind
        for one in execution.events
        if not one.name.startswith(_TAKES)
        for value in (*one.args, *one.keywords.values())
        for each in _given(value)
    )


def _given(value: Value) -> Iterator[Value]:
    """Yields what is given with a value: what it may be, and what is in a list or dict."""
    for one in options(value):
        yield one
        if isinstance(one, (Items, Mapped)):
            yield from (inner for each in made_of(one) if each is not None for inner in options(each))


def _is_named(node: ast.AST, function: Function, names: set[str], project: Project) -> bool:
    """Whether an average has no name of its own, or one of some methods is named of what has that name, or any may."""
    held = _held_by(node, function, project)
    if not held:
        return True
    calls_itself = not names.isdisjoint(("__call__", "forward"))
    for file in project.python if not any(one.startswith("on_") for one in names) else ():
        if names.isdisjoint(file.words) and not calls_itself:
            continue
        for where in project.functions_in(file):
            for one in where.nodes_of((ast.Attribute, ast.Call)):
                if isinstance(one, ast.Call):
                    if calls_itself and last_name(one.func) in held:
                        return True
                    if last_name(one.func) == "getattr" and any(
                        isinstance(each, ast.Constant) and each.value in names for each in one.args
                    ):
                        return True
                elif isinstance(one, ast.Attribute) and one.attr in names and _may_be(one.value, held, where):
                    return True
    return any(one.startswith("on_") for one in names)


def _may_be(receiver: ast.expr, held: set[str], where: Function) -> bool:
    """Whether what a method is named of may be the average: by its name, or since it has none that is known."""
    name = last_name(receiver)
    if name in held or not isinstance(receiver, (ast.Name, ast.Attribute)):
        return True
    if name in ("self", "super", "cls"):
        return False  # who calls that one is asked for instead
    return isinstance(receiver, ast.Name) and name not in where.assigned and _is_bound_in(name, where)


def _is_bound_in(name: str, where: Function) -> bool:
    """Whether a name is a parameter, or what a loop takes one after the other."""
    return name in where.parameters or any(
        isinstance(one, ast.Name) and one.id == name and isinstance(one.ctx, ast.Store)
        for one in where.nodes_of(ast.Name)
    )


def _held_by(node: ast.AST, function: Function, project: Project) -> set[str]:
    """Returns the names that an object is kept under where it is made."""
    parents = project.file_with(function).parents
    outer = parents.get(node)
    while isinstance(outer, (ast.IfExp, ast.BoolOp)) or (
        isinstance(outer, ast.Call) and isinstance(outer.func, ast.Attribute) and outer.func.value is node
    ):
        node, outer = outer, parents.get(outer)
        if isinstance(node, ast.Call):
            break  # `Average(model).to(device)` is the average, as a rule
    outer = parents.get(node)
    targets = [*outer.targets] if isinstance(outer, ast.Assign) else []
    targets += [outer.target] if isinstance(outer, ast.AnnAssign) else []
    return {last_name(one) for one in targets if isinstance(one, (ast.Name, ast.Attribute))}

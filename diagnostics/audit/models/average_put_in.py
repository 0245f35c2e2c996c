"""Where an average of the weights goes into the model that is trained, and nothing is kept of what was there. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.object_kinds import given
from diagnostics.static.program.project import Project
from diagnostics.static.torch_code.training_functions import TrainingFunctions
from diagnostics.static.torch_code.training_loops import innermost_loop

KEEPS = ("store", "backup", "save")  # what copy_to() would put an end to
BACK = (
    "restore", "restore_original", "restore_weights", "swap_out", "unapply", "put_back", "swap",
    "average_parameters", "load_state_dict",
)  # fmt: skip
SWAPS = ("apply_shadow", "apply_average", "swap_in")  # of classes that keep the weights themselves, for their way back
_AVERAGE = re.compile(r"ema(?:$|[^a-z])|EMA|Ema|averag|shadow|swa_", re.IGNORECASE)
_KEPT_BY_HAND = frozenset(["clone", "deepcopy"])
_EVALUATES = re.compile(r"eval|valid|sample|preview|generate|infer|visuali|test|log_image", re.IGNORECASE)
_SAVES = re.compile(r"save|checkpoint|export|push_to_hub|upload", re.IGNORECASE)
_WITHOUT_GRADIENT = ("torch.no_grad", "torch.inference_mode", "torch.autograd.no_grad")
_LAST = re.compile(r"last|final|done|finish|- 1\b|stop", re.IGNORECASE)
_OF_A_FAILURE = re.compile(r"nan\b|isfinite|isinf|diverg|spike", re.IGNORECASE)
_UNWRAPS = re.compile(r"unwrap|de_parallel|get_bare|^list$|^tuple$")
_DEPTH = 2


def written_over(call: ast.Call, function: Function, project: Project) -> tuple[ast.Call, Function] | None:
    """Returns the call in the loop that trains a model on, of a call that writes an average into it."""
    model = _target(call, function, project)
    if model is None or not _evaluates_behind(call, function, project) or _is_kept(call, function, project):
        return None
    return _trains_on(call, model, function, project, _DEPTH)


def _target(call: ast.Call, function: Function, project: Project) -> ast.expr | None:
    """Returns the model that a call writes an average into: `ema.copy_to(x)`, `x.load_state_dict(ema.state_dict())`."""
    if not isinstance(call.func, ast.Attribute) or len(call.args) != 1:
        return None
    value = call.args[0]
    if call.func.attr in SWAPS:
        return value if has_way_back(call, function, project) else None
    if call.func.attr == "copy_to":
        kinds = project.kinds(call.func.value, function)
        named = " ".join([ast.unparse(call.func.value), *(one.name for one in kinds)])
        return value if _AVERAGE.search(named) else None
    if call.func.attr == "load_state_dict" and isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute):
        of, into = ast.unparse(value.func.value), ast.unparse(call.func.value)
        if value.func.attr == "state_dict" and _AVERAGE.search(of) and not _AVERAGE.search(into):
            return call.func.value
    return None


def has_way_back(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether the class of what is called defines a method that undoes it."""
    for one in project.targets(call, function):
        outer = project.file_with(one).parents.get(one.syntax)
        if isinstance(outer, ast.ClassDef) and any(getattr(each, "name", "") in BACK[:-1] for each in outer.body):
            return True
    return False


def _evaluates_behind(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether a function asks the model for something once the average is in it, and does not train it on there.

    Where the average becomes the weights by design, as in Lookahead, nothing is evaluated or saved between.
    """
    decorators = getattr(function.syntax, "decorator_list", ())
    if any(project.name(getattr(one, "func", one), function) in _WITHOUT_GRADIENT for one in decorators):
        return True
    behind = [one for each in _following(call, function, project) for one in walk(each) if isinstance(one, ast.Call)]
    return _saves_behind(call, function, project) or any(
        _asks(one, function, project)
        or any(_asks(each, target, project) for target in project.targets(one, function) for each in _calls(target))
        for one in behind
    )


def _saves_behind(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether a function saves once the average is in the model: in the same block, or at all if its name says so.

    What is saved further out is saved in each round, with the average or without.
    """
    parents = project.file_with(function).parents
    statement: ast.AST | None = call
    while statement is not None and not isinstance(statement, ast.stmt):
        statement = parents.get(statement)
    outer = parents.get(statement) if statement is not None else None
    blocks = (getattr(outer, name, None) for name in ("body", "orelse", "finalbody"))
    block: list[ast.AST] = next((one for one in blocks if isinstance(one, list) and statement in one), [])
    behind = block[block.index(statement) + 1 :] if statement in block else []
    if _SAVES.search(function.name.rpartition(".")[2]):
        behind = list(_following(call, function, project))
    return any(
        isinstance(one, ast.Call) and _SAVES.search(last_name(one.func)) for each in behind for one in walk(each)
    )


def _asks(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether a call evaluates, by its name, or is of what is without gradients."""
    return project.name(call.func, function) in _WITHOUT_GRADIENT or bool(_EVALUATES.search(last_name(call.func)))


def _following(call: ast.Call, function: Function, project: Project) -> Iterator[ast.stmt]:
    """Yields the statements behind a call: in its block, and in those around it, up to a loop or the function."""
    parents = project.file_with(function).parents
    child: ast.AST = call
    outer = parents.get(child)
    while outer is not None and child is not function.syntax:
        for block in (getattr(outer, name, None) for name in ("body", "orelse", "finalbody")):
            if isinstance(block, list) and child in block:
                yield from block[block.index(child) + 1 :]
        if isinstance(outer, (ast.For, ast.While)):
            return
        child, outer = outer, parents.get(outer)


def _is_kept(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether the weights are kept, or something is put back, in the round of a call or by what it calls."""
    if _is_last(call, function, project):
        return True
    loop = innermost_loop(call, function, project.file_with(function))
    round_of = [one for one in walk(loop) if isinstance(one, ast.Call)] if loop is not None else _calls(function)
    swaps = call.func.attr in SWAPS if isinstance(call.func, ast.Attribute) else False
    inside = [one for target in project.targets(call, function) if not swaps for one in _calls(target)]
    by_name = (*KEEPS[:2], *BACK, *_KEPT_BY_HAND)
    if any(last_name(one.func) in by_name for one in (*round_of, *inside) if one is not call):
        return True
    return any(_puts_back(one, function, project) for one in round_of if one is not call)


def _calls(function: Function) -> list[ast.Call]:
    return [one for one in function.nodes_of(ast.Call) if isinstance(one, ast.Call)]


def _puts_back(call: ast.Call, function: Function, project: Project) -> bool:
    """Whether what is called does nothing but put the trained weights back."""
    for one in project.targets(call, function):
        names = {last_name(inner.func) for inner in _calls(one)}
        if names & {*BACK} and not names & {"copy_to", *SWAPS, *KEEPS}:
            return True
    return False


def _is_last(node: ast.AST, function: Function, project: Project) -> bool:
    """Whether a statement is under a test of the end or of a failure, or leaves behind it: the average may stay."""
    parents = project.file_with(function).parents
    outer = parents.get(node)
    while outer is not None and outer is not function.syntax:
        if isinstance(outer, ast.If):
            test = outer.test
            either = isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or)
            alternatives = test.values if isinstance(test, ast.BoolOp) and either else [test]
            if _OF_A_FAILURE.search(ast.unparse(outer.test)):
                return True
            if all(_LAST.search(ast.unparse(one)) for one in alternatives):
                return True
            if any(isinstance(one, (ast.Break, ast.Raise, ast.Return)) for one in outer.body) and node in outer.body:
                return True
        node, outer = outer, parents.get(outer)
    return False


def _trains_on(
    call: ast.Call, model: ast.expr, function: Function, project: Project, depth: int
) -> tuple[ast.Call, Function] | None:
    """Returns the call in a loop that trains a model, by which a function comes to be run on it."""
    if _is_last(call, function, project):
        return None
    name = _named(model, function)
    loop = innermost_loop(call, function, project.file_with(function))
    while loop is not None:
        trains = project.fact(TrainingFunctions).training_call(loop.body, function) is not None
        if trains and _is_trained(name, loop, function, project):
            return call, function
        loop = innermost_loop(loop, function, project.file_with(function))
    for outer, caller in project.callers(function)[:6] if depth and function.name != "<module>" else ():
        passed = dict(given(outer, function.parameters[function.implied :])).get(name)
        if name.startswith("self.") and ast.unparse(outer.func).startswith("self."):
            passed = model
        if passed is None or any(_puts_back(one, caller, project) for one in _calls(caller) if one is not outer):
            continue
        around = innermost_loop(outer, caller, project.file_with(caller))
        beside = [one for one in walk(around) if isinstance(one, ast.Call)] if around is not None else _calls(caller)
        if any(last_name(one.func) in (*KEEPS[:2], *BACK) for one in beside):
            continue  # it is kept, or put back, around the call
        if (found := _trains_on(outer, passed, caller, project, depth - 1)) is not None:
            return found
    return None


def _named(value: ast.expr, function: Function, rounds: int = 6) -> str:
    """Returns the model that an expression is of: `list(accelerator.unwrap_model(net).parameters())` is of `net`."""
    match value if rounds else None:
        case ast.Call(func=ast.Attribute(attr="parameters" | "named_parameters", value=inner)):
            return _named(inner, function, rounds - 1)
        case ast.Call(func=func, args=[inner, *_]) if _UNWRAPS.search(last_name(func)):
            return _named(inner, function, rounds - 1)
        case ast.Attribute(attr="module", value=inner):
            return _named(inner, function, rounds - 1)
        case ast.Name(id=name) if name not in function.parameters and len(function.assigned.get(name, ())) == 1:
            made = function.assigned[name][0]
            told = _named(made, function, rounds - 1)
            return told if told and not told.endswith(")") else name
    return ast.unparse(value)


def _is_trained(name: str, loop: ast.For | ast.While, function: Function, project: Project) -> bool:
    """Whether a loop runs a model by its name, or an optimizer was made of its weights."""
    for node in walk(loop):
        if isinstance(node, ast.Call) and _named(node.func, function) == name:
            return True
    owner = function.owner
    scopes = [one for one in project.functions_in(function.source) if one is function or (owner and one.owner is owner)]
    for scope in scopes:
        for one in _calls(scope):
            made = project.name(one.func, scope).startswith("torch.optim.")
            if made and f"{name}.parameters()" in ast.unparse(one):
                return True
    return False

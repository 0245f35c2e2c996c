"""requires_grad changed after the model was wrapped, or on some ranks only.

What it does: flags requires_grad_(...) and `.requires_grad = ...` on parameters of a model that DistributedDataParallel
wrapped before in the same function, where nothing changes them back, and any such change under a condition on the rank,
also inside a function called there: `model.unfreeze()` after the wrapping of a model that was built frozen.

Why it matters: DDP takes stock of the parameters when it wraps. A parameter frozen later never delivers the gradient
DDP waits for ("Expected to have finished reduction"); one unfrozen later has no hook, so every rank trains its own. If
ranks freeze different parameters, wrapping fails: "DDP expects same model across all ranks".

Bad:

    model = DDP(net)
    net.encoder.requires_grad_(False)

Good:

    net.encoder.requires_grad_(False)
    model = DDP(net)

Also what is unfrozen inside of a wrapper anywhere, as a callback does it: `trainer.model.module.unfreeze()`.

What it cannot see: changes in callbacks that keep the bare model. Models whose parameters are
switched off and on again, as discriminators are, are healthy.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.ordering.unfrozen_inside_wrapper import unfrozen_inside_wrapper
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.rank_zero import admits_rank_zero
from diagnostics.static.executed.models.unfrozen import unfrozen_after_wrap
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.model_wrappers import DDP, WrapSite, bound_to, wraps_in
from diagnostics.static.torch_code.trained_parameters import Change, HelperChange, changes, helper_changes

CODE = "A114"
NAME = "frozen-after-wrap"
SEVERITY = Severity.ERROR
WORDS = ("DistributedDataParallel", "DDP", "module", "requires_grad", "requires_grad_")
_LISTS = ("parameters", "named_parameters")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the changes of requires_grad that DDP does not learn of, or that ranks do not share."""
    yield from also(_read(file, project), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for thawed, wrap, frozen in unfrozen_after_wrap(execution):
        yield violation(
            home(thawed, project),
            thawed.node,
            "these parameters were frozen when DDP was built around the model, and are trained from here on: DDP has "
            "no hook for them, so every rank trains its own copy",
            "wrap again after unfreezing, or wrap with all of them trained and give the frozen ones a rate of 0",
            steps=(shown(frozen, project, "frozen here"), shown(wrap, project, "wrapped here")),
            confidence=Confidence.LIKELY,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    for wrap in wraps_in(file, project):
        if wrap.kind == DDP:
            yield from _late(file, wrap)
            yield from _late_by_helper(file, wrap, project)
            yield from _on_some_ranks(file, wrap, project)
    yield from unfrozen_inside_wrapper(file, project)


def _late(file: ProjectFile, wrap: WrapSite) -> Iterator[Violation]:
    names = {one for one in (bound_to(wrap), ast.unparse(wrap.model)) if one.replace(".", "").isidentifier()}
    changed = [one for one in changes(wrap.function) if _root(one[1], wrap.function) & names]
    late = [one for one in changed if one[0].lineno > (wrap.call.end_lineno or wrap.call.lineno)]
    if not late or wrap.may_have("find_unused_parameters") or len({_kind(one[2]) for one in late}) > 1:
        return
    node, _, value = late[0]
    if _kind(value) == "" or _in_arm_apart(wrap, node) or _reassigned(wrap, node, names):
        return
    earlier = [one for one in changed if one[0].lineno < wrap.call.lineno and _kind(one[2]) == "False"]
    if _kind(value) == "True" and not earlier:
        return
    if _kind(value) == "False" and _is_whole(late[0], wrap.function, names):
        return  # no backward comes through it: a teacher
    effect = (
        "DDP waits for gradients that never come and fails at the second step"
        if _kind(value) == "False"
        else "DDP has no hook for them, so every rank trains its own copy"
    )
    yield violation(
        file,
        node,
        f"requires_grad is set to {_kind(value)} after the model was wrapped: {effect}",
        "change requires_grad before wrapping, or wrap again afterwards",
        steps=(step(file, wrap.call, "DDP takes stock of the parameters here"),),
        confidence=Confidence.LIKELY,
    )


def _late_by_helper(file: ProjectFile, wrap: WrapSite, project: Project) -> Iterator[Violation]:
    """Yields the call that unfreezes, after DDP took stock, what another call or the constructor had frozen."""
    names = {one for one in (bound_to(wrap), ast.unparse(wrap.model)) if one.replace(".", "").isidentifier()}
    found = list(helper_changes(wrap.function, names, project))
    end = wrap.call.end_lineno or wrap.call.lineno
    late = [one for one in found if one.call.lineno > end]
    again = [one for one in wraps_in(file, project) if one.function is wrap.function and one.call.lineno > end]
    if not late and not again:
        late = list(_late_where_it_is_handed(wrap, names, project))
    if not late or again or wrap.may_have("find_unused_parameters") or not all(one.trains for one in late):
        return
    frozen = any(not one.trains and one.call.lineno < wrap.call.lineno for one in found)
    if not (frozen or _built_frozen(wrap, project)) or _in_other_arm(wrap, late[0].call):
        return
    first = late[0]
    yield violation(
        project.file_with(first.caller),
        first.call,
        f"{ast.unparse(first.call.func)}() sets requires_grad to True after the model was wrapped: DDP has no hook for "
        "these parameters, so every rank trains its own copy",
        "wrap again after unfreezing, or wrap with all parameters trained and set the frozen ones' learning rate to 0",
        steps=(
            step(file, wrap.call, "DDP takes stock of the parameters here"),
            step(project.file_with(first.where), first.inside, "requires_grad is set to True here"),
        ),
        confidence=Confidence.LIKELY,
    )


def _late_where_it_is_handed(wrap: WrapSite, names: set[str], project: Project) -> Iterator[HelperChange]:
    """Yields the changes in functions that are given the wrapped model afterwards: `train(model, loader)`."""
    for call in (one for one in wrap.function.nodes_of(ast.Call) if isinstance(one, ast.Call)):
        if call.lineno <= (wrap.call.end_lineno or wrap.call.lineno):
            continue
        for target in project.targets(call, wrap.function)[:1]:
            given = dict(zip(target.parameters[target.implied :], call.args, strict=False))
            given.update({one.arg: one.value for one in call.keywords if one.arg})
            held = {
                name for name, value in given.items() if ast.unparse(value) in names and name not in target.assigned
            }
            yield from helper_changes(target, held, project) if held else ()


def _built_frozen(wrap: WrapSite, project: Project) -> bool:
    """Whether the constructor of what is wrapped freezes a part of it."""
    makers = (project.method(kind, "__init__") for kind in project.kinds(wrap.model, wrap.function))
    return any(_kind(value) == "False" for one in makers if one is not None for _, _, value in changes(one))


def _in_other_arm(wrap: WrapSite, node: ast.AST) -> bool:
    """Whether a branch holds the one and not the other, in another arm of which the other is, or ends behind it."""
    for one in wrap.function.nodes_of(ast.If):
        if isinstance(one, ast.If) and any(inner is wrap.call for inner in walk(one)):
            return not any(inner is node for part in one.body for inner in walk(part))
    return False


def _is_whole(change: Change, function: Function, names: set[str]) -> bool:
    """Whether a change is made to every parameter of what is wrapped."""
    node, base, _ = change
    if ast.unparse(base) in names:
        return True
    loops = [
        one
        for one in function.nodes_of(ast.For)
        if isinstance(one, ast.For) and any(inner is node for inner in one.body) and isinstance(one.iter, ast.Call)
    ]
    return any(
        isinstance(one.iter, ast.Call)
        and isinstance(one.iter.func, ast.Attribute)
        and one.iter.func.attr in _LISTS
        and ast.unparse(one.iter.func.value).removesuffix(".module") in names
        for one in loops
    )


def _on_some_ranks(file: ProjectFile, wrap: WrapSite, project: Project) -> Iterator[Violation]:
    model = ast.unparse(wrap.model)
    for node in wrap.function.own_nodes:
        if not isinstance(node, ast.If) or node.orelse or admits_rank_zero(node.test, wrap.function, project) is None:
            continue
        for one in (inner for part in node.body for inner in walk(part)):
            change = _change_by(one, model, wrap.function, project)
            if change is not None:
                where, function = change
                yield violation(
                    file,
                    node,
                    f"`{ast.unparse(node.test)}` decides who changes requires_grad of {model}: "
                    "the ranks then have different trained parameters, and DDP refuses or hangs",
                    "change requires_grad on every rank alike",
                    steps=(
                        step(project.file_with(function), where, "requires_grad is changed here"),
                        step(file, wrap.call, "DDP compares the parameters of all ranks"),
                    ),
                )
                return


def _change_by(node: ast.AST, model: str, function: Function, project: Project) -> tuple[ast.AST, Function] | None:
    """Returns where a call or assignment changes requires_grad of a model, also one call deeper."""
    for changed, base, _ in changes(function):
        if changed is node and model in _root(base, function):
            return changed, function
    if isinstance(node, ast.Call) and any(ast.unparse(one) == model for one in node.args):
        at = next(number for number, one in enumerate(node.args) if ast.unparse(one) == model)
        for target in project.targets(node, function):
            for changed, base, _ in changes(target):
                if (
                    target.owner is None
                    and at < len(target.parameters)
                    and target.parameters[at] in _root(base, target)
                ):
                    return changed, target
    return None


def _root(base: ast.expr, function: Function) -> set[str]:
    """Returns the texts of what `base` is a part of: of `p` in `for p in net.a.parameters()` also `net`."""
    for node in function.own_nodes if isinstance(base, ast.Name) else ():
        if isinstance(node, ast.For) and isinstance(node.iter, ast.Call) and _binds(node.target, ast.unparse(base)):
            return _prefixes(node.iter.func) if last_name(node.iter.func) in _LISTS else _prefixes(base)
    return _prefixes(base)


def _binds(target: ast.expr, name: str) -> bool:
    return any(isinstance(one, ast.Name) and one.id == name for one in walk(target))


def _prefixes(value: ast.expr) -> set[str]:
    found = {ast.unparse(value)}
    while isinstance(value, (ast.Attribute, ast.Subscript)):
        value = value.value
        found.add(ast.unparse(value))
    return found - {"self"}


def _kind(value: ast.expr | None) -> str:
    return str(value.value) if isinstance(value, ast.Constant) else ""


def _in_arm_apart(wrap: WrapSite, node: ast.AST) -> bool:
    """Whether the change stands in another arm of a branch than the wrapping, or under a condition of its own."""
    return any(
        isinstance(one, ast.If) and any(inner is node for inner in walk(one)) for one in wrap.function.nodes_of(ast.If)
    )


def _reassigned(wrap: WrapSite, node: ast.AST, names: set[str]) -> bool:
    lines = range(wrap.call.lineno + 1, getattr(node, "lineno", 0))
    return any(
        isinstance(one, ast.Assign) and one.lineno in lines and any(ast.unparse(t) in names for t in one.targets)
        for one in wrap.function.nodes_of(ast.Assign)
    )

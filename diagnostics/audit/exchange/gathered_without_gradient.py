"""A loss over gathered features whose gradient does not come back.

What it does: flags all_gather and all_gather_into_tensor of features in a loss, in a program that trains, where the
rank's own part is not put back into the list and no autograd-aware gather is used; also where helpers hand it on in
lists, tuples or dicts.

Why it matters: all_gather copies numbers, and what it gives has no graph. The loss falls for a while or not at all: the
gradient of the gathered features is zero, or backward raises that nothing requires a gradient.

Bad:

    dist.all_gather(parts, features)
    loss = contrastive(torch.cat(parts))

Good:

    dist.all_gather(parts, features)
    parts[dist.get_rank()] = features
    loss = contrastive(torch.cat(parts))

or torch.distributed.nn.all_gather, which sends the gradients of the other ranks back as well.

What it cannot see: features that are meant to have no gradient, unless detach() or no_grad() says so.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.autograd.grad_mode import grad_enabled
from diagnostics.static.dataflow.taint_sources import LOSS_NAME
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.ast_walk import children, walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.import_closure import ImportClosures
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_arguments import CollectiveCallSite, operation_calls

CODE = "A221"
NAME = "gathered-without-gradient"
SEVERITY = Severity.WARNING
RUN_CLASS = "gradients-lost"
WORDS = tuple(operations.GATHERED_TENSORS)
CHECKLIST = "what is gathered for a loss keeps its gradient"
_PLAIN = frozenset(
    ["torch.tensor", "torch.ByteTensor", "torch.LongTensor", "torch.zeros", "torch.ones", "torch.empty", "torch.full"]
)
_OF_LOSS = re.compile(r"loss|criterion|contrastive|info_?nce|(?:^|_)nce(?:_|$)", re.IGNORECASE)
_NUMBERS = frozenset(["item", "tolist", "numpy", "int", "float", "len", "numel", "argmax", "loads", "detach"])
_UNLEARNED = re.compile(r"label|target|mask|ind(?:ex|ices)|length|count|(?:^|_)ids?$", re.IGNORECASE)
_JOINS = frozenset(["cat", "concat", "concatenate", "stack", "vstack"])
_PUTS = frozenset(["append", "extend", "insert"])
_ROUNDS = 2


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the gathers for a loss by which the gradient is lost."""
    words = project.fact(ImportClosures).words(file.shown)
    if "backward" not in words or file.is_test:
        return
    for one in operation_calls(file, project):
        if one.op not in operations.GATHERED_TENSORS or _keeps_gradient(one, project):
            continue
        used = _use_in_loss(one, project)
        if used is None:
            continue
        node, where = used
        yield violation(
            file,
            one.call,
            f"{one.op}() copies numbers without their graph, and a loss is made of them: the gradient of what was "
            "gathered is lost",
            "put the rank's own part back: parts[dist.get_rank()] = features; or torch.distributed.nn.all_gather",
            steps=(step(project.file_with(where), node, "the loss is made of what was gathered"),),
            confidence=Confidence.LIKELY,
        )


def _keeps_gradient(one: CollectiveCallSite, project: Project) -> bool:
    """Whether the function puts the own part back, has a backward of its own, or wants no gradient."""
    given = one.argument(operations.TENSOR[one.op])
    if given is None or any(isinstance(node, ast.Attribute) and node.attr == "detach" for node in walk(given)):
        return True
    for value in one.function.assigned.get(ast.unparse(given), ()):
        if any(isinstance(node, ast.Attribute) and node.attr in ("detach", "data") for node in walk(value)):
            return True
    if any(_is_cut(value, where, project) for value, where in origins(given, one.function, project)):
        return True
    if _other_way(one, project.file_with(one.function)):
        return True
    if _is_in_function_class(one.function, project) or _is_off(one.call, one.function, project):
        return True
    parts = one.argument(operations.GATHERED_TENSORS[one.op])
    kept = ast.unparse(parts) if parts is not None else ""
    # Stored into, concatenated with the own features, or replaced: the rank's own part is in the graph.
    for node in one.function.nodes_of((ast.Assign, ast.Call)):
        if isinstance(node, ast.Assign) and any(
            isinstance(target, ast.Subscript) and ast.unparse(target.value) == kept for target in node.targets
        ):
            return True
    return any(
        isinstance(node, (ast.List, ast.BinOp)) and ast.unparse(given) in ast.unparse(node)
        for call in one.function.nodes_of(ast.Call)
        if isinstance(call, ast.Call) and last_name(call.func) in _JOINS
        for node in call.args
    )


def _is_cut(value: ast.expr, function: Function, project: Project) -> bool:
    """Whether what is gathered has no graph: detached, made of numbers, or computed without gradients."""
    if any(isinstance(node, ast.Attribute) and node.attr in ("detach", "data") for node in walk(value)):
        return True
    if isinstance(value, ast.Call) and project.name(value.func, function) in _PLAIN:
        return True
    return _is_off(value, function, project)


def _other_way(one: CollectiveCallSite, file: ProjectFile) -> bool:
    """Whether the program chooses between this gather and another one: it knows that they differ."""
    gathers = [
        node for node in one.function.nodes_of(ast.Call)
        if isinstance(node, ast.Call) and node is not one.call and "gather" in last_name(node.func).lower()
    ]  # fmt: skip
    around = file.parents.get(one.call)
    while around is not None and around is not one.function.syntax:
        if isinstance(around, (ast.If, ast.IfExp)):
            return bool(gathers)
        around = file.parents.get(around)
    returning = [node for node in one.function.nodes_of(ast.If) if isinstance(node, ast.If)]
    return any(node in gathers for test in returning for part in test.body for node in walk(part))


def _is_off(node: ast.AST, function: Function, project: Project) -> bool:
    return grad_enabled(node, function, project.file_with(function), project) is False


def _is_in_function_class(function: Function, project: Project) -> bool:
    """Whether it is the forward of a torch.autograd.Function, which says itself what comes back."""
    kind = project.class_of(function)
    return kind is not None and any(last_name(base) == "Function" for base in kind.bases)


def _use_in_loss(one: CollectiveCallSite, project: Project) -> tuple[ast.AST, Function] | None:
    """Returns where a loss is made of what is gathered: here, or where a function gives it back."""
    parts = one.argument(operations.GATHERED_TENSORS[one.op])
    names = {node.id for node in walk(parts) if isinstance(node, ast.Name)} if parts is not None else set()
    return _used(names, one.function, project, _ROUNDS) if names else None


def _used(names: set[str], function: Function, project: Project, rounds: int) -> tuple[ast.AST, Function] | None:
    if rounds < 0 or not names:
        return None
    for _ in range(3):
        names |= {one for node in function.nodes_of((ast.Assign, ast.AugAssign, ast.Call)) for one in _set(node, names)}
    if any(_is_put_back(node, names) for node in function.nodes_of((ast.Assign, ast.Call))):
        return None
    for node in function.nodes_of((ast.Assign, ast.Return, ast.Call)):
        value = node if isinstance(node, ast.Call) else getattr(node, "value", None)
        if not isinstance(value, ast.Call) or not _reads(value, names):
            continue
        crossed = last_name(value.func) == "cross_entropy"  # of its first argument, the second one are labels
        if crossed and value.args and not _reads(value.args[0], names):
            continue
        of_loss = _OF_LOSS.search(last_name(value.func)) or crossed
        named = isinstance(node, ast.Assign) and LOSS_NAME.search(ast.unparse(node.targets[0]))
        if (of_loss or named) and not _is_off(node, function, project):
            return value, function
    for node in function.nodes_of(ast.Return):
        if isinstance(node, ast.Return) and node.value is not None and _reads(node.value, names):
            return _used_by_callers(function, project, rounds)
    return None


def _set(node: ast.AST, names: set[str]) -> Iterator[str]:
    """Yields the names that a statement gives what is computed from some others, also lists that it is put into."""
    if isinstance(node, ast.Call):
        puts = (
            isinstance(node.func, ast.Attribute) and node.func.attr in _PUTS and isinstance(node.func.value, ast.Name)
        )
        if puts and any(_reads(one, names) for one in node.args):
            yield node.func.value.id  # type: ignore[attr-defined]
        return
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    if _reads(node.value, names):  # type: ignore[attr-defined] # an assignment
        yield from (one.id for target in targets if target for one in walk(target) if isinstance(one, ast.Name))


def _is_put_back(node: ast.AST, names: set[str]) -> bool:
    """Whether rows that were not gathered are put among those that were: `everyone[first:last] = own`, or by cat."""
    if isinstance(node, ast.Call):
        parts = node.args[0].elts if node.args and isinstance(node.args[0], (ast.List, ast.Tuple)) else []
        gathered = [_reads(one, names) for one in parts]
        return last_name(node.func) in _JOINS and any(gathered) and not all(gathered)
    if not isinstance(node, ast.Assign) or _reads(node.value, names) or isinstance(node.value, ast.Call):
        return False
    rows = [one for one in node.targets if isinstance(one, ast.Subscript) and isinstance(one.value, ast.Name)]
    into = any(one.value.id in names for one in rows)  # type: ignore[attr-defined]
    return into and any(isinstance(one, ast.Name) for one in walk(node.value))


def _used_by_callers(function: Function, project: Project, rounds: int) -> tuple[ast.AST, Function] | None:
    for call, caller in project.callers(function)[:6]:
        given = [*call.args, *(one.value for one in call.keywords)]
        cut = any(
            isinstance(node, ast.Attribute) and node.attr in ("detach", "data") for one in given for node in walk(one)
        )
        if cut or (given and all(_UNLEARNED.search(last_name(one)) for one in given)) or _is_off(call, caller, project):
            continue
        names = {
            name
            for name, values in caller.assigned.items()
            if not _UNLEARNED.search(name) and any(node is call for value in values for node in walk(value))
        }
        returned = any(node is call for one in caller.nodes_of(ast.Return) for node in walk(one))
        found = _used_by_callers(caller, project, rounds - 1) if returned and rounds else None
        found = found or _used(names, caller, project, rounds - 1)
        if found is not None:
            return found
    return None


def _reads(value: ast.AST, names: set[str]) -> bool:
    """Whether a value is computed from these names, and not from numbers taken off them."""
    if isinstance(value, ast.Call) and last_name(value.func) in _NUMBERS:
        return False
    if isinstance(value, ast.Name):
        return value.id in names
    return any(_reads(one, names) for one in children(value))

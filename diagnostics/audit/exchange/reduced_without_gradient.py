"""What a loss is made of is summed over the ranks by an operation that autograd does not know.

What it does: flags an in-place all_reduce of a tensor that forward() of a module has computed from its inputs, where
more is computed of the sum and given back.

Why it matters: all_reduce changes the numbers and leaves the graph as it was. Backward gives each rank the gradient of
its own part alone, and DistributedDataParallel averages what was to be summed: gradients are too small by the number of
ranks, against a weight decay and a clipping that are not; where other losses are added, their weights shift.

Bad:

    c = z_a.T @ z_b / batch
    dist.all_reduce(c)
    return (torch.diagonal(c) - 1).pow(2).sum()

Good:

    c = torch.distributed.nn.all_reduce(z_a.T @ z_b / batch)
    return (torch.diagonal(c) - 1).pow(2).sum()

What it cannot see: whether the missing factor is made up for elsewhere, in the loss's weight or the learning rate.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.autograd.grad_mode import grad_enabled
from diagnostics.static.program.ast_walk import children, walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_arguments import CollectiveCallSite, operation_calls

CODE = "A230"
NAME = "reduced-without-gradient"
SEVERITY = Severity.WARNING
RUN_CLASS = "gradients-lost"
WORDS = ("all_reduce",)
CHECKLIST = "what is reduced for a loss keeps its gradient"
# What gives numbers without a gradient, or says that none is wanted.
_CUT = frozenset(
    ["detach", "data", "item", "argmax", "argmin", "bincount", "one_hot", "topk", "numel", "size", "shape", "long",
     "int", "eq", "gt", "lt", "ge", "le", "histc", "unique", "tensor", "zeros", "ones", "full", "len", "sign", "round",
     "bool", "nonzero", "numpy", "tolist", "empty", "zeros_like", "ones_like"]
)  # fmt: skip
_COMPUTES = frozenset(["matmul", "mm", "bmm", "einsum", "softmax", "log_softmax", "exp", "pow", "norm", "square"])


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the reductions inside a graph."""
    for one in operation_calls(file, project):
        tensor = one.argument("tensor") if one.op == "all_reduce" else None
        if not isinstance(tensor, ast.Name) or not _is_loss(one.function, project):
            continue
        if grad_enabled(one.call, one.function, file, project) is False or _knows(file):
            continue
        made = _graph(tensor.id, one)
        used = _used(tensor.id, one)
        if made is None or used is None:
            continue
        yield violation(
            file,
            one.call,
            f"all_reduce() changes the numbers of '{tensor.id}' and leaves its graph as it was: each rank's gradient "
            "lacks the other ranks' part",
            f"{tensor.id} = torch.distributed.nn.all_reduce({tensor.id})",
            steps=(step(file, made, "computed with a gradient"), step(file, used, "and what is given back follows")),
            confidence=Confidence.LIKELY,
        )


def _is_loss(function: Function, project: Project) -> bool:
    """Whether a function is the forward of a module, and of no torch.autograd.Function."""
    kind = project.class_of(function)
    if kind is None or function.name.rpartition(".")[2] not in ("forward", "compute_loss", "_compute_loss", "loss"):
        return False
    return all(last_name(base) != "Function" for base in kind.bases) and function.implied == 1


def _knows(file: ProjectFile) -> bool:
    """Whether a file has a backward of its own for what it reduces."""
    return "save_for_backward" in file.words or "ctx" in file.words


def _graph(name: str, one: CollectiveCallSite) -> ast.expr | None:
    """Returns what the tensor was computed by from what forward was given; None where it may have no gradient."""
    function = one.function
    known = set(function.parameters[1:])
    made: ast.expr | None = None
    for node in sorted(function.nodes_of(ast.Assign), key=lambda each: getattr(each, "lineno", 0)):
        if not isinstance(node, ast.Assign) or node.lineno >= one.call.lineno:
            continue
        names = {each.id for target in node.targets for each in walk(target) if isinstance(each, ast.Name)}
        if not _reads(node.value, known):
            known -= names
            made = None if name in names else made
        elif names:
            known |= names
            if name in names and (made is None or _computes(node.value)):
                made = node.value if _computes(node.value) or made is None else made
    return made if name in known and made is not None and _computes(made) else None


def _reads(value: ast.AST, known: set[str]) -> bool:
    """Whether a value is computed from these names by what has a gradient."""
    named = value.func if isinstance(value, ast.Call) else value
    if isinstance(value, ast.Compare) or (isinstance(named, ast.expr) and last_name(named) in _CUT):
        return False
    if isinstance(value, ast.Name):
        return value.id in known
    return any(_reads(one, known) for one in children(value))


def _computes(value: ast.expr) -> bool:
    """Whether an expression multiplies tensors with each other, so that it is no count or mere mean."""
    return any(
        (isinstance(node, ast.BinOp) and isinstance(node.op, ast.MatMult))
        or (isinstance(node, ast.Call) and last_name(node.func) in _COMPUTES)
        for node in walk(value)
    )


def _used(name: str, one: CollectiveCallSite) -> ast.AST | None:
    """Returns the first statement behind the reduction by which what is returned depends on the sum."""
    names, first = {name}, None
    behind = [node for node in one.function.nodes_of((ast.Assign, ast.Return))
              if getattr(node, "lineno", 0) > one.call.lineno]  # fmt: skip
    for node in sorted(behind, key=lambda each: getattr(each, "lineno", 0)):
        value = getattr(node, "value", None)
        if value is None or not _reads(value, names):
            continue
        if isinstance(node, ast.Return):
            return first or node
        if isinstance(node, ast.Assign):
            first = first or node
            names |= {each.id for target in node.targets for each in walk(target) if isinstance(each, ast.Name)}
    return None

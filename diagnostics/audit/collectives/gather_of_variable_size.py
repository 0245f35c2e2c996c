"""A tensor gathered into buffers of its own size, though that size can be another one on each rank.

What it does: flags all_gather(), gather() and all_gather_into_tensor() whose buffers are shaped like the local tensor,
where the number of its rows depends on the rank's data: picked by a mask, nonzero(), unique(), a filtered list, or the
last batch of a loader over a share of the rank's own. Tensors that are padded, and code that exchanges the sizes first,
are right.

Why it matters: each rank expects from the others as many rows as it has itself. With NCCL the job hangs or takes in
garbage, gloo aborts; as long as the sizes happen to be equal all is well, often until the last batch.

Bad:

    found = scores[scores > 0.5]
    everyone = [torch.empty_like(found) for _ in range(dist.get_world_size())]
    dist.all_gather(everyone, found)

Good:

    everyone = [None] * dist.get_world_size()
    dist.all_gather_object(everyone, found.cpu())

or gather the sizes, pad to the largest, gather, and cut.

What it cannot see: shares whose lengths happen to be equal; sizes that come in from other functions.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.ragged import ragged_gathers
from diagnostics.static.executed.training import operation
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.ast_walk import walk
from diagnostics.static.program.functions import Function, last_name
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_arguments import CollectiveCallSite, operation_call, operation_calls
from diagnostics.static.spmd.shape_divergence import VaryingSizes

CODE = "A213"
NAME = "gather-of-variable-size"
SEVERITY = Severity.ERROR
WORDS = tuple(operations.PARTS)
CHECKLIST = "tensors that are gathered have one size on all ranks"
_ALIKE = ("empty_like", "zeros_like", "ones_like")
_SIZES = re.compile(r"size|len|shape|count|num|max", re.IGNORECASE)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the gathers of tensors whose size is the rank's own."""
    yield from also(_read(file, project), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for gathered, share in ragged_gathers(execution):
        steps = (shown(share, project, "the rank's share"),) if share.function is not None else ()
        yield violation(
            home(gathered, project),
            gathered.node,
            f"{operation(gathered)}() into buffers of the tensor's own size, and it has a row for each sample of the "
            "rank's share: where the ranks do not divide the whole, one has a row more than another",
            "gather the sizes first, pad to the largest and cut behind; or cut the whole to a multiple of the ranks",
            steps=steps,
            confidence=Confidence.LIKELY,
            severity=Severity.WARNING,
        )


def _read(file: ProjectFile, project: Project) -> Iterator[Violation]:
    for one in operation_calls(file, project):
        tensor = one.argument(operations.TENSOR[one.op]) if one.op in operations.PARTS else None
        if tensor is None or not _are_alike(one, tensor) or _sizes_are_known(one, project):
            continue
        varying = VaryingSizes(project).of(tensor, one.function)
        if varying is not None:
            where = project.file_with(varying.function)
            yield violation(
                file, one.call,
                f"{one.op}() of {ast.unparse(tensor)} into buffers of its own size, but {varying.told}: "
                "ranks with another number of rows hang or get garbage",
                "all_gather_object(), or gather the sizes first, pad to the largest and cut behind",
                steps=(step(where, varying.node, varying.told),), confidence=varying.confidence,
            )  # fmt: skip


def _are_alike(one: CollectiveCallSite, tensor: ast.expr) -> bool:
    """Whether the buffers are made in the shape of the local tensor."""
    buffers = one.argument(operations.PARTS[one.op])
    made = one.function.assigned.get(buffers.id, []) if isinstance(buffers, ast.Name) else [buffers] if buffers else []
    text = ast.unparse(tensor)
    return any(_is_like(node, text) for value in made for node in walk(value))


def _is_like(node: ast.AST, text: str) -> bool:
    if isinstance(node, ast.Call) and last_name(node.func) in _ALIKE and node.args:
        return ast.unparse(node.args[0]) == text
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "size":
        return ast.unparse(node.func.value) == text
    return isinstance(node, ast.Attribute) and node.attr == "shape" and ast.unparse(node.value) == text


def _sizes_are_known(one: CollectiveCallSite, project: Project) -> bool:
    """Whether the function pads, or lets ranks tell each other how large their parts are."""
    return any(_tells_sizes(node, one, project) for scope in _scopes(one.function) for node in scope.own_nodes)


def _tells_sizes(node: ast.AST, one: CollectiveCallSite, project: Project) -> bool:
    if not isinstance(node, ast.Call) or node is one.call:
        return False
    name = last_name(node.func)
    if "pad" in name.lower() or "split" in name.lower():
        return True
    other = operation_call(node, one.function, project)
    shares = other is not None and other.op in operations.SHARED and other.op not in operations.ROOTED
    return shares and any(_SIZES.search(ast.unparse(argument)) for argument in node.args)


def _scopes(function: Function) -> Iterator[Function]:
    scope: Function | None = function
    while scope is not None and scope.name != "<module>":
        yield scope
        scope = scope.outer

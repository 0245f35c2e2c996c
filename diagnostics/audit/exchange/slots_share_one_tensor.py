"""A list that is to receive from each rank holds one tensor many times.

What it does: flags `[tensor] * n` as the list that all_gather, gather or all_to_all write into.

Why it matters: the multiplication copies the reference, not the tensor. Each rank's part overwrites the one before it,
and all slots show the same values: a metric over several ranks counts one of them several times.

Bad:

    parts = [torch.zeros_like(x)] * world_size
    dist.all_gather(parts, x)

Good:

    parts = [torch.zeros_like(x) for _ in range(world_size)]
    dist.all_gather(parts, x)

What it cannot see: lists that are filled in other ways with the same tensor.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Severity
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_arguments import operation_calls

CODE = "A219"
NAME = "slots-share-one-tensor"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-loss"
WORDS = tuple(operations.SLOTS)
CHECKLIST = "each slot of a gathered list is a tensor of its own"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the gathers into a list of one tensor."""
    for one in operation_calls(file, project):
        given = one.argument(operations.SLOTS[one.op]) if one.op in operations.SLOTS else None
        for value, where in origins(given, one.function, project) if given is not None else ():
            item = _repeated(value)
            if item is None:
                continue
            yield violation(
                file,
                one.call,
                f"every slot of the list that {one.op}() writes into is the same tensor: the parts of the ranks "
                "overwrite each other, and one of them is counted for all",
                f"[{ast.unparse(item)[:60]} for _ in range(world_size)]",
                steps=(step(project.file_with(where), value, "one tensor, many times"),),
            )
            break


def _repeated(value: ast.expr) -> ast.expr | None:
    """Returns the tensor of `[tensor] * n`; of a constant nothing can be overwritten."""
    if not (isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult)):
        return None
    for side in (value.left, value.right):
        if isinstance(side, ast.List) and len(side.elts) == 1 and not isinstance(side.elts[0], ast.Constant):
            return side.elts[0]
    return None

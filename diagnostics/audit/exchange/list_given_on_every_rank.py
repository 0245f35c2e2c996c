"""The list of a gather or scatter is given on ranks that must not give one.

What it does: flags gather, gather_object and scatter that are given their list on every rank.

Why it matters: torch takes the list from the destination, or of scatter from the source, alone. Every other rank raises
ValueError, "Argument gather_list must NOT be specified on non-destination ranks", and the destination waits for them
until its timeout.

Bad:

    parts = [torch.empty_like(x) for _ in range(world_size)]
    dist.gather(x, parts, dst=0)

Good:

    parts = [torch.empty_like(x) for _ in range(world_size)] if rank == 0 else None
    dist.gather(x, parts, dst=0)

What it cannot see: lists that come from elsewhere, or are emptied on the other ranks.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.agent.shared import operations
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Severity
from diagnostics.static.dataflow.rank_guards import is_rank_guarded
from diagnostics.static.dataflow.rank_predicates import RankPredicates
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.collective_arguments import CollectiveCallSite, operation_calls, under_rank_test

CODE = "A220"
NAME = "list-given-on-every-rank"
SEVERITY = Severity.ERROR
WORDS = tuple(operations.AT_ROOT)
CHECKLIST = "lists of gather and scatter are given on their root alone"
_ENDS = {"dst": "destination", "src": "source"}


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the operations whose list every rank gives."""
    tests = RankPredicates(project)
    for one in operation_calls(file, project):
        given = one.argument(operations.AT_ROOT[one.op]) if one.op in operations.AT_ROOT else None
        if given is None or under_rank_test(one.call, one.function, file, tests):
            continue
        made = _made_everywhere(given, one, project)
        if made is None or is_rank_guarded(one.call, one.function, project):
            continue
        end = _ENDS[operations.ROOTED[one.op]]
        yield violation(
            file,
            one.call,
            f"every rank gives a list to {one.op}(), and only the {end} may: the others raise ValueError, "
            "and it waits for them",
            f"{operations.AT_ROOT[one.op]}=None on every rank but the {end}",
            steps=(step(project.file_with(one.function), made, "made on every rank"),),
        )


def _made_everywhere(given: ast.expr, one: CollectiveCallSite, project: Project) -> ast.expr | None:
    """Returns the list, where each value that is given is one, made in this function under no test."""
    found = origins(given, one.function, project)
    file = project.file_with(one.function)
    for value, where in found:
        if where is not one.function or not _is_full(value):
            return None
        if is_rank_guarded(value, where, project) or _chosen(value, one.function, file):
            return None
    return found[0][0] if found else None


def _is_full(value: ast.expr) -> bool:
    if isinstance(value, ast.BinOp) and isinstance(value.op, ast.Mult):
        return isinstance(value.left, ast.List) and bool(value.left.elts)
    return isinstance(value, ast.ListComp) or (isinstance(value, ast.List) and bool(value.elts))


def _chosen(value: ast.expr, function: object, file: ProjectFile) -> bool:
    """Whether a test decides if the list is made."""
    around = file.parents.get(value)
    while around is not None and around is not getattr(function, "syntax", None):
        if isinstance(around, (ast.If, ast.IfExp, ast.BoolOp, ast.While)):
            return True
        around = file.parents.get(around)
    return False

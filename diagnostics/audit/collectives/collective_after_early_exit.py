"""Some ranks return, continue, break or exit before a collective that the others wait in.

What it does: flags `return`, `continue`, `break` and `sys.exit` under a test of the rank, or of what only one rank has
seen, where a collective, a backward of a wrapped model or a save by all ranks comes after, in the function or in the
next round of the loop.

Why it matters: skipping a bad batch by `continue` skips its backward, and with it the all-reduce of the gradients: the
other ranks wait there, or meet the next round's operation with this one's.

Bad:

    loss = model(x).mean()
    if torch.isnan(loss):
        continue
    loss.backward()

Good:

    bad = torch.isnan(loss).float()
    dist.all_reduce(bad, op=dist.ReduceOp.MAX)
    if bad:
        continue
    loss.backward()

What it cannot see: data that is bad on every rank at once. Tests whether a process group exists are not flagged.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from diagnostics.audit.collectives.divergence_hits import WORDS as REASONS
from diagnostics.audit.collectives.divergence_hits import hit_of, operation, partings
from diagnostics.audit.rule import Violation
from diagnostics.core.findings import Severity
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.spmd.divergent_branch import DivergenceShape

CODE = "A205"
NAME = "collective-after-early-exit"
SEVERITY = Severity.ERROR
CHECKLIST = "no rank leaves before a collective of the others"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the tests after which some ranks leave."""
    for one in partings(file, project, DivergenceShape.EXIT):
        left = one.exit
        word = type(left).__name__.lower() if not isinstance(left, ast.Expr) else "exit"
        reason = REASONS["rank"] if one.ranks is not None else REASONS.get(one.why, one.why)
        behind = "in the next round" if one.here.chain[0][0].lineno < one.line else "after it"
        yield hit_of(
            one, file, project,
            f"this {word} depends on {reason}, and {operation(one.here)} comes {behind}: the ranks that stay wait for "
            "those that left",
            "let all ranks decide together (all_reduce the flag), or leave only after the last collective",
        )  # fmt: skip

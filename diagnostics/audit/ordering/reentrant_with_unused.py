"""Reentrant activation checkpointing in a model that DDP searches for unused parameters.

What it does: runs each script on values that are not known, and flags `torch.utils.checkpoint.checkpoint` of a part of
a model that is wrapped with find_unused_parameters=True, where use_reentrant is True or not said.

Why it matters: reentrant checkpointing hides the block from the graph that DDP walks through. DDP takes the block's
parameters for unused, and when their gradients come all the same it raises: "Expected to mark a variable ready only
once".

Bad:

    h = checkpoint(self.block, h)
    DDP(net, find_unused_parameters=True)

Good:

    h = checkpoint(self.block, h, use_reentrant=False)

What it cannot see: blocks that a library checkpoints by itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.models.recomputed import hidden_from_search
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A118"
NAME = "reentrant-with-unused"
SEVERITY = Severity.WARNING
WORDS = ("checkpoint", "checkpoint_sequential", "find_unused_parameters")
CHECKLIST = "blocks that are checkpointed are seen by DDP's search for unused parameters"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the checkpoints that DDP does not see through."""
    yield from also((), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for recomputed, wrap in hidden_from_search(execution):
        yield violation(
            home(recomputed, project),
            recomputed.node,
            "reentrant checkpointing hides this block from DDP's search for unused parameters: its parameters are "
            "taken for unused, and backward raises that they are marked ready twice",
            "use_reentrant=False; or DDP without find_unused_parameters where every parameter is used",
            steps=(shown(wrap, project, "the model is wrapped with find_unused_parameters=True"),),
            confidence=Confidence.LIKELY,
        )

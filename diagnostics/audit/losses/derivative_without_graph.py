"""A derivative by the input is a part of the loss, and was taken without create_graph: for the loss it is a number.

What it does: flags `torch.autograd.grad(outputs, inputs)` without `create_graph=True` where the inputs are what a model
was given, and the result is measured (squared, by its norm, by a loss) in what `backward()` is called on. Helpers,
methods and other files are gone through.

Why it matters: `retain_graph=True` only keeps the graph of the outputs. The derivative has none of its own, so that no
gradient comes back through it: the residual of an equation, a gradient penalty or a force trains nothing by it. Another
term of the same sum has a gradient, so that nothing fails, and the value of the loss is right.

Bad:

    u_x = torch.autograd.grad(u, x, torch.ones_like(u), retain_graph=True)[0]
    loss = (u_x + u).pow(2).mean()

Good:

    u_x = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)[0]

What it cannot see: derivatives that are kept in containers which are filled elsewhere. Left alone are derivatives by
parameters, those that are detached or handed to a model again, and weights made of them.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.models.plain_derivatives import plain_derivatives
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A367"
NAME = "derivative-without-graph"
SEVERITY = Severity.ERROR
RUN_CLASS = "wrong-loss"
WORDS = ("grad",)
CHECKLIST = "derivatives in a loss are taken with create_graph"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the derivatives that a loss measures and no gradient comes back through."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for taken, passed in plain_derivatives(execution):
        yield violation(
            home(taken, project),
            taken.node,
            "this derivative is a part of the loss and has no graph: no gradient comes back through it",
            "take it with create_graph=True",
            steps=(shown(passed, project, "the loss that it is measured in"),),
            confidence=Confidence.LIKELY,
        )

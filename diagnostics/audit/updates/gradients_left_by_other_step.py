"""An optimizer steps with gradients that the backward pass of another one has left in its model.

What it does: runs each script on values that are not known, and flags an optimizer whose gradients are cleared before
another optimizer's backward pass that goes through its model, too, and not again before its own.

Why it matters: the generator's loss goes back through the discriminator and leaves gradients in it, which nobody wants
there. Where the discriminator's are cleared behind its own step, or for both at once, they are still there at its next
backward pass, which adds to them: a part of each step pulls the discriminator towards calling fakes real. Both losses
look as they always do in such a training.

Bad:

    discriminator_loss.backward()
    optimizer_d.step()
    optimizer_d.zero_grad()        # and then comes generator_loss.backward(), through the discriminator

Good:

    optimizer_d.zero_grad()
    discriminator_loss.backward()
    optimizer_d.step()

What it cannot see: models whose parameters are frozen and woken in the course of the training, which it leaves alone;
losses that several optimizers take a step for are meant to be summed.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.steps.left_gradients import left_by_others
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A350"
NAME = "gradients-left-by-other-step"
SEVERITY = Severity.ERROR
RUN_CLASS = "gradients-not-cleared"
WORDS = ("zero_grad",)
CHECKLIST = "each optimizer's gradients are cleared before its own backward"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the clearings that come at another time than they should."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for cleared, other, own in left_by_others(execution):
        yield violation(
            home(cleared, project),
            cleared.node,
            "these gradients are cleared here, and not between another optimizer's backward pass through the same "
            "model and its own: what the other pass leaves is added to each step",
            "clear them right before the backward pass that the step is for",
            steps=(
                shown(other, project, "the other optimizer's pass leaves gradients in this model, too"),
                shown(own, project, "and this one, which the step is for, adds to them"),
            ),
            confidence=Confidence.LIKELY,
        )

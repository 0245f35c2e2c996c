"""What a training calls to save or to evaluate freezes what is trained, and nothing sets it back.

What it does: runs each script on values that are not known, and flags `requires_grad_(False)`, or `requires_grad` set
to what is false by then, that a loop which trains comes to through a function that saves, exports or evaluates, of
parameters that its optimizer holds or that the same line had switched on, where nothing in that loop sets it back.

Why it matters: from the first save on these parameters get no gradient. Whatever else learns goes on, the loss goes
down a little and the checkpoints have the right names: they all hold the weights of the first one. Adapters are frozen
so where a second one is loaded beside them in inference mode, and parts where an evaluation freezes all of the model.

Bad:

    def save(self):
        self.load_adapter("initial")      # activates it in inference mode: requires_grad_(False) on all of them

Good:

    def save(self):
        self.load_adapter("initial")
        self.set_adapter("default")       # those that are trained require gradients again

What it cannot see: freezing that a library does. Left alone: functions that freeze by their name, copies that are
frozen, and a save with which the training ends.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home
from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.models.frozen_in_passing import frozen_in_passing
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A352"
NAME = "frozen-in-passing"
SEVERITY = Severity.ERROR
RUN_CLASS = "zero-progress"
WORDS = ("requires_grad_", "requires_grad")
CHECKLIST = "saving and evaluating leave what is trained as it was"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the calls below which something is frozen for good."""
    yield from also((), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for one in frozen_in_passing(execution):
        event, call = one.event, one.call
        name = call.function.name.rpartition(".")[2]
        # The innermost call that is not the one that freezes: what it was given decides.
        chain = [each for each in event.frames if event.frames.index(each) >= event.frames.index(call)]
        yield violation(
            home(event, project),
            event.node,
            f"{name}(), which the training calls, comes to this and freezes what is trained: nothing sets it back, and "
            "from then on it gets no gradient",
            f"set requires_grad back at the end of {name}(), or load without freezing there",
            steps=(
                step(project.file_with(call.caller), call.call, f"the training calls {name}() here"),
                *(step(project.file_with(each.caller), each.call, f"calls {each.function.name.rpartition('.')[2]}()")
                  for each in chain[1:]),
                step(project.file_with(one.backward.function), one.backward.node, "and goes on to train here"),
            ),
            confidence=Confidence.LIKELY,
        )  # fmt: skip

"""A checkpoint holds the state of an average or a schedule, and a run that goes on does not take it back.

What it does: runs each script on values that are not known, and flags checkpoints with the state of a moving average of
the weights or of a learning rate's schedule beside that of the optimizer, where the program loads the optimizer's state
and never that one's.

Why it matters: the average begins again from what its copy was made of, random weights perhaps, and with a decay of
0.9999 takes tens of thousands of steps to forget them; a schedule begins at its warm-up. The training itself looks as
it did: only what is evaluated and kept is worse.

Bad:

    torch.save({"model": model.state_dict(), "ema": ema.state_dict(), "optimizer": optimizer.state_dict()}, path)
    ...
    model.load_state_dict(state["model"])
    optimizer.load_state_dict(state["optimizer"])

Good:

    model.load_state_dict(state["model"])
    ema.load_state_dict(state["ema"])
    optimizer.load_state_dict(state["optimizer"])

What it cannot see: states of classes of the project that have no object of a library inside, and files whose keys are
computed.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.checkpoints.never_restored import never_restored
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A423"
NAME = "saved-and-not-restored"
SEVERITY = Severity.WARNING
RUN_CLASS, RUN_WHEN = "state-not-kept", "resumed"
WORDS = ("load_state_dict",)
CHECKLIST = "what a checkpoint holds is restored where a run goes on"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the states that stay in the file."""
    yield from also((), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for one in never_restored(execution):
        schedule = one.owner.name.startswith("torch.optim.lr_scheduler.")
        what = "schedule" if schedule else "average"
        comes = "begins at its first step" if schedule else "begins again from what its copy was made of"
        yield violation(
            home(one.restored, project),
            one.restored.node,
            f"the optimizer's state comes back from the checkpoint, and '{one.key}', which is saved beside it, does "
            f"not: where a run goes on, the {what} {comes}",
            f"load_state_dict(state[{one.key!r}]) of the {what}, too",
            steps=(
                shown(one.saved, project, f"saved with '{one.key}'"),
                shown(one.owner, project, f"the {what} is made here"),
            ),
            confidence=Confidence.LIKELY,
        )

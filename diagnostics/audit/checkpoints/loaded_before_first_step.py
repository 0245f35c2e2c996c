"""A distributed checkpoint is loaded into the state of an optimizer that has made no step.

What it does: runs each script on values that are not known, and flags `torch.distributed.checkpoint.load` into a dict
that holds `optimizer.state_dict()`, or the optimizer itself, of an optimizer which has not stepped before.

Why it matters: the load fills the keys of the dict that it is given, and nothing else. Before its first step an
optimizer has no moments, so that there is no key for them: the run goes on with Adam's averages at zero, its first
updates are too large, and nothing says so.

Bad:

    state = {"model": model.state_dict(), "optim": optimizer.state_dict()}
    dcp.load(state, checkpoint_id=path)
    optimizer.load_state_dict(state["optim"])

Good:

    weights, moments = get_state_dict(model, optimizer)    # of torch.distributed.checkpoint.state_dict
    state = {"model": weights, "optim": moments}
    dcp.load(state, checkpoint_id=path)
    set_state_dict(model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optim"])

What it cannot see: optimizers of other libraries, and states that are filled by hand.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.checkpoints.empty_states import loaded_into_empty_state
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A421"
NAME = "loaded-before-first-step"
SEVERITY = Severity.ERROR
RUN_CLASS, RUN_WHEN = "checkpoint-not-loaded", "resumed"
WORDS = ("checkpoint", "dcp")
CHECKLIST = "distributed checkpoints are loaded through get_state_dict and set_state_dict"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the states that have no place for what is loaded."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for loaded, state, optimizer in loaded_into_empty_state(execution):
        place = state if state is not None and state.node is not None and state.function is not None else loaded
        yield violation(
            home(place, project),
            place.node or loaded.node,
            f"the state of a {optimizer.name.rpartition('.')[2]} that has made no step holds no moments, and dcp.load "
            "fills only the keys it is given: those of the checkpoint are left out, and nothing says so",
            "get_optimizer_state_dict(model, optimizer) of torch.distributed.checkpoint.state_dict, which makes them; "
            "set_optimizer_state_dict() behind the load",
            steps=(
                shown(optimizer, project, "the optimizer is made here"),
                shown(loaded, project, "and its state is loaded before its first step"),
            ),
            confidence=Confidence.LIKELY,
        )

"""A schedule is to go on where it was, and its optimizer is a new one: KeyError for 'initial_lr'.

What it does: runs each script on values that are not known, and flags schedules of torch that are given a `last_epoch`
which may be 0 or more, where nothing before has given the optimizer's groups the rates they began with.

Why it matters: with last_epoch=-1 a schedule notes each group's rate as its `initial_lr`; with any other number it
expects to find it there, and raises KeyError: "param 'initial_lr' is not specified". The first run goes well, and each
one that is to go on from its checkpoint dies in its set-up.

Bad:

    optimizer = AdamW(model.parameters(), lr=lr)
    scheduler = LambdaLR(optimizer, factor, last_epoch=start_epoch - 1)
    optimizer.load_state_dict(state["optimizer"])

Good:

    optimizer = AdamW(model.parameters(), lr=lr)
    scheduler = LambdaLR(optimizer, factor)
    optimizer.load_state_dict(state["optimizer"])
    scheduler.load_state_dict(state["scheduler"])

What it cannot see: optimizers and schedules of other libraries, and programs that name `initial_lr` themselves.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.checkpoints.fresh_rates import resumed_without_rates, sets_rates
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A415"
NAME = "schedule-on-fresh-optimizer"
SEVERITY = Severity.ERROR
WORDS = ("last_epoch", "lr_scheduler")
CHECKLIST = "a schedule goes on by its own state, or behind its optimizer's"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the schedules that cannot be made in a run that goes on."""
    yield from also((), file, project, _run, uncalled=True)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for schedule, optimizer, _ in resumed_without_rates(execution):
        if any("initial_lr" in one.words and one.tree is not None and sets_rates(one.tree) for one in project.python):
            continue
        made = schedule.name.rpartition(".")[2]
        yield violation(
            home(schedule, project),
            schedule.node,
            f"{made} is told that it goes on, and the groups of the {optimizer.name.rpartition('.')[2]} have no "
            "initial_lr yet: it raises KeyError, and no run goes on from its checkpoint",
            "leave last_epoch out and load the schedule's state_dict, or load the optimizer's state before the "
            "schedule is made",
            steps=(shown(optimizer, project, "the optimizer is made here, and its state is not loaded before"),),
            confidence=Confidence.LIKELY,
        )

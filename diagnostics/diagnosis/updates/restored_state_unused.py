"""A state was loaded into an optimizer that makes no step: another one was made for the same parameters.

What it does: knows which optimizers were given a saved state. It is told where one of them made no step, and another
optimizer of the very same parameters, which was given none, made ten. Names where that one was made and where the state
was loaded.

Why it matters: the run that was resumed goes on without the moments and the rates it had. The loss jumps with each
resumption, and a schedule that was made anew with it begins at its warm-up again. Left alone: optimizers of other
parameters, one that made steps before it was replaced, and states that were empty.

Fix: make the optimizer and its schedule once, before the state is loaded.

Bad:

    trainer.resume(path)      # optimizer.load_state_dict(...)
    trainer.unfreeze()        # self.optimizer = AdamW(...)

Good:

    trainer.unfreeze()
    trainer.resume(path)
"""

from __future__ import annotations

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.mark_match import training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.common_calls import last_common_call
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.replicas.restored_optimizers import RESTORED
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.agent_data import LifecycleEvent

CODE = "D941"
NAME = "restored-state-unused"
CLASS = "state-not-kept"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

_UNUSED, _MADE = "restored-optimizer-unused", "optimizer"


def match(job: Job) -> Match | None:
    """Returns the ranks whose optimizer was given a state and replaced."""
    found = [(process, *told) for process in job.ranks if (told := _of_rank(process)) is not None]
    if not found:
        return None
    process, unused, restored, made = found[0]
    loaded = own(process, restored.path)
    anew = own(process, made.path) if made is not None else ()
    at, by = (f" at {job.line(frames[0])}" if frames else "" for frames in (loaded, anew))
    title = f"The state that was loaded{at} is used by no step: {unused.text} was made anew{by} for the same parameters"
    if made is None:
        title = (
            f"The state that was loaded{at} is used by no step: another {unused.text} of the same parameters makes them"
        )
    return training_match(
        job,
        [one for one, *_ in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=title,
        evidence=[
            Evidence(
                source=f"rank {process.rank}: steps since load_state_dict of an optimizer",
                observed=f"{unused.value} of another optimizer with the same parameters, none of this one",
                expected="steps of the one that was given the state",
            )
        ],
        fix="make the optimizer and its schedule once, and load their states after that",
        places=_places(anew, loaded),
        confidence=Confidence.LIKELY,
    )


def _of_rank(process: JobProcess) -> tuple[LifecycleEvent, LifecycleEvent, LifecycleEvent | None] | None:
    """Returns that a state is unused, where it was loaded, and where an optimizer was made after that."""
    events = process.agent.events if process.agent is not None else ()
    unused = next((one for one in events if one.kind == _UNUSED), None)
    if unused is None:
        return None
    before = [one for one in events if one.sequence < unused.sequence]
    restored = next((one for one in reversed(before) if one.kind == RESTORED), None)
    if restored is None:
        return None
    since = (one for one in before if one.sequence > restored.sequence and one.kind == _MADE)
    return unused, restored, next(since, None)


def _places(anew: tuple[Frame, ...], loaded: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """Returns the line that makes it anew and the calls that lead there from where it was loaded, then the loading."""
    common = last_common_call(anew, [loaded])
    return (*anew[: common + 1 if common is not None else 1], *loaded[:1])

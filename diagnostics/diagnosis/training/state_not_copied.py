"""A state that was kept as the best one is the model itself, and changed with it.

What it does: `model.state_dict()` gives the model's own tensors. Where such a state is loaded back into its model, or
saved, after steps that changed it, it holds the weights of now: by its tensor's version and place in memory.

Why it matters: "the best model" is the last one, in the file and in the evaluation, and its number was another's.
Left alone: states that were taken before the first step, as an alias of the latest, and what is saved at once.

Bad:

    if loss < best_loss: best = model.state_dict()

Good:

    if loss < best_loss: best = copy.deepcopy(model.state_dict())
"""

from __future__ import annotations

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import Told, latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.training_marks import StateNotKept

CODE = "D917"
NAME = "state-not-copied"
CLASS = "state-not-kept"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True


def match(job: Job) -> Match | None:
    """Returns the ranks that loaded or saved such a state."""
    found = sorted(latest(job, StateNotKept, lambda mark: mark.loaded), key=lambda one: not one.mark.loaded)
    if not found:
        return None
    first = found[0]
    mark = first.mark
    taken, path = own(first.process, mark.taken)[:1], own(first.process, mark.path)[:1]
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=_title(job, first),
        evidence=[
            Evidence(
                source=f"the first tensor of that state, and the parameter of {mark.root}",
                observed="one place in memory, changed since the state was taken",
                expected="a copy of its own",
            )
        ],
        fix=f"copy what is kept{f' ({job.line(taken[0])})' if taken else ''}: copy.deepcopy(model.state_dict())",
        places=(*taken, *path),
        confidence=Confidence.CONFIRMED if mark.loaded else Confidence.LIKELY,
    )


def _title(job: Job, told: Told[StateNotKept]) -> str:
    mark = told.mark
    taken, path = own(told.process, mark.taken)[:1], own(told.process, mark.path)[:1]
    kept = f"The state that was taken of {mark.root}{f' at {job.line(taken[0])}' if taken else ''}, after {mark.since} "
    at = f" at {job.line(path[0])}" if path else ""
    if mark.loaded:
        return f"{kept}steps, is the model itself: to load it back{at}, after {mark.step}, changes nothing"
    name = mark.file.rpartition("/")[2]
    return f"{kept}steps, is no copy: {name}, saved{at} after {mark.step}, holds the weights of then"

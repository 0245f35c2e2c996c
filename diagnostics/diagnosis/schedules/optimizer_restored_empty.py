"""A run goes on with its schedule, and the state that its optimizer was given held nothing.

What it does: looks at each state that is loaded into an optimizer before its first step. Told where it has no entry for
any parameter, the optimizer keeps something of each step (moments, a count), and the schedule of the same optimizer was
given back at a step later than its first.

Why it matters: the schedule says that steps were made, the optimizer begins as a new one: Adam's averages are zero and
its bias correction starts over, so that the first updates of the resumed run are far too large for its rate. A
distributed checkpoint does this in silence: it fills only the keys of the dict that it is given, and a new optimizer's
state_dict() has none for moments.

Bad:

    state = {"model": model.state_dict(), "optimizer": optimizer.state_dict()}   # of a new optimizer: no moments
    dcp.load(state, checkpoint_id=path)
    optimizer.load_state_dict(state["optimizer"])

Good:

    weights, moments = get_state_dict(model, optimizer)    # of torch.distributed.checkpoint.state_dict: makes them
    dcp.load({"model": weights, "optimizer": moments}, checkpoint_id=path)
    set_state_dict(model, optimizer, model_state_dict=weights, optim_state_dict=moments)
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import latest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import lines_like, own
from diagnostics.record.marks.schedule_marks import RestoredEmpty

CODE = "D971"
NAME = "optimizer-restored-empty"
CLASS = "checkpoint-not-loaded"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

_ASKS = re.compile(r"\boptim(?:izer)?\.state_dict\(\)")  # what the state was made of


def match(job: Job) -> Match | None:
    """Returns the ranks whose optimizer was given nothing."""
    found = latest(job, RestoredEmpty, lambda mark: mark.optimizer)
    if not found:
        return None
    process, mark = found[0].process, found[0].mark
    loaded = own(process, mark.path)[:2]
    asked = lines_like(job, process, _ASKS, 2)
    at = f" at {job.line(loaded[0])}" if loaded else ""
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"The state that was loaded{at} into {mark.optimizer_class} holds nothing, and its {mark.scheduler} goes "
        f"on at step {mark.count}: the optimizer begins without the moments of the run that goes on",
        evidence=[
            Evidence(
                source="entries in the state that the optimizer was given",
                observed=f"0, of an optimizer that keeps some for each parameter; steps of its schedule: {mark.count}",
                expected="those of each parameter that was trained",
            )
        ],
        fix="make the optimizer's state before it is filled: get_optimizer_state_dict and set_optimizer_state_dict of "
        "torch.distributed.checkpoint.state_dict do; assert state['optimizer']['state'] behind the load",
        places=tuple(dict.fromkeys([*loaded[:1], *asked, *loaded[1:]])),
        confidence=Confidence.LIKELY,
    )

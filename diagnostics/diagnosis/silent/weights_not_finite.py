"""The parameters are NaN or infinite, and the job goes on to its end.

What it does: samples parameters and gradients before a few steps, and reads the loss at each backward pass where it is
one number on the CPU. Where parameters are not finite at the last look, names the first rank, step and parameter, and
the rank whose own loss was NaN first: a wrapper's averaging spreads it to all the others in the same step.

Why it matters: nothing raises; every step and every checkpoint after that is worthless.

Fix: look at that rank's batch and loss at that step; torch.autograd.set_detect_anomaly(True) names the operation.
"""

from __future__ import annotations

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.not_finite import NotFinite, not_finite
from diagnostics.dynamic.replicas.source_lines import own

CODE = "D529"
NAME = "weights-not-finite"
CLASS = "nan-on-rank"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True
LASTING = 3  # looks: a job may go back to a state before


def match(job: Job) -> Match | None:
    """Returns the rank where it began."""
    found = not_finite(job)
    if not found or (job.facts.exit_code is None and job.facts.signal is None and found[0].looks < LASTING):
        return None
    first = found[0]
    origins = [
        one.process for one in found if one.step == first.step and (one.bad_loss is None) == (first.bad_loss is None)
    ]
    loss = own(first.process, first.bad_loss.path)[:1] if first.bad_loss is not None else ()
    stepped = own(first.process, first.look.model.stepped)[:1]
    at = f" at {job.line(loss[0])}" if loss else ""
    if first.bad_loss is not None:
        how = f"its loss was {first.bad_loss.loss:g} in backward pass {first.bad_loss.backward}{at}"
    elif first.by_gradient is not None:
        how = f"the gradient of {first.by_gradient[1]} was not finite at step {first.by_gradient[0].step}"
    else:
        how = f"{first.parameter} was not finite before step {first.look.step}"
    who = " and ".join(f"rank {process.rank}" for process in origins[:3])
    return blamed(
        job,
        origins,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"The weights are NaN from step {first.look.step} on, and the job went on; it began on {who}: {how}",
        evidence=[
            Evidence(source="first seen on each rank", observed="\n".join(map(_row, found[:8])), expected="never")
        ],
        fix=Fix(
            text="look at the batch and the loss of that step (log, division, square root of 0; a label out of range); "
            "torch.autograd.set_detect_anomaly(True) names the operation; stop at a loss that is not finite"
        ),
        locations=distinct([job.line(frame) for frame in (*loss, *stepped)]),
        confidence=Confidence.CONFIRMED,
        outcome=JobOutcome.SILENT_WRONG,
        explains=[one.process.pid for one in found],
    )


def _row(one: NotFinite) -> str:
    said = []
    if one.bad_loss is not None:
        said.append(f"loss {one.bad_loss.loss:g} in backward pass {one.bad_loss.backward}")
    if one.by_gradient is not None:
        said.append(f"gradient of {one.by_gradient[1]} at step {one.by_gradient[0].step}")
    said.append(f"{one.parameter} ({one.count} of {one.sampled}) before step {one.look.step}")
    return f"rank {one.process.rank}  {'; '.join(said)}"

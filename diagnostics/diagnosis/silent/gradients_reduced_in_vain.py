"""The ranks sum up their gradients by hand in each step, and each makes its step with its own.

What it does: compares samples of gradients and parameters of all ranks before a few steps. Where the models began as
equals, each rank sums over as many numbers as the model has in each step, and at every step the gradients still
differ, the sums are not what the optimizer reads.

Why it matters: everything is paid for, the communication too, and each rank trains a model of its own. Averages of
parameters, which make the models equal again, are left alone.

Bad:

    flat = torch.cat([p.grad.reshape(-1) for p in parameters])
    dist.all_reduce(flat)
    for grad, piece in zip(grads, flat.split(sizes)): grad = piece.view_as(grad)

Good:

    for grad, piece in zip(grads, flat.split(sizes)): grad.copy_(piece.view_as(grad))
"""

from __future__ import annotations

from diagnostics.diagnosis.replica_match import not_averaged
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.sharing import sums_of
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.dynamic.replicas.synchronisation import SyncGap, unsynchronised

CODE = "D532"
NAME = "gradients-reduced-in-vain"
CLASS = "gradients-not-synchronised"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True


def match(job: Job) -> Match | None:
    """Returns the ranks whose sums never reach the step."""
    gap = unsynchronised(job, SyncGap.THROWN_AWAY)
    if gap is None:
        return None
    first = gap.found.processes[0]
    calls = sums_of(first)
    summed = own(first, calls[-1].path) if calls else ()
    at = f" at {job.line(summed[0])}" if summed else ""
    return not_averaged(
        job,
        gap,
        code=CODE,
        name=NAME,
        why=f"what is summed up over the ranks{at} is not what the optimizer's step uses",
        fix=f"write what was summed up{at} back into p.grad (p.grad.copy_(...)), before optimizer.step()",
        places=summed[:2],
    )

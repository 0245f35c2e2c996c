"""Ranks that share their gradients made unequal numbers of optimizer steps: their models are no longer the same.

What it does: compares, at the end, how many backward passes and optimizer steps each rank made. Where all parameters
are in DistributedDataParallel and all ranks made the same number of passes, each step of one rank has its counterpart
on the others, unless a rank left one out by itself: a guard that looks at its own loss, batch or gradient norm.

Why it matters: from that step on the ranks hold different weights, and average gradients of different models. Nothing
fails; what is saved is the model of one rank.

Fix: let all ranks decide together: all_reduce the decision with MAX before any of them skips.
"""

from __future__ import annotations

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.core.frame import Frame
from diagnostics.core.wording import shown_ranks
from diagnostics.diagnosis.mark_match import training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.dynamic.replicas.step_counts import unequal_steps
from diagnostics.static.program.exception_flow import training_functions
from diagnostics.static.torch_code.optimizer_step_guards import step_conditions

CODE = "D912"
NAME = "ranks-step-unequally"
CLASS = "rank-divergence"
EXAMINES = AppliesTo.SUCCEEDED
SHOWN = 8


def match(job: Job) -> Match | None:
    """Returns the ranks that left out steps by themselves."""
    found = unequal_steps(job)
    if found is None:
        return None
    fewer = found.fewer
    first = fewer[0]
    stepped = own(first, first.prints.looks[0].model.stepped)[:1]
    ranks = [process.rank for process in fewer if process.rank is not None]
    most = max(process.steps for process in found.processes)
    rows = [f"rank {process.rank}  {process.steps}" for process in found.processes[:SHOWN]]
    return training_match(
        job,
        fewer,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{shown_ranks(ranks).capitalize()} made {first.steps} optimizer steps, the others {most}, over "
        f"{found.backwards} backward passes each: from the first one left out on their models differ",
        evidence=[Evidence(source="optimizer steps", observed="\n".join(rows), expected="the same on all ranks")],
        fix="decide on all ranks together whether a step is left out: all_reduce the decision with MAX first",
        places=(*_conditions(job, first)[:2], *stepped),
        confidence=Confidence.CONFIRMED,
    )


def _conditions(job: Job, process: JobProcess) -> list[Frame]:
    """Returns the `if`s in the files that ran on which a step depends."""
    files = job_sources(job, process)
    trained_by = training_functions(file for _, file in files)
    return [
        Frame(file=name, line=line, function="") for name, file in files for line in step_conditions(file, trained_by)
    ]

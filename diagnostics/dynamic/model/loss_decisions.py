"""Where the program of a process decides on its data what the loss is made of."""

from __future__ import annotations

from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.static.program.call_graph import CallGraph
from diagnostics.static.torch_code.loss_conditions import loss_conditions


def loss_decisions(job: Job, process: JobProcess) -> list[str]:
    """Returns the lines of conditions that may keep the result of a module that ran out of the loss, nearest first."""
    names = tuple(name for name, _ in job_sources(job, process))
    return [job.line(frame) for frame in loss_conditions(CallGraph(job.sources, names))]

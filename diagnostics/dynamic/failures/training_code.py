"""Where a process trains, whether an exception came out of there, and which ones are raised on purpose. Pure."""

from __future__ import annotations

import re

from diagnostics.dynamic.job.job import ExceptionRecord, Job, JobProcess
from diagnostics.dynamic.job.job_sources import job_sources
from diagnostics.dynamic.job.process_list import job_time
from diagnostics.static.program.exception_flow import in_training_loop, training_functions

# Ways of ending a loop on purpose; so are exceptions of the job's own that are not called errors.
CONTROL = re.compile(
    r"(?:^|\.)(?:KeyboardInterrupt|SystemExit|StopIteration|StopAsyncIteration|GeneratorExit)$"
    r"|(?:Stop|Stopping|Interrupt|Finished|Done|Completed|Exit|Converged|(?:Data|Data[Ss]et|Iterator|Stream|Source|Queue|Loader|Samples?)(?:Exhausted|Drained)|EndOf\w+|Preempted|Preemption|Pruned)"
    r"(?:Training|Exception|Run)?$"
)


def trained_in(job: Job, process: JobProcess) -> frozenset[str]:
    """Returns the functions of the job that train."""
    return training_functions(file for _, file in job_sources(job, process))


def ends_training(job: Job, process: JobProcess, raised: ExceptionRecord) -> bool:
    """Whether an exception that nobody caught came out of a training loop."""
    trained_by = trained_in(job, process)
    return any(in_training_loop(job.sources.file(one.file), one.line, trained_by) for one in raised.user_path)


def stepped_after(job: Job, process: JobProcess, raised: ExceptionRecord) -> bool:
    """Whether it made an optimizer step, or began a backward pass, after an exception."""
    agent = process.agent
    made = (agent.steps.last_s, agent.steps.backward_entered_s) if agent is not None else ()
    return agent is not None and any(one is not None and job_time(job.facts, agent, one) > raised.at_s for one in made)

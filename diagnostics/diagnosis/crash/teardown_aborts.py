"""All work was done, and torch aborted while the interpreter shut down.

What it does: where every rank at fault left its last user line and the interpreter's exit began before the signal
(SIGABRT with "terminate called without an active exception", or any fault after the exit handlers ran), the job is
fine: the outcome is ok, and this is a note.

Why it matters: threads of a process group that outlive it end in std::terminate; the launcher reports a crash with
exit code 1 though the last checkpoint is written. Some healthy runs of DDP on gloo end so.

Fix: end the group and import torch.distributed.nn before it was made, or leave with os._exit(0) after the last line.
"""

from __future__ import annotations

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Fix, Severity
from diagnostics.core.wording import sentence, signal_name
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.teardown import NO_EXCEPTION, is_teardown, is_through
from diagnostics.dynamic.job.evidence import end_evidence, names_of, primary_failures, written_by
from diagnostics.dynamic.job.job import Job

CODE = "D280"
NAME = "teardown-aborts"
CLASS = "teardown-abort"
EXAMINES = AppliesTo.FAILED


def match(job: Job) -> Match | None:
    """Returns the abort, where no process failed before its work was done."""
    failed = primary_failures(job)
    if job.facts.ended_for_hanging or not failed or not all(is_teardown(job, process) for process in failed):
        return None
    through = all(is_through(job, process) for process in job.ranks)
    first = failed[0]
    said = NO_EXCEPTION in written_by(job, first)
    evidence = [end_evidence(first)]
    if first.agent is not None and first.agent.last_event("exit") is not None:
        evidence.append(
            Evidence(source=f"record/agents/{first.agent.name}", observed="exit handlers ran before the signal came")
        )
    if said:
        evidence.append(Evidence(source=f"output of process {first.pid}", observed=NO_EXCEPTION))
    after = "after all work was done" if through else "at its own exit, while other ranks were still at work"
    return blamed(
        job,
        failed,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        severity=Severity.INFO if through else Severity.ERROR,
        title=f"{sentence(names_of(failed))} died of {signal_name(first.end.signal or 0)} in Python's shutdown, {after}",
        evidence=evidence,
        fix=Fix(
            text="destroy the process group before the last line, and import torch.distributed.nn before it is made; "
            "a launcher's exit code 1 is not the training's"
        ),
        confidence=Confidence.CONFIRMED if said and through else Confidence.LIKELY,
        outcome=JobOutcome.OK if through else JobOutcome.CRASH,
    )

"""A CUDA kernel failed, and a later line was told.

What it does: where a rank ended by an error that only a kernel on the GPU can make (a device-side assert, an illegal
address), says that the line named is where it was noticed, unless CUDA_LAUNCH_BLOCKING=1 was set; with the kernel's
own assertion and the module that was entered last.

Why it matters: kernels run after the line that starts them. The traceback names the next line that waits for the GPU,
often a synchronize(), a .item() or another rank's collective, and that line is innocent.

Fix: run it once with `ups-doctor run --backend-debug -- ...`, which makes each kernel report at its own line.
"""

from __future__ import annotations

import re
import shlex

from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.root_exception import RootException, locations_of, root_exception
from diagnostics.dynamic.job.evidence import (
    end_evidence,
    ended_s,
    names_of,
    path_evidence,
    primary_failures,
    source_evidence,
)
from diagnostics.dynamic.job.job import Job, JobProcess

CODE = "D232"
NAME = "cuda-kernel-fails"
CLASS = "python-exception"
EXAMINES = AppliesTo.FAILED
# Errors of the CUDA runtime that a kernel leaves behind, by cudaGetErrorString; others are told by the call itself.
_KERNEL = re.compile(
    r"CUDA error: (device-side assert triggered|an illegal memory access was encountered|misaligned address"
    r"|an illegal instruction was encountered|unspecified launch failure|invalid program counter"
    r"|hardware stack error|operation not supported on global/shared address space)"
)
_LATE = "might be asynchronously reported"  # torch leaves it out where CUDA_LAUNCH_BLOCKING is set
_ASSERTION = re.compile(r"^[^\n`]{0,400}Assertion `([^`\n]{1,200})` failed", re.MULTILINE)
_INDEX = re.compile(r"[iI]nd(?:ex|ices)?\b|[iI]dx|srcIndex")


def match(job: Job) -> Match | None:
    """Returns the first rank at fault that a failed kernel ended."""
    for process in sorted(primary_failures(job), key=ended_s):
        error = root_exception(job, process)
        if error is not None and (found := _KERNEL.search(error.root_text)):
            return _match(job, process, error, found[1])
    return None


def _match(job: Job, process: JobProcess, error: RootException, what: str) -> Match:
    lines = locations_of(job, error)
    at = lines[0] if lines else ""
    late = _LATE in error.root_text
    asserted = _ASSERTION.search(process.output) or _ASSERTION.search(job.output)
    module = _last_module(process)
    where = f" at {at}" if at else ""
    noticed = f"; it was noticed{where}, the kernel was started there or before" if late else where
    index = asserted is not None and _INDEX.search(asserted[1])
    cause = "an index is not below the size that it picks from (labels, token ids, gather)" if index else ""
    command = shlex.join(["ups-doctor", "run", "--backend-debug", "--", *job.facts.command])
    return blamed(
        job,
        [process],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"A CUDA kernel failed on {names_of((process,))} ({what}){noticed}"
        + (f"; its assertion: {asserted[1]}" if asserted is not None else ""),
        evidence=[
            end_evidence(process),
            *(
                (Evidence(source="what the kernel wrote", observed=asserted[0].strip()),)
                if asserted is not None
                else ()
            ),
            *(
                (Evidence(source="module entered last: the kernel is its own or an earlier one's", observed=module),)
                if module and late
                else ()
            ),
            *(source_evidence(job, error.frame) if error.frame is not None else ()),
            *path_evidence(job, error.text[:300], error.frames),
        ],
        fix=Fix(
            text=sentence(
                "; ".join(filter(None, [cause, "run it once with CUDA_LAUNCH_BLOCKING=1 for the exact line"]))
            )
            if late
            else sentence(cause or f"check shapes, indices and pointers of the kernel that {at} starts"),
            commands=(command,) if late and job.facts.command else (),
        ),
        locations=lines,
        confidence=Confidence.LIKELY if late else Confidence.CONFIRMED,
        explains=[error.process.pid],
        began_s=error.at_s,
    )


def _last_module(process: JobProcess) -> str:
    """Returns the module whose forward was entered last: the failed kernel is its own or an earlier one's."""
    entered = process.agent.entered if process.agent is not None else ()
    return max(entered, key=lambda one: one.sequence).module.shown if entered else ""

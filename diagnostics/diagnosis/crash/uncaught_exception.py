"""A Python exception ended a rank.

What it does: takes the exception that ended each rank at fault to where it was raised, through data workers, spawned
children, process pools and `raise ... from`, and names the innermost line in the job's own files and the open module.

Why it matters: torchrun's last lines name its own files and the rank that it saw first, not the line to correct.

Fix: the line named, or the value that it was given.
"""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.raced_paths import raced_advice
from diagnostics.dynamic.failures.root_exception import (
    RootException,
    advice,
    locations_of,
    raised_on,
    root_exception,
)
from diagnostics.dynamic.job.evidence import (
    end_evidence,
    module_of,
    names_of,
    output_evidence,
    path_evidence,
    primary_failures,
    source_evidence,
)
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.record.torch_messages import is_lost_peer

CODE = "D201"
NAME = "uncaught-exception"
CLASS = "python-exception"
EXAMINES = AppliesTo.FAILED
SHOWN_MESSAGE = 300  # characters


def match(job: Job) -> Match | None:
    """Returns the exception that came first among the processes at fault, with all that ended by the same one."""
    ends = [
        (process, found) for process in primary_failures(job) if (found := root_exception(job, process)) is not None
    ]
    if not ends:
        return None
    first = min(ends, key=lambda end: end[1].at_s)[1]
    # A rank that fell over the same line is as guilty, also where its launcher had begun to end it.
    others = [process for process in job.ranks if process not in primary_failures(job)]
    ends += [(process, found) for process in others if (found := root_exception(job, process)) is not None]
    alike = [(process, found) for process, found in ends if _same(first, found)]
    processes = list({one.pid: one for one in (raised_on(job, *end) for end in alike)}.values())
    locations = locations_of(job, first)
    module = module_of(processes[0])
    said = first.root_text if len(first.root_text) <= SHOWN_MESSAGE else f"{first.root_text[:SHOWN_MESSAGE]}..."
    raised_at = job.line(first.frame) if first.frame is not None else ""
    shown = f"{raised_at}, for {locations[0]}" if raised_at and locations[0] != raised_at else "".join(locations[:1])
    place = f" at {shown}" if shown else ""
    inside = f", in module {module}" if module else ""
    return blamed(
        job,
        processes,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of(processes))} raised{place}{inside}: {said}",
        evidence=_evidence(job, first, processes),
        fix=Fix(text=raced_advice(job, first) or advice(first.root_text, locations[0] if locations else "", module)),
        locations=locations,
        module=module,
        confidence=Confidence.CONFIRMED if locations else Confidence.LIKELY,
        explains=[one.pid for process, found in alike for one in (process, found.process)],
        began_s=first.at_s,
        generic=True,
    )


def _same(one: RootException, other: RootException) -> bool:
    """Whether two ranks fell over the same line: the values in the message may differ.

    In one line, a backward say, one rank may fail by itself and the other for the lost connection to it.
    """
    return (one.type, one.frame, is_lost_peer(one.text)) == (other.type, other.frame, is_lost_peer(other.text))


def _evidence(job: Job, found: RootException, processes: Sequence[JobProcess]) -> list[Evidence]:
    frame = found.frame
    told = [
        *(source_evidence(job, frame) if frame is not None else ()),
        *path_evidence(job, found.text, found.frames),
    ]
    if found.before_text:
        told.extend(path_evidence(job, f"before that: {found.before_text}", found.before))
    return [end_evidence(processes[0]), *(told or output_evidence(processes[0]))]

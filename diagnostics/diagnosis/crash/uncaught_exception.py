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
from diagnostics.dynamic.failures.root_exception import RootException, advice, locations_of, origin
from diagnostics.dynamic.job.evidence import (
    end_evidence,
    module_of,
    named,
    output_evidence,
    path_evidence,
    source_evidence,
    to_blame,
)
from diagnostics.dynamic.job.job import Job, JobProcess

CODE = "D201"
NAME = "uncaught-exception"
CLASS = "python-exception"
EXAMINES = AppliesTo.FAILED
SHOWN_MESSAGE = 300  # characters


def match(case: Job) -> Match | None:
    """Returns the exception that came first among the processes at fault, with all that ended by the same one."""
    ends = [(story, found) for story in to_blame(case) if (found := origin(case, story)) is not None]
    if not ends:
        return None
    first = min(ends, key=lambda end: end[1].at_s)[1]
    # A rank that fell over the same line is as guilty, also where its launcher had begun to end it.
    others = [story for story in case.ranks if story not in to_blame(case)]
    ends += [(story, found) for story in others if (found := origin(case, story)) is not None]
    alike = [(story, found) for story, found in ends if _same(first, found)]
    stories = [story for story, _ in alike]
    locations = locations_of(case, first)
    module = module_of(stories[0])
    said = first.root_text if len(first.root_text) <= SHOWN_MESSAGE else f"{first.root_text[:SHOWN_MESSAGE]}..."
    place = f" at {locations[0]}" if locations else ""
    inside = f", in module {module}" if module else ""
    return blamed(
        case,
        stories,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(named(stories))} raised{place}{inside}: {said}",
        evidence=_evidence(case, first, stories),
        fix=Fix(text=advice(first.root_text, locations[0] if locations else "", module)),
        locations=locations,
        module=module,
        confidence=Confidence.CONFIRMED if locations else Confidence.LIKELY,
        explains=[found.story.pid for _, found in alike],
        began_s=first.at_s,
        generic=True,
    )


def _same(one: RootException, other: RootException) -> bool:
    """Whether two ranks fell over the same line: the values in the message may differ."""
    return (one.type, one.frame) == (other.type, other.frame)


def _evidence(case: Job, found: RootException, stories: Sequence[JobProcess]) -> list[Evidence]:
    frame = found.frame
    told = [
        *(source_evidence(case, frame) if frame is not None else ()),
        *path_evidence(case, found.text, found.frames),
    ]
    if found.before_text:
        told.extend(path_evidence(case, f"before that: {found.before_text}", found.before))
    return [end_evidence(stories[0]), *(told or output_evidence(stories[0]))]

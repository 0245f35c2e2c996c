"""A rank lost a peer that runs elsewhere, on another host as a rule, of which this record tells nothing.

What it does: where all ranks that failed here complain about a connection that was closed, none of them had a fault of
its own, and ranks of the job run elsewhere, says that the failure is theirs, with the line in which they were missed.

Why it matters: the exception looks like a fault of the line that waited, and of the rank that raised it.

Fix: read what was written on the other host, or read the records of all hosts together.
"""

from __future__ import annotations

from diagnostics.core.findings import Confidence, Fix
from diagnostics.core.wording import sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.root_exception import RootException, locations_of, root_exception
from diagnostics.dynamic.job.attribution import lost_its_peer
from diagnostics.dynamic.job.evidence import (
    end_evidence,
    names_of,
    path_evidence,
    primary_failures,
    rank_numbers,
    source_evidence,
)
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.record.torch_messages import CONNECTION_LOST

CODE = "D203"
NAME = "peer-elsewhere-lost"
CLASS = "python-exception"
EXAMINES = AppliesTo.FAILED


def match(job: Job) -> Match | None:
    """Returns the ranks that lost it; None where all ranks are here, or one of those that are failed by itself."""
    here, size = set(rank_numbers(job.ranks)), job.world_size
    lost = _lost(job)
    if not lost or size is None or not here or size <= len(here):
        return None
    first, found = min(lost, key=lambda one: one[1].at_s)
    ranks = [process for process, _ in lost]
    locations = locations_of(job, found)
    place = f" at {locations[0]}" if locations else ""
    those = f"{size - len(here)} of the {size} ranks run elsewhere"
    frame = found.frame
    return blamed(
        job,
        [],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of(ranks))} lost a peer{place}, none of those watched here ({those}): {found.text}",
        evidence=[
            end_evidence(first),
            *(source_evidence(job, frame) if frame is not None else ()),
            *path_evidence(job, found.text, found.frames),
        ],
        fix=Fix(
            text="look at the other host: its rank ended, was ended, or the network between was cut; "
            "`ups-doctor run --share FOLDER` on each host and `ups-doctor diagnose FOLDER` tell of all of them at once"
        ),
        locations=locations,
        confidence=Confidence.LIKELY,
        explains=[process.pid for process in ranks],
        victims=ranks,
        began_s=found.at_s,
    )


def _lost(job: Job) -> list[tuple[JobProcess, RootException]]:
    """Returns the ranks with the exception that ended them; none where one failed for anything else."""
    found = []
    for process in primary_failures(job):
        told = root_exception(job, process)
        if told is None or not (lost_its_peer(process) and CONNECTION_LOST.search(told.text)):
            return []
        found.append((process, told))
    return found

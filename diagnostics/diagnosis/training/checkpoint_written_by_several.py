"""Several ranks wrote one checkpoint file at the same time.

What it does: knows of each `torch.save` which file it wrote, from when to when. Where two ranks were in one file at
once, what is in it is what their writes happened to leave.

Why it matters: the file may be cut, mixed or fine, from one save to the next, and is found out when it is needed.

Bad:

    torch.save(model.state_dict(), "checkpoint.pt")

Good:

    if dist.get_rank() == 0:
        torch.save(model.state_dict(), "checkpoint.pt")
    dist.barrier()
"""

from __future__ import annotations

from collections import defaultdict

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.core.wording import shown_ranks
from diagnostics.diagnosis.mark_match import Told, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.training_marks import SavedFile

CODE = "D910"
NAME = "checkpoint-written-by-several"
CLASS = "corrupt-checkpoint"
EXAMINES = AppliesTo.ANY
SHOWN = 8


def match(job: Job) -> Match | None:
    """Returns the ranks that wrote one file at once."""
    found = _at_once(job)
    if not found:
        return None
    first = found[0]
    path = own(first.process, first.mark.path)[:1]
    at = f" at {job.line(path[0])}" if path else ""
    ranks = sorted({one.process.rank for one in found if one.process.rank is not None})
    name = first.mark.file.rpartition("/")[2]
    rows = [
        f"rank {one.process.rank}  from {(one.mark.began_ns - first.mark.began_ns) / 1e6:.1f} ms to "
        f"{(one.mark.ended_ns - first.mark.began_ns) / 1e6:.1f} ms"
        for one in found[:SHOWN]
    ]
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{shown_ranks(ranks).capitalize()} wrote {name} at the same time{at}",
        evidence=[
            Evidence(source=f"writes of {first.mark.file}", observed="\n".join(rows), expected="one writer at a time")
        ],
        fix="write on rank 0 alone, or one file for each rank, into a temporary name that is then renamed",
        places=path,
        confidence=Confidence.CONFIRMED,
    )


def _at_once(job: Job) -> list[Told[SavedFile]]:
    """Returns the writes of the first file in which two ranks were at once, the earliest first."""
    by_file = defaultdict(list)
    for process in job.ranks:
        for mark in process.prints.marks_of(SavedFile):
            by_file[mark.file].append(Told(process, mark))
    for writes in by_file.values():
        writes.sort(key=lambda one: one.mark.began_ns)
        for index, one in enumerate(writes):
            at_once = [
                other
                for other in writes[index + 1 :]
                if other.process.pid != one.process.pid and other.mark.began_ns < one.mark.ended_ns
            ]
            if at_once:
                return [one, *at_once]
    return []

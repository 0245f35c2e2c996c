"""Each data worker of a rank reads the whole IterableDataset.

What it does: compares the fingerprints of the batches that came from each worker of a training loader over an
IterableDataset. Names where the loader was built.

Why it matters: an IterableDataset is copied into each worker as it is. With four workers each sample comes four times
in an epoch, often in one batch's neighbourhood, and an epoch is four epochs; nothing fails.

Fix: divide the samples in __iter__ of the data set by torch.utils.data.get_worker_info(), and by rank.
"""

from __future__ import annotations

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import sentence, shown_ranks
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.diagnosis.silent_match import SHOWN_RANKS, as_told, prints_text
from diagnostics.dynamic.job.evidence import source_evidence
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.samples.loader_lines import lines_of
from diagnostics.dynamic.samples.worker_overlap import repeated_by_workers

CODE = "D512"
NAME = "workers-repeat-samples"
CLASS = "duplicate-data"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

_FIX = (
    "in __iter__ of the data set, take info = torch.utils.data.get_worker_info() and yield "
    "itertools.islice(samples, info.id, None, info.num_workers); with several ranks by rank * workers + id"
)


def match(job: Job) -> Match | None:
    """Returns the ranks whose workers repeat each other's samples, None where each reads a part of its own."""
    found = repeated_by_workers(job)
    if found is None:
        return None
    loader = found.loaders[0]
    lines, frames = lines_of(job, loader), loader.built_at()
    who = sentence(shown_ranks([one.rank for one in found.loaders]))
    place = f" of {lines[0]}" if lines else ""
    name = loader.source.facts.get("dataset", "the data set")
    title = (
        f"{who} train on every sample {found.workers} times in an epoch: each of the {found.workers} workers of the "
        f"loader{place} reads all of {name}"
    )
    shown = [
        Evidence(
            source=f"rank {loader.rank}: prints of the first batches of worker {number}",
            observed=prints_text(batches),
            expected="other ones in each worker" if number else "",
        )
        for number, batches in list(enumerate(found.shown))[:SHOWN_RANKS]
    ]
    return as_told(
        job,
        blamed(
            job,
            [one.process for one in found.loaders],
            code=CODE,
            name=NAME,
            failure_class=CLASS,
            title=title if len(found.loaders) > 1 else title.replace(" train on ", " trains on ", 1),
            evidence=[*shown, *(source_evidence(job, frames[0]) if frames else ())],
            fix=Fix(text=_FIX),
            locations=lines,
            confidence=Confidence.CONFIRMED if found.in_order else Confidence.LIKELY,
            outcome=JobOutcome.SILENT_WRONG,
            began_s=loader.process.began_s,
        ),
    )

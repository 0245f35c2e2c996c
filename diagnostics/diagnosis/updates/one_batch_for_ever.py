"""Each step trains on the same batch: the loader is begun anew for each, and always gives the same samples first.

What it does: counts the passes over each loader, and compares what they hand over. Where twenty and more in a row were
left after their first batch, and each of those that were printed is the same, the model sees one batch of the data set.

Why it matters: the training loss falls to nothing, since the model learns these samples by heart. Left alone: one batch
that is taken once and trained on on purpose, loaders that shuffle anew, data sets of one batch.

Fix: iterate over the loader: make the iterator once, before the loop, and a new one where it is used up.

Bad:

    for step in range(steps):
        batch = next(iter(loader))

Good:

    for batch in loader:
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import lines_like
from diagnostics.dynamic.samples.restarted_passes import restarted_loader

CODE = "D934"
NAME = "one-batch-for-ever"
CLASS = "duplicate-data"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

_BEGINS = re.compile(r"\bnext\(\s*iter\(|\biter\(\s*\w*(?:loader|dl|data)\w*\s*\)")


def match(job: Job) -> Match | None:
    """Returns the ranks that train on one batch."""
    found = [one for process in job.ranks if (one := restarted_loader(process)) is not None and one.same]
    if not found:
        return None
    first = found[0]
    begins = lines_like(job, first.loader.process, _BEGINS)[:2]
    places = (*begins, *first.loader.built_at()[:1])
    at = f" at {job.line(places[0])}" if places else ""
    of = f" of {first.samples}" if first.samples else ""
    return training_match(
        job,
        [one.loader.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"Each step trains on the same {first.rows} samples{of}: the loader is begun anew{at} for each batch",
        evidence=[
            Evidence(
                source=f"rank {first.loader.rank}: passes over the loader, and prints of their first batches",
                observed=f"{first.passes} passes and more, each left after its first batch; all prints are the same",
                expected="other samples in each step",
            )
        ],
        fix="make the iterator once, before the loop: batches = iter(loader), and a new one where it is used up",
        places=places,
        confidence=Confidence.CONFIRMED,
    )

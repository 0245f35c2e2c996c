"""A recurrent or attention layer goes over the samples of a batch as if they were time: batch_first is missing.

What it does: looks in a few forward passes at layers without batch_first: the shape each is given, and what the model
makes of it. Told where the model's output has the first dimension and nothing of the second one, and that is meant to
be time: one step of it is taken, or the first is the size of a shuffled loader's batches.

Why it matters: nn.LSTM, nn.GRU, nn.RNN and nn.MultiheadAttention take (time, batch, features). Given (batch, time,
features), they carry one sample's state over to the next, and of each sample only the last step counts. The shapes
fit, nothing fails, and the result even depends on which samples share a batch.

Left alone: layers that are given (time, batch, features), a dimension of one, both of one size.

Fix: build the layer with batch_first=True, or give it x.transpose(0, 1) and take out[-1].

Bad:

    self.lstm = nn.LSTM(features, hidden)      # out, _ = self.lstm(x); self.head(out[:, -1])

Good:

    self.lstm = nn.LSTM(features, hidden, batch_first=True)
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import Told, latest, nearest, training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.record.marks.model_marks import BatchAsTime

CODE = "D974"
NAME = "batch-taken-for-time"
CLASS = "wrong-loss"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

LEAST = 2  # looks
SHUFFLED = ("RandomSampler", "WeightedRandomSampler", "SubsetRandomSampler")


def match(job: Job) -> Match | None:
    """Returns the ranks whose layer goes over the batch."""
    found = [one for one in latest(job, BatchAsTime) if one.mark.run >= LEAST and _is_the_batch(one)]
    if not found:
        return None
    mark, process = found[0].mark, found[0].process
    path = own(process, mark.path)[:2]
    at = f" at {job.line(path[0])}" if path else ""
    made = nearest(job, process, re.compile(rf"\b{re.escape(mark.layer)}\("), path)
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{mark.layer}{at} goes over the {mark.rows} samples of the batch as if they were time: it is given "
        f"{mark.given} without batch_first, and the {mark.steps} steps of each sample count as {mark.steps} samples",
        evidence=[
            Evidence(
                source=f"what {mark.layer} is given, and what the model makes of it, in {mark.run} forward passes",
                observed=f"{mark.given}, and an output of {mark.rows} rows",
                expected=f"({mark.steps}, {mark.rows}, ...), or batch_first=True",
            )
        ],
        fix=f"build {mark.layer} with batch_first=True, or give it the steps first (x.transpose(0, 1))",
        places=(*made[:1], *path),
        confidence=Confidence.LIKELY,
    )


def _is_the_batch(told: Told[BatchAsTime]) -> bool:
    """Whether the first dimension is that of samples, which have no order."""
    sources = told.process.agent.sources if told.process.agent is not None else ()
    return told.mark.picked or any(
        one.number("batch_size") == told.mark.rows and one.facts.get("sampler") in SHUFFLED for one in sources
    )

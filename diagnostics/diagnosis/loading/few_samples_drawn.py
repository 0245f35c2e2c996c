"""A sampler draws the same few samples of the data set over and over, though it draws as many as there are.

What it does: counts the indices that a training loader's sampler gave in the batches of one pass. Told is a pass that
drew many and met few: less than one in eight of the draws was a new sample, and less than a tenth of the data set came.

Why it matters: the rest of the data is never used. The loss falls to nothing on what is seen. It is what
WeightedRandomSampler does that is given one weight for each class, and not one for each sample: it draws the numbers
0, 1, 2 of the data set.

Left alone: a data set of one batch on purpose, classes that are evened out, a pass that is ended early.

Fix: give it the weight of its class for each sample.

Bad:

    WeightedRandomSampler(1 / counts, num_samples=len(data))

Good:

    WeightedRandomSampler((1 / counts)[data.labels], num_samples=len(data))
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.mark_match import training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import lines_like
from diagnostics.dynamic.samples.training_passes import RankLoader, loaders

CODE = "D968"
NAME = "few-samples-drawn"
CLASS = "duplicate-data"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

LEAST_DRAWN = 64
MOST_NEW, MOST_OF_ALL = 8, 10  # one in so many


def match(job: Job) -> Match | None:
    """Returns the ranks whose sampler keeps to a few samples."""
    found = [
        (loader, drawn, met)
        for process in job.ranks
        for loader in loaders(process)
        if loader.passes and (seen := _few(loader)) is not None
        for drawn, met in (seen,)
    ]
    if not found:
        return None
    loader, drawn, met = found[0]
    length = loader.source.number("length") or 0
    sampler = loader.source.facts.get("sampler", "sampler")
    weighted = sampler == "WeightedRandomSampler"
    return training_match(
        job,
        [one.process for one, _, _ in found if one.key == loader.key],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"The {sampler} of the training loader drew {len(met)} of {length} samples in {drawn} draws, again and "
        "again: the others are never used",
        evidence=[
            Evidence(
                source=f"rank {loader.rank}, one pass: draws, and samples among them",
                observed=f"{drawn}, {len(met)}: {', '.join(map(str, sorted(met)[:5]))}",
                expected=f"about as many samples as draws, of {length}",
            )
        ],
        fix="give the sampler one weight for each sample, weights[labels], and not one for each class"
        if weighted
        else f"look at what the {sampler} gives: list(sampler) is to hold the indices of the whole data set",
        places=(*_made(job, loader, sampler), *loader.built_at()[:1]),
        confidence=Confidence.CONFIRMED,
    )


def _made(job: Job, loader: RankLoader, sampler: str) -> tuple[Frame, ...]:
    """Returns where the sampler was made, by the text where that was not told."""
    by_text = re.compile(rf"(?<!class )(?<!def )\b{re.escape(sampler)}\(")
    return loader.sampler_at()[:1] or lines_like(job, loader.process, by_text)[:1]


def _few(loader: RankLoader) -> tuple[int, frozenset[int]] | None:
    """Returns (draws, samples) of the first pass that kept to a few, None where none did."""
    length = loader.source.number("length") or 0
    for one in loader.passes:
        drawn = [index for batch in one.log for index in batch.indices if index >= 0]
        met = frozenset(drawn)
        if len(drawn) >= LEAST_DRAWN and len(met) * MOST_NEW < len(drawn) and len(met) * MOST_OF_ALL < length:
            return len(drawn), met
    return None

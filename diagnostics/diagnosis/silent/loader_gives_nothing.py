"""A loader has samples and hands over no batch, in any pass.

What it does: looks at the loaders that were gone over twice and more while the job trained, and handed over nothing on
any rank, though their data set has samples. With `drop_last`, a set that is smaller than one batch is left out whole;
a sampler may give no index.

Why it matters: the evaluation is one over nothing: its metric is 0, NaN or that of before, and picks the best model.

Fix: `drop_last=False` for evaluation, or a batch that is no larger than what each rank has.
"""

from __future__ import annotations

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.samples.training_passes import RankLoader, loaders
from diagnostics.record.batch_data import SourceKind

CODE = "D516"
NAME = "loader-gives-nothing"
CLASS = "loader-empty"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True
LEAST_PASSES = 2


def match(job: Job) -> Match | None:
    """Returns the ranks with such a loader."""
    every = [loader for process in job.ranks for loader in loaders(process)]
    if not any(loader.passes for loader in every):
        return None  # nothing was trained: that says more
    filled = {loader.key for loader in every if any(one.batches for one in loader.source.passes)}
    found = [loader for loader in every if loader.key not in filled and _is_empty(loader)]
    if not found:
        return None
    first = found[0]
    alike = [loader for loader in found if loader.key == first.key]
    built, passes = first.built_at()[:2], len(first.source.passes)
    samples = first.source.number("length")
    return training_match(
        job,
        [loader.process for loader in alike],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"The loader{f' of {job.line(built[0])}' if built else ''} hands over no batch, in none of {passes} "
        f"passes: {_why(first)}",
        evidence=[
            Evidence(
                source=f"rank {first.rank}: batches in {passes} passes over {samples} samples",
                observed="0",
                expected="1 or more in each",
            )
        ],
        fix="set drop_last=False there, or a batch_size that is no larger than what each rank has of the data set"
        if _drops(first)
        else "look at what the sampler gives: list(loader.sampler) is to hold indices of the data set",
        places=(*first.sampler_at()[:1], *built) if not _drops(first) else built,
        confidence=Confidence.CONFIRMED,
    )


def _is_empty(loader: RankLoader) -> bool:
    source = loader.source
    return (
        source.kind is SourceKind.LOADER
        and len(source.passes) >= LEAST_PASSES
        and all(one.ended for one in source.passes)
        and (source.number("length") or 0) > 0
    )


def _drops(loader: RankLoader) -> bool:
    return loader.source.number("drop_last") == 1


def _why(loader: RankLoader) -> str:
    facts, samples = loader.source.facts, loader.source.number("length")
    if not _drops(loader):
        return f"its {facts.get('sampler', 'sampler')} gives no index of {samples} samples"
    shared = (loader.source.number("num_replicas") or 1) > 1
    return (
        f"drop_last leaves out what is less than a batch of {facts.get('batch_size', 'its size')}, and "
        f"{'each rank has a part of ' if shared else 'there are '}{samples} samples"
    )

"""Each epoch leaves out its first batches: what an interrupted epoch had done is skipped in all that follow, too.

What it does: knows of each batch that a loader handed over whether a model was given any of it. Told where two and more
passes over one loader, one after the other, read as many batches at their begin, that no model was given, and trained
on all the others.

Why it matters: a run that goes on in the middle of an epoch skips what that epoch has already seen. Where the counter
is not set back, or the shortened loader replaces the real one, every later epoch trains on its tail alone: the run
ends after a fraction of its steps, with no error, and the skipped samples are seen no more. Left alone: one shortened
epoch, as after a resume; single batches, which a warm-up or a peek reads; passes that a model without gradients reads.

Bad:

    if resume_step is not None:
        loader = skip_first_batches(loader, resume_step)   # in each epoch

Good:

    if resume_step is not None:
        active, resume_step = skip_first_batches(loader, resume_step), None
"""

from __future__ import annotations

from itertools import pairwise, takewhile

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.diagnosis.mark_match import training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.samples.loader_lines import iterated_at
from diagnostics.dynamic.samples.skipping_lines import skipping_lines
from diagnostics.dynamic.samples.training_passes import RankLoader, loaders
from diagnostics.record.batch_data import LoaderPass, SourceKind

CODE = "D963"
NAME = "epochs-begin-late"
CLASS = "loader-empty"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

LEAST_PASSES = 2
LEAST_SKIPPED, LEAST_SHARE = 2, 0.05  # batches of a pass


def match(job: Job) -> Match | None:
    """Returns the ranks whose epochs leave out as many batches at their begin each time."""
    found = [
        (loader, passes)
        for process in job.ranks
        for loader in loaders(process)
        if loader.source.kind is SourceKind.LOADER and len(passes := _late(loader)) >= LEAST_PASSES
    ]
    if not found:
        return None
    loader, passes = found[0]
    skipped, batches = passes[0].batches - passes[0].trained, passes[0].batches
    skips = skipping_lines(job, loader.process)
    at = f", by {job.line(skips[0])}" if skips else ""
    return training_match(
        job,
        [one.process for one, _ in found if one.key == loader.key],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"Each epoch leaves out its first {skipped} of {batches} batches{at}: what one interrupted epoch had "
        "done is skipped in all that follow",
        evidence=[
            Evidence(
                source=f"rank {loader.rank}, pass {one.number + 1}: batches that were read, and that a model was "
                "trained on",
                observed=f"{one.batches}, {one.trained}",
                expected="as many" if one is not passes[0] else "",
            )
            for one in passes[:3]
        ],
        fix="set the number to skip back to 0 or None after the first epoch that is gone on with, and go over the "
        "whole loader from then on",
        places=(*skips[:2], *iterated_at(loader)[:1], *loader.built_at()[:1]),
        confidence=Confidence.CONFIRMED,
    )


def _late(loader: RankLoader) -> tuple[LoaderPass, ...]:
    """Returns the passes one after the other that began with as many unused batches, () where others came between."""
    trained = [one for one in loader.source.passes if one.steps]
    if any(other.number != one.number + 1 for one, other in pairwise(trained)):
        return ()
    late = [one for one in trained if one.ended and _skipped(one)]
    alike = [one for one in late if _skipped(one) == _skipped(late[0])]
    return tuple(alike) if len(alike) == len([one for one in trained if one.ended]) else ()


def _skipped(one: LoaderPass) -> int:
    """Returns how many batches a pass left out at its begin, 0 where it used the first or left out others."""
    left = one.batches - one.trained
    if left < LEAST_SKIPPED or left < LEAST_SHARE * one.batches or not one.trained:
        return 0
    # What was printed of a later pass are some of its batches only: they must not say otherwise.
    unused = list(takewhile(lambda batch: not batch.trained and not batch.evaluated, one.log))
    others = one.log[len(unused) :]
    fits = all(batch.number < left for batch in unused) and all(
        batch.trained and batch.number >= left for batch in others
    )
    return left if unused and fits else 0

"""Ranks that train one model read the same samples.

What it does: compares fingerprints of the batches that each rank's loader handed to the model. Tells ranks that got the
same samples in the same order, that each went over the whole data set, or whose parts overlap. Names where the loader
or its sampler was built, and whether the process group existed by then. Ranks that hold parts of one model, a batch
that is used again and again, a data set of a batch or two, constant data, and samples of other indices that equal
random numbers made alike are left alone.

Why it matters: nothing fails and the loss falls, but N ranks do the work of one: each sample counts N times, or an
epoch is N epochs. The usual cause is a loader that was built before the process group, without DistributedSampler.

Fix: build the loader after init_process_group with sampler=DistributedSampler(dataset, shuffle=True), and call
set_epoch on that sampler before each epoch; shard an IterableDataset by rank.
"""

from __future__ import annotations

import re

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Fix
from diagnostics.core.wording import distinct, sentence, shown_ranks
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.diagnosis.silent_match import as_told, print_table
from diagnostics.dynamic.job.evidence import source_evidence
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import lines_like
from diagnostics.dynamic.samples.asked_too_early import EarlyQuestion, asked_too_early
from diagnostics.dynamic.samples.epochs_apart import EpochsApart, epochs_apart
from diagnostics.dynamic.samples.loader_lines import PLAIN_SAMPLERS, dataset_words, lines_of
from diagnostics.dynamic.samples.shared_samples import SampleSharing, SharedSamples, shared_samples

CODE = "D510"
NAME = "ranks-share-samples"
CLASS = "duplicate-data"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

# How a program draws a part of a data set.
_DRAWN = re.compile(r"\brandom_split\(|\btrain_test_split\(|\brandperm\(|\bpermutation\(|\bshuffle\(")


def match(job: Job) -> Match | None:
    """Returns the ranks that read the same samples, None where each reads its own or may read those of others."""
    found = shared_samples(job)
    if found is None:
        return None
    loader = found.loaders[0]
    lines, early = lines_of(job, loader), asked_too_early(job, loader)
    apart = epochs_apart(found.loaders, found.number) if _divide_other_sets(found) else None
    drawn = lines_like(job, loader.process, _DRAWN)[:2] if _divide_other_sets(found) else ()
    first = early.made[:1] if early is not None else apart.called if apart is not None else drawn
    frames = first or loader.sampler_at() or loader.built_at()
    return as_told(
        job,
        blamed(
            job,
            [one.process for one in found.loaders],
            code=CODE,
            name=NAME,
            failure_class=CLASS,
            title=_title(found, _why(job, found, lines, early, apart)),
            evidence=[
                *print_table(found.loaders, found.shown, found.number),
                *(source_evidence(job, frames[0]) if frames else ()),
            ],
            fix=Fix(text=_remedy(job, found, early, apart)),
            locations=distinct([*map(job.line, first), *lines]),
            confidence=Confidence.CONFIRMED if found.sure else Confidence.LIKELY,
            outcome=JobOutcome.SILENT_WRONG,
            began_s=loader.process.began_s,
        ),
    )


def _why(
    job: Job, found: SharedSamples, lines: tuple[str, ...], early: EarlyQuestion | None, apart: EpochsApart | None
) -> str:
    if early is not None:
        return _early_cause(early, lines)
    if apart is None:
        return _cause(found, lines)
    stand = ", ".join(f"{epoch} on rank {rank}" for rank, epoch in apart.epochs)
    at = f"; set_epoch is called at {job.line(apart.called[0])}" if apart.called else ""
    return f"their samplers stand at different epochs ({stand}{at}), and each rank cuts its part out of another order"


def _remedy(job: Job, found: SharedSamples, early: EarlyQuestion | None, apart: EpochsApart | None) -> str:
    if early is not None:
        return _early_fix(job, early)
    if apart is not None:
        return "call set_epoch(epoch) with the same epoch on all ranks: the sampler itself gives each rank its own part"
    return _fix(job, found)


def _divide_other_sets(found: SharedSamples) -> bool:
    """Whether each sampler is told a rank of its own: what it divides is not the same on all ranks then."""
    told = [(one.source.number("sampler_rank"), one.source.number("num_replicas")) for one in found.loaders]
    return None not in told[0] and len({rank for rank, _ in told}) == len(told) and told[0][1] != 1


def _title(found: SharedSamples, cause: str) -> str:
    who = sentence(shown_ranks([one.rank for one in found.loaders]))
    if found.how is SampleSharing.SAME_ORDER:
        said = f"{who} train on the same samples in the same order"
    elif found.how is SampleSharing.PART:
        said = f"{who} train on parts that overlap, {found.samples} of {found.read} samples are the other's too"
    else:
        said = f"{who} each train on the whole data set, every sample {len(found.loaders)} times in an epoch"
    return f"{said}: {cause}"


def _early_cause(early: EarlyQuestion, lines: tuple[str, ...]) -> str:
    place = f" of {lines[0]}" if lines else ""
    return (
        f"{early.name} asks for its rank, and the loader{place} was built before the process group existed: each rank "
        "takes itself for rank 0 of 1"
    )


def _early_fix(job: Job, early: EarlyQuestion) -> str:
    group = f" (at {job.line(early.group)})" if early.group is not None else ""
    return f"call init_process_group{group} before {job.line(early.made[0])}"


def _cause(found: SharedSamples, lines: tuple[str, ...]) -> str:
    facts = found.loaders[0].source.facts
    place = f" of {lines[0]}" if lines else ""
    replicas, rank = facts.get("num_replicas"), facts.get("sampler_rank")
    if facts.get("kind") == "input":
        return f"what the model is given{place.replace(' of ', ' at ')} does not depend on the rank"
    late = "the process group did not exist yet when it was built"
    if facts.get("kind") == "iterable":
        return f"the loader{place} reads an IterableDataset that is not divided by rank"
    if _divide_other_sets(found):
        return (
            f"the sampler{place} is told each rank's own rank of {replicas}, and the data set that it divides is not "
            "the same on all of them"
        )
    if replicas is not None and rank is not None:
        said = f"the sampler{place} is told rank={rank} of num_replicas={replicas} on each of them"
        return f"{said}, {late}" if facts.get("group_at_sampler") == "0" else said
    if facts.get("sampler") in PLAIN_SAMPLERS:
        said = f"the loader{place} has a {facts.get('sampler')} and no DistributedSampler"
        said = said.replace("_InfiniteConstantSampler", "sampler of its own")
        return f"{said}; {late}" if facts.get("group_at_loader") == "0" else said
    return f"what the loader{place} reads does not depend on the rank"


def _fix(job: Job, found: SharedSamples) -> str:
    loader = found.loaders[0]
    facts, data = loader.source.facts, dataset_words(job, loader)
    if facts.get("kind") == "iterable":
        return (
            "let each rank and each worker skip what others read: in __iter__ of the data set, "
            "itertools.islice(samples, rank * workers + worker, None, world_size * workers)"
        )
    if facts.get("kind") == "input":
        return "give each rank its own samples: order[rank::world_size] of the order that all ranks shuffle alike"
    if _divide_other_sets(found):
        return (
            "draw the split alike on all ranks, whatever their seeds: random_split(data, lengths, "
            "generator=torch.Generator().manual_seed(0))"
        )
    before = "after init_process_group, " if facts.get("group_at_loader") == "0" else ""
    if facts.get("num_replicas") is not None:
        given = "num_replicas=dist.get_world_size(), rank=dist.get_rank()"
        return f"{before}write DistributedSampler({data}, {given}), and call set_epoch(epoch) on it before each epoch"
    return (
        f"{before}write sampler = DistributedSampler({data}, shuffle=True); DataLoader({data}, sampler=sampler, ...) "
        "without shuffle=True, and sampler.set_epoch(epoch) before each epoch"
    )

"""Each epoch goes over the samples in the same order, though the loader is to shuffle.

What it does: compares the indices and fingerprints of two epochs of one training. Tells whether set_epoch was never
called, called on another sampler, or after the iterator was made, and random numbers that are seeded alike before each
epoch. A loader that is not to shuffle, a data set of one batch, and two trainings in one process are left alone.

Why it matters: without shuffling the same samples meet in the same batches for ever; the model ends worse, and no curve
shows why. DistributedSampler(shuffle=True) shuffles by its epoch, and that is 0 until set_epoch is called.

Fix: call sampler.set_epoch(epoch) before `for batch in loader`, on the sampler that the loader holds.
"""

from __future__ import annotations

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.frames import user_frames
from diagnostics.core.wording import distinct, sentence, shown_ranks
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.diagnosis.silent_match import as_told, prints_text
from diagnostics.dynamic.job.evidence import source_evidence
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.samples.epoch_order import RepeatedOrder, Repeats, repeated_order
from diagnostics.dynamic.samples.loader_lines import iterated_at, lines_of, sampler_name, trainer_of

CODE = "D511"
NAME = "epochs-repeat-order"
CLASS = "missing-set-epoch"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

# Where a trainer that has the loop over epochs lets a program in.
_HOOKS = {
    "lightning": "on_train_epoch_start() of the module or a callback",
    "pytorch_lightning": "on_train_epoch_start() of the module or a callback",
    "transformers": "on_epoch_begin() of a TrainerCallback",
}


def match(job: Job) -> Match | None:
    """Returns the ranks whose epochs have one order, None where each is shuffled anew."""
    found = repeated_order(job)
    if found is None:
        return None
    loader = found.loaders[0]
    built, loop = lines_of(job, loader), iterated_at(loader)
    called = user_frames(found.passes[1].epoch_path, agent_folder=loader.process.agent_folder)
    late = called if found.why in (Repeats.SET_LATE, Repeats.OTHER_SAMPLER, Repeats.SET_ALIKE) else ()
    lines = distinct([*map(job.line, late[:1]), *built, *map(job.line, loop[:1])])
    who = sentence(shown_ranks([one.rank for one in found.loaders]))
    verb = "goes" if len(found.loaders) == 1 else "go"
    title = f"{who} {verb} over the samples in the same order in each epoch: {_cause(job, found, built)}"
    shown = [
        Evidence(
            source=f"rank {loader.rank}, epoch {one.number + 1} (the sampler's epoch is {_shown(one.epoch)})",
            observed=prints_text(one.log) or "no prints",
            expected="another order" if one is found.passes[1] else "",
        )
        for one in found.passes
    ]
    frames = loader.sampler_at() or loader.built_at()
    return as_told(
        job,
        blamed(
            job,
            [one.process for one in found.loaders],
            code=CODE,
            name=NAME,
            failure_class=CLASS,
            title=title,
            evidence=[*shown, *(source_evidence(job, frames[0]) if frames else ())],
            fix=Fix(text=_fix(job, found)),
            locations=lines,
            confidence=Confidence.LIKELY if found.why is Repeats.SEEDED_ALIKE else Confidence.CONFIRMED,
            outcome=JobOutcome.SILENT_WRONG,
            began_s=loader.process.began_s + found.passes[1].began_s,
        ),
    )


def _shown(epoch: int | None) -> str:
    return "unknown" if epoch is None else str(epoch)


def _cause(job: Job, found: RepeatedOrder, built: tuple[str, ...]) -> str:
    place = f" of {built[0]}" if built else ""
    called = user_frames(found.passes[1].epoch_path, agent_folder=found.loaders[0].process.agent_folder)
    at = f" at {job.line(called[0])}" if called else ""
    match found.why:
        case Repeats.NEVER_SET:
            return f"set_epoch is never called on the sampler{place}"
        case Repeats.OTHER_SAMPLER:
            return f"set_epoch is called{at} on another sampler than that{place}, which the loader uses"
        case Repeats.SET_LATE:
            return f"set_epoch is called{at} on the sampler{place} after the epoch's iterator was made"
        case Repeats.SET_ALIKE:
            return f"set_epoch is given the same epoch each time{at}, on the sampler{place}"
        case Repeats.NOT_IN_WORKERS:
            return (
                f"the workers of the loader{place} are kept from epoch to epoch (persistent_workers) with copies of "
                "the data set, which its set_epoch does not reach"
            )
        case Repeats.SEEDED_ALIKE:
            return f"the random numbers by which the loader{place} shuffles are seeded alike before each epoch"


def _fix(job: Job, found: RepeatedOrder) -> str:
    if found.why is Repeats.SEEDED_ALIKE:
        return "seed once before the first epoch, or with a seed that depends on the epoch"
    if found.why is Repeats.NOT_IN_WORKERS:
        return (
            "set persistent_workers=False, or keep the epoch in shared memory: a torch.zeros((), dtype=torch.long)"
            ".share_memory_() made in __init__, with fill_(epoch) in set_epoch"
        )
    loop, trainer = iterated_at(found.loaders[0]), trainer_of(found.loaders[0])
    name = sampler_name(job, found.loaders[0])
    if trainer == "accelerate":  # what it prepares hands the epoch on, and the loop is the program's own
        at = f", before {job.line(loop[0])}" if loop else ""
        return f"call set_epoch(epoch) in the loop over epochs{at}, on the loader that accelerator.prepare() returned"
    if trainer:
        hook = _HOOKS.get(trainer, "a callback that is called before each epoch")
        return f"write {name}.set_epoch(epoch) in {hook}: {trainer} goes over the loader itself"
    before = f" in the loop over epochs, before {job.line(loop[0])}" if loop else " before each epoch"
    return f"write {name}.set_epoch(epoch){before}"

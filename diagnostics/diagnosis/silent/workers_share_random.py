"""The data workers of a rank draw the same random numbers.

What it does: compares the states of the random generators with which the workers of a training loader begin (Python's,
NumPy's, torch's, and those that the data set holds), where they are drawn from for each batch. Names where the
generator is made.

Of a stream only generators count that make real numbers: workers may shuffle and choose alike, each its own samples.

Why it matters: a generator that the data set makes once is copied into each worker as it is, so that all workers crop,
flip and add noise alike, in each epoch again. There is less augmentation than it seems, and nothing fails.

Fix: make the generator in the worker, from its own seed: worker_init_fn, or torch.initial_seed() at the first use.
"""

from __future__ import annotations

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct, shown_ranks
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.diagnosis.silent_match import as_told
from diagnostics.dynamic.job.evidence import source_evidence
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.samples.loader_lines import lines_of
from diagnostics.dynamic.samples.worker_random import OWN, SharedGenerator, shared_generator

CODE = "D514"
NAME = "workers-share-random"
CLASS = "rng-collision"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True


def match(job: Job) -> Match | None:
    """Returns the ranks whose workers share a generator's state, None where each worker has its own."""
    found = shared_generator(job)
    if found is None:
        return None
    loader = found.loaders[0]
    made = found.made_at
    lines = distinct([*([job.line(made)] if made is not None else []), *lines_of(job, loader)])
    frame = made or next(iter(loader.built_at()), None)
    ranks = shown_ranks([one.rank for one in found.loaders])
    what = found.name if found.name in OWN else f"{found.dataset}.{found.name}"
    place = f" made at {job.line(made)}" if made is not None else ""
    title = (
        f"All {len(found.states)} workers of {ranks} draw the same random numbers: {what}{place} begins in one state "
        "in each of them"
    )
    shown = Evidence(
        source=f"rank {loader.rank}: state of {what} {_seen(found)} the first batch, by worker",
        observed=", ".join(f"worker {worker} {state}" for worker, state in found.states),
        expected="another one in each",
    )
    return as_told(
        job,
        blamed(
            job,
            [one.process for one in found.loaders],
            code=CODE,
            name=NAME,
            failure_class=CLASS,
            title=title,
            evidence=[shown, *(source_evidence(job, frame) if frame is not None else ())],
            fix=Fix(text=_fix(found)),
            locations=lines,
            confidence=Confidence.LIKELY,
            outcome=JobOutcome.SILENT_WRONG,
            began_s=loader.process.began_s,
        ),
    )


def _seen(found: SharedGenerator) -> str:
    return "after" if found.loaders[0].source.facts.get("kind") == "iterable" else "before"


def _fix(found: SharedGenerator) -> str:
    if found.name in OWN:
        return (
            "seed it in worker_init_fn with torch.initial_seed() % 2**32, which torch makes another one in each worker"
        )
    attribute = found.name
    return (
        f"in worker_init_fn, write torch.utils.data.get_worker_info().dataset.{attribute} = a new generator, seeded "
        "with torch.initial_seed() % 2**32, which torch makes another one in each worker and epoch"
    )

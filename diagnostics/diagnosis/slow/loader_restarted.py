"""A loader is begun anew for each batch, and its data workers with it.

What it does: counts the passes over each loader. Where twenty and more in a row were left after their first batch, and
the loader has workers, `next(iter(loader))` stands in the loop: each batch starts the workers, has them read several
batches ahead and ends them.

Why it matters: starting a worker takes some hundred times as long as making a batch. Told where the ranks spend 40 % of
a step and more outside of the model.

Fix: make the iterator once, and a new one where it is used up.

Bad:

    for step in range(steps):
        batch = next(iter(loader))

Good:

    for step, batch in zip(range(steps), endless(loader)):  # def endless(loader): while True: yield from loader
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.core.wording import distinct
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.diagnosis.slow_match import enough, told
from diagnostics.dynamic.job.evidence import source_evidence
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.source_lines import lines_like
from diagnostics.dynamic.samples.restarted_passes import restarted_loader
from diagnostics.dynamic.steps.split import Split
from diagnostics.dynamic.steps.table import percent
from diagnostics.dynamic.steps.view import step_view
from diagnostics.record.step_timings import Phase

CODE = "D806"
NAME = "loader-restarted"
CLASS = "data-starved"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

LEAST = 0.4  # of a step
BEGINS = re.compile(r"\bnext\(\s*iter\(|\biter\(\s*\w*(?:loader|dl|data)\w*\s*\)")


def match(job: Job) -> Match | None:
    """Returns the job whose loaders are begun anew for each batch."""
    found = [one for process in job.ranks if (one := restarted_loader(process)) is not None and one.workers]
    view = step_view(job)
    if not found or len(found) < len(job.ranks) or not view.splits:
        return None
    cost = min(_outside(one) for one in view.splits)
    lost_s = sum(_outside(one) * one.of.wall_s * len(one.of.steps) for one in view.splits[:1])
    if cost < LEAST or not enough(view.splits, lost_s):
        return None
    first = found[0]
    begins = lines_like(job, first.loader.process, BEGINS)[:2]
    frames = (*begins, *first.loader.built_at()[:1])
    at = f" at {job.line(begins[0])}" if begins else ""
    word = f"its {first.workers} workers are" if first.workers > 1 else "its worker is"
    return told(
        job,
        [],
        view.splits,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"The loader is begun anew{at} for each batch: {word} started and ended in every step, of which "
        f"{percent(cost)} and more pass outside of the model",
        evidence=[
            Evidence(
                source=f"rank {first.loader.rank}: passes over the loader",
                observed=f"{first.passes} and more, each left after its first batch",
                expected=f"one over {first.samples} samples" if first.samples else "one over all that it has",
            ),
            *(source_evidence(job, frames[0]) if frames else ()),
        ],
        fix="make the iterator once: def endless(loader): while True: yield from loader; and persistent_workers=True",
        locations=distinct([job.line(frame) for frame in frames]),
        confidence=Confidence.CONFIRMED,
    )


def _outside(one: Split) -> float:
    return one.share(Phase.DATA) + one.share(Phase.OTHER)

"""The ranks wait for their data for a large part of each step.

What it does: measures how long each rank waits in its loader, and how long the data workers, or the rank itself, take
to make a batch: in `__getitem__` on the CPU, in `__getitem__` waiting for files, in collate_fn, or in neither. It is
told where it is 40 % of a step or more on all ranks, and more workers, for which there is room on the machine, would
win a quarter or more, or `__getitem__` takes most of the CPU time for what it does in each pass anew: most looks see it
read and decode files, or the samples of one index came out the same in two passes.

Why it matters: devices and CPUs that were paid for stand still until the next batch comes.

Fix: num_workers as the page names it, with persistent_workers=True; or the stage that is slow: decode once and keep
what comes out, read fewer and larger files, collate with torch.stack.
"""

from __future__ import annotations

from diagnostics.core.findings import Evidence
from diagnostics.core.wording import distinct
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.diagnosis.slow_match import LEAST_STEPS, cpus_in_words, enough, told
from diagnostics.dynamic.job.evidence import source_evidence
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.samples.repeated_samples import made_alike
from diagnostics.dynamic.steps.advice import starvation_fix
from diagnostics.dynamic.steps.places import reading_line, starved_lines
from diagnostics.dynamic.steps.starvation import LoaderStage, Starvation
from diagnostics.dynamic.steps.table import milliseconds, percent
from diagnostics.dynamic.steps.view import StepView, step_view
from diagnostics.record.step_timings import Phase

CODE = "D802"
NAME = "ranks-wait-for-data"
CLASS = "data-starved"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

LEAST, LEAST_GAIN = 0.4, 0.25  # of a step
LEAST_READ, LEAST_READ_S = 0.5, 1.0  # of the CPU time of a step; in all
LEAST_SAMPLE_S = 0.0005  # of CPU for one sample: to take one out of a tensor or a list is 20 times as fast


def match(job: Job) -> Match | None:
    """Returns the job whose ranks wait for data, where that costs much and can be changed."""
    view = step_view(job)
    found = view.starved
    if found is None or view.on_device or found.cost < LEAST:
        return None
    if any(one.share(Phase.DATA) < LEAST / 2 for one in view.splits):
        return None
    read = reading_line(job, found)
    anew = _takes_most(found)
    alike = made_alike(found.loader) if anew and read is None and _computes(found) and found.loader is not None else 0
    if not (anew and (read is not None or alike)) and not _by_workers(view, found):
        return None
    frames = starved_lines(job, found)
    if anew and read is not None:
        frames = tuple(dict.fromkeys((read, *frames)))
    elif alike:
        frames = frames[::-1]
    return told(
        job,
        [],
        view.splits,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=_title(found)
        + (f", {job.line(read)} reads and decodes files in each pass" if anew and read is not None else "")
        + (", and makes the same samples anew in each pass" if alike else ""),
        evidence=[
            *_stages(found),
            *_alike(alike),
            cpus_in_words(view.cpus),
            *(source_evidence(job, frames[0]) if frames else ()),
        ],
        fix=starvation_fix(found),
        locations=distinct([job.line(frame) for frame in frames]),
    )


def _takes_most(found: Starvation) -> bool:
    """Whether making batches costs most of a step's CPU time, which neighbours do not change, in several passes."""
    steps = found.splits[0].of.steps
    passes = len(found.loader.passes) if found.loader is not None else 0
    read_s = (found.batch_cpu_s or 0.0) * len(steps)
    return found.cpu_cost >= LEAST_READ and passes > 1 and len(steps) >= LEAST_STEPS and read_s >= LEAST_READ_S


def _computes(found: Starvation) -> bool:
    """Whether `__getitem__` computes, more than it takes to hand out what is in memory."""
    rows = found.loader.source.number("batch_size") if found.loader is not None else None
    if found.stage is not LoaderStage.DECODE or not rows or found.batch_cpu_s is None:
        return False
    return found.batch_cpu_s / rows >= LEAST_SAMPLE_S


def _by_workers(view: StepView, found: Starvation) -> bool:
    """Whether more workers would win much, and nobody else took the CPUs."""
    if found.gain < LEAST_GAIN or found.sure_cost < LEAST or not enough(view.splits, found.lost_s):
        return False
    return found.stage is LoaderStage.READ or not view.cpus.by_others


def _title(found: Starvation) -> str:
    who = "Each rank waits" if len(found.splits) > 1 else "The job waits"
    made = f"a batch takes {milliseconds(found.batch_s)} ms to make, " if found.batch_s is not None else ""
    by = f"{found.workers} worker{'s' if found.workers != 1 else ''} a rank" if found.workers else "no workers"
    slow = f"; slow is {found.stage}" if found.stage is not LoaderStage.UNKNOWN else ""
    return f"{who} {milliseconds(found.wait_s)} ms of each step for data, {percent(found.cost)}: {made}by {by}{slow}"


def _alike(count: int) -> list[Evidence]:
    if not count:
        return []
    return [
        Evidence(
            source="samples of one index in two passes, by their fingerprints",
            observed=f"{count} came twice, each with the same contents",
        )
    ]


def _stages(found: Starvation) -> list[Evidence]:
    if found.batch_s is None or found.batch_cpu_s is None:
        return []
    return [
        Evidence(
            source="making one batch, on average (in the data workers)" if found.workers else "making one batch",
            observed=f"{milliseconds(found.batch_s)} ms, of which {milliseconds(found.batch_cpu_s)} ms on a CPU",
        )
    ]

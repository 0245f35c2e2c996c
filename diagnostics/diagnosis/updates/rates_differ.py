"""Ranks of one model come to different learning rates: equal gradients move their weights apart.

What it does: compares the learning rates of ranks that hold the same weights and share their gradients, over the whole
run. Where they were equal, and differ from some step on to the end, something on each rank decided by itself: as a rule
ReduceLROnPlateau, which was given each rank's own loss.

Why it matters: the ranks apply the same gradients in steps of different sizes. From then on each computes gradients of
another model, and the checkpoint is rank 0's.

Fix: let all ranks decide by one number: average the metric over the ranks before `scheduler.step(metric)`.

Bad:

    scheduler.step(validation_loss)

Good:

    dist.all_reduce(validation_loss, op=dist.ReduceOp.AVG)
    scheduler.step(validation_loss)
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Evidence
from diagnostics.core.frame import Frame
from diagnostics.core.wording import shown_ranks
from diagnostics.diagnosis.replica_match import replica_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.replicas.rates import DifferentRates, different_rates
from diagnostics.dynamic.replicas.source_lines import lines_like, own
from diagnostics.dynamic.replicas.tables import value_table
from diagnostics.record.training_marks import RateByNumber

CODE = "D933"
NAME = "rates-differ"
CLASS = "rank-divergence"
EXAMINES = AppliesTo.ANY
WHILE_RUNNING = True

# What sets a rate by hand, and what steps a schedule.
_SETS = (re.compile(r"\[.lr.\]\s*[*/]?="), re.compile(r"\bsched\w*\.step\("))


def match(job: Job) -> Match | None:
    """Returns the ranks whose rates parted."""
    apart = different_rates(job)
    if apart is None:
        return None
    found = apart.found
    lowered = {process.pid: _lowered(process, found.optimizer) for process in found.processes}
    told = next((marks[0] for marks in lowered.values() if marks), None)
    first = next((process for process in found.processes if lowered[process.pid]), found.processes[0])
    at = own(first, told.path)[:1] if told is not None else ()
    why = f": {told.scheduler}{f' at {job.line(at[0])}' if at else ''} is given another number on each" if told else ""
    shown = ", ".join(f"{rates[0]:g} on rank {rank}" for rank, rates in apart.rates.items() if rates and rates[0])
    return replica_match(
        job,
        found,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"The learning rates of {shown_ranks(found.ranks)} differ by step {apart.step} ({shown}), while they "
        f"share their gradients{why}",
        evidence=[_rates_table(apart), *_numbers(found.processes, lowered), *_values(apart)],
        fix="give all ranks the same number: dist.all_reduce(metric, op=dist.ReduceOp.SUM), divided by the world size, "
        "before scheduler.step(metric)"
        if told is not None
        else "let all ranks decide alike: all_reduce what the rate depends on before it is changed",
        places=(*at, *(own(first, told.made)[:1] if told is not None else ()), *_guessed(job, first, told is None)),
    )


def _lowered(process: JobProcess, optimizer: int) -> list[RateByNumber]:
    return [one for one in process.prints.marks_of(RateByNumber) if one.optimizer == optimizer]


def _guessed(job: Job, process: JobProcess, wanted: bool) -> tuple[Frame, ...]:
    return tuple(frame for way in _SETS for frame in lines_like(job, process, way)[:1]) if wanted else ()


def _rates_table(apart: DifferentRates) -> Evidence:
    steps = [step for step in apart.found.steps if step <= apart.step][-2:]
    rows = [
        f"before step {step}  " + ", ".join(f"rank {rank}: {_text(look.rates)}" for rank, look in looks.items())
        for step, looks in ((step, apart.found.looks[step]) for step in steps)
    ]
    return Evidence(source="learning rates of the groups", observed="\n".join(rows), expected="equal on all ranks")


def _text(rates: tuple[float | None, ...]) -> str:
    return " ".join("?" if rate is None else f"{rate:g}" for rate in rates)


def _numbers(processes: tuple[JobProcess, ...], lowered: dict[int, list[RateByNumber]]) -> list[Evidence]:
    rows = [
        f"rank {process.rank}: "
        + (", ".join(f"{_given(one)} after step {one.step}" for one in lowered[process.pid][:3]) or "never lowered")
        for process in processes
    ]
    if not any(lowered.values()):
        return []
    return [Evidence(source="numbers by which the rate was lowered", observed="\n".join(rows), expected="equal ones")]


def _given(mark: RateByNumber) -> str:
    number = "a number" if mark.number is None else f"{mark.number:.6g}"
    return f"{number} (rate {mark.before:g} to {mark.rate:g})"


def _values(apart: DifferentRates) -> list[Evidence]:
    tensors = apart.tensors
    return [value_table(apart.found, apart.found.steps[-1], tensors[0])] if tensors else []

"""Makes the answer of a record; leads this room."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from statistics import median

from diagnostics.core.errors import DoctorError, UsageError
from diagnostics.core.shell_quoting import pasteable_here
from diagnostics.core.wording import format_bytes
from diagnostics.diagnosis.engine import job_from_record, record_folder
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.samples.training_passes import training_loaders
from diagnostics.dynamic.steps.memory_growth import MemoryGrowth
from diagnostics.dynamic.steps.split import Split
from diagnostics.dynamic.steps.steady import LEAST
from diagnostics.dynamic.steps.view import StepView, step_view
from diagnostics.perf.answer import Bound, PerfAnswer, Throughput
from diagnostics.perf.changes import changes
from diagnostics.record.record import RunRecord
from diagnostics.record.step_timings import Phase

UNDECIDED = 3
ON_DEVICE = (
    "a device computes: these are the times in which the host was held up; no device was waited for, so forward and "
    "backward are what it takes to launch them"
)


def newest_run(reports: Path) -> Path:
    """Returns the newest folder with a record. Raises UsageError where there is none."""
    found = [path.parent.parent for path in reports.glob("*/record/job.json")] if reports.is_dir() else []
    if not found:
        raise UsageError(
            f"{reports} holds no watched run", hint="make one: ups-doctor perf -- torchrun --nproc-per-node 2 train.py"
        )
    return max(found, key=lambda folder: (folder / "record" / "job.json").stat().st_mtime_ns)


def answer_of(folder: Path, baseline: Path | None = None, notes: Sequence[str] = ()) -> PerfAnswer:
    """Returns the answer about a run's folder. Raises DoctorError, with exit code 3 where it has too few steps."""
    job, view = _read(folder)
    one = None
    if baseline is not None:
        try:
            alone, of_one = _read(baseline)
            one = throughput(alone, of_one)
        except DoctorError as error:
            notes = (*notes, f"the run with one rank tells nothing: {error.message}")
    return made_of(job, view, one, notes)


def _read(folder: Path) -> tuple[Job, StepView]:
    record = RunRecord.load(record_folder(folder))
    if record.job is None and not record.agents:
        raise DoctorError(
            f"{folder} holds no record of a job", hint="name the folder that `ups-doctor run` made", exit_code=2
        )
    job = job_from_record(record)
    view = step_view(job)
    if not view.splits:
        made = max((process.steps for process in job.processes), default=0)
        raise DoctorError(
            f"too little to tell: {made} optimizer step{'s' if made != 1 else ''} on the busiest rank; "
            f"{LEAST} steady ones that all ranks made are needed",
            hint=_why_so_few(job, folder),
            exit_code=UNDECIDED,
        )
    return job, view


def _why_so_few(job: Job, folder: Path) -> str:
    """Returns what helps: of a job that failed by itself, no longer run does."""
    if job.failed and not job.facts.asked_to_end:
        return f"it failed, see why: ups-doctor diagnose {pasteable_here(folder)}"
    return "let it run for longer: ups-doctor perf --steps 100 -- CMD"


def throughput(job: Job, view: StepView) -> Throughput:
    """Returns how fast a run is."""
    step_s = median(one.of.wall_s for one in view.splits)
    rows = [_rows(one) for one in view.splits]
    known = [count for count in rows if count]
    rows_s = sum(known) / step_s if len(known) == len(rows) and step_s else None
    return Throughput(ranks=len(view.splits), step_s=step_s, rows_s=rows_s)


def _rows(one: Split) -> float | None:
    """Returns the samples of a rank's step, as its loaders handed them over."""
    passes = [told for loader in training_loaders(one.of.process) for told in loader.passes]
    printed, rows = sum(told.printed for told in passes), sum(told.rows for told in passes)
    steps, batches = sum(told.steps for told in passes), sum(told.batches for told in passes)
    return rows / printed * batches / steps if printed and steps and rows else None


def made_of(job: Job, view: StepView, one: Throughput | None = None, notes: Sequence[str] = ()) -> PerfAnswer:
    """Returns the answer about a job whose steps are known; `one` is the throughput of one rank alone."""
    many = throughput(job, view)
    floor = min(split.exposed for split in view.splits) if len(view.splits) > 1 else 0.0
    mean = sum(split.exposed for split in view.splits) / len(view.splits)
    data = view.starved.cost if view.starved is not None else 0.0
    first = view.splits[0].of
    on_device = any(split.of.process.agent.timings.on_device for split in view.splits if split.of.process.agent)
    said = [*notes, *([ON_DEVICE] if on_device else []), *(_growth(one_of) for one_of in view.growing)]
    if any(split.delay_s is None for split in view.splits):
        said.append("nobody looked often enough at the processes to say for how long they lacked a CPU")
    return PerfAnswer(
        command=shlex.join(job.facts.command),
        steps=len(first.steps),
        first_step=first.steps[0].number,
        last_step=first.steps[-1].number,
        on_device=on_device,
        view=view,
        throughput=many,
        baseline=one,
        efficiency=_efficiency(many, one) if one is not None else None,
        at_work=max(0.0, 1.0 - mean - data),
        exposed=floor,
        waiting=mean - floor,
        bound=_bound(view, floor),
        changes=changes(job, view),
        notes=tuple(said),
    )


def _efficiency(many: Throughput, one: Throughput) -> float | None:
    """Returns throughput by rank against one rank alone: samples where they are known, else steps of equal batches."""
    if many.rows_s and one.rows_s:
        return many.rows_s / many.ranks / (one.rows_s / one.ranks)
    return one.step_s / many.step_s if many.step_s else None


def _bound(view: StepView, floor: float) -> Bound:
    ranks = view.splits

    def mean(phase: Phase) -> float:
        return sum(one.share(phase) for one in ranks) / len(ranks)

    lacking = [one.delay_s / one.mean_s for one in ranks if one.delay_s is not None and one.mean_s]
    lack = sum(lacking) / len(lacking) if lacking else 0.0
    waiting = sum(one.exposed for one in ranks) / len(ranks)
    shares = {
        Bound.COMPUTE: mean(Phase.FORWARD) + mean(Phase.BACKWARD) + mean(Phase.OPTIMIZER),
        Bound.DATA: mean(Phase.DATA),
        Bound.NETWORK: floor,
        Bound.LATE_RANK: view.late.cost if view.late is not None else waiting - floor,
        Bound.HOST: mean(Phase.OTHER) + mean(Phase.CHECKPOINT) + mean(Phase.EVALUATION),
        Bound.CPUS: lack,
    }
    return max(shares, key=lambda one: shares[one])


def _growth(one: MemoryGrowth) -> str:
    return (
        f"the memory of rank {one.of.rank} grew from {format_bytes(one.first_bytes)} to "
        f"{format_bytes(one.last_bytes)}, by {format_bytes(one.step_bytes)} in each step"
    )

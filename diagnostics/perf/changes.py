"""What would make the steps shorter, largest estimate first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from statistics import median

from diagnostics.core.frames import user_frames
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.steps.advice import starvation_fix, straggler_fix, threads_fix
from diagnostics.dynamic.steps.places import line_in, starved_lines, straggler_line, threads_line
from diagnostics.dynamic.steps.split import Split
from diagnostics.dynamic.steps.straggler import Reason
from diagnostics.dynamic.steps.table import LABELS, milliseconds, percent
from diagnostics.dynamic.steps.view import StepView
from diagnostics.perf.answer import Change
from diagnostics.record.step_timings import Phase

LEAST = 0.02  # of a step
MOST = 3
HIDDEN = 0.5  # of communication that does not overlap yet, what larger overlap hides as a rule
_OTHERS = 0.1


def changes(job: Job, view: StepView) -> tuple[Change, ...]:
    """Returns at most three, with their estimates."""
    found = [*_late(job, view), *_data(job, view), *_threads(job, view), *_exposed(view), *_neighbours(view)]
    found += [*_beside(job, view), *_garbage(view.splits), *_compiled(view.splits)]
    worth = [one for one in found if one.gain >= LEAST]
    return tuple(sorted(worth, key=lambda one: -one.gain)[:MOST])


def _late(job: Job, view: StepView) -> Iterator[Change]:
    late = view.late
    if late is None:
        return
    process = late.split.of.process
    frames = user_frames(straggler_line(job, late), agent_folder=process.agent_folder)
    if late.replicas:
        what = (
            f"rank {late.split.rank} is last in {percent(late.often)} of the steps, by {milliseconds(late.gain_s)} ms: "
            f"{late.reason} ({LABELS[late.phase]})"
        )
        do = straggler_fix(late)
    else:
        what = (
            f"rank {late.split.rank} does {milliseconds(late.lost_s / len(late.split.of.steps))} ms more in each step "
            "than any other; it runs another part of the model"
        )
        do = "balance the stages: move layers from it to the others"
    sure = late.reason in (Reason.NEIGHBOUR, Reason.UNKNOWN)
    place = job.line(frames[0]) if frames and not sure else ""
    yield Change(what=what, do=do, cost=late.cost, gain=late.cost, place=place)


def _data(job: Job, view: StepView) -> Iterator[Change]:
    found = view.starved
    if found is None or found.cost < LEAST or (view.late is not None and view.late.phase is Phase.DATA):
        return
    made = f"; a batch takes {milliseconds(found.batch_s)} ms to make" if found.batch_s is not None else ""
    workers = f"{found.workers} worker{'s' if found.workers != 1 else ''}" if found.workers else "no workers"
    frames = starved_lines(job, found)
    yield Change(
        what=f"each rank waits {milliseconds(found.wait_s)} ms for data, with {workers}{made}; slow is {found.stage}",
        do=starvation_fix(found),
        cost=found.cost,
        gain=found.gain or found.cost / 2,
        place=job.line(frames[0]) if frames else "",
    )


def _threads(job: Job, view: StepView) -> Iterator[Change]:
    found = view.crowded
    if found is not None:
        yield Change(
            what=f"{len(found.splits)} ranks with {found.threads} threads each share {found.cpus} CPUs",
            do=threads_fix(found),
            cost=found.lost,
            gain=found.lost,
            place=next(iter(threads_line(job, found)), ""),
        )


def _neighbours(view: StepView) -> Iterator[Change]:
    """Other programs on the same CPUs; a rank that has none for a while is not at fault."""
    taken = (view.cpus.others or 0.0) + (view.cpus.stolen or 0.0)
    delays = [one.delay_s / one.mean_s for one in view.splits if one.delay_s is not None and one.mean_s]
    if taken < _OTHERS or not delays or view.crowded is not None:
        return
    lost = min(1.0, sum(delays) / len(delays))
    yield Change(
        what=f"other programs use {percent(taken)} of the CPUs (noisy neighbours); ranks had none "
        f"for {percent(lost)} of the time",
        do="end them, or give the job CPUs of its own. Estimate: as much as was lost",
        cost=lost,
        gain=lost,
    )


def _exposed(view: StepView) -> Iterator[Change]:
    if len(view.splits) < 2:
        return
    share = min(one.exposed for one in view.splits)
    backward = sum(one.share(Phase.BACKWARD) for one in view.splits) / len(view.splits)
    yield Change(
        what=f"communication is not hidden behind computation: {percent(share)} of the step where ranks wait least",
        do="let it overlap with backward: smaller buckets (bucket_cap_mb) where there is one bucket only, "
        "gradient_as_bucket_view=True; or less of it: no_sync() over several batches, a compressing hook. "
        f"Estimate: {percent(min(HIDDEN * share, backward))}",
        cost=share,
        gain=min(HIDDEN * share, backward),
    )


def _beside(job: Job, view: StepView) -> Iterator[Change]:
    """Host work, checkpoints and evaluation that all ranks do in the step."""
    texts = {
        Phase.OTHER: "do less of it in the step: .item(), printing, logging and clipping every so many steps",
        Phase.CHECKPOINT: "write checkpoints less often, or in the background (async_save)",
        Phase.OPTIMIZER: "a fused or foreach optimizer: fused=True",
    }
    for phase, do in texts.items():
        least = min((one.share(phase) for one in view.splits), default=0.0)
        frames = line_in(view.splits[0].of.process, phase) if view.splits else ()
        yield Change(
            what=f"{LABELS[phase]} takes {percent(least)} of the step on every rank",
            do=f"{do}. Estimate: half of it",
            cost=least,
            gain=least / 2,
            place=job.line(frames[0]) if frames else "",
        )


def _garbage(splits: Sequence[Split]) -> Iterator[Change]:
    shares = [sum(step.gc_s for step in one.of.steps) / one.of.total_s for one in splits if one.of.total_s]
    share = max(shares, default=0.0)
    yield Change(
        what=f"garbage collection takes {percent(share)} of the step",
        do="gc.freeze() after the model is made, or gc.disable() and gc.collect() every 1000 steps on all ranks",
        cost=share,
        gain=share,
    )


def _compiled(splits: Sequence[Split]) -> Iterator[Change]:
    """Steps after the first ones in which graphs were compiled anew."""
    for one in splits[:1]:
        agent = one.of.process.agent
        steps = agent.timings.steps if agent is not None else ()
        late = [step for step in steps if step.number >= one.of.steps[0].number]
        anew = [later for earlier, later in pairwise(late) if later.compiles > earlier.compiles]
        total = sum(step.wall_s for step in late)
        if not anew or not total:
            continue
        usual = median(step.wall_s for step in late)
        share = sum(max(0.0, step.wall_s - usual) for step in anew) / total
        yield Change(
            what=f"graphs were compiled anew in {len(anew)} steps, last in step {anew[-1].number}",
            do="make shapes and Python values constant, pad to a few lengths, or torch.compile(dynamic=True); "
            "TORCH_LOGS=recompiles names the guards",
            cost=share,
            gain=share,
        )

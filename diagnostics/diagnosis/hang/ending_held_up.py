"""All work was done, and a rank does not end.

What it does: where a job stood still and every rank has either ended well or is on its way out, names what those wait
for that do not end: a thread that is no daemon, a pool's task, an exit handler, a child that nobody ends, a queue that
nobody reads, a tracker's flush, the teardown of the process group; and the line that made it.

Why it matters: the results are there, and the job holds its machines until somebody ends it.

Fix: end the thread or child before the program ends, make it a daemon, or give the flush a timeout.
"""

from __future__ import annotations

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct, sentence
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.evidence import names_of, path_evidence, stood_still
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.process_queries import is_alive
from diagnostics.dynamic.stall.interpreter_exit import work_done_s
from diagnostics.dynamic.stall.shutdown import ShutdownBlocker, ShutdownCause, holdup, orphans

CODE = "D340"
NAME = "ending-held-up"
CLASS = "shutdown-hang"
EXAMINES = AppliesTo.ANY

_FIXES = {
    ShutdownCause.THREAD: "make the thread a daemon, or tell it to stop and join it before the program ends",
    ShutdownCause.POOL: "end what the pool runs (cancel it, or send it a last item) before pool.shutdown()",
    ShutdownCause.CHILD: "terminate and join the child before the program ends, or start it with daemon=True",
    ShutdownCause.FEEDER: (
        "read all that is put into the queue before its writer is joined, or call queue.cancel_join_thread() where it "
        "may be lost"
    ),
    ShutdownCause.HANDLER: "let the exit handler wait with a timeout, and end what it waits for first",
    ShutdownCause.LOADER: "let the dataset's __getitem__ return: a worker does not answer when it is asked to end",
    ShutdownCause.DESTROY: "let all ranks call destroy_process_group, after a barrier and torch.cuda.synchronize()",
    ShutdownCause.NATIVE: "call destroy_process_group() on every rank before the program ends",
    ShutdownCause.PROGRAM: "let it wait with a timeout, and see whether what it waits for still lives",
}


def match(job: Job) -> Match | None:
    """Returns the ranks that do not end and what holds them up, None where any rank has work left."""
    if not stood_still(job) or not any(process.agent is not None for process in job.processes):
        return None
    alive = [process for process in job.ranks if is_alive(process)]
    gone = [process for process in job.ranks if process not in alive]
    if any(process.failed for process in gone):
        return None
    held = [one for process in alive if (one := holdup(job, process)) is not None]
    if alive:
        return _held(job, held, gone) if len(held) == len(alive) else None
    if not job.ranks:
        return None
    above = [one for process in job.processes if (one := holdup(job, process)) is not None and process.rank is None]
    return _left_behind(job) or (_held(job, above, gone) if above else None)


def _held(job: Job, held: list[ShutdownBlocker], gone: list[JobProcess]) -> Match:
    first = next((one for one in held if one.locations), held[0])
    processes = [one.process for one in held]
    done = f", {names_of(gone)} had ended" if gone else ""
    return blamed(
        job,
        processes,
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{sentence(names_of(processes))} had done all work and did not end{done}: {_why(first)}",
        evidence=(
            Evidence(source="record/job.json: stalls", observed=_steps(job), expected="the end of the program"),
            *(one for each in held for one in _stacks(job, each)),
        ),
        fix=Fix(text=_FIXES[first.reason]),
        locations=distinct([*first.locations, *(line for one in held for line in one.locations)]),
        confidence=Confidence.CONFIRMED if all(one.sure for one in held) else Confidence.LIKELY,
        outcome=JobOutcome.HANG,
        began_s=min(_began(job), *(work_done_s(job, process) for process in processes)),
    )


def _left_behind(job: Job) -> Match | None:
    found = orphans(job)
    if not found:
        return None
    child, rank, lines = found[0]
    waiting = [one for one in job.processes if is_alive(one) and one.pid != child.pid and one.rank is None]
    return blamed(
        job,
        [rank],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"Every rank had ended, and process {child.pid} ({' '.join(child.argv[:4])}), which {names_of([rank])} "
        f"started{f' at {lines[0]}' if lines else ''}, lived on"
        + (f"; {names_of(waiting)} waited until it closes their pipe or ends" if waiting else ""),
        evidence=(Evidence(source="processes of the job", observed=f"{child.pid} outlived its parent {rank.pid}"),),
        fix=Fix(text="end what the program started before it ends, or give it an output of its own (stdout=DEVNULL)"),
        locations=lines,
        confidence=Confidence.LIKELY,
        outcome=JobOutcome.HANG,
        explains=[child.pid],
        began_s=_began(job),
    )


def _why(one: ShutdownBlocker) -> str:
    made = f" at {one.made[0]}" if one.made else ""
    stands = f", which stood at {one.stands[0]}" if one.stands else ""
    name = f" {one.name}" if one.name else ""
    return {
        ShutdownCause.THREAD: f"the interpreter waits for thread{name}, started{made}{stands}; it is no daemon",
        ShutdownCause.POOL: f"the interpreter waits for a task that was submitted{made}{stands} ({one.name})",
        ShutdownCause.CHILD: f"it joins its child{name}, started{made}{stands}",
        ShutdownCause.FEEDER: (
            f"what was put into a multiprocessing queue{stands.removeprefix(', which stood')} was never read, and its "
            f"writer thread waits{f'; its parent joins it at {one.name} and does not read' if one.name else ''}"
        ),
        ShutdownCause.HANDLER: f"its exit handler{name}, registered{made}{stands or ', does not return'}",
        ShutdownCause.LOADER: f"it waits for the workers of the DataLoader made{made}",
        ShutdownCause.DESTROY: f"it waits in destroy_process_group{made}",
        ShutdownCause.NATIVE: "its Python code was through, and its process stayed",
        ShutdownCause.PROGRAM: f"it waits{made}, after its training",
    }[one.reason]


def _stacks(job: Job, one: ShutdownBlocker) -> tuple[Evidence, ...]:
    stacks = one.process.stacks
    return path_evidence(job, f"stack of {names_of([one.process])}", stacks[0]) if stacks else ()


def _steps(job: Job) -> str:
    steps = max((process.steps for process in job.ranks), default=0)
    return f"no progress from {_began(job):.1f} s on, after {steps} optimizer steps"


def _began(job: Job) -> float:
    return next((stall.began_s for stall in reversed(job.facts.stalls) if stall.over_s is None), 0.0)

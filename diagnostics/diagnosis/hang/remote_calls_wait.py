"""Every thread that serves remote calls waits for a remote call itself, so that nobody is left to serve one.

What it does: looks in the stacks of a job that stands still for threads in which torch.distributed.rpc runs a call of
another process. Told is where each of them, on whatever rank, waits for an answer of a further call: in rpc_sync, or
in wait() of a future. Names the line of each such call, then those where the ranks' own programs wait.

Why it matters: a process serves as many calls at once as it has threads (num_worker_threads). Where a served call calls
back, and that one calls again, each waits for a thread that waits for it; nothing ends it before rpc_timeout.

Fix: give what is needed along or back with the first call in place of calling back, write the function with
@rpc.functions.async_execution, or set more threads than calls can be inside of each other.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Fix
from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.core.wording import distinct
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.evidence import path_evidence, stood_still
from diagnostics.dynamic.job.job import Job, JobProcess

CODE = "D305"
NAME = "remote-calls-wait-for-each-other"
CLASS = "p2p-deadlock"
EXAMINES = AppliesTo.ANY

SHOWN = 3  # served calls in the title
_RPC, _FUTURES = "/torch/distributed/rpc/", "/torch/futures/"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedCall:
    """A call of another process that a thread of this one runs; `own` are the job's own frames in it."""

    process: JobProcess
    stack: tuple[Frame, ...]
    own: tuple[Frame, ...]

    @property
    def name(self) -> str:
        """The function that was called from elsewhere."""
        return self.own[-1].function.rpartition(".")[2]

    @property
    def waits(self) -> bool:
        """Whether it waits for the answer of a remote call."""
        inner = self.stack[: self.stack.index(self.own[0])] if self.own else ()
        return any(_RPC in frame.file or _FUTURES in frame.file for frame in inner)


def match(job: Job) -> Match | None:
    """Returns the ranks whose served calls wait, None where one of them does something else or nobody serves."""
    if not stood_still(job):
        return None
    served = list(_served(job))
    if not served or not all(one.waits for one in served) or not all(process.stacks for process in job.ranks):
        return None
    lines = [job.line(one.own[0]) for one in served]
    return blamed(
        job,
        list({one.process.pid: one.process for one in served}.values()),
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{_title(job, served)}: each thread that serves remote calls waits for one, which none is left to serve",
        evidence=[
            row
            for one in served[:SHOWN]
            for row in path_evidence(job, f"a call that rank {one.process.rank} serves", one.stack)
        ],
        fix=Fix(
            text=f"do not call back at {lines[0]} inside a remote call: give what is needed with the first one, or "
            "set more threads than calls can be inside of each other: "
            "TensorPipeRpcBackendOptions(num_worker_threads=...)"
        ),
        locations=distinct([*lines, *(job.line(one.own[1]) for one in served if one.own[1:]), *_programs(job)]),
        confidence=Confidence.LIKELY,
        outcome=JobOutcome.HANG,
        explains=[process.pid for process in job.ranks],
        began_s=job.facts.stalls[-1].began_s if job.facts.stalls else None,
    )


def _served(job: Job) -> Iterator[ServedCall]:
    """Yields the threads in which rpc runs a function of the job's, by rank."""
    for process in job.ranks:
        for stack in process.stacks:
            if any(_RPC in frame.file and frame.function == "_run_function" for frame in stack):
                yield ServedCall(
                    process=process, stack=stack, own=user_frames(stack, agent_folder=process.agent_folder)
                )


def _title(job: Job, served: list[ServedCall]) -> str:
    shown = [
        f"rank {one.process.rank} serves {one.name}() and waits in it at {job.line(one.own[0])}"
        for one in served[:SHOWN]
    ]
    more = f", and {len(served) - SHOWN} more" if served[SHOWN:] else ""
    return f"R{', '.join(shown)[1:]}{more}"


def _programs(job: Job) -> Iterator[str]:
    """Yields the lines where the ranks' own programs stand."""
    for process in job.ranks:
        own = user_frames(process.stacks[0], agent_folder=process.agent_folder) if process.stacks else ()
        yield from (job.line(frame) for frame in own[:1])

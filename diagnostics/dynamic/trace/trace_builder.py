"""Makes a JobTrace of a Job: everything on the job's clock, every text hidden and cut once. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache

from diagnostics.core import redaction
from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.core.job_trace import CallSpan, JobTrace, Lane, Moment, StepSpan, UsageSample
from diagnostics.core.wording import signal_name
from diagnostics.dynamic.collectives.collective_signature import is_collective
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.process_list import job_time
from diagnostics.dynamic.trace.behaviour import lanes_wanted
from diagnostics.record.agent_data import AgentData, CollectiveCall
from diagnostics.record.step_timings import PHASES, StepTiming

LONGEST_TEXT = 400
MOST_FRAMES = 12
TELLING = {
    "process-group": "process group made", "ddp": "model wrapped", "phase": "phase", "sys.exit": "sys.exit",
    "os._exit": "os._exit", "kill": "sent a signal", "save-failed": "could not save",
    "alive-at-end": "waits for thread",
}  # fmt: skip
Clean = Callable[[str], str]


def trace_of(job: Job, *, folded: bool = True) -> JobTrace:
    """Returns the trace; `folded` has one lane for many ranks that behaved alike, else each rank has its own."""
    wanted = lanes_wanted(job) if folded else [(one, (one.rank,)) for one in job.ranks if one.rank is not None]
    builder = _Builder(job)
    lanes = tuple(builder.lane(process, same) for process, same in wanted)
    last = [job.facts.ended_s or 0.0, *(time_s for lane in lanes for time_s in _times(lane))]
    return JobTrace(
        command=builder.clean(shlex.join(job.facts.command)),
        started_ns=job.facts.started_ns,
        until_s=round(max(last), 6),
        lanes=_with_missed(lanes),
        ranks=len(job.ranks),
    )


class _Builder:
    def __init__(self, job: Job) -> None:
        self._job = job
        self._culprits = {one.pid for one in job.culprits}
        self._victims = {one.pid for one in job.victims}
        self.clean: Clean = cache(_clean)
        self._stacks: dict[tuple[Frame, ...], tuple[str, ...]] = {}

    def lane(self, process: JobProcess, same: tuple[int, ...]) -> Lane:
        agent = process.agent
        role = "culprit" if process.pid in self._culprits else "victim" if process.pid in self._victims else ""
        entered = agent.entered[-1].module.shown if agent is not None and agent.entered else ""
        end = _end(process)
        return Lane(
            rank=process.rank if process.rank is not None else -1,
            pid=process.pid,
            role=role,
            began_s=process.began_s,
            ended_s=process.end.at_s,
            end=end,
            steps=tuple(self._steps(agent)) if agent is not None else (),
            calls=tuple(self._call(agent, call) for call in agent.collectives) if agent is not None else (),
            moments=tuple(sorted(self._moments(process, end), key=lambda one: one.at_s)),
            usage=tuple(self._usage(process)),
            step_count=process.steps,
            module=self.clean(entered),
            stack=self.stack(process.stacks[0] if process.stacks else (), process.agent_folder),
            groups={self.clean(one.group): one.ranks for one in agent.groups} if agent is not None else {},
            same=same,
        )

    def stack(self, path: Sequence[Frame], agent_folder: str) -> tuple[str, ...]:
        """Returns the frames of the user's files, "train.py:31 main"."""
        key = tuple(path)
        if key not in self._stacks:
            frames = user_frames(key, agent_folder=agent_folder)[:MOST_FRAMES]
            self._stacks[key] = tuple(self.clean(f"{self._job.line(one)} {one.function}") for one in frames)
        return self._stacks[key]

    def _steps(self, agent: AgentData) -> Iterator[StepSpan]:
        for step in agent.timings.steps:
            yield StepSpan(
                number=step.number,
                began_s=job_time(self._job.facts, agent, step.end_s - step.wall_s),
                ended_s=job_time(self._job.facts, agent, step.end_s),
                phases=_phases(step),
            )

    def _call(self, agent: AgentData, call: CollectiveCall) -> CallSpan:
        return CallSpan(
            op=self.clean(call.op),
            group=self.clean(call.group),
            number=call.number,
            shape=self.clean(call.shape),
            dtype=self.clean(call.dtype),
            root=call.root,
            began_s=job_time(self._job.facts, agent, call.entered_s),
            ended_s=None if call.left_s is None else job_time(self._job.facts, agent, call.left_s),
            meeting=self._meeting(agent, call),
            asynchronous=call.asynchronous,
            failed=call.failed,
            stack=self.stack(call.path, agent.agent_folder),
        )

    def _meeting(self, agent: AgentData, call: CollectiveCall) -> str:
        """Returns what the call has in common with those of its peers: groups of other ranks may have the same name."""
        if call.number < 0 or not is_collective(call.op):
            return ""
        ranks = next((one.ranks for one in agent.groups if one.group == call.group), ())
        return self.clean(f"{call.group}{f' of {min(ranks)}' if ranks else ''} #{call.number}")

    def _moments(self, process: JobProcess, end: str) -> Iterator[Moment]:
        for one in process.raised:
            yield Moment(
                at_s=one.at_s, kind="exception", text=self.clean(f"{one.text} ({one.how})"),
                stack=self.stack(one.user_path, process.agent_folder),
            )  # fmt: skip
        for load in process.loads:
            text = f"{load.function} could not read {load.file}: {load.error}"
            yield Moment(
                at_s=load.at_s, kind="load", text=self.clean(text), stack=self.stack(load.path, process.agent_folder)
            )
        agent = process.agent
        for event in agent.events if agent is not None else ():
            if agent is not None and event.kind in TELLING:
                yield Moment(
                    at_s=job_time(self._job.facts, agent, event.seconds),
                    kind="event",
                    text=self.clean(f"{TELLING[event.kind]} {event.text}".strip()),
                    stack=self.stack(event.path, process.agent_folder),
                )
        if end and process.end.at_s is not None:
            yield Moment(at_s=process.end.at_s, kind="end", text=end)

    def _usage(self, process: JobProcess) -> Iterator[UsageSample]:
        for one in self._job.usage.processes.get(f"{process.pid}-{process.start_ticks}", ()):
            yield UsageSample(at_s=one.at_s, cpu_s=_known(one.cpu_s), memory_bytes=_known(one.private_bytes))


def _with_missed(lanes: tuple[Lane, ...]) -> tuple[Lane, ...]:
    """Returns the lanes with a mark where a rank never came to the collective that others of its group wait in.

    Only of ranks whose own calls in that group are known, and ended before it.
    """
    waiting: dict[tuple[str, tuple[int, ...]], CallSpan] = {}  # the first in each group, by its name and ranks
    for lane in lanes:
        for call in lane.calls[-8:]:
            key = call.group, lane.groups.get(call.group, ())
            if call.matched and call.ended_s is None and (key not in waiting or call.number < waiting[key].number):
                waiting[key] = call
    found = []
    for lane in lanes:
        marks = []
        for (group, ranks), call in waiting.items():
            own = [one.number for one in lane.calls if one.group == group and one.matched]
            if own and lane.rank in ranks and lane.groups.get(group) == ranks and max(own) < call.number:
                text = f"never came to {call.shown} of group {group}, in which others wait"
                marks.append(Moment(at_s=call.began_s, kind="missed", text=text, stack=call.stack))
        moments = tuple(sorted([*lane.moments, *marks], key=lambda one: one.at_s))
        found.append(replace(lane, moments=moments) if marks else lane)
    return tuple(found)


def _phases(step: StepTiming) -> tuple[tuple[str, float], ...]:
    return tuple((str(name), seconds) for name, seconds in zip(PHASES, step.phases, strict=True) if seconds > 0)


def _end(process: JobProcess) -> str:
    if process.end.signal is not None:
        return f"died of {signal_name(process.end.signal)}"
    return "" if process.end.exit_code is None else f"ended with exit code {process.end.exit_code}"


def _times(lane: Lane) -> Iterator[float]:
    yield lane.began_s
    yield from (step.ended_s for step in lane.steps[-1:])
    yield from (call.ended_s or call.began_s for call in lane.calls[-1:])
    yield from (one.at_s for one in lane.moments)
    yield from (one.at_s for one in lane.usage[-1:])


def _known(value: float) -> float | None:
    return value if value >= 0 else None


def _clean(text: str) -> str:
    line = redaction.line(" ".join(text[: 4 * LONGEST_TEXT].split()))
    return line if len(line) <= LONGEST_TEXT else f"{line[:LONGEST_TEXT]} ..."

"""What was seen of a process that stands still, look after look, as proof. Pure.

Says where the ranks stood in a time without progress that came to an end.
"""

from __future__ import annotations

from diagnostics.core.findings import Evidence
from diagnostics.core.frame import Frame
from diagnostics.core.frames import user_frames
from diagnostics.dynamic.collectives.rank_state import Whereabouts
from diagnostics.dynamic.collectives.rank_state_builder import positions_of
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.observations import ProcessObservations, observations_of
from diagnostics.dynamic.job.process_list import job_time
from diagnostics.record.supervisor_facts import Stall

_LAST_S = 1.0  # of a job: two looks at it
_STATES = {
    "R": "runs", "S": "sleeps", "D": "waits inside the kernel (D)", "T": "is stopped (T)", "t": "is traced (t)",
    "I": "is idle",
}  # fmt: skip


def looks_evidence(job: Job, process: JobProcess, who: str) -> tuple[Evidence, ...]:
    """Returns one line about the looks at a process, () where nobody looked."""
    seen = looks_words(observations_of(job, process))
    return (Evidence(source=f"looks at {who} (pid {process.pid})", observed=seen),) if seen else ()


def looks_words(looks: ProcessObservations) -> str:
    """Returns "sleeps in read of pipe:[81], 0 % of a CPU, 5 looks over 10 s"; "" where nobody saw it alive."""
    last = looks.last
    if last is None or looks.state not in _STATES:  # it ended while it was looked at
        return ""
    parts = [_STATES[looks.state]]
    if looks.call:
        parts[0] += f" in {looks.call}" + (f" of {looks.open_file}" if looks.open_file.startswith("/") else "")
    if looks.cpus is not None:
        parts.append(f"{looks.cpus * 100:.0f} % of a CPU")
    if looks.bytes_per_s:
        parts.append(f"{looks.bytes_per_s / 1024:.1f} KiB/s read and written")
    if looks.swaps:
        parts.append("major page faults all the time")
    apart = last.at_s - looks.samples[0].at_s
    parts.append(f"{len(looks.samples)} looks over {apart:.1f} s")
    return ", ".join(parts)


def past_stalls(job: Job) -> list[str]:
    """Returns one note for each stall that is over: from when to when, and which rank stood at which line."""
    return [
        f"no progress from {stall.began_s:.0f} s to {stall.over_s:.0f} s, then it {_what_came(job, stall)}"
        f"{_where(job, stall)}"
        for stall in job.facts.stalls
        if stall.over_s is not None
    ]


def _what_came(job: Job, stall: Stall) -> str:
    """Says what ended a stall: the end of a job is a change, too, where nothing was trained before it."""
    if any(_trained_s(job, process) > stall.seen_s for process in job.processes):
        return "went on"
    ended, over = job.facts.ended_s, stall.over_s
    return "ended" if ended is not None and over is not None and ended - over < _LAST_S else "went on"


def _trained_s(job: Job, process: JobProcess) -> float:
    """Returns when a process made its last step or backward pass, in job seconds; 0 where it made none."""
    if process.agent is None:
        return 0.0
    steps = process.agent.steps
    made = [at_s for at_s in (steps.last_s, steps.backward_entered_s) if at_s is not None]
    return job_time(job.facts, process.agent, max(made)) if made else 0.0


def _where(job: Job, stall: Stall) -> str:
    """Returns ": rank 1 stood at train.py:31, the others waited"; "" where nobody was seen outside of any wait."""
    outside = {one.rank for one in positions_of(job, stall.seen_s) if one.stand is Whereabouts.OUTSIDE}
    lines: dict[str, list[int]] = {}
    for rank in sorted(outside):
        frame = _line(job, rank, stall)
        if frame is not None:
            lines.setdefault(job.line(frame), []).append(rank)
    if not lines:
        return ""
    who = [
        f"rank{'s' if len(ranks) > 1 else ''} {', '.join(map(str, ranks))} stood at {line}"
        for line, ranks in lines.items()
    ]
    return ": " + ", ".join(who) + (", while others waited" if len(outside) < len(job.ranks) else "")


def _line(job: Job, rank: int, stall: Stall) -> Frame | None:
    """Returns the innermost line of the user's that this rank was seen at most often."""
    process = job.of_rank(rank)
    if process is None or stall.over_s is None:
        return None
    folder = process.agent_folder
    seen = [sample for sample in process.samples if stall.began_s <= sample.at_s <= stall.over_s and sample.stack]
    frames = [user[0] for sample in seen if (user := user_frames(sample.stack, agent_folder=folder))]
    return max(frames, key=frames.count, default=None)

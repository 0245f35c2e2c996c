"""How late a rank is, against its own history: what it usually took, what its peers took, in which phase it is. Pure.

No number here proves a hang. It says whether what was seen would be unusual for this job.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.process_list import job_time
from diagnostics.record.agent_data import AgentData

# By the names of functions that a rank is in; the first that fits.
_PHASES = (
    ("in checkpointing", re.compile(r"save|checkpoint|ckpt|state_dict|export", re.IGNORECASE)),
    ("in evaluation", re.compile(r"eval|valid|\btest_|predict|infer|score|metric", re.IGNORECASE)),
    (
        "while it loads data",
        re.compile(r"__getitem__|__(?:iter|next)__|_batch|collate|load|read_|fetch", re.IGNORECASE),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lateness:
    """All in seconds; None where nothing tells."""

    since_s: float  # job time of the last thing it recorded: a step, a collective, an event
    for_s: float  # until the job was looked at last
    step_s: float | None  # median of its latest steps
    longest_s: float | None  # longest pause between two steps that it came back from
    peers_s: float | None  # what another rank took from its last call to the one it waits in
    phase: str

    @property
    def words(self) -> str:
        """Returns it as part of a sentence."""
        known = [f"{self.for_s:.0f} s without a sign of it, {self.phase}"]
        if self.step_s is not None:
            known.append(f"its steps took {_time(self.step_s)} (median)")
        if self.longest_s is not None and self.step_s is not None and self.longest_s > 2 * self.step_s:
            known.append(f"the longest pause it came back from took {_time(self.longest_s)}")
        if self.peers_s is not None:
            known.append(f"its peers were there in {_time(self.peers_s)}")
        return "; ".join(known)


def lateness(job: Job, process: JobProcess, own: Sequence[Frame], until_s: float) -> Lateness | None:
    """Returns how late a rank is at `until_s`, in job seconds; None without an agent."""
    agent = process.agent
    if agent is None:
        return None
    since = job_time(job.facts, agent, last_sign_s(agent))
    steps = agent.steps.durations_s
    return Lateness(
        since_s=since,
        for_s=max(0.0, until_s - since),
        step_s=median(steps) if steps else None,
        longest_s=max(steps) if steps else None,
        peers_s=_peers_s(job, process),
        phase=_phase(agent, own),
    )


def last_sign_s(agent: AgentData) -> float:
    """Returns when a process recorded something last, by its agent's clock: a call, a step, an event of training."""
    calls = [time for call in agent.collectives for time in (call.entered_s, call.left_s) if time is not None]
    events = [event.seconds for event in agent.events if event.kind not in ("exit", "hooks", "kill", "exception")]
    steps = [time for time in (agent.steps.last_s, agent.steps.backward_entered_s) if time is not None]
    return max([*calls, *events, *steps], default=0.0)


def _peers_s(job: Job, process: JobProcess) -> float | None:
    """Returns the time that the quickest peer took between its last two calls, the second of which it waits in."""
    found = [
        last.entered_s - before.left_s
        for peer in job.ranks
        if peer is not process and peer.agent is not None
        for before, last in itertools.pairwise(peer.agent.collectives[-2:])
        if last.left_s is None and before.left_s is not None
    ]
    return min(found, default=None)


def _phase(agent: AgentData, own: Sequence[Frame]) -> str:
    names = [frame.function.rpartition(".")[2] for frame in own]
    phase = next((words for words, pattern in _PHASES if any(pattern.search(name) for name in names)), "")
    if not agent.steps.count:
        return f"before its first step{f', {phase}' if phase else ''}"
    return f"after step {agent.steps.count}{f', {phase}' if phase else ''}"


def _time(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"

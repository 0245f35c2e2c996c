"""The processes of a job as one list: what the supervisor saw, joined with what the agents wrote. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from diagnostics.record.agent_data import AgentData, LifecycleEvent
from diagnostics.record.supervisor_facts import SeenProcess, SupervisorFacts

_PYTHON = re.compile(r"^python(?:\d[\d.]*)?[a-z]*$|^pypy")
_WORD = re.compile(r"(?<!\w)(\w+)=(\S*)")


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedProcess:
    """One process. After an exec the same pid had several programs: `agent` is the last one's."""

    pid: int
    start_ticks: int
    parent_pid: int
    argv: tuple[str, ...]
    cwd: str
    variables: Mapping[str, str]
    began_s: float
    agent: AgentData | None
    earlier: tuple[AgentData, ...]  # of programs that this one replaced
    seen: SeenProcess | None

    @property
    def program(self) -> str:
        """The name of the program, "python3" or "bash"."""
        return program_of(self.argv)

    @property
    def is_python(self) -> bool:
        """Whether Python runs in it, with or without an agent."""
        return self.agent is not None or starts_python(self.argv)

    @property
    def events(self) -> tuple[LifecycleEvent, ...]:
        """The lifecycle events of its program."""
        return self.agent.events if self.agent is not None else ()

    @property
    def forked(self) -> bool:
        """Whether it runs on from its parent's memory, without an exec of its own."""
        return self.agent is not None and self.agent.forked_from != 0


def program_of(argv: Sequence[str]) -> str:
    """Returns the name of the program that a command line starts, "" where none is known."""
    return argv[0].rpartition("/")[2].lstrip("-") if argv else ""


def starts_python(argv: Sequence[str]) -> bool:
    """Whether a command line starts Python by its own name."""
    return bool(_PYTHON.match(program_of(argv)))


def words(text: str) -> dict[str, str]:
    """Returns the `key=value` words of an event, those before its free text."""
    return dict(_WORD.findall(text.partition(" | ")[0]))


def job_time(job: SupervisorFacts, agent: AgentData, seconds: float = 0.0) -> float:
    """Returns a time of an agent's clock as seconds since the job started."""
    return round((agent.started_ns - job.started_ns) / 1e9 + seconds, 6)


def merge_processes(job: SupervisorFacts, agents: Iterable[AgentData]) -> list[MergedProcess]:
    """Returns every process that the supervisor or an agent knew of, by start."""
    programs: dict[tuple[int, int], list[AgentData]] = {}
    for agent in agents:
        programs.setdefault((agent.pid, agent.start_ticks), []).append(agent)
    seen = {(one.pid, one.start_ticks): one for one in job.processes}
    processes = [_process(job, key, programs.get(key, []), seen.get(key)) for key in {**seen, **programs}]
    return sorted(processes, key=lambda process: (process.began_s, process.start_ticks, process.pid))


def _process(
    job: SupervisorFacts, key: tuple[int, int], programs: Sequence[AgentData], seen: SeenProcess | None
) -> MergedProcess:
    programs = sorted(programs, key=lambda agent: (agent.started_ns, len(agent.name), agent.name))
    agent = programs[-1] if programs else None
    parent = programs[0].forked_from or programs[0].parent_pid if programs else 0
    return MergedProcess(
        pid=key[0],
        start_ticks=key[1],
        parent_pid=parent or (seen.ppid if seen is not None else 0),
        argv=agent.argv if agent is not None and agent.argv else seen.argv if seen is not None else (),
        cwd=agent.cwd if agent is not None and agent.cwd else job.cwd,
        variables={**(seen.variables if seen is not None else {}), **(agent.variables if agent is not None else {})},
        began_s=job_time(job, agent) if agent is not None else seen.first_seen_s if seen is not None else 0.0,
        agent=agent,
        earlier=tuple(programs[:-1]),
        seen=seen,
    )

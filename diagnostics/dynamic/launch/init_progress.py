"""How far a job got, for signatures about its launch. Pure."""

from __future__ import annotations

from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.job.process_list import words
from diagnostics.record.agent_data import GROUP_MADE


def initialised(process: JobProcess) -> bool:
    """Whether the process got through init_process_group."""
    return process.agent is not None and any(event.kind == GROUP_MADE for event in process.agent.events)


def anything_started(job: Job) -> bool:
    """Whether any process made a process group or an optimizer step."""
    return any(process.steps or initialised(process) for process in job.processes)


def ranks_that_never_came(job: Job, world_size: int | None) -> tuple[int, ...]:
    """Returns the ranks below `world_size` of which no process was ever seen; () where that is not known."""
    seen = {process.rank for process in job.ranks if process.rank is not None}
    if world_size is None or not seen or world_size > 1 << 16:
        return ()
    return tuple(rank for rank in range(world_size) if rank not in seen)


def asked_port(process: JobProcess) -> str:
    """Returns the port of the store that the process asked for its process group, "" where that is not known."""
    begun = process.agent.last_event(f"{GROUP_MADE}-begin") if process.agent is not None else None
    return (words(begun.text).get("port", "") if begun is not None else "") or variable(process, "MASTER_PORT")


def at_another_port(job: Job) -> tuple[JobProcess, ...]:
    """Returns the ranks that asked for a process group at another port than rank 0, and got none."""
    zero = job.of_rank(0)
    if zero is None or not asked_port(zero) or initialised(zero):
        return ()
    begun = [one for one in job.ranks if one.agent is not None and one.agent.last_event(f"{GROUP_MADE}-begin")]
    return tuple(one for one in begun if asked_port(one) not in ("", asked_port(zero)) and not initialised(one))


def variable(process: JobProcess, name: str) -> str:
    """Returns a launcher's variable as the process had it when it started, "" where it is not known."""
    return process.agent.variables.get(name, "") if process.agent is not None else ""

"""Who has come to the rendezvous of a job, who has not, and whom each of them asks. Pure.

A rank comes by init_process_group or by a store of its own; a launcher of several nodes comes by torchrun's rendezvous.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole
from diagnostics.dynamic.job.process_list import words
from diagnostics.dynamic.job.process_queries import called, is_alive, main_stack, text_at, user_frames_of
from diagnostics.dynamic.launch.init_progress import initialised, variable
from diagnostics.record.agent_data import GROUP_MADE

BEGUN = f"{GROUP_MADE}-begin"
_OF_LAUNCHERS = re.compile(r"/torch/distributed/elastic/rendezvous/|/elastic/agent/server/api\.py$")
_OF_RANKS = re.compile(r"/torch/distributed/rendezvous\.py$")
_STORES = re.compile(r"\b(?:TCP|File|Hash|Prefix)Store\(|\bstore\w*\.(?:wait|get|wait_for_workers|barrier)\(", re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class RendezvousTarget:
    """Whom a rank asks for its process group; "" or None where that is not known."""

    address: str = ""
    port: str = ""
    method: str = ""  # "file:///..." and the like
    world: int | None = None
    rank: int | None = None

    @property
    def endpoint(self) -> str:
        """One name for the place where ranks meet."""
        if self.method.startswith("file:"):
            return self.method.partition("?")[0]
        return ":".join(filter(None, (self.address, self.port)))


@dataclass(frozen=True, slots=True, kw_only=True)
class RendezvousState:
    """Who is where, before any process group exists."""

    came: tuple[JobProcess, ...]  # wait in it now
    launchers: tuple[JobProcess, ...]  # wait for other nodes
    through: tuple[JobProcess, ...]  # made a group, of whatever size they were told
    before: tuple[JobProcess, ...]  # started, and stand somewhere before it
    ended: tuple[JobProcess, ...]  # ended without having come
    never: tuple[int, ...]  # ranks of which no process was seen
    world: int | None  # the ranks that those who came wait for


def rendezvous(job: Job) -> RendezvousState | None:
    """Returns how a rendezvous stands that is not complete; None where nobody waits in one."""
    launchers = tuple(one for one in job.processes if one.part is ProcessRole.LAUNCHER and _launcher_waits(one))
    came = tuple(one for one in job.ranks if waits_in_rendezvous(job, one))
    if not came and not (launchers and not job.ranks):
        return None
    return state_of(job, came, launchers=launchers if not came else ())


def state_of(job: Job, came: tuple[JobProcess, ...], *, launchers: tuple[JobProcess, ...] = ()) -> RendezvousState:
    """Returns how the rendezvous stands to which the ranks `came` have come, whatever became of them there."""
    rest = [one for one in job.ranks if one not in came]
    through = tuple(one for one in rest if initialised(one))
    others = [one for one in rest if not initialised(one)]
    world = _world(came)
    seen = {one.rank for one in job.ranks} | {asked(one).rank for one in came}
    return RendezvousState(
        came=came,
        launchers=launchers,
        through=through,
        before=tuple(one for one in others if not _ended_by_itself(one)),
        ended=tuple(one for one in others if _ended_by_itself(one)),
        never=tuple(rank for rank in range(min(world or 0, 1 << 16)) if rank not in seen),
        world=world,
    )


def waits_in_rendezvous(job: Job, process: JobProcess) -> bool:
    """Whether the main thread of a process is inside init_process_group, or a store, before it made a group."""
    if not is_alive(process) or process.agent is None or initialised(process):
        return False
    main = main_stack(process)
    if any(called(frame) == "init_process_group" or _OF_RANKS.search(frame.file) for frame in main):
        return True
    if not main:
        return process.agent.last_event(BEGUN) is not None
    # Stores are C++: the line of the program that calls one is the innermost frame.
    own = user_frames_of(process, main)
    folder = process.agent.agent_folder
    innermost = next((frame for frame in main if not (folder and frame.file.startswith(folder))), None)
    return bool(own) and innermost == own[0] and bool(_STORES.search(text_at(job, own[0])))


def asked(process: JobProcess) -> RendezvousTarget:
    """Returns whom the process asks: what init_process_group was called with, else its environment."""
    event = process.agent.last_event(BEGUN) if process.agent is not None else None
    said = words(event.text) if event is not None else {}
    method = event.text.partition(" | ")[2] if event is not None else ""
    by_variables = not method or method.startswith("env:")
    world = said.get("world_size") or variable(process, "WORLD_SIZE")
    rank = said.get("rank") or variable(process, "RANK")
    return RendezvousTarget(
        address=said.get("address") or (variable(process, "MASTER_ADDR") if by_variables else ""),
        port=said.get("port") or (variable(process, "MASTER_PORT") if by_variables else ""),
        method=method,
        world=int(world) if world.isdigit() and len(world) < 7 else None,
        rank=int(rank) if rank.isdigit() and len(rank) < 7 else process.rank,
    )


def apart(job: Job, processes: Sequence[JobProcess]) -> tuple[JobProcess, ...]:
    """Returns those that meet elsewhere than rank 0, or than most where rank 0 is not among them; () for one place."""
    places = {one.pid: asked(one).endpoint for one in processes}
    known = {pid: place for pid, place in places.items() if place}
    if len(set(known.values())) < 2:
        return ()
    zero = next((one for one in processes if asked(one).rank == 0 and one.pid in known), None)
    right = known[zero.pid] if zero is not None else Counter(known.values()).most_common(1)[0][0]
    return tuple(one for one in processes if known.get(one.pid, right) != right)


def with_other_size(job: Job, processes: Sequence[JobProcess]) -> tuple[JobProcess, ...]:
    """Returns those that were told another number of ranks than there are, where not all were told the same."""
    sizes = {one.pid: asked(one).world for one in processes}
    told = {size for size in sizes.values() if size is not None}
    if len(told) < 2:
        return ()
    right = len(job.ranks) if len(job.ranks) in told else Counter(filter(None, sizes.values())).most_common(1)[0][0]
    return tuple(one for one in processes if sizes[one.pid] not in (None, right))


def with_same_rank(processes: Sequence[JobProcess]) -> tuple[JobProcess, ...]:
    """Returns the processes that came as a rank which another one claims, too."""
    claimed = Counter(asked(one).rank for one in processes)
    return tuple(one for one in processes if asked(one).rank is not None and claimed[asked(one).rank] > 1)


def _ended_by_itself(process: JobProcess) -> bool:
    return not is_alive(process) and process.ended_by in ("", "unknown")


def _world(came: Sequence[JobProcess]) -> int | None:
    told = [size for one in came if (size := asked(one).world) is not None]
    return max(told, default=None)


def _launcher_waits(process: JobProcess) -> bool:
    inside = (_OF_LAUNCHERS.search(frame.file) and "rendezvous" in frame.function for frame in main_stack(process))
    return is_alive(process) and any(inside)

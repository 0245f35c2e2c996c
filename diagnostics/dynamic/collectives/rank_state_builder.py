"""Where each rank stood at one moment, out of what the agents, flight recorders and stacks say. Pure.

A rank waits only where its thread is really blocked: a call from Python that was entered and not left (for what was
begun asynchronously: the wait for it), or C++ code, where the flight recorder has work that is not done and the
process uses no CPU. Everything else may still go on by itself.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from diagnostics.core.frame import Frame
from diagnostics.dynamic.collectives.collective_log import CollectiveLog
from diagnostics.dynamic.collectives.collective_signature import NEW_GROUP
from diagnostics.dynamic.collectives.pending_operations import leaves_from, native_pending_operation, pending_operations
from diagnostics.dynamic.collectives.rank_state import OperationKind, PendingOperation, RankState, Whereabouts
from diagnostics.dynamic.collectives.thread_reachability import ThreadReachability
from diagnostics.dynamic.job import cpu_shares
from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole
from diagnostics.dynamic.job.process_kinds import TRACKERS
from diagnostics.dynamic.job.process_list import job_time
from diagnostics.record.agent_data import AgentData, CollectiveCall
from diagnostics.record.flight_recorder import FlightEntry
from diagnostics.record.stacks import AgentStacks
from diagnostics.record.supervisor_facts import End

__all__ = ["RankEvidence", "positions_of", "rank_states", "views_of"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankEvidence:
    """What is known of one rank. Times of its agent's clock become those of the job by `offset_s`."""

    rank: int
    pid: int
    agent: AgentData | None
    offset_s: float = 0.0
    job_started_ns: int = 0  # wall clock
    end: End | None = None
    threads: AgentStacks | None = None  # as its agent wrote them at about that moment
    flight: tuple[FlightEntry, ...] = ()
    stack: tuple[Frame, ...] = ()  # of its main thread, taken from outside
    idle: bool | None = None  # whether it used no CPU at that moment; None unknown
    calling: frozenset[int] = frozenset()  # threads that may come to an operation of a group
    project: frozenset[int] = frozenset()  # threads that run code of the project


def rank_states(views: Sequence[RankEvidence], at_s: float) -> tuple[RankState, ...]:
    """Returns where each rank stands at `at_s`, seconds since the job started, by rank."""
    counts = {view.rank: CollectiveLog(view.agent, view.flight, view.threads, at_s - view.offset_s) for view in views}
    found = [_position(view, counts[view.rank], at_s) for view in sorted(views, key=lambda view: view.rank)]
    found += [RankState(rank=rank, pid=0, at_s=at_s, stand=Whereabouts.ABSENT) for rank in _absent(views, counts)]
    found = _with_members(found, counts)
    waits = [wait for one in found for wait in one.waits]
    if any(wait.kind in (OperationKind.SEND, OperationKind.RECV) for wait in waits):
        found = [replace(one, exchanged=counts[one.rank].exchanged) if one.rank in counts else one for one in found]
    if any(wait.group == NEW_GROUP for wait in waits):
        found = [_with_new_groups(one, counts[one.rank]) if one.rank in counts else one for one in found]
    wanted = {(wait.group, wait.slot) for wait in waits if wait.slot is not None}
    return tuple(_with_passed(one, counts[one.rank], wanted) if one.rank in counts else one for one in found)


def _absent(views: Sequence[RankEvidence], counts: Mapping[int, CollectiveLog]) -> list[int]:
    """Returns the ranks that there should be, by what the others were told, and that nobody has seen."""
    sizes = [view.agent.variables.get("WORLD_SIZE", "") for view in views if view.agent is not None]
    world = max((int(size) for size in sizes if size.isdecimal() and len(size) < 7), default=0)
    largest = max((group.ranks for one in counts.values() for group in one.groups), key=len, default=())
    return sorted(set(largest).union(range(world)) - set(counts))


def _with_members(found: Sequence[RankState], counts: Mapping[int, CollectiveLog]) -> list[RankState]:
    """Fills in who belongs to the groups in which C++ waits: a rank that has made no call of its own knows none."""
    if all(wait.ranks or not wait.group for one in found for wait in one.waits):
        return list(found)
    known = {group.group: group.ranks for one in counts.values() for group in one.groups if group.ranks}
    filled = []
    for one in found:
        waits = [
            replace(wait, ranks=ranks) if not wait.ranks and one.rank in (ranks := known.get(wait.group, ())) else wait
            for wait in one.waits
        ]
        filled.append(replace(one, waits=tuple(waits)))
    return filled


def views_of(job: Job, at_s: float) -> tuple[RankEvidence, ...]:
    """Returns what a case knows of its ranks."""
    processes = [process for process in job.ranks if process.rank is not None]
    main = [frame for process in processes if process.threads is not None for frame in process.threads.main]
    reach = ThreadReachability(job.sources, job.agent_folders, main)
    return tuple(_view(job, process, at_s, reach) for process in processes)


def positions_of(job: Job, at_s: float) -> tuple[RankState, ...]:
    """Returns where each rank of a job stood at `at_s`."""
    found = rank_states(views_of(job, at_s), at_s)
    waits_for_key = any(wait.kind is OperationKind.STORE for one in found for wait in one.waits)
    if waits_for_key and any(_may_set_keys(process, at_s) for process in job.processes):
        return tuple(replace(one, threads_may_set=True) for one in found)
    return found


def _may_set_keys(process: JobProcess, at_s: float) -> bool:
    """Whether a process that is no rank might know the store: all but launchers, data workers and shells."""
    lives = process.began_s <= at_s and (process.end.at_s is None or process.end.at_s > at_s)
    return lives and process.part is ProcessRole.HELPER and TRACKERS.search(" ".join(process.argv)) is None


def _view(job: Job, process: JobProcess, at_s: float, reach: ThreadReachability) -> RankEvidence:
    others = [one for one in (process.threads.threads if process.threads is not None else ()) if not one.main]
    return RankEvidence(
        rank=process.rank if process.rank is not None else -1,
        pid=process.pid,
        agent=process.agent,
        offset_s=job_time(job.facts, process.agent) if process.agent is not None else 0.0,
        job_started_ns=job.facts.started_ns,
        end=process.end,
        threads=process.threads,
        flight=process.flight,
        stack=process.stacks[0] if process.stacks else (),
        idle=_idle(process, at_s),
        calling=frozenset(one.native for one in others if reach.may_call(one)),
        project=frozenset(one.native for one in others if reach.runs_project_code(one)),
    )


def _idle(process: JobProcess, at_s: float) -> bool | None:
    """Whether it used next to no CPU around that moment, as far as it was looked at then; None where it was not."""
    around = [sample for sample in process.samples if at_s - 5.0 <= sample.at_s <= at_s + 5.0]
    if len(around) < 2:
        return None
    first, last = around[0], around[-1]
    return last.cpu_s - first.cpu_s <= cpu_shares.WORKS * max(0.1, last.at_s - first.at_s)


def _position(view: RankEvidence, counts: CollectiveLog, at_s: float) -> RankState:
    def standing(stand: Whereabouts, waits: Sequence[PendingOperation] = ()) -> RankState:
        blocked = {wait.thread for wait in waits}
        away = blocked | ({view.pid} if stand in (Whereabouts.LEAVING, Whereabouts.WAITING) else set())
        return RankState(
            rank=view.rank,
            pid=view.pid,
            at_s=at_s,
            stand=stand,
            waits=tuple(_with_values(wait, view) for wait in waits),
            stack=() if stand is Whereabouts.ENDED else _stack(view),  # what was seen of it before is no place any more
            reached=counts.reached,
            open_groups=frozenset() if stand is Whereabouts.ENDED else counts.groups_of_others(away, _alive(view)),
            threads_may_call=stand is not Whereabouts.ENDED and bool(view.calling - blocked),
            threads_may_set=stand is not Whereabouts.ENDED and bool(view.project - blocked),
            exit_code=view.end.exit_code if stand is Whereabouts.ENDED and view.end is not None else None,
            signal=view.end.signal if stand is Whereabouts.ENDED and view.end is not None else None,
        )

    if view.end is not None and view.end.at_s is not None and view.end.at_s <= at_s:
        return standing(Whereabouts.ENDED)
    if view.agent is None:
        return standing(Whereabouts.UNKNOWN)
    local_s = at_s - view.offset_s
    waits = pending_operations(view.agent, local_s, view.offset_s, counts)
    others = tuple(wait for wait in waits if wait.thread != view.pid)
    if len(others) < len(waits):
        main = next(wait for wait in waits if wait.thread == view.pid)
        return standing(Whereabouts.WAITING, (_with_flight(main, counts), *others))
    if leaves_from(view.agent, _stack(view), local_s):
        return standing(Whereabouts.LEAVING, others)
    native = native_pending_operation(view.agent, counts, _stack(view), local_s, idle=view.idle)
    if native is not None:
        wait = replace(native, thread=view.pid, since_s=max(0.0, native.since_s - view.job_started_ns / 1e9))
        return standing(Whereabouts.WAITING, (wait, *others))
    return standing(Whereabouts.OUTSIDE, others)


def _stack(view: RankEvidence) -> tuple[Frame, ...]:
    return (view.threads.main if view.threads is not None else ()) or view.stack


def _with_values(wait: PendingOperation, view: RankEvidence) -> PendingOperation:
    if wait.thread != view.pid or view.threads is None:
        return wait
    return replace(wait, path=view.threads.with_values(wait.path))


def _alive(view: RankEvidence) -> frozenset[int] | None:
    """Returns the numbers of the threads that were there, None where nothing tells."""
    if view.threads is None or any(not thread.native and not thread.main for thread in view.threads.threads):
        return None
    return frozenset(thread.native for thread in view.threads.threads)


def _with_flight(wait: PendingOperation, counts: CollectiveLog) -> PendingOperation:
    entry = counts.entry(wait.group, wait.slot)
    return replace(wait, recorded=entry.shown, timeout_s=entry.timeout_s) if entry is not None else wait


def _with_new_groups(one: RankState, counts: CollectiveLog) -> RankState:
    return replace(one, reached={**one.reached, NEW_GROUP: counts.new_groups})


def _with_passed(one: RankState, counts: CollectiveLog, wanted: set[tuple[str, int]]) -> RankState:
    own = {(wait.group, wait.slot) for wait in one.waits}
    begun = {(group, slot) for group, slot in wanted - own if one.reached.get(group, 0) > slot}
    passed = {place: _passed(call, counts) for place, call in counts.calls_in(begun).items()}
    return replace(one, passed=passed) if passed else one


def _passed(call: CollectiveCall, counts: CollectiveLog) -> PendingOperation:
    entry = counts.entry(call.group, call.number)
    return PendingOperation(
        kind=OperationKind.COLLECTIVE,
        op=call.op,
        group=NEW_GROUP if call.op == NEW_GROUP else call.group,
        ranks=counts.ranks(call.group),
        slot=call.number,
        shape=call.shape,
        dtype=call.dtype,
        root=call.root,
        path=call.path,
        since_s=call.entered_s,
        recorded=entry.shown if entry is not None else "",
    )

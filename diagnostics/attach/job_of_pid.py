"""Which processes make up the job that one of them belongs to, read from the process table. Pure.

Upwards: to the launcher, to the program that spawned its ranks, but never to what merely started the job (a terminal,
a scheduler, a program that runs one job after the other). Downwards: everything below. Sideways: ranks that were
started by hand meet at one address and port, and that is what they are found by.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from diagnostics.dynamic.job.process_kinds import MULTIPROCESSING, SHELLS, is_launcher
from diagnostics.dynamic.job.process_list import MergedProcess
from diagnostics.machine.processes.process_table import TableRow

_MOST = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignJob:
    """The processes of a job, parents first. `tops` are those with no other one above them; [0] is the one to name."""

    tops: tuple[TableRow, ...]
    members: tuple[TableRow, ...]


def job_of(pid: int, table: Mapping[int, TableRow], own: frozenset[int]) -> ForeignJob:
    """Returns the job of process `pid`, which is in `table`; `own` are the doctor, what it started and its ancestors.

    What has ended and only waits for its parent is left out.
    """
    tops = [_top_of(pid, table, own)]
    members = dict.fromkeys(_below(tops, table))
    beside = [other for other in _ranks_beside(members, table) if other not in members]
    if beside:
        tops = list(dict.fromkeys([*tops, *(_top_of(other, table, own) for other in beside)]))
        members = dict.fromkeys(_below(tops, table))
    kept = [table[one] for one in members if one not in own or one == pid]
    return ForeignJob(tops=tuple(table[top] for top in tops), members=tuple(kept[:_MOST]))


def jobs_below(job: ForeignJob) -> tuple[TableRow, ...]:
    """Returns the first process of each job in it, () where it is one: several meet at different addresses."""
    by_pid = {row.pid: row for row in job.members}
    first: dict[tuple[str, ...], TableRow] = {}
    for row in job.members:
        meeting, above = _meeting(row), by_pid.get(row.ppid)
        # What a rank starts inherits its variables, or belongs to it where it starts a job of its own.
        if meeting is not None and not _has_rank_above(row, by_pid):
            launched = above is not None and is_launcher(process_of(above))
            first.setdefault(meeting, above if launched and above is not None else row)
    jobs = {row.pid: row for row in first.values()}
    return tuple(jobs.values()) if len(jobs) > 1 else ()


def process_of(row: TableRow) -> MergedProcess:
    """Returns a row of the table as a process of a job that no agent watched."""
    return MergedProcess(
        pid=row.pid,
        start_ticks=row.start_ticks,
        parent_pid=row.ppid,
        argv=row.argv,
        cwd=row.cwd,
        variables=row.variables,
        began_s=0.0,
        agent=None,
        earlier=(),
        seen=None,
    )


def _top_of(pid: int, table: Mapping[int, TableRow], own: frozenset[int]) -> int:
    """Returns the highest process above `pid` that still belongs to its job."""
    best, here = pid, table[pid]
    while (above := table.get(here.ppid)) is not None and above.pid not in own:
        process = process_of(above)
        if is_launcher(process):
            best = above.pid
        elif process.is_python:
            if is_launcher(process_of(table[best])) or not _is_part_of(table[best], above):
                break
            best = above.pid
        elif process.program not in SHELLS:
            break
        here = above
    return best


def _is_part_of(row: TableRow, parent: TableRow) -> bool:
    """Whether a process belongs to the Python program above it, which is no launcher by its name."""
    if not process_of(row).is_python:
        return process_of(row).program not in SHELLS
    forked = row.argv == parent.argv
    spawned = any(MULTIPROCESSING.search(word) for word in row.argv)
    rank, above = row.variables.get("RANK"), parent.variables.get("RANK")
    return forked or spawned or (rank is not None and (rank == above or above is None))


def _below(tops: Sequence[int], table: Mapping[int, TableRow]) -> Iterator[int]:
    """Returns the processes from `tops` on downwards, parents first."""
    children: dict[int, list[int]] = {}
    for row in sorted(table.values(), key=lambda row: (row.start_ticks, row.pid)):
        children.setdefault(row.ppid, []).append(row.pid)
    seen, waiting = set[int](), list(tops)
    while waiting:
        pid = waiting.pop(0)
        if pid in seen or table[pid].state in "ZX":
            continue
        seen.add(pid)
        yield pid
        waiting += children.get(pid, ())


def _ranks_beside(members: Mapping[int, None], table: Mapping[int, TableRow]) -> Iterator[int]:
    """Returns ranks that meet at the same address and are no rank that is there already."""
    own = [table[pid] for pid in members]
    meetings = {(meeting, row.network) for row in own if (meeting := _meeting(row)) is not None}
    taken = {row.variables.get("RANK") for row in own}
    for row in table.values():
        known = (_meeting(row), row.network) in meetings
        if known and row.variables.get("RANK") not in taken and row.state not in "ZX":
            yield row.pid


def _meeting(row: TableRow) -> tuple[str, ...] | None:
    """Returns where a rank meets the others, None for what is no rank or meets nobody."""
    known = row.variables
    if "RANK" not in known or not known.get("MASTER_PORT"):
        return None
    return known.get("MASTER_ADDR", ""), known["MASTER_PORT"], known.get("WORLD_SIZE", "")


def _has_rank_above(row: TableRow, by_pid: Mapping[int, TableRow]) -> bool:
    above = by_pid.get(row.ppid)
    for _ in range(len(by_pid)):
        if above is None:
            return False
        if "RANK" in above.variables:
            return True
        above = by_pid.get(above.ppid)
    return False

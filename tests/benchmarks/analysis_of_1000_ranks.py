"""CPU seconds and memory of proving a deadlock over synthetic records, of 2, 1,000 and 10,000 ranks.

Every rank has a full ring of 1,024 calls. One rank has left its loop and waits in a barrier, the others in the
all_reduce of the step that it did not make. What is timed: positions, proof, and where the ranks last agreed.
The records are built in one child process per size, so that its peak memory is that of this size alone.
"""

from __future__ import annotations

import multiprocessing
import resource
import time

from diagnostics.agent.shared.layout import CALL_SLOTS
from diagnostics.core.frame import Frame
from diagnostics.dynamic.collectives.rank_state_builder import positions_of
from diagnostics.dynamic.collectives.wait_for_graph import find_deadlock
from diagnostics.dynamic.divergence.rank_partition import partitions
from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole
from diagnostics.record.agent_data import AgentData, CollectiveCall, GroupProgress, Steps
from diagnostics.record.supervisor_facts import End, SupervisorFacts
from diagnostics.static.program.source_file import SourceStore

SIZES = (2, 1_000, 10_000)
IN_LOOP = (Frame(file="train.py", line=31, function="main"),)
AFTER_IT = (Frame(file="train.py", line=40, function="main"),)
STEPS = 5_000
NOW_S = 9_999.0


def call(number: int, op: str, path: tuple[Frame, ...], *, left: bool) -> CollectiveCall:
    """Returns one call of the default group."""
    return CollectiveCall(
        sequence=number, number=number, op=op, group="0", shape="8" if op == "all_reduce" else "",
        dtype="float32" if op == "all_reduce" else "", root=None, path=path, entered_s=float(number),
        left_s=number + 0.5 if left else None, thread=100,
    )  # fmt: skip


def a_process(rank: int, world: tuple[int, ...], odd: bool) -> JobProcess:
    """Returns one rank with a full ring; the odd one is a step behind, and after its loop."""
    last = STEPS - 1 if odd else STEPS
    ring = [call(number, "all_reduce", IN_LOOP, left=True) for number in range(last - CALL_SLOTS + 1, last)]
    ring.append(call(last, "barrier" if odd else "all_reduce", AFTER_IT if odd else IN_LOOP, left=False))
    agent = AgentData(
        name="",
        pid=100,
        parent_pid=1,
        start_ticks=rank,
        forked_from=0,
        started_ns=0,
        variables={},
        argv=(),
        cwd="",
        python="",
        agent_folder="",
        events=(),
        dropped_events=0,
        open_modules=(),
        entered=(),
        constructions=(),
        problems=(),
        collectives=tuple(ring),
        steps=Steps(count=last),
        groups=(GroupProgress(group="0", ranks=world, calls=last + 1, rolling_hash=0),),
    )
    return JobProcess(
        pid=100,
        start_ticks=rank,
        parent_pid=1,
        argv=(),
        cwd="",
        part=ProcessRole.RANK,
        rank=rank,
        restart=0,
        began_s=0.0,
        end=End(),
        ended_by="",
        agent=agent,
        fault=None,
        death=None,
        raised=(),
        loads=(),
        stdout="",
        stderr="",
    )


def measure(ranks: int) -> None:
    """Prints what the analysis of a job of so many ranks takes."""
    world = tuple(range(ranks))
    began = time.process_time()
    processes = tuple(a_process(rank, world, odd=rank == ranks - 1) for rank in world)
    facts = SupervisorFacts(command=(), cwd="", started_ns=0)
    job = Job(
        facts=facts, processes=processes, ranks=processes, culprits=(), victims=(), sent=(), output="", output_by_rank={},
        sources=SourceStore("", {}, frozenset()),
    )  # fmt: skip
    built = time.process_time()
    built_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    positions = positions_of(job, NOW_S)
    standing = time.process_time()
    deadlock = find_deadlock(positions)
    proved = time.process_time()
    found = partitions(job, deadlock) if deadlock is not None else ()
    ended = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
    odd = sorted(rank for split in found for rank in split.parting.here)
    print(
        f"{ranks:6d} ranks: {ended - built:6.3f} s (positions {standing - built:.3f}, proof {proved - standing:.3f}, "
        f"agreement {ended - proved:.3f}), {(peak - built_bytes) / 1e6:.0f} MB on top of {built_bytes / 1e6:.0f} MB of "
        f"records built in {built - began:.1f} s; {deadlock.knot if deadlock else 'nothing proved'}, odd {odd}"
    )


if __name__ == "__main__":
    for size in SIZES:
        child = multiprocessing.get_context("spawn").Process(target=measure, args=(size,))
        child.start()
        child.join()

"""Jobs that stand still, put together by hand: ranks with a stack, looks at them, and the source they stand in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hand_made import a_job, a_process, agent, event, frame

from diagnostics.core.frame import Frame
from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole
from diagnostics.record.process_samples import Sample
from diagnostics.record.supervisor_facts import Stall

LIB = "/usr/lib/python3.11"
TORCH = f"{LIB}/site-packages/torch"
BACKWARD = (Frame(file=f"{TORCH}/autograd/graph.py", line=9, function="_engine_run_backward"),)
BARRIER = (Frame(file=f"{TORCH}/distributed/distributed_c10d.py", line=9, function="barrier"),)
WORKER = (
    Frame(file=f"{TORCH}/utils/data/_utils/fetch.py", line=5, function="fetch"),
    Frame(file=f"{TORCH}/utils/data/_utils/worker.py", line=7, function="_worker_loop"),
)


def lib(place: str, function: str) -> Frame:
    """Returns a frame of the standard library: lib("queue.py:171", "Queue.get")."""
    file, _, line = place.rpartition(":")
    return Frame(file=f"{LIB}/{file}", line=int(line), function=function)


def sample(at_s: float, state: str = "S", cpu_s: float = 0.0, syscall: str = "", **fields: Any) -> Sample:
    """Returns one look at a process."""
    known = {
        "pid": 100, "start_ticks": 1, "at_s": at_s, "state": state, "waits_in": "", "syscall": syscall, "cpu_s": cpu_s,
        "bytes_moved": 0, "major_faults": 0, "swapped_bytes": None, "open_file": "",
    }  # fmt: skip
    return Sample(**{**known, **fields})


def looks(state: str = "S", cpus: float = 0.0, syscall: str = "", **fields: Any) -> tuple[Sample, ...]:
    """Returns four looks, two seconds apart, at a process that did the same in each."""
    return tuple(sample(10 + 2 * n, state, cpus * 2 * n, syscall, **fields) for n in range(4))


def rank(
    number: int, *stack: Frame, pid: int = 0, threads: tuple[tuple[Frame, ...], ...] = (), **fields: Any
) -> JobProcess:
    """Returns a rank that the doctor ended, with the stack of its main thread, innermost first."""
    pid = pid or 100 + number
    known = {
        "rank": number, "signal": 15, "ended_by": "doctor", "at_s": 40.0, "stacks": (stack, *threads) if stack else (),
        "agent": agent(event("process-group", f"rank={number} world_size=2"), pid=pid, steps=20),
    }  # fmt: skip
    return a_process(pid, **{**known, **fields})


def child(
    pid: int, *stack: Frame, parent: int = 101, part: ProcessRole = ProcessRole.HELPER, **fields: Any
) -> JobProcess:
    """Returns a process that a rank started, ended with its job."""
    known = {
        "rank": None, "part": part, "signal": 15, "ended_by": "doctor", "parent_pid": parent, "began_s": 5.0,
        "stacks": (stack,) if stack else (),
    }  # fmt: skip
    return a_process(pid, **{**known, **fields})


def hung(folder: Path, *processes: JobProcess, files: dict[str, str] | None = None, **job: Any) -> Job:
    """Returns a job that the doctor ended for standing still; `files` are its sources."""
    facts = {"ended_by": "stall-timeout", "stalls": (Stall(began_s=5.0, seen_s=20.0),), "ended_s": 41.0, **job}
    return a_job(*processes, cwd=folder, files=files, culprits=(), facts=facts)


def at(folder: Path, place: str, function: str = "main") -> Frame:
    """Returns the frame of "train.py:31" in the job's folder."""
    return frame(f"{folder}/{place}", function)

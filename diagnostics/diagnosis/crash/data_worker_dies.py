"""A DataLoader's worker process died.

What it does: finds the worker behind "DataLoader worker (pid 123) is killed by signal" or "exited unexpectedly", and
names the dataset's line at which native code crashed, or that left with os._exit or killed the process.

Why it matters: the traceback that is shown stands in the rank, at whatever line noticed.

Fix: the line named; run it with num_workers=0 to see it in the rank itself.
"""

from __future__ import annotations

import re
import signal
from itertools import pairwise

from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.frames import user_frames
from diagnostics.core.wording import distinct, signal_name
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.failures.native_crash import is_fault, killed_without_trace, native_crash
from diagnostics.dynamic.failures.root_exception import RootException, root_exception
from diagnostics.dynamic.job.evidence import (
    end_evidence,
    ended_s,
    how_it_ended,
    path_evidence,
    primary_failures,
    source_evidence,
    written_by,
)
from diagnostics.dynamic.job.job import Job, JobProcess, ProcessRole
from diagnostics.record.tracebacks import tracebacks

CODE = "D240"
NAME = "data-worker-dies"
CLASS = "data-worker-crash"
EXAMINES = AppliesTo.FAILED

_DIED = re.compile(
    r"DataLoader worker \(pid(?:\(s\))? ([\d, ]+)\) (?:is killed by signal: ([\w ]+)|exited unexpectedly)"
)
_LOST = re.compile(r"^(?:Connection\w+Error|EOFError|BrokenPipeError)$")  # the rank read from a worker that was gone
_READING = re.compile(r"/(?:multiprocessing|torch/utils/data|torch/multiprocessing)/|/(?:socket|queue|selectors)\.py$")
MOST_FRAMES, TAIL = 3, 4000  # innermost frames, characters before an exception's name
_FILE = re.compile(r'File "([^"\n]{1,500})", line \d')
_KILLED = Fix(
    text="nothing in the job sent SIGKILL, and no shortage of memory was seen: look for a limit of the container or "
    "batch system, and for PR_SET_PDEATHSIG in what workers call at their start: it fires when the thread that started "
    "them ends"
)
_SHM_NEEDED = 256 << 20  # bytes below which a bus error is taken for a full /dev/shm
_OOM_LINE = re.compile(r"Killed process (\d+)\b")


def match(job: Job) -> Match | None:
    """Returns the worker that died first, told of by its rank, or seen dying of a fault before its rank failed."""
    for process in (*primary_failures(job), *job.ranks):
        error = root_exception(job, process)
        said = _DIED.search(error.text) if error is not None else None
        if error is not None and said is not None:
            pids = [int(pid) for pid in said[1].replace(",", " ").split()]
            noticed = tuple(job.line(frame) for frame in error.frames[:1])
            if _interrupted(job, process):
                noticed = (*_loaders_with_workers(job, process), *noticed)
            return _match(job, process, _worker(job, process, pids), pids, said, noticed)
    died = [one for one in job.processes if one.part is ProcessRole.DATA_WORKER and _died_by_itself(job, one)]
    first = min(died, key=ended_s, default=None)
    rank = job.of_rank(first.rank) if first is not None and first.rank is not None else None
    if first is None or rank is None or not (rank.failed or job.facts.ended_for_hanging):
        return None
    return _match(job, rank, first, [first.pid], None, ()) if ended_s(first) <= ended_s(rank) else None


def _interrupted(job: Job, rank: JobProcess) -> bool:
    """Whether torch's handler of SIGCHLD raised wherever the rank was just then, and not where it asked for a batch."""
    for told in tracebacks(written_by(job, rank)):
        for inner, outer in pairwise(told.frames):
            if inner.function == "handler" and inner.file.endswith("/torch/utils/data/_utils/signal_handling.py"):
                return "/torch/utils/data/" not in outer.file
    return False


def _loaders_with_workers(job: Job, rank: JobProcess) -> tuple[str, ...]:
    """Returns the lines that built the rank's loaders with workers, the one that was begun last first."""
    sources = rank.agent.sources if rank.agent is not None else ()
    begun = [(one.passes[-1].began_s, one) for one in sources if one.passes and one.built and one.number("workers")]
    return tuple(job.line(one.built[0]) for _, one in sorted(begun, key=lambda each: -each[0]))


def _died_by_itself(job: Job, worker: JobProcess) -> bool:
    """Whether a worker died of a fault, or left in another way so that its rank only lost the connection to it."""
    if is_fault(worker.end.signal) and worker.ended_by in ("", "unknown"):
        return True
    rank = job.of_rank(worker.rank) if worker.rank is not None else None
    error = root_exception(job, rank) if rank is not None else None
    if rank is None or error is None or error.process is not rank:
        return False
    lost = bool(_LOST.search(error.type)) and _read_from_a_worker(rank, error)
    gone = worker.failed or _left_by(worker) is not None
    return lost and gone and (worker.ended_by in ("", "unknown") or worker.ended_by.startswith("pid "))


def _read_from_a_worker(rank: JobProcess, error: RootException) -> bool:
    """Whether an exception came out of reading from another process, as far as the rank printed its traceback."""
    above, found, _ = rank.output.rpartition(f"{error.type.rpartition('.')[2]}:")
    files = _FILE.findall(above[-TAIL:]) if found else []
    return not files or any(_READING.search(file) for file in files[-MOST_FRAMES:])


def _worker(job: Job, rank: JobProcess, pids: list[int]) -> JobProcess | None:
    workers = [one for one in job.processes if one.pid in pids and one.pid != rank.pid]
    guilty = [one for one in workers if is_fault(one.end.signal) or _left_by(one) is not None]
    return min(guilty or workers, key=ended_s, default=None)


def _left_by(worker: JobProcess | None) -> tuple[str, ...] | None:
    """Returns the words for the call that ended the worker by its own will, None where there was none."""
    event = worker.agent.last_event("os._exit", "os.abort") if worker is not None and worker.agent is not None else None
    return (event.kind, str(event.value)) if event is not None else None


def _match(
    job: Job,
    rank: JobProcess,
    worker: JobProcess | None,
    pids: list[int],
    said: re.Match[str] | None,
    noticed: tuple[str, ...],
) -> Match | None:
    number = worker.end.signal if worker is not None else None
    if _memory_explains(job, pids, number, said[0] if said is not None else ""):
        return None
    frames = native_crash(worker).frames if worker is not None and is_fault(number) else ()
    how = how_it_ended(worker) if worker is not None else said[0] if said is not None else "died"
    left = _left_by(worker)
    if worker is not None and worker.agent is not None and left is not None and not frames:
        event = worker.agent.last_event("os._exit", "os.abort")
        frames = user_frames(event.path, agent_folder=worker.agent.agent_folder) if event is not None else ()
        how = f"left by {left[0]}({left[1]})" if left[0] == "os._exit" else "called os.abort()"
    sent = [one for one in job.sent if one.target_pid in pids and one.signal != signal.SIGTERM]
    if sent and not frames:
        sender = job.of_pid(sent[-1].sender_pid)
        folder = sender.agent.agent_folder if sender is not None and sender.agent is not None else ""
        frames = user_frames(sent[-1].path, agent_folder=folder)
        how = f"was sent {signal_name(sent[-1].signal)}"
    own = [job.line(frame) for frame in frames[:2]]
    locations = distinct([*own, *noticed])
    at = f" at {own[0]}" if own else ""
    who = f"A data worker of rank {rank.rank}" if rank.rank is not None else "A data worker"
    evidence = [end_evidence(worker)] if worker is not None else []
    if said is not None:
        evidence.append(Evidence(source=f"exception in process {rank.pid}", observed=said[0]))
    if worker is not None and worker.fault is not None and worker.fault.crashed is not None:
        evidence.extend(path_evidence(job, f"faulthandler: {worker.fault.error}", worker.fault.crashed.frames))
    evidence.extend(source_evidence(job, frames[0]) if frames else ())
    return blamed(
        job,
        [rank],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{who} (pid {', '.join(map(str, pids))}) {how}{at}",
        evidence=evidence or [end_evidence(rank)],
        fix=_KILLED
        if number == signal.SIGKILL and not frames and not sent
        else Fix(text=f"correct what the dataset does{at}; num_workers=0 shows the same crash in the rank itself"),
        locations=locations,
        confidence=Confidence.CONFIRMED if own else Confidence.LIKELY,
        explains=pids,
        began_s=ended_s(worker) if worker is not None else None,
    )


def _memory_explains(job: Job, pids: list[int], number: int | None, said: str) -> bool:
    """Whether the kernel's OOM killer or a full /dev/shm did it: other signatures know more about these."""
    if number == signal.SIGKILL or "Killed" in said:
        killed = {int(found[1]) for line in job.facts.kernel_lines if (found := _OOM_LINE.search(line))}
        return bool(killed & set(pids)) or (bool(job.facts.oom_kills) and bool(killed_without_trace(job)))
    if number == signal.SIGBUS or "Bus error" in said:
        room = [disk.least_free_bytes for disk in job.facts.disks if disk.path == "/dev/shm"]  # noqa: S108
        small = job.facts.shm_bytes is not None and job.facts.shm_bytes < _SHM_NEEDED
        return small or any(free < _SHM_NEEDED // 16 for free in room)
    return False

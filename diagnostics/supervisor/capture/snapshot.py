"""What is perishable of a job that dies or stands still, taken from outside, in parallel, each with a deadline.

`snapshot` asks every living process of the job. What the kernel left of dead ones is in capture_cores.py, the machine
around the job in host_facts.py, its source files in sources.py. Nothing here raises: what could not be
captured is returned as Missing, with the reason. All of it is redacted and private to its owner. It works as an
ordinary user without ptrace; then /proc and the agents' own files have to do. py-spy and gdb are children of the
caller and not of the job: `machine.tools.running_tools()` has their pids.
"""

from __future__ import annotations

import json
import os
import stat
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from diagnostics.core import redaction
from diagnostics.core.files import write_private
from diagnostics.machine.deadlines import Answers, in_parallel
from diagnostics.machine.host.gpus import NvmlGpus
from diagnostics.machine.processes.proc_state import ProcState, read_state
from diagnostics.machine.processes.python_stacks import PythonStacks, StacksRefusedError, find_py_spy, read_stacks
from diagnostics.record.supervisor_facts import Missing

MOST_PROCESSES = 256  # of a job that forks without end, the first ones: ranks start before their helpers
_ONE_S = 2.0  # for one process's stacks; 8 ms as a rule
_ANSWER_S = 1.5  # for agents to write what their process knows; 20 ms as a rule, never where C code keeps the GIL
_RECORDER_S = 0.05
_POLL_S = 0.01
NO_PY_SPY = "py-spy was found neither beside the doctor nor on PATH"


def snapshot(
    processes: Mapping[int, int], record_folder: Path, reason: str, deadline_s: float = 5.0
) -> tuple[Missing, ...]:
    """Captures every process of `processes` (pid -> start ticks, ranks first) into `record_folder`/captures.

    Per process `stacks-from-outside-PID.json` (see record/outside_stacks.py) and `proc-PID.json`; once `gpus.json`
    where NVML answers. Agents are asked for their flight recorders and their own view of their stacks, which they
    write beside their files. `reason` is kept in each file ("stall", "rank 1 died"). A later snapshot replaces what
    an earlier one wrote; of processes that have ended since, the earlier one stays.
    """
    until = time.monotonic() + deadline_s
    alive = {pid: start for pid, start in list(processes.items())[:MOST_PROCESSES] if _is_same(pid, start)}
    folder, missing = record_folder / "captures", []
    if len(processes) > MOST_PROCESSES:
        missing.append(
            Missing(what="snapshot", why=f"{len(processes)} processes; the first {MOST_PROCESSES} were taken")
        )
    asked = _ask_for_flights(alive, record_folder / "agents")
    label = {"reason": reason, "at_ns": time.time_ns()}
    missing += _keep_stacks(alive, folder, label, until)
    states = in_parallel({pid: _state_task(pid) for pid in alive}, deadline_s=_left(until))
    missing += _keep(states, folder, "proc", label, lambda state: asdict(state))
    missing += _keep_gpus(folder, label, _left(until))
    missing += _wait_for_flights(asked, record_folder / "agents", _left(until))
    return tuple(missing)


def _keep_stacks(alive: Mapping[int, int], folder: Path, label: Mapping[str, Any], until: float) -> list[Missing]:
    program = find_py_spy()
    if program is None:
        return [Missing(what="stacks from outside", why=NO_PY_SPY)]
    found = in_parallel({pid: _stacks_task(pid, program) for pid in alive}, deadline_s=_left(until))
    refused = [str(error) for error in found.errors.values() if isinstance(error, StacksRefusedError)]
    missing = _keep(found, folder, "stacks-from-outside", label, lambda stacks: stacks and asdict(stacks))
    if refused:  # for one reason: it is said once
        missing = [one for one in missing if one.why not in refused]
        missing.append(
            Missing(what="stacks from outside", why=f"the kernel refuses to read other processes: {refused[0]}")
        )
    return missing


def _stacks_task(pid: int, program: str) -> Callable[[], PythonStacks | None]:
    return lambda: read_stacks(pid, program=program, deadline_s=_ONE_S)


def _state_task(pid: int) -> Callable[[], ProcState]:
    return lambda: read_state(pid)


def _keep(
    answers: Answers[int, Any], folder: Path, kind: str, label: Mapping[str, Any], to_json: Callable[[Any], Any]
) -> list[Missing]:
    missing = [Missing(what=f"{kind} of pid {pid}", why="no answer in time") for pid in answers.late]
    for pid, error in answers.errors.items():
        if _is_alive(pid):  # what ended in the meantime tells elsewhere how
            missing.append(Missing(what=f"{kind} of pid {pid}", why=str(error) or type(error).__name__))
    for pid, answer in answers.results.items():
        if (value := to_json(answer)) is not None:
            missing += keep_json(folder / f"{kind}-{pid}.json", {**label, **value})
    return missing


def _keep_gpus(folder: Path, label: Mapping[str, Any], deadline_s: float) -> list[Missing]:
    if not Path("/dev/nvidiactl").exists():
        return []
    found = in_parallel({"gpus": NvmlGpus().devices}, deadline_s=deadline_s)
    if found.late:
        return [Missing(what="gpus", why="NVML gives no answer")]
    if error := found.errors.get("gpus"):
        return [Missing(what="gpus", why=str(error))]
    return keep_json(folder / "gpus.json", {**label, "gpus": [asdict(gpu) for gpu in found.results["gpus"]]})


def ask_agents(processes: Mapping[int, int], agents: Path, deadline_s: float) -> None:
    """Has the agents of `processes` write their stacks and flight recorders beside their files; waits for that.

    A process that keeps the interpreter to itself gives no answer: then what it wrote before stays.
    """
    asked = _ask_for_flights(processes, agents)
    _wait_for_flights(asked, agents, deadline_s)


def _ask_for_flights(alive: Mapping[int, int], folder: Path) -> dict[str, int]:
    """Returns the answers that were asked for, by file name, with the time of the last one before.

    An agent answers with frames-PID-START.json, and flight-PID-START.json where torch keeps a recorder. After an exec
    the same process has a number behind its start.
    """
    asked = {}
    for fifo in _fifos(folder):
        words = fifo.removesuffix(".fifo").split("-")[1:]
        if len(words) < 2 or not all(map(str.isdigit, words)) or alive.get(int(words[0])) not in (0, int(words[1])):
            continue
        answer = f"frames-{'-'.join(words)}.json"
        before = _modified_ns(folder / answer)
        if _poke(folder / fifo):
            asked[answer] = before
    return asked


def _fifos(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in os.scandir(folder) if entry.name.endswith(".fifo")]
    except OSError:  # removed by the job
        return []


def _poke(fifo: Path) -> bool:
    """Writes one byte into a named pipe that somebody reads; False where there is none or nobody does."""
    try:
        fd = os.open(fifo, os.O_WRONLY | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:  # no flight recorder in this process, or its reader has ended
        return False
    try:
        return stat.S_ISFIFO(os.fstat(fd).st_mode) and os.write(fd, b"\n") == 1
    except OSError:
        return False
    finally:
        os.close(fd)


def _wait_for_flights(asked: Mapping[str, int], folder: Path, deadline_s: float) -> list[Missing]:
    until = time.monotonic() + min(deadline_s, _ANSWER_S)
    left = dict(asked)
    while left := {name: before for name, before in left.items() if _modified_ns(folder / name) <= before}:
        if time.monotonic() > until:
            break
        time.sleep(_POLL_S)  # files of other processes: nothing tells when they appear
    if len(left) < len(asked):
        time.sleep(_RECORDER_S)  # the recorder's own dump follows the frames
    return [
        Missing(
            what=f"flight recorder of pid {name.split('-')[1]}", why="its agent was asked and did not answer in time"
        )
        for name in left
    ]


def keep_json(path: Path, value: Any) -> list[Missing]:
    """Writes redacted JSON that only its owner may read, whole or not at all."""
    return keep_text(path, json.dumps(redaction.json_value(value), indent=1) + "\n")


def keep_text(path: Path, text: str) -> list[Missing]:
    """Writes a text that has no secrets left; no link is followed."""
    try:
        write_private(path, text)
    except OSError as error:
        return [Missing(what=path.name, why=f"cannot be written: {error.strerror or error}")]
    return []


def _is_same(pid: int, start: int) -> bool:
    """Whether `pid` is still the process that began at `start`, in clock ticks; 0 stands for any."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    words = text[text.rindex(")") + 2 :].split()
    return words[0] not in "ZX" and start in (0, int(words[19]))


def _is_alive(pid: int) -> bool:
    """Whether a process is there and has memory; on its way out it has none any more, before it is a zombie."""
    try:
        os.readlink(f"/proc/{pid}/exe")  # noqa: PTH115 - nothing but the error counts
    except FileNotFoundError:
        return False
    except OSError:  # another user's
        return _is_same(pid, 0)
    return _is_same(pid, 0)


def _modified_ns(path: Path) -> int:
    try:
        return os.lstat(path).st_mtime_ns
    except OSError:
        return 0


def _left(until: float) -> float:
    return max(0.05, until - time.monotonic())

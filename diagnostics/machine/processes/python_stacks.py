"""Python stacks of a running process, read from outside by py-spy without stopping it.

Only `--nonblocking` answers for processes that are stopped or sit in an uninterruptible system call. What it
reads may be torn, since the process goes on: it looks twice, and says whether both looks agree.
"""

from __future__ import annotations

import json
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from diagnostics.machine.facts import MachineError
from diagnostics.machine.processes.debugger_tools import ask

_NO_PYTHON = "Failed to find python"
_REFUSED = ("Permission", "Operation not permitted", "EPERM", "EACCES")
NONBLOCKING = ("--nonblocking",)
_ENOUGH_FRAMES = 256


class StacksRefusedError(MachineError):
    """The kernel does not let this user read other processes: it will refuse for every other one, too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StackFrame:
    """One line of Python."""

    file: str
    line: int
    function: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FrameWithValues(StackFrame):
    """One line of Python and its local variables: names, and the text that py-spy makes of each value."""

    values: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonThread:
    """One thread, innermost frame first. `active` is py-spy's guess that it was on a CPU."""

    native_id: int
    name: str
    active: bool
    holds_gil: bool
    frames: tuple[StackFrame, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PythonStacks:
    """The threads of one process, the main thread first. `steady`: a second look saw the same frames."""

    pid: int
    steady: bool
    threads: tuple[PythonThread, ...]


def find_py_spy() -> str | None:
    """Returns py-spy beside this Python, else on the search path."""
    beside = Path(sys.executable).with_name("py-spy")
    return str(beside) if beside.exists() else shutil.which("py-spy")


def read_stacks(pid: int, *, program: str, deadline_s: float) -> PythonStacks | None:
    """Returns the stacks of `pid`, None where it runs no Python.

    Raises StacksRefusedError where the kernel forbids it, MachineError with the reason where two tries gave nothing.
    """
    until = time.monotonic() + deadline_s
    looks: list[tuple[PythonThread, ...]] = []
    problem = ""
    for _ in range(3):
        left = until - time.monotonic()
        if len(looks) == 2 or left <= 0:
            break
        try:
            threads = one_look(pid, program=program, deadline_s=left)
        except StacksRefusedError:
            raise
        except MachineError as error:
            problem = str(error)
            continue
        if threads is None:
            return None
        looks.append(threads)
    if not looks:
        raise MachineError(problem or f"py-spy: no answer within {deadline_s:.1f} s")
    return PythonStacks(pid=pid, steady=len(looks) == 2 and _frames(looks[0]) == _frames(looks[1]), threads=looks[-1])


def one_look(
    pid: int, *, program: str, deadline_s: float, options: tuple[str, ...] = NONBLOCKING
) -> tuple[PythonThread, ...] | None:
    """Returns the threads of `pid` as one look saw them, None where it runs no Python.

    With other `options` than NONBLOCKING the process is stopped while it is read. Raises StacksRefusedError where the
    kernel forbids it, MachineError with the reason where nothing could be read.
    """
    answer = ask([program, "dump", *options, "--json", "--pid", str(pid)], deadline_s=deadline_s)
    if _NO_PYTHON in answer.stderr:
        return None
    if any(word in answer.stderr for word in _REFUSED):
        raise StacksRefusedError(_first_line(answer.stderr))
    threads = tuple(_threads(pid, answer.stdout))
    if not threads:
        raise MachineError(f"py-spy: {answer.problem or _first_line(answer.stderr) or 'no thread could be read'}")
    return threads


def _frames(threads: tuple[PythonThread, ...]) -> list[tuple[int, tuple[StackFrame, ...]]]:
    return [(thread.native_id, thread.frames) for thread in threads]


def _threads(pid: int, text: str) -> Iterator[PythonThread]:
    try:
        found = json.loads(text)
    except ValueError:
        return
    threads = [_thread(item) for item in found if isinstance(item, dict)] if isinstance(found, list) else []
    yield from sorted(threads, key=lambda thread: (thread.native_id != pid, thread.native_id))


def _thread(item: dict[str, Any]) -> PythonThread:
    frames = item.get("frames") or []
    return PythonThread(
        native_id=int(item.get("os_thread_id") or 0),
        name=str(item.get("thread_name") or ""),
        active=bool(item.get("active")),
        holds_gil=bool(item.get("owns_gil")),
        frames=tuple(map(_frame, frames[:_ENOUGH_FRAMES])),
    )


def _frame(item: dict[str, Any]) -> StackFrame:
    file, function = str(item.get("filename") or ""), str(item.get("name") or "")
    line = int(item.get("line") or 0)
    told = item.get("locals")
    if not told:
        return StackFrame(file=file, line=line, function=function)
    values = tuple((str(one.get("name") or ""), str(one.get("repr") or "")) for one in told)
    return FrameWithValues(file=file, line=line, function=function, values=values)


def _first_line(text: str) -> str:
    """Returns what py-spy says, without the stack of py-spy itself."""
    said = text.partition("Stack backtrace")[0]
    reason = said.partition("Reason:")[2] or said
    return " ".join(reason.split())[:300].removeprefix("Error: ")

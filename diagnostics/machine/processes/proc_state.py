"""What /proc tells of one running process: where it waits, what it uses, what it has open.

Nothing here takes the lock of the process's memory map (as cmdline, environ and maps do): that could wait as long
as a process that hangs inside a page fault.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from diagnostics.machine.facts import MachineError
from diagnostics.machine.host.sockets import Socket, sockets_of

_TICKS = os.sysconf("SC_CLK_TCK")
_MOST_THREADS = 128
_MOST_FILES = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadState:
    """One thread as the kernel sees it. `busy` is the share of a CPU it used between the two looks."""

    native_id: int
    name: str
    state: str  # R running, S sleeping, D inside the kernel, T stopped, t traced, Z dead
    waits_in: str  # the kernel function, "" where it does not wait or this may not be read
    system_call: str  # number and arguments as the kernel writes them, "running", or ""
    busy: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcState:
    """One process. None and "" stand for what could not be read; `unread` says what and why."""

    pid: int
    state: str
    name: str
    waits_in: str
    system_call: str
    cpu_s: float  # since it began
    busy: float  # CPUs used between the two looks
    looks_apart_s: float
    resident_bytes: int | None
    peak_resident_bytes: int | None
    thread_count: int | None
    caught_signals: str  # a mask in hexadecimal digits, as in /proc/PID/status
    read_bytes: int | None  # by read and the like, from anything
    written_bytes: int | None
    oom_score: int | None
    descriptors: int | None
    files: tuple[str, ...]  # paths, one of each
    sockets: tuple[Socket, ...]
    threads: tuple[ThreadState, ...]
    unread: tuple[str, ...]


def read_state(pid: int, *, pause_s: float = 0.1) -> ProcState:
    """Returns the state of `pid`, from two looks `pause_s` apart. Raises MachineError where it is gone."""
    folder = Path(f"/proc/{pid}")
    first = _threads(folder)
    before, began = cpu_ticks(pid), time.monotonic()
    if before is None:
        raise MachineError(f"pid {pid} is gone")
    time.sleep(pause_s)  # the share of a CPU is what was used between two looks
    after, apart = cpu_ticks(pid), time.monotonic() - began
    unread: list[str] = []
    stat = _text(folder / "stat", unread)
    status = dict(line.partition(":")[::2] for line in _text(folder / "status", unread).splitlines())
    io = dict(line.partition(":")[::2] for line in _text(folder / "io", unread).splitlines())
    links = list(_links(folder, unread))
    return ProcState(
        pid=pid,
        state=stat[stat.rfind(")") + 2 :][:1] or "gone",
        name=stat[stat.find("(") + 1 : stat.rfind(")")],
        waits_in=_wait_channel(_text(folder / "wchan", unread)),
        system_call=_text(folder / "syscall", unread).strip(),
        cpu_s=(after or before) / _TICKS,
        busy=_share(before, after, apart),
        looks_apart_s=round(apart, 3),
        resident_bytes=_kilobytes(status.get("VmRSS")),
        peak_resident_bytes=_kilobytes(status.get("VmHWM")),
        thread_count=_number(status.get("Threads")),
        caught_signals=status.get("SigCgt", "").strip(),
        read_bytes=_number(io.get("rchar")),
        written_bytes=_number(io.get("wchar")),
        oom_score=_number(_text(folder / "oom_score", unread)),
        descriptors=len(links) if links else None,
        files=tuple(sorted({link for link in links if link.startswith("/")}))[:_MOST_FILES],
        sockets=sockets_of(pid, links),
        threads=tuple(_between(first, _threads(folder), apart)),
        unread=tuple(unread),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """What a process has done since it began, its reaped children included."""

    cpu_s: float
    reaped_cpu_s: float  # of that, what children used that it has waited for: all of their life at once
    bytes_moved: int  # read and written, from and to anything; 0 where it may not be read
    in_disk_wait: bool
    wants_cpu: bool  # it runs, or would if there were a CPU for it


def effort(pid: int) -> Effort | None:
    """Returns what `pid` has done by now; None where it is gone. Cheap: two small files."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    words = text[text.rindex(")") + 2 :].split()
    io = _text(Path(f"/proc/{pid}/io"), []).split()
    moved = sum(int(io[at + 1]) for at in range(0, len(io) - 1, 2) if io[at] in ("rchar:", "wchar:"))
    return Effort(
        cpu_s=sum(map(int, words[11:15])) / _TICKS,
        reaped_cpu_s=sum(map(int, words[13:15])) / _TICKS,
        bytes_moved=moved,
        in_disk_wait=words[0] == "D",
        wants_cpu=words[0] == "R",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ProcessActivity:
    """What a process does and has done, without the shares of CPU that need two looks."""

    start_ticks: int
    state: str
    waits_in: str
    system_call: str  # of its main thread, number and arguments as the kernel writes them; "" where it may not be read
    cpu_s: float
    bytes_moved: int
    major_faults: int
    swapped_bytes: int | None


def doing(pid: int) -> ProcessActivity | None:
    """Returns what `pid` does now; None where it is gone. Five small files."""
    folder = Path(f"/proc/{pid}")
    stat = _text(folder / "stat", [])
    if not stat:
        return None
    words = stat[stat.rindex(")") + 2 :].split()
    io = dict(line.partition(":")[::2] for line in _text(folder / "io", []).splitlines())
    status = dict(line.partition(":")[::2] for line in _text(folder / "status", []).splitlines())
    return ProcessActivity(
        start_ticks=int(words[19]),
        state=words[0],
        waits_in=_wait_channel(_text(folder / "wchan", [])),
        system_call=_text(folder / "syscall", []).strip(),
        cpu_s=sum(map(int, words[11:15])) / _TICKS,
        bytes_moved=(_number(io.get("rchar")) or 0) + (_number(io.get("wchar")) or 0),
        major_faults=int(words[9]),
        swapped_bytes=_kilobytes(status.get("VmSwap")),
    )


def cpu_ticks(pid: int) -> int | None:
    """Returns the clock ticks of CPU that `pid` and its reaped children used; None where it is gone."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    return sum(map(int, text[text.rindex(")") + 2 :].split()[11:15]))


def _share(before: int, after: int | None, apart_s: float) -> float:
    return 0.0 if after is None else round((after - before) / _TICKS / apart_s, 2)


def _threads(folder: Path) -> dict[int, tuple[str, str, str, str, int]]:
    """Returns name, state, kernel function, system call and ticks of each thread."""
    found = {}
    for ident in _names(folder / "task")[:_MOST_THREADS]:
        task = folder / "task" / ident
        try:
            text = (task / "stat").read_text(encoding="utf-8", errors="replace")
        except OSError:  # it ended just now
            continue
        words = text[text.rindex(")") + 2 :].split()
        name = text[text.index("(") + 1 : text.rindex(")")]
        waits, call = _wait_channel(_text(task / "wchan", [])), _text(task / "syscall", []).strip()
        found[int(ident)] = (name, words[0], waits, call, int(words[11]) + int(words[12]))
    return found


def _between(
    first: dict[int, tuple[str, str, str, str, int]], last: dict[int, tuple[str, str, str, str, int]], apart_s: float
) -> Iterator[ThreadState]:
    for ident, (name, state, waits, call, ticks) in last.items():
        busy = _share(first[ident][4], ticks, apart_s) if ident in first else 0.0
        yield ThreadState(native_id=ident, name=name, state=state, waits_in=waits, system_call=call, busy=busy)


def _links(folder: Path, unread: list[str]) -> Iterator[str]:
    try:
        names = os.listdir(folder / "fd")  # noqa: PTH208 - names are all we need
    except OSError as error:
        unread.append(f"fd: {error.strerror}")
        return
    for name in names:
        try:
            yield os.readlink(folder / "fd" / name)  # noqa: PTH115 - "socket:[1]" is no path
        except OSError:  # closed just now
            continue


def _names(folder: Path) -> list[str]:
    try:
        return os.listdir(folder)  # noqa: PTH208 - names are all we need
    except OSError:
        return []


def _text(path: Path, unread: list[str]) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        unread.append(f"{path.name}: {error.strerror}")
        return ""


def _wait_channel(text: str) -> str:
    return "" if text.strip() == "0" else text.strip()


def _kilobytes(text: str | None) -> int | None:
    value = _number(text)
    return None if value is None else value * 1024


def _number(text: str | None) -> int | None:
    word = (text or "").split()[:1]
    return int(word[0]) if word and word[0].isdigit() else None

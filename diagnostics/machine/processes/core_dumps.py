"""Core files: where the kernel put that of a process, and what gdb reads from it. Nothing here makes cores."""

from __future__ import annotations

import os
import re
import shutil
import stat
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from diagnostics.machine.facts import MachineError
from diagnostics.machine.processes.debugger_tools import ask

PATTERN = Path("/proc/sys/kernel/core_pattern")
USES_PID = Path("/proc/sys/kernel/core_uses_pid")
_MOST_ENTRIES = 20_000
_MOST_NOTE_BYTES = 16 << 20
_NOTE, _PRPSINFO, _FILES = 4, 3, 0x46494C45
_PID_OFFSET = 24  # of pr_pid in struct elf_prpsinfo, 64 bits


@dataclass(frozen=True, slots=True, kw_only=True)
class Core:
    """One core file; `executable` is the program it came from, "" where the file does not tell."""

    path: Path
    pid: int
    executable: str
    size_bytes: int


def find_core(pid: int, cwd: Path, *, newer_than_ns: int) -> Core | None:
    """Returns the core of `pid` that was written after `newer_than_ns` (wall clock), None where there is none.

    Raises MachineError where the kernel pipes cores to a program, which keeps them for itself.
    """
    pattern = _text(PATTERN)
    if pattern.startswith("|"):
        program = pattern[1:].split()[0] if pattern[1:].split() else "a program"
        raise MachineError(f"the kernel gives core files to {program} (kernel.core_pattern)")
    if not pattern and _text(USES_PID) != "1":
        return None
    for path in _candidates(pattern, pid, cwd):
        core = read_notes(path)
        if core is not None and core.pid == pid and path.stat().st_mtime_ns > newer_than_ns:
            return core
    return None


def find_gdb() -> str | None:
    """Returns gdb, None where it is not installed."""
    return shutil.which("gdb")


def read_core(core: Core, *, gdb: str, deadline_s: float) -> str:
    """Returns gdb's words about the thread that crashed: its native frames and its Python frames.

    Raises MachineError with the reason.
    """
    # The script that gives gdb py-bt lies beside the job's libpython, and is the user's own.
    settings = [
        "set auto-load safe-path /",
        "set debuginfod enabled off",
        "set width 0",
        "set print frame-arguments none",
    ]
    commands = ["echo === native\\n", "bt 100", "echo === python\\n", "py-bt"]
    argv = [gdb, "-batch", "-nx", "-nh"]
    argv += [word for one in settings for word in ("-iex", one)] + [word for one in commands for word in ("-ex", one)]
    answer = ask([*argv, *([core.executable] if core.executable else []), str(core.path)], deadline_s=deadline_s)
    if "=== native" not in answer.stdout:
        raise MachineError(f"gdb: {answer.problem or answer.stderr.strip()[-300:] or 'no answer'}")
    return answer.stdout


def read_notes(path: Path) -> Core | None:
    """Returns what the notes of a 64-bit core file tell; None where this is no core. Reads no memory of the process."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(fd).st_mode):  # a folder cannot be made a file object, even
        os.close(fd)
        return None
    with os.fdopen(fd, "rb") as file:
        head = file.read(64)
        if head[:6] != b"\x7fELF\x02\x01" or head[16:18] != b"\x04\x00":
            return None
        pid, executable = 0, ""
        try:
            for kind, data in _notes(fd, head):
                if kind == _PRPSINFO:
                    (pid,) = struct.unpack_from("<i", data, _PID_OFFSET)
                elif kind == _FILES:
                    executable = _first_file(data)
        except (struct.error, OSError):  # cut short: the disk was full
            return None
        return Core(path=path, pid=pid, executable=executable, size_bytes=os.fstat(fd).st_size)


def _notes(fd: int, head: bytes) -> Iterator[tuple[int, bytes]]:
    (table,) = struct.unpack_from("<Q", head, 32)
    entry, count = struct.unpack_from("<HH", head, 54)
    for number in range(min(count, 64)):
        program = os.pread(fd, 56, table + number * entry)
        kind, _, offset, _, _, size = struct.unpack_from("<IIQQQQ", program)
        if kind != _NOTE:
            continue
        data, at = os.pread(fd, min(size, _MOST_NOTE_BYTES), offset), 0
        while at + 12 <= len(data):
            name_size, size_of_it, note = struct.unpack_from("<III", data, at)
            start = at + 12 + (name_size + 3) // 4 * 4
            yield note, data[start : start + size_of_it]
            at = start + (size_of_it + 3) // 4 * 4


def _first_file(data: bytes) -> str:
    """Returns the first file that was mapped: the program itself."""
    (count,) = struct.unpack_from("<Q", data)
    return data[16 + count * 24 :].split(b"\0", 1)[0].decode("utf-8", "replace")


def _candidates(pattern: str, pid: int, cwd: Path) -> Iterator[Path]:
    """Returns the files that may be it: the pattern's folder, names in which each % is anything but the pid."""
    folder = (cwd / pattern).parent if "%" not in str(Path(pattern).parent) else cwd
    name = Path(pattern).name
    words = re.split(r"(%.)", name)
    expression = "".join(_expression(word, pid) for word in words)
    if _text(USES_PID) == "1" and "%p" not in name:
        expression += rf"(?:\.{pid})?"
    try:
        with os.scandir(folder) as entries:
            found = [entry.name for _, entry in zip(range(_MOST_ENTRIES), entries, strict=False)]
    except OSError:
        return
    yield from (folder / one for one in sorted(found) if re.fullmatch(expression, one))


def _expression(word: str, pid: int) -> str:
    if word == "%p":
        return str(pid)
    if word == "%%":
        return "%"
    return ".*" if word.startswith("%") else re.escape(word)  # %P differs from pid inside a container


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""

"""The kernel's log while a job runs: from where it stood at the start to where it stands when asked.

Which lines of the kernel log concern a training job, and which of its processes they name.
"""

from __future__ import annotations

import errno
import os
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from diagnostics.machine.facts import MachineError

MOST_LINES = 200
_TELLING = re.compile(
    r"out of memory|oom-kill|oom_reaper|invoked oom-killer|killed process|segfault at|\btraps: |general protection"
    r"|trap invalid opcode|trap divide error|NVRM: |Xid|hung[_ ]task|blocked for more than|I/O error|Buffer I/O"
    r"|nfs: server .* not responding|server \S+ (?:not responding|OK)|EXT4-fs error|XFS .*(?:error|shutdown)"
    r"|Remounting filesystem read-only|No space left|mce: |Machine check|EDAC .*(?:CE|UE)|page allocation failure"
    r"|soft lockup|rcu_sched (?:self-)?detected|Memory cgroup stats|possible SYN flooding",
    re.IGNORECASE,
)
_NOT = re.compile(r"Xid\w|mce: \[Hardware Error\]: TSC 0|NVRM: loading|Memory cgroup stats")
# "python[123]: segfault at", "Killed process 123 (python)", "task=python,pid=123,uid=0", "task python:123 blocked"
_PIDS = re.compile(r"\[(\d{1,10})\]|process (\d{1,10})|\bpid=(\d{1,10})|task \S+?:(\d{1,10})\b|:(\d{1,10})(?= )")

KMSG = Path("/dev/kmsg")
_RECORD = 8192  # the kernel's longest record
_MOST_RECORDS = 200_000
_ESCAPE = re.compile(r"\\x([0-9a-f]{2})")


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelLine:
    """One line; `seconds` since the machine started, on the kernel's own clock."""

    seconds: float
    text: str


class KernelLog:
    """The log from now on. Raises MachineError where this user may not read it."""

    def __init__(self, path: Path = KMSG) -> None:
        self._fd = -1
        try:
            self._fd = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW)
            os.lseek(self._fd, 0, os.SEEK_END)
        except OSError as error:
            self.close()
            raise MachineError(f"the kernel log cannot be read: {path}: {error.strerror}") from error

    def lines(self) -> Iterator[KernelLine]:
        """Yields what was logged since the last call; a flood may have pushed the oldest lines out."""
        for _ in range(_MOST_RECORDS):
            try:
                record = os.read(self._fd, _RECORD)
            except BlockingIOError:
                return
            except OSError as error:
                if error.errno == errno.EPIPE:  # records were overwritten: the next read gives the oldest one left
                    continue
                return
            if not record:
                return
            if line := parse_record(record):
                yield line

    def close(self) -> None:
        """Gives the descriptor back."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def parse_record(record: bytes) -> KernelLine | None:
    """Returns the line of one record of /dev/kmsg, "priority,sequence,microseconds,flags;text"; None of no such."""
    head, separator, text = record.decode("utf-8", "replace").partition(";")
    words = head.split(",")
    if not separator or len(words) < 3 or not words[2].isdigit():
        return None
    first = text.partition("\n")[0]  # after it come words about the device
    plain = _ESCAPE.sub(lambda match: chr(int(match[1], 16)), first)
    return KernelLine(seconds=int(words[2]) / 1e6, text="".join(c if c.isprintable() else " " for c in plain))


def concerns_a_job(text: str) -> bool:
    """Whether a line is about memory, a crash, a GPU, a disk or a task that hangs."""
    return _TELLING.search(text) is not None and _NOT.search(text) is None


def shown(at_s: float, text: str, pids: Collection[int]) -> str:
    """Returns "+12.3 s text [pid 123 is of this job]"; the mark where the line names one of `pids`."""
    named = {int(number) for match in _PIDS.finditer(text) for number in match.groups() if number}
    ours = sorted(named.intersection(pids))
    mark = f" [pid {', '.join(map(str, ours))} is of this job]" if ours else ""
    return f"{at_s:+.1f} s {text}{mark}"

"""Which lines of the kernel log concern a training job, and which of its processes they name."""

from __future__ import annotations

import re
from collections.abc import Collection

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


def concerns_a_job(text: str) -> bool:
    """Whether a line is about memory, a crash, a GPU, a disk or a task that hangs."""
    return _TELLING.search(text) is not None and _NOT.search(text) is None


def shown(at_s: float, text: str, pids: Collection[int]) -> str:
    """Returns "+12.3 s text [pid 123 is of this job]"; the mark where the line names one of `pids`."""
    named = {int(number) for match in _PIDS.finditer(text) for number in match.groups() if number}
    ours = sorted(named.intersection(pids))
    mark = f" [pid {', '.join(map(str, ours))} is of this job]" if ours else ""
    return f"{at_s:+.1f} s {text}{mark}"

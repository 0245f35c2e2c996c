"""What a process did since it began, in numbers cheap enough to read of every process several times a second.

The voluntary switches of a thread are exact: one that did not run at all between two looks has as many as before.
"""

from __future__ import annotations

import os
from pathlib import Path

from diagnostics.machine.facts import Activity
from diagnostics.machine.processes.proc_state import effort

_TICKS = os.sysconf("SC_CLK_TCK")


def read_activity(pid: int) -> Activity | None:
    """Returns what `pid` did by now, None where it is gone."""
    task = Path(f"/proc/{pid}/task/{pid}")
    stat, whole = _text(task / "stat"), effort(pid)
    if not stat or whole is None:
        return None
    words = stat[stat.rindex(")") + 2 :].split()
    status = dict(line.partition(":")[::2] for line in _text(task / "status").splitlines())
    switches = status.get("voluntary_ctxt_switches", "").strip()
    waits_in = _text(task / "wchan").strip()
    return Activity(
        state=words[0],
        waits_in="" if waits_in == "0" else waits_in,
        system_call=_text(task / "syscall").strip(),
        main_cpu_s=(int(words[11]) + int(words[12])) / _TICKS,
        switches=int(switches) if switches.isdigit() else None,
        cpu_s=whole.cpu_s - whole.reaped_cpu_s,
        reaped_cpu_s=whole.reaped_cpu_s,
        bytes_moved=whole.bytes_moved,
    )


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:  # gone, or another user's
        return ""

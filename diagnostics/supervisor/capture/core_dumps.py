"""Reads what the kernel left of processes that died of a signal, where cores are switched on.

The doctor does not switch them on: one core of a rank may fill the disk.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from diagnostics.core import redaction
from diagnostics.machine.facts import MachineError
from diagnostics.machine.processes.core_dumps import Core, find_core, find_gdb, read_core
from diagnostics.record.supervisor_facts import Missing
from diagnostics.supervisor.capture.snapshot import keep_text

MOST_CORES = 4  # the ranks that died first; others died of the same as a rule


def capture_core_dumps(
    dead: Mapping[int, Path], record_folder: Path, started_ns: int, deadline_s: float = 12.0
) -> tuple[Missing, ...]:
    """Reads the cores of `dead` (pid -> its folder, by time of death) into captures/core-PID.txt.

    `started_ns` is when the job began, wall clock. Never raises; record/gdb_report.py reads the texts.
    """
    until = time.monotonic() + deadline_s
    found, missing = _find(dead, started_ns)
    if not found:
        return tuple(missing)
    gdb = find_gdb()
    if gdb is None:
        return (*missing, Missing(what="core", why=f"gdb is not installed; {found[0].path} was not read"))
    for core in found[:MOST_CORES]:
        try:
            text = read_core(core, gdb=gdb, deadline_s=max(0.5, until - time.monotonic()))
        except MachineError as error:
            missing.append(Missing(what=f"core of pid {core.pid}", why=str(error)))
            continue
        head = f"core {core.path} of {core.executable}, {core.size_bytes} bytes\n"
        missing += keep_text(record_folder / "captures" / f"core-{core.pid}.txt", redaction.text(head + text))
    return tuple(missing)


def _find(dead: Mapping[int, Path], started_ns: int) -> tuple[list[Core], list[Missing]]:
    found: list[Core] = []
    for pid, cwd in dead.items():
        try:
            core = find_core(pid, cwd, newer_than_ns=started_ns)
        except MachineError as error:  # so for every other one
            return found, [Missing(what="core", why=str(error))]
        if core is not None:
            found.append(core)
    return found, []

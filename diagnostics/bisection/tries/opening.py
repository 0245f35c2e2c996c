"""The oracle for what was asked for: where its ranks run, and what is known from earlier."""

from __future__ import annotations

import os
from pathlib import Path

from diagnostics.bisection.place import TRIES
from diagnostics.bisection.progress import Progress
from diagnostics.bisection.tries.one_run import Surroundings
from diagnostics.bisection.tries.oracle import Tries
from diagnostics.bisection.tries.source_stamp import source_stamp
from diagnostics.bisection.tries.tries_file import TriesFile
from diagnostics.bisection.wanted import Wanted
from diagnostics.machine.contract import Machine


def open_tries(wanted: Wanted, machine: Machine, progress: Progress) -> Tries:
    """Returns the oracle of one bisection. Raises MachineError, ChildTimeout where torch cannot be imported."""
    torch = machine.ranks.torch_facts()
    stamp = {"python": torch.python, "torch": torch.torch, "folder": str(Path.cwd())}
    stamp["the source"] = source_stamp(wanted.sources, Path.cwd())
    file = TriesFile(wanted.folder / TRIES, stamp)
    if file.set_aside:
        progress.say(f"the tries in {TRIES} do not count: {file.set_aside}")
    return Tries(
        machine.ranks,
        Surroundings(python=wanted.python, environ=os.environ, env=wanted.env),
        wanted.folder,
        file,
        progress,
        repeat=wanted.repeat,
        deadline_s=wanted.deadline_s,
        max_tries=wanted.max_tries,
        memory_bytes=wanted.memory_bytes,
        available_bytes=machine.memory.available_bytes,
        jobs=wanted.jobs,
        cores=machine.limits.cpu_count(),
    )

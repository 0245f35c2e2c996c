"""Chrome traces of the failing run and of the last healthy one."""

from __future__ import annotations

from pathlib import Path

from diagnostics.bisection.case import Configuration
from diagnostics.bisection.tries.one_run import RunEnvironment, RunRequest, run_once
from diagnostics.machine.contract import Ranks

DEADLINE_S = 120.0


def trace(case: Configuration, file: Path, ranks: Ranks, around: RunEnvironment, structures: Path | None) -> bool:
    """Runs the case once under torch's profiler; returns whether `file` holds the trace of its first rank.

    Raises MachineError, ChildTimeout where no rank can be started.
    """
    made = file.with_name(f".{file.name}-{{rank}}")
    run_once(case, RunRequest(deadline_s=DEADLINE_S, structures=structures, profile=str(made)), ranks, around)
    files = [Path(str(made).replace("{rank}", str(rank))) for rank in range(case.settings.world)]
    if files[0].is_file():
        files[0].replace(file)
    for one in files[1:]:
        one.unlink(missing_ok=True)
    return file.is_file()

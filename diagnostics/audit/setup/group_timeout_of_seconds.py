"""Process group with a timeout of five seconds or less.

What it does: points at init_process_group() calls whose `timeout` is a timedelta of one to five seconds, written there
or in the value that is named there. Of shorter ones A116 tells.

Why it matters: the limit holds for the start of every rank and for each wait of the run, too. An import from a cold
disk, a compiled first step, a checkpoint that one rank writes: each takes longer than that, and then the ranks that
were on time abort a run that was well.

Bad:

    dist.init_process_group("gloo", timeout=timedelta(seconds=5))

Good:

    dist.init_process_group("gloo", timeout=timedelta(minutes=10))

What it cannot see: limits that are computed or read from a configuration. In tests it says nothing: they are to fail
within seconds.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.dataflow.value_origins import origins
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile
from diagnostics.static.torch_code.training_functions import INIT, group_timeout, timedelta_seconds

CODE = "A175"
NAME = "group-timeout-of-seconds"
SEVERITY = Severity.WARNING
WORDS = ("init_process_group",)
_LEAST_S, _MOST_S = 1, 5


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the process groups whose ranks give up within seconds."""
    if file.is_test:
        return
    for call, function in project.calls_in(file):
        limit = group_timeout(call) if project.name(call.func, function) == INIT else None
        if limit is None:
            continue
        found = origins(limit, function, project)
        seconds = [timedelta_seconds(value, where, project) for value, where in found]
        # Where one of several values may be longer, the short one may be that of a trial.
        if all(one is not None and _LEAST_S <= one <= _MOST_S for one in seconds):
            yield violation(
                file,
                limit,
                f"the ranks wait {seconds[0]:g} s at most for one another: one that loads, compiles or saves for "
                "longer ends the run",
                "a limit above the longest wait that is right, e.g. timeout=timedelta(minutes=10)",
                confidence=Confidence.CONFIRMED if found[0][0] is limit else Confidence.LIKELY,
            )

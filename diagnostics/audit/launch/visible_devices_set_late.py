"""CUDA_VISIBLE_DEVICES is set by a program that has already asked CUDA for its GPUs.

What it does: runs each script on values that are not known, and flags `os.environ["CUDA_VISIBLE_DEVICES"] = ...` behind
what opens CUDA in the same process, such as `torch.cuda.is_available()`, `get_device_properties()`, `.cuda()`, also in
a file that is imported; where the program goes on with CUDA in that process.

Why it matters: CUDA reads the variable once, with the first question. Set later it does nothing: the program trains on
GPU 0 whatever it was told, and several such runs take each other's memory.

Bad:

    NAME = torch.cuda.get_device_name()                        # at the top of a file that is imported
    ...
    os.environ["CUDA_VISIBLE_DEVICES"] = args.gpu

Good:

    CUDA_VISIBLE_DEVICES=1 python train.py                     # or: device = torch.device("cuda", args.gpu)

What it cannot see: libraries that open CUDA when they are imported.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.executed import also, home, shown
from diagnostics.audit.rule import Violation, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.executed.visible_devices import VARIABLE, hidden_too_late
from diagnostics.static.execution.events import Execution
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A634"
NAME = "visible-devices-set-late"
SEVERITY = Severity.WARNING
WORDS = (VARIABLE,)
CHECKLIST = "what hides GPUs is set before CUDA is asked"


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the settings that come too late."""
    yield from also((), file, project, _run)


def _run(execution: Execution, project: Project) -> Iterator[Violation]:
    for setting, asked in hidden_too_late(execution):
        yield violation(
            home(setting, project),
            setting.node,
            f"{VARIABLE} is set after this process has asked CUDA for its GPUs, which reads it once: it does nothing, "
            "and the program stays on the GPUs that it saw before",
            f"set {VARIABLE} before anything asks CUDA, best where the program is started; or choose the device by its "
            "number",
            steps=(shown(asked, project, "CUDA is asked here, before that"),),
            confidence=Confidence.LIKELY,
        )

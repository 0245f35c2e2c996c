"""An activation with inplace=True changes a tensor that is read afterwards.

What it does: flags a call of a module made with inplace=True (nn.ReLU(inplace=True), F.relu(x, inplace=True), also the
first of a Sequential) whose input is read afterwards under another name, in a residual sum, a concatenation or a
return; and one whose input an earlier operation keeps for backward. A module of the project that changes its input in
place counts as one.

Why it matters: the shortcut of `act(x) ... + x` adds the activated x, not x: no error, a different network, and another
one again the day inplace=False is tried. On a tensor that sigmoid or softmax keeps, backward raises.

Bad:

    self.act = nn.ReLU(inplace=True)
    ...
    h = self.conv(self.act(x))
    return h + x

Good:

    self.act = nn.ReLU()

What it cannot see: activations whose `inplace` is a variable, and what callers do with the tensor they gave.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.autograd.grad_mode import is_set_up
from diagnostics.static.autograd.inplace_analysis import inplace_events, runs_in_training
from diagnostics.static.autograd.tensor_state import EventKind, InplaceEvent
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A304"
NAME = "inplace-activation-shared"
SEVERITY = Severity.WARNING
WORDS = ("inplace", "Module")
_DROPS = re.compile(r"Dropout\w{0,20}\((?:p=)?0?\.\d*[1-9]")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the modules in place whose input somebody else needs."""
    for function in project.functions_in(file):
        if is_set_up(function):
            continue
        for event in inplace_events(function, project):
            perhaps_off = "Dropout" in event.layer and not _DROPS.search(event.layer)
            ours = ".forward" in event.layer or not runs_in_training(function) or perhaps_off
            sure = Confidence.LIKELY if ours else Confidence.CONFIRMED
            if event.kind is EventKind.READ_AFTER:
                if isinstance(file.parents.get(event.node), ast.Expr):
                    continue  # nothing takes its result: what it was given is to be changed
                yield _read(file, event, sure)
            elif event.kind is EventKind.SAVED and event.layer:
                yield _saved(file, event, sure)


def _read(file: ProjectFile, event: InplaceEvent, sure: Confidence) -> Violation:
    return violation(
        file,
        event.node,
        f"{event.layer} changes its input in place, and {event.name} is that tensor and is read afterwards (line "
        f"{getattr(event.read, 'lineno', 0)}): it holds the changed values",
        "let it make a new tensor (inplace=False), or give it a copy: x.clone()",
        steps=(
            step(file, event.node, f"{event.layer} works in place"),
            *((step(file, event.read, f"{event.name} is read as if it were unchanged"),) if event.read else ()),
        ),
        confidence=sure,
    )


def _saved(file: ProjectFile, event: InplaceEvent, sure: Confidence) -> Violation:
    why = event.saved.text if event.saved is not None else ""
    steps = (step(file, event.saved.node, f"{why} for backward"),) if event.saved is not None else ()
    return violation(
        file,
        event.node,
        f"{event.layer} changes its input in place, and backward needs it as it was ({why}): loss.backward() raises "
        "'modified by an inplace operation'",
        "inplace=False",
        steps=(*steps, step(file, event.node, f"{event.layer} works in place")),
        severity=Severity.ERROR,
        confidence=sure,
    )

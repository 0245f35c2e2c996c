"""A buffer is changed in forward in a way that backward does not bear.

What it does: flags a buffer that is changed in place after the same forward used it as a factor or in another operation
that keeps it for backward, and a buffer that takes in a tensor of the graph without detach().

Why it matters: backward compares versions and raises "one of the variables needed for gradient computation has been
modified by an inplace operation"; no_grad does not help, for the version counts there, too. A buffer that holds a
graph carries it into the next step: memory grows with every step, or backward runs "through the graph a second time".
Under DDP the buffer is moreover written by the broadcast at the start of each forward (broadcast_buffers=True).

Bad:

    y = x * self.scale
    self.scale.mul_(0.99)
    self.mean.mul_(0.9).add_(0.1 * h.mean(0))

Good:

    y = x * self.scale.clone()
    self.scale.mul_(0.99)
    self.mean.mul_(0.9).add_(0.1 * h.detach().mean(0))

What it cannot see: buffers that other functions change, and a model that runs forward twice before one backward.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.autograd.grad_mode import is_set_up
from diagnostics.static.autograd.inplace_analysis import inplace_events
from diagnostics.static.autograd.tensor_state import EventKind, InplaceEvent
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A302"
NAME = "buffer-written-in-forward"
SEVERITY = Severity.ERROR
WORDS = ("register_buffer",)


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the changes of buffers that backward or the next step does not bear."""
    for function in project.functions_in(file):
        if is_set_up(function):
            continue
        for event in inplace_events(function, project):
            if event.kind is EventKind.KEPT:
                yield _kept(file, event)
            elif event.kind is EventKind.SAVED and event.value.root.kind == "buffer":
                yield _saved(file, event)


def _saved(file: ProjectFile, event: InplaceEvent) -> Violation:
    why = event.saved.text if event.saved is not None else ""
    steps = (step(file, event.saved.node, f"{why} for backward"),) if event.saved is not None else ()
    return violation(
        file,
        event.node,
        f"the buffer {event.name} is changed in place after backward was promised it ({why}): loss.backward() raises "
        "'modified by an inplace operation'",
        f"change it before it is used, or use a copy: {event.name}.clone()",
        steps=(*steps, step(file, event.node, f"{event.name} is changed in place")),
    )


def _kept(file: ProjectFile, event: InplaceEvent) -> Violation:
    return violation(
        file,
        event.node,
        f"the buffer {event.name} takes in a tensor of the graph: every step's graph is kept by the next one",
        "take in detached values: x.detach(), or torch.no_grad() around the update",
        steps=(step(file, event.node, f"{event.name} is given a tensor that requires a gradient"),),
        confidence=Confidence.LIKELY,
        severity=Severity.WARNING,
    )

"""A tensor is changed in place that backward still needs.

What it does: follows the methods of a model in order and flags a change in place (`x += y`, `x *= 2`, `x[...] = 0`,
`x.mul_()`) of a tensor that an earlier operation keeps for its gradient: the result of sigmoid, tanh, softmax, exp,
sqrt and relu, a factor of a product, the input of a linear layer, convolution or norm; of one of the views that
chunk, split and unbind give; and of memory that expand() shares.

Why it matters: backward compares versions and raises "one of the variables needed for gradient computation has been
modified by an inplace operation", far from the line and often only under DDP, after the first steps of a new branch.
torch refuses the change of one of several views at once, and that of expanded memory, too.

Bad:

    gate = torch.sigmoid(self.fc(x))
    h = gate * h
    gate *= 0.5

Good:

    gate = torch.sigmoid(self.fc(x))
    h = gate * h
    gate = 0.5 * gate

What it cannot see: tensors of frozen layers (nothing is kept for them), what functions of the project do with what
they are given, and what holds on some ways through a function only.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.audit.rule import Violation, step, violation
from diagnostics.core.findings import Confidence, Severity
from diagnostics.static.autograd.grad_mode import is_set_up
from diagnostics.static.autograd.inplace_analysis import inplace_events, runs_in_training
from diagnostics.static.autograd.tensor_state import EventKind, InplaceEvent
from diagnostics.static.program.project import Project
from diagnostics.static.program.project_file import ProjectFile

CODE = "A303"
NAME = "inplace-on-needed-tensor"
SEVERITY = Severity.ERROR
WORDS = ("Module", "nn")


def check(file: ProjectFile, project: Project) -> Iterator[Violation]:
    """Yields the changes in place of tensors that backward needs."""
    for function in project.functions_in(file):
        if is_set_up(function):
            continue
        for event in inplace_events(function, project):
            sure = Confidence.CONFIRMED if runs_in_training(function) else Confidence.LIKELY
            if event.layer or event.value.root.kind == "buffer":
                continue
            if event.kind is EventKind.SAVED:
                yield _saved(file, event, sure)
            elif event.kind is EventKind.SEVERAL:
                yield _several(file, event, sure)
            elif event.kind is EventKind.EXPANDED:
                yield _expanded(file, event, sure)


def _saved(file: ProjectFile, event: InplaceEvent, sure: Confidence) -> Violation:
    why = event.saved.text if event.saved is not None else ""
    steps = (step(file, event.saved.node, f"{why} for backward"),) if event.saved is not None else ()
    return violation(
        file,
        event.node,
        f"{_named(event)} is changed in place, and backward needs it as it was ({why}): loss.backward() raises "
        "'modified by an inplace operation'",
        "make a new tensor instead: x = x + y, x = x * y, torch.where(...)",
        confidence=sure,
        steps=(*steps, step(file, event.node, f"{_named(event)} is changed in place")),
    )


def _several(file: ProjectFile, event: InplaceEvent, sure: Confidence) -> Violation:
    return violation(
        file,
        event.node,
        f"{_named(event)} is one of several views that one call gave, and is changed in place: torch raises 'such "
        "functions do not allow the output views to be modified inplace'",
        "make a new tensor instead: a = a + y",
        confidence=sure,
    )


def _expanded(file: ProjectFile, event: InplaceEvent, sure: Confidence) -> Violation:
    return violation(
        file,
        event.node,
        f"{_named(event)} comes from {event.value.view}() and is changed in place: its elements share memory, and "
        "torch raises 'more than one element of the written-to tensor refers to a single memory location'",
        "copy it first: .clone(), or repeat() instead of expand()",
        confidence=sure,
    )


def _named(event: InplaceEvent) -> str:
    return event.name or "a tensor without a name"

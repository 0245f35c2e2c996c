"""The model does not take its steps: forward or backward raises, crashes or never comes back.

What it does: builds the model in a child, gives it a batch, and takes a few steps: forward, the mean of all that it
returns (or its own loss), backward. An exception is named with module and line; a crash or a hang leaves the question
undecided, and the doctor's agent says which module was entered last.

Why it matters: everything else that an inspection says rests on these steps.

Example: `forward of second (Linear) raises RuntimeError at model.py:196: mat1 and mat2 shapes ...`.

Fix: correct the line named; where the batch is at fault, give one that fits: --inputs module:make_batch.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.core.findings import Evidence, Finding, Fix, Severity
from diagnostics.inspection.checks.graph_signs import is_kept_graph
from diagnostics.inspection.checks.listing import at, place, where_of
from diagnostics.inspection.observations import ModelObservation, StepError

CODE = "A900"
NAME = "model-steps"


def look(model: ModelObservation) -> Iterator[Finding]:
    """Yields a finding where a step raised, or where nothing that forward returns can be trained."""
    for number, step in enumerate(model.steps, start=1):
        if step.error is not None and not is_kept_graph(step.error):
            yield _raised(model, step.error, number)
    steps = model.whole_steps
    if steps and model.trainable and not any(step.output_has_gradient for step in steps):
        yield _no_gradient(model)


def _raised(model: ModelObservation, error: StepError, number: int) -> Finding:
    doing = f"{error.phase} of {model.shown(error.module)}" if error.phase == "forward" else error.phase
    return Finding(
        code=CODE,
        name=NAME,
        severity=Severity.ERROR,
        title=f"{doing} raises {error.type}{at(error.place)} in step {number}",
        where=where_of(model.shown(error.module), error.place),
        evidence=(Evidence(source=place(error.place) or f"step {number}", observed=f"{error.type}: {error.text}"),),
        fix=Fix(text="correct the line, or give a batch that fits: --inputs module:make_batch"),
    )


def _no_gradient(model: ModelObservation) -> Finding:
    return Finding(
        code=CODE,
        name=NAME,
        severity=Severity.WARNING,
        title=f"nothing that {model.class_name}.forward returns has a gradient",
        where=model.class_name,
        evidence=(
            Evidence(
                source=f"{model.class_name}.forward",
                observed="no tensor with requires_grad in its output",
                expected=f"one: {len(model.trainable)} parameters are to be trained",
            ),
        ),
        fix=Fix(text="look for .detach(), torch.no_grad() or .item() on the way to the output"),
    )

"""Forward changes a parameter.

What it does: sees each operation that writes to a parameter in forward, also through a view or `.data`, and then
measures: does another batch, from the same weights, leave other weights? does a second forward change them again?

Why it matters: under DDP weights are made equal once, at the start; a change that depends on the batch makes the
ranks differ from then on. A change that goes on with each forward also happens in evaluation and in the
recomputation of a checkpoint. A clamp to a range does neither, and a teacher that follows its student is not trained.

Example: `forward changes scale at model.py:45, each batch in another way`.

Fix: initialise from data once, before DDP, and broadcast; move other changes into the training loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from diagnostics.core.findings import Confidence, Evidence, Finding, Fix, Severity
from diagnostics.inspection.checks.listing import at, distinct, evidences, where_of
from diagnostics.inspection.observations import Effect, ModelObservation

CODE = "A902"
NAME = "parameter-changed-in-forward"


def look(model: ModelObservation) -> Iterator[Finding]:
    """Yields one finding for each parameter whose change in forward is more than a clamp or a moving teacher."""
    for effect in model.effects:
        if effect.kind == "parameter" and (effect.differs or (effect.again and effect.trainable)):
            yield _finding(model, effect)


def _finding(model: ModelObservation, effect: Effect) -> Finding:
    writes = list(model.writes_to("parameter", effect.name))
    line = writes[0].place if writes else ""
    how = "each batch in another way" if effect.differs else "again in each step"
    operations = ", ".join(distinct(one.short for one in writes))
    layer = effect.trainable and all(one.by_layer for one in writes)
    return Finding(
        code=CODE,
        name=NAME,
        severity=_severity(effect, layer=layer),
        title=f"forward changes {effect.name}{at(line)}, {how}",
        where=where_of(effect.name, line),
        evidence=(
            *evidences((one.place for one in writes), f"{operations} writes to {effect.name}", "forward"),
            _measured(effect),
        ),
        fix=Fix(text=_fix(effect, layer=layer)),
        confidence=Confidence.CONFIRMED if effect.trainable else Confidence.LIKELY,
    )


def _severity(effect: Effect, *, layer: bool) -> Severity:
    if layer:  # Embedding(max_norm=...): documented, and harmless in one process
        return Severity.INFO
    return Severity.ERROR if effect.trainable else Severity.WARNING


def _measured(effect: Effect) -> Evidence:
    if effect.differs:
        return Evidence(source="two batches, from the same weights", observed="left other weights; so do DDP's ranks")
    return Evidence(source="two steps without an optimizer", observed="changed it again; so do evaluation, checkpoints")


def _fix(effect: Effect, *, layer: bool) -> str:
    if layer:
        return "nothing in one process; under DDP broadcast its weight now and then: max_norm renorms the batch's rows"
    if effect.differs:
        return "set it once before DDP wraps the model, from one batch that rank 0 broadcasts"
    return "do it in the training loop behind optimizer.step(), or on a copy: w = self.weight * 0.9"

"""The optimizer holds parameters that the model does not have, and what the model has is in no optimizer.

What it does: knows, at a few steps, which parameters of an optimizer belong to no model that runs and never have a
gradient, and which parameters of the model have gradients and are in no optimizer. Either alone is common (an unused
part, a part that is left frozen by omission); both together are an optimizer that was made before the model changed.

Why it matters: the part that was replaced, copied or moved never learns, and nothing fails.

Fix: make the optimizer last, of the parameters of the model that runs.
"""

from __future__ import annotations

from diagnostics.core.failure_classes import JobOutcome
from diagnostics.core.findings import Confidence, Evidence, Fix
from diagnostics.core.wording import distinct
from diagnostics.diagnosis.match_building import blamed
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.model.given_parameters import deciding_frame
from diagnostics.dynamic.replicas.learning import Lesson, lessons
from diagnostics.dynamic.replicas.source_lines import own

CODE = "D530"
NAME = "optimizer-of-others"
CLASS = "zero-progress"
EXAMINES = AppliesTo.SUCCEEDED


def match(job: Job) -> Match | None:
    """Returns the optimizer that holds what nobody uses, where what is used has none."""
    stale = [one for one in lessons(job) if one.last.model.loose and _orphans(one)]
    if not stale or {one.process.pid for one in stale} != {
        process.pid for process in job.ranks if process.prints.looks
    }:
        return None
    first = stale[0]
    model, orphans = first.last.model, _orphans(first)
    path = own(first.process, model.made)
    asked = path[deciding_frame(job, path) :][:1]
    made = asked or path[:1]
    at = f" at {job.line(made[0])}" if made else ""
    names = [f"{name} ({shape})" for name, shape in model.loose[:4]]
    more = f" and {model.loose_count - len(names)} more" if model.loose_count > len(names) else ""
    return blamed(
        job,
        [one.process for one in stale],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{model.loose_count} parameters of the model have gradients and are in no optimizer, {names[0]} first: "
        f"the one made{at} holds {len(orphans)} others that nothing uses",
        evidence=[
            Evidence(source="with a gradient and in no optimizer", observed=", ".join(names) + more, expected="none"),
            Evidence(
                source=f"in {model.class_name}, in no model that runs and never with a gradient",
                observed=", ".join(f"{model.names[index]} ({model.shapes[index]})" for index in orphans[:4]),
                expected="none",
            ),
        ],
        fix=Fix(
            text=f"make the optimizer{at} last, after layers are replaced, copied, moved or wrapped by fully_shard"
        ),
        locations=distinct([job.line(frame) for frame in (*made, *path[:1], *own(first.process, model.stepped)[:1])]),
        confidence=Confidence.LIKELY,
        outcome=JobOutcome.SILENT_WRONG,
    )


def _orphans(lesson: Lesson) -> list[int]:
    model = lesson.last.model
    return [
        index
        for index in range(len(model.names))
        if not model.in_model[index] and all(look.gradients[index].why == "none" for look in lesson.looks)
    ]

"""Gradients reach almost nothing of the model: the rest is in the optimizer, requires gradients and never has one.

What it does: knows, at a few steps, which parameters have a gradient. Where, over ten steps and more on every rank,
those of nineteen in twenty numbers that are to learn never had one, though some have, the graph is cut between the
model and the loss: an `all_gather`, which gives tensors without a graph; `detach()`, `.data`, NumPy, or `no_grad`
around the forward pass.

Why it matters: the loss falls a little, by what is left of the model (a temperature, a last layer), and looks well.
Left alone: models that were read from a file, of which a small part may be trained on purpose.

Fix: gather with `torch.distributed.nn.functional.all_gather`, or put the rank's own part back with its graph.
"""

from __future__ import annotations

from collections.abc import Sequence

from diagnostics.agent.shared import operations
from diagnostics.core.findings import Confidence, Evidence
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.mark_match import training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.replicas.learning import Lesson, lessons
from diagnostics.dynamic.replicas.sharing import elements
from diagnostics.dynamic.replicas.source_lines import own

CODE = "D914"
NAME = "gradients-reach-little"
CLASS = "zero-progress"
EXAMINES = AppliesTo.SUCCEEDED
SHARE = 20  # of the numbers that are to learn, at most one in so many has a gradient
GATHERS = frozenset(name for name in (*operations.PARTS, *operations.PICKLED) if "gather" in name)


def match(job: Job) -> Match | None:
    """Returns the job whose gradients reach almost nothing, on every rank."""
    found = lessons(job)
    if not found or len({one.process.pid for one in found}) < len(found) or not all(map(_is_cut, found)):
        return None
    first = found[0]
    model = first.last.model
    without = _without(first)
    gathered = _gathers(first.process)
    stepped = own(first.process, model.stepped)[:1]
    names = [model.names[index] for index in without]
    having = [name for name, one in zip(model.names, first.last.gradients, strict=True) if one.why != "none"]
    at = f": all_gather ({job.line(gathered[0])}) gives tensors without a graph" if gathered else ""
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{names[0]} and {len(names) - 1} more parameters are to learn and never have a gradient, only "
        f"{', '.join(having[:2])} has{at}",
        evidence=[
            Evidence(
                source=f"at steps {', '.join(str(look.step) for look in first.looks)}, without a gradient",
                observed=", ".join(names[:6]),
                expected="none, of what requires gradients and is in the optimizer",
            )
        ],
        fix="keep the graph from the model to the loss: torch.distributed.nn.functional.all_gather, no detach(), .data "
        "or no_grad between",
        places=(*gathered, *stepped),
        confidence=Confidence.LIKELY,
    )


def _without(lesson: Lesson) -> list[int]:
    """Returns the parameters that are to learn, in models that run, and had no gradient at any look."""
    model = lesson.last.model
    return [
        index
        for index, learns in enumerate(model.learns)
        if learns and model.in_model[index] and all(look.gradients[index].why == "none" for look in lesson.looks)
    ]


def _is_cut(lesson: Lesson) -> bool:
    model, without = lesson.last.model, set(_without(lesson))
    if model.loaded or any(model.sharded) or not any(one.why != "none" for one in lesson.last.gradients):
        return False
    sizes = {
        index: elements(shape) for index, shape in enumerate(model.shapes) if model.learns[index : index + 1] == (True,)
    }
    reached = sum(size for index, size in sizes.items() if index not in without)
    return len(without) > 1 and reached * SHARE <= sum(sizes.values())


def _gathers(process: JobProcess) -> Sequence[Frame]:
    """Returns the lines of the job that gather tensors of the ranks in each step, the one called last first."""
    calls = process.agent.collectives if process.agent is not None else ()
    found = [own(process, call.path)[:1] for call in calls if call.op in GATHERS]
    lines = [path[0] for path in found if path]
    return [line for line in dict.fromkeys(reversed(lines)) if lines.count(line) > 1][:2]

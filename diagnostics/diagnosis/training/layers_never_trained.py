"""Layers of the model have gradients, are in no optimizer, and end as they began.

What it does: knows, at a few steps, which parameters of the models that run have gradients and are in no optimizer of
the process, and samples their values. Where they have not changed over ten steps and more, and they are in layers that
were made after the optimizer, or nothing in the process was loaded from a file (so that they hold random numbers),
somebody meant them to learn. Layers in a plain list or dict of the model are among them: no parameters() lists them.

Why it matters: a random layer stays random, and the others learn around it. Left alone: parts of a model that was
loaded, of which only a head is trained; parts with an optimizer of their own; what does not require gradients.

Fix: make the optimizer last, over all that is to learn; `requires_grad_(False)` for what is not; `nn.ModuleList` and
`nn.ModuleDict` for layers in a list or dict.
"""

from __future__ import annotations

import re

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.mark_match import training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job
from diagnostics.dynamic.replicas.loose_parameters import Loose, loose_parameters
from diagnostics.dynamic.replicas.source_lines import own
from diagnostics.dynamic.replicas.tables import print_text

CODE = "D905"
NAME = "layers-never-trained"
CLASS = "zero-progress"
EXAMINES = AppliesTo.SUCCEEDED

_STRAY = re.compile(r"(?:[\w.]*\.)?<([^\[\]]+)>\[\d+\]\.")  # as the agent names what is in no model's tree


def match(job: Job) -> Match | None:
    """Returns the layers that have gradients and no optimizer, on every rank."""
    found = loose_parameters(job)
    if not found:
        return None
    first = found[0]
    model = first.last.model
    made, stepped = own(first.process, model.made)[:1], own(first.process, model.stepped)[:1]
    at = f" made{f' at {job.line(made[0])}' if made else ''}"
    name = first.names[0]
    more = f" and {model.loose_count - 1} more parameters" if model.loose_count > 1 else ""
    held = _unregistered(first)
    why = "their layer was made after it" if model.late else "it was given others only"
    if held is not None:
        why = "since parameters() does not list the modules of a plain list or dict"
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{name}{more} never change, though they have gradients: the optimizer{at} does not hold them, {why}",
        evidence=[
            Evidence(
                source=f"{name}: checksum, root mean square, first number",
                observed=_rows(first),
                expected="another one after each step",
            ),
            Evidence(source="with gradients and in no optimizer", observed=", ".join(first.names[:6]), expected="none"),
        ],
        fix="make the optimizer last, over all parameters that are to learn, and freeze the others by "
        "requires_grad_(False)"
        if held is None
        else "hold these modules in a torch.nn.ModuleList or ModuleDict, or as an attribute of the model",
        places=(*(held or ()), *made, *stepped),
        confidence=Confidence.LIKELY,
    )


def _unregistered(found: Loose) -> tuple[Frame, ...] | None:
    """Returns where modules were made that the model calls and does not hold; None where it holds all."""
    match, agent = _STRAY.match(found.names[0]), found.process.agent
    if match is None or agent is None:
        return None
    made = next((one for one in agent.constructions if one.class_name == match[1]), None)
    return own(found.process, made.path[made.own :])[:1] if made is not None else ()


def _rows(found: Loose) -> str:
    shown = ((found.first, found.first.loose[found.index][0]), (found.last, found.last.loose[found.index][0]))
    return "\n".join(f"before step {look.step}  {print_text(one)}" for look, one in shown)

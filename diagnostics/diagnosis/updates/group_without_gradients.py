"""A group of parameters with a learning rate of its own never has a gradient, though the model computes with it.

What it does: finds a group of an optimizer of which no parameter had a gradient at any look, over twenty steps and
more on every rank, while they require gradients, have a rate above 0, and their modules are called; other groups have
gradients.

Why it matters: features that were frozen for a first stage and unfrozen for the second stay as they are, where the
forward pass still runs them under `no_grad` or hands on what is detached. The loss falls by what the head can do.
Left alone: groups whose modules are not called, such as heads that a run has no use for.

Fix: let the graph pass: switch what decides about `no_grad` together with `requires_grad`.

Bad:

    def unfreeze(self):
        self.encoder.requires_grad_(True)      # self.probing is still True

    def features(self, x):
        with torch.set_grad_enabled(not self.probing):
            return self.encoder(x)

Good:

    def unfreeze(self):
        self.probing = False
        self.encoder.requires_grad_(True)
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from diagnostics.core.findings import Confidence, Evidence
from diagnostics.core.frame import Frame
from diagnostics.diagnosis.mark_match import training_match
from diagnostics.diagnosis.signature import AppliesTo, Match
from diagnostics.dynamic.job.job import Job, JobProcess
from diagnostics.dynamic.replicas.source_lines import lines_like, own
from diagnostics.record.parameter_prints import Look

CODE = "D948"
NAME = "group-without-gradients"
CLASS = "gradients-lost"
EXAMINES = AppliesTo.SUCCEEDED
ENOUGH = 20  # steps
SHOWN, MOST_LINES, LINES_BELOW = 4, 200, 3

_CUTS = re.compile(r"\bno_grad\b|\bset_grad_enabled\(|\binference_mode\b|\.detach\(|\.data\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Group:
    """One group of one rank that has no gradient."""

    process: JobProcess
    number: int
    looks: tuple[Look, ...]
    names: tuple[str, ...]


def match(job: Job) -> Match | None:
    """Returns the job one of whose groups is never reached, on every rank."""
    found = [group for process in job.ranks if (group := _unreached(process)) is not None]
    if not found or len(found) < len(job.ranks):
        return None
    first = found[0]
    last = first.looks[-1]
    made = own(first.process, last.model.made)[:1]
    cuts = _cuts(job, first)
    by = f": {job.line(cuts[0])} cuts them off" if cuts else ""
    return training_match(
        job,
        [one.process for one in found],
        code=CODE,
        name=NAME,
        failure_class=CLASS,
        title=f"{first.names[0]} and {len(first.names) - 1} more parameters of group {first.number} are to learn with "
        f"a rate of {last.rates[first.number]:g}, take part in the forward pass and never have a gradient{by}",
        evidence=[
            Evidence(
                source=f"at steps {', '.join(str(look.step) for look in first.looks)}, without a gradient",
                observed=", ".join(first.names[:SHOWN]),
                expected="none, of what requires gradients, is called, and has a group with a rate",
            )
        ],
        fix="let the graph pass through them: no no_grad(), detach() or .data on the way to the loss once they require "
        "gradients",
        places=(*cuts, *made),
        module=first.names[0].rpartition(".")[0],
        confidence=Confidence.LIKELY,
    )


def _unreached(process: JobProcess) -> _Group | None:
    """Returns a group without gradients of the optimizer that a rank made its last steps with."""
    if not process.prints.looks:
        return None
    last = process.prints.looks[-1]
    looks = tuple(look for look in process.prints.looks if look.model == last.model)
    if last.step - looks[0].step < ENOUGH or any(look.closure for look in looks):
        return None
    graded = {group for group in set(last.model.group) if any(_has(look, group) for look in looks)}
    for group in sorted(set(last.model.group) - graded):
        indices = [index for index, own_group in enumerate(last.model.group) if own_group == group]
        names = tuple(last.model.names[index] for index in indices)
        learns = len(names) > 1 and all(
            last.model.learns[index : index + 1] == (True,) and last.model.in_model[index] for index in indices
        )
        rate = last.rates[group] if group < len(last.rates) else None
        if graded and learns and rate and _are_called(process, names):
            return _Group(process=process, number=group, looks=looks, names=names)
    return None


def _has(look: Look, group: int) -> bool:
    """Whether a parameter of this group had a gradient."""
    return any(
        one.why != "none" for one, number in zip(look.gradients, look.model.group, strict=True) if number == group
    )


def _are_called(process: JobProcess, names: tuple[str, ...]) -> bool:
    """Whether the modules that hold most of them were entered of late."""
    entered = process.agent.entered if process.agent is not None else ()
    called = {entry.module.path for entry in entered}
    return 2 * sum(name.rpartition(".")[0] in called for name in names) > len(names)


def _cuts(job: Job, group: _Group) -> tuple[Frame, ...]:
    """Returns the lines that cut graphs, of those that name what the group holds there or right below."""
    part = re.compile(rf"\.{re.escape(group.names[0].partition('.')[0])}\b")
    found = []
    for frame in lines_like(job, group.process, _CUTS, MOST_LINES):
        lines = job.sources.file(frame.file).lines[frame.line - 1 : frame.line + LINES_BELOW]
        if any(part.search(line) for line in lines):
            found.append(frame)
    return tuple(found[:1])
